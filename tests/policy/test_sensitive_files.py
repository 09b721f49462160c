"""Files that make other programs run something: what the real CLI asks about in ``acceptEdits``, we ask about too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import soak
from policy.real_cli import DECIDED, decisions, idle_shell, share_decided
from quarterdeck.policy import Policy

NAMES = (Path(__file__).parent / "file_names.txt").read_text().split()
"""Configuration of shells, editors, package managers, build tools and hooks, and as many harmless names."""
STRICTER = {".netrc", ".pypirc", ".claude/worktrees/a/b.txt"}
"""The first two hold passwords. The CLI keeps its own worktrees in the last; ours asks about all of ``.claude``."""
NEW_SINCE_THE_FIRST_LIST = {
    *(".config/git/config", ".pre-commit-config.yaml", ".mvn/jvm.config", ".bazelrc", ".pnp.cjs", ".pnpmfile.cjs"),
    *("bunfig.toml", "lefthook.yml", ".devcontainer.json", "gradle/wrapper/gradle-wrapper.properties"),
}


def ours(policy: Policy, cwd: Path, name: str) -> str:
    return policy.decide("Write", {"file_path": str(cwd / name), "content": "x"}).behavior


def test_the_names_that_were_missing_are_asked_about(tmp_path: Path) -> None:
    policy = Policy.from_rules(allow=["Edit(**)", "Write"], cwd=tmp_path, mode="acceptEdits")

    assert {name: ours(policy, tmp_path, name) for name in NEW_SINCE_THE_FIRST_LIST} == dict.fromkeys(
        NEW_SINCE_THE_FIRST_LIST, "ask"
    )


@pytest.mark.real
def test_the_real_cli_asks_about_the_same_files(tmp_path: Path) -> None:
    cwd = tmp_path.resolve() / "project"
    cwd.mkdir()
    policy = Policy.from_rules(cwd=cwd, home=str(tmp_path / "home"), mode="acceptEdits")
    names = soak.part(NAMES, 120)
    mine = {name: ours(policy, cwd, name) for name in names}
    calls = [("Write", {"file_path": str(cwd / name), "content": "x"}) for name in names]
    found = decisions(calls, cwd=cwd, home=tmp_path / "home", mode="acceptEdits")
    theirs = {name: answer for name, answer in zip(names, found, strict=True) if answer in DECIDED}

    assert share_decided(found) > 0.9
    assert {name: (mine[name], answer) for name, answer in theirs.items() if mine[name] != answer} == {
        name: ("ask", "allow") for name in STRICTER if name in theirs
    }


WRITERS = (
    "touch {0}",
    "cp a.txt {0}",
    "mv a.txt {0}",
    "mkdir {0}",
    "echo x > {0}",
    "sed -i s/a/b/ {0}",
    "tee {0} < a.txt",
)
SITUATIONS: dict[str, dict[str, Any]] = {
    "edits are accepted": {"mode": "acceptEdits"},
    "everything is allowed": {"allow": ["Bash"]},
    "under wildcards": {"allow": [f"Bash({name}:*)" for name in ("touch", "cp", "mv", "mkdir", "echo", "sed", "tee")]},
}


@pytest.mark.real
@pytest.mark.parametrize("situation", soak.part(list(SITUATIONS), 1))
def test_no_command_may_write_a_file_that_the_real_cli_protects(situation: str, tmp_path: Path) -> None:
    root, rules = tmp_path.resolve(), dict(SITUATIONS[situation])
    cwd, mode = root / "project", rules.pop("mode", "default")
    cwd.mkdir()
    (cwd / "a.txt").write_text("text\n")
    policy = Policy.from_rules(**rules, cwd=cwd, home=str(root / "home"), mode=mode)
    commands = [writer.format(name) for name in NAMES for writer in WRITERS]
    allowed = [one for one in commands if policy.decide("Bash", {"command": one}).behavior == "allow"]
    chosen = allowed if soak.ON else soak.part(allowed, 25)
    calls = [("Bash", {"command": command, "description": "a test"}) for command in chosen]
    found = decisions(
        calls, cwd=cwd, home=root / "home", permissions=rules, mode=mode, shell=idle_shell(root / "shell")
    )

    assert share_decided(found) == 1
    assert [command for command, answer in zip(chosen, found, strict=True) if answer != "allow"] == []
