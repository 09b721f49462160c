"""Trust is recorded where Claude Code records it, and nothing else of that file changes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from quarterdeck.cli.terminal.trust import project_rules, trust, trusted_folder
from quarterdeck.policy.settings import is_trusted
from terminal.kit import Place, bash


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    (tmp_path / "home").mkdir()
    (tmp_path / "repo" / "sub").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
    return tmp_path / "repo"


def test_the_top_of_the_repository_is_trusted_and_all_else_stays(repository: Path) -> None:
    file = repository.parent / "home" / ".claude.json"
    before = {"numStartups": 3, "projects": {"/other": {"allowedTools": []}, str(repository): {"history": ["é"]}}}
    file.write_text(json.dumps(before))
    file.chmod(0o640)
    trust(str(repository / "sub"))
    expected = {**before, "projects": {"/other": {"allowedTools": []}}}
    expected["projects"] |= {str(repository): {"history": ["é"], "hasTrustDialogAccepted": True}}
    assert json.loads(file.read_text()) == expected
    assert file.stat().st_mode & 0o777 == 0o640
    assert is_trusted(str(repository / "sub"), str(file))
    assert [path.name for path in file.parent.iterdir()] == [".claude.json"]


def test_without_a_file_one_is_made_for_the_user_alone(repository: Path) -> None:
    trust(str(repository))
    file = repository.parent / "home" / ".claude.json"
    assert json.loads(file.read_text()) == {"projects": {str(repository): {"hasTrustDialogAccepted": True}}}
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["not JSON", "[]", '{"projects": []}'])
def test_a_file_that_is_not_understood_is_left_alone(repository: Path, text: str) -> None:
    file = repository.parent / "home" / ".claude.json"
    file.write_text(text)
    with pytest.raises(ValueError):
        trust(str(repository))
    assert file.read_text() == text
    assert [path.name for path in file.parent.iterdir()] == [".claude.json"]


def test_when_rules_of_a_project_count(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert project_rules(str(repository)).status == "count"
    assert project_rules(str(repository.parent)).status == "count"  # no repository
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert project_rules(str(repository)).status == "need trust"
    trust(str(repository))
    assert trusted_folder(str(repository / "sub")) == str(repository)
    assert project_rules(str(repository)).status == "count"
    monkeypatch.delenv("GIT_TEST_ASSUME_DIFFERENT_OWNER")
    (repository / ".claude").mkdir()
    (repository / ".claude" / "settings.local.json").write_text("{}")
    subprocess.run(["git", "-C", str(repository), "add", "-f", "."], check=True)
    assert project_rules(str(repository)).status == "not saved"


@pytest.mark.parametrize("why", ["another owner", "a link"])
def test_always_counts_on_the_simulator_where_claude_code_would_ignore_the_rule(place: Place, why: str) -> None:
    """The simulator keeps every rule and knows no trust, so it offers and says what then happens."""
    if why == "another owner":
        subprocess.run(["git", "init", "-q", str(place.cwd)], check=True)
        place.env["GIT_TEST_ASSUME_DIFFERENT_OWNER"] = "1"
    else:
        (place.cwd / "elsewhere").mkdir()
        (place.cwd / ".claude").symlink_to("elsewhere")
    place.plays(bash("touch b.txt"), "Done.")
    term = place.term("run", "make it", columns=110)
    seen = term.until("“Always” adds the rule Bash(touch b.txt)", "Always in this project (p)", "Deny and stop")
    assert "trust" not in seen
    term.press("p")
    assert term.exit() == 0
    assert "allowed, always: Bash(touch b.txt)" in term.text
    again = place.term("run", "make it again", columns=110)
    assert again.exit() == 0
    assert "Allow this command?" not in again.text
    assert "● Bash touch b.txt" in again.text


def test_always_everywhere_is_kept_among_the_simulators_settings(place: Place) -> None:
    path = str(place.cwd / "notes.txt")
    edit = {"tool": "Write", "input": {"file_path": path, "content": "x"}}
    place.plays(edit, "Done.")
    term = place.term("run", "write it", columns=110)
    term.until("Always, everywhere (u)  ~/.claude-simulator/settings.json", "Deny and stop")
    term.press("u")
    assert term.exit() == 0
    saved = json.loads((place.home / ".claude-simulator" / "settings.json").read_text())
    assert saved == {"permissions": {"allow": [f"Edit(/{path})"]}}
    assert not (place.home / ".claude" / "settings.json").exists()
    again = place.piped("run", "write it again")
    assert "✔ done" in again.stdout
    assert "denied" not in again.stdout
