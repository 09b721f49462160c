# Paths are text here too; pathlib would tidy them before they are followed.
# ruff: noqa: PTH116
"""Where paths lead on a real disk: the quick look for links says what following every name says."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

import soak
from quarterdeck.policy import Policy
from quarterdeck.policy.paths import FileSystem

NAMES = ("a", "b", "c", ".env", "..", ".", "", "x y", "ä")
TARGETS = ("a", "../b", "../../a", "c/a", "/", ".", "missing/x", "{root}/a/b", "{root}/c")


def followed(path: str) -> str | None:
    """The long way: every name is followed, and the kernel must be able to follow them too."""
    try:
        try:
            real = os.path.realpath(path, strict=True)
        except FileNotFoundError:
            real = os.path.realpath(path)
        if real != path:
            with contextlib.suppress(FileNotFoundError):
                os.stat(path)
    except (OSError, ValueError):
        return None
    return real


def build(root: Path, chance: random.Random) -> None:
    """Folders, files and links, some of which lead nowhere, out of the tree or in a circle."""
    folders = [root]
    for _ in range(14):
        place = chance.choice(folders) / chance.choice(("a", "b", "c", ".env", "x y", "ä"))
        if os.path.lexists(place):
            continue
        kind = chance.random()
        if kind < 0.5:
            place.mkdir()
            folders.append(place)
        elif kind < 0.65:
            place.touch()
        else:
            place.symlink_to(chance.choice(TARGETS).format(root=root))


@pytest.mark.parametrize("number", range(soak.cases(6, in_soak=300)))
def test_links_are_followed_wherever_they_stand(tmp_path: Path, number: int) -> None:
    chance, root = random.Random(f"{soak.SEED} {number}"), tmp_path.resolve()
    build(root, chance)
    paths = [f"{root}/" + "/".join(chance.choices(NAMES, k=chance.randint(1, 5))) for _ in range(400)]

    assert {path: FileSystem().real(path) for path in paths} == {path: followed(path) for path in paths}


@pytest.mark.parametrize("path", ["/", "//", "//tmp", "/tmp/\udcff", "/tmp/" + "a" * 5000, "/tmp/a\0b"])
def test_odd_paths_are_followed_the_same_way(path: str) -> None:
    assert FileSystem().real(path) == followed(path)


@pytest.fixture
def linked(tmp_path: Path) -> Policy:
    """A working folder with a link to a folder that may not be read, and a file that may not be read either."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "link").symlink_to(tmp_path / "outside")
    deny = ["Read(protected)", f"Read(/{tmp_path}/outside/**)"]
    return Policy.from_rules(allow=["Bash"], deny=deny, cwd=tmp_path / "work", home=str(tmp_path))


@pytest.mark.parametrize(
    "command",
    [
        "sh link/secret",
        "python3 link/secret script.py",
        "perl link script.pl",
        "cd link && ls",
        "git -C link log",
        "npm --prefix=link test",
        "some-program --file=link",
        "./protected",
        "date -fprotected +%s",
        "pkill -F protected",
    ],
)
def test_what_leads_to_a_protected_place_is_asked_about_whichever_program_is_given_it(
    linked: Policy, command: str
) -> None:
    assert linked.decide("Bash", {"command": command}).behavior != "allow"
    assert linked.decide("Bash", {"command": re.sub(r"link\b|protected", "other", command)}).behavior == "allow"


@pytest.mark.parametrize("tool", ["Read", "Edit", "Write", "NotebookEdit"])
@pytest.mark.parametrize(
    "path",
    [
        "/proc/self/cwd/protected",
        "/proc//self/./cwd/protected",
        "/proc/thread-self/cwd/protected",
        "/proc/self/task/1/cwd/protected",
        "/proc/self/root{cwd}/protected",
        "/proc/self/fd/3",
    ],
)
def test_a_path_through_the_process_leads_to_where_the_tool_will_run(tmp_path: Path, tool: str, path: str) -> None:
    policy = Policy.from_rules(
        allow=["Read", "Edit", "Write", "NotebookEdit"], deny=["Read(protected)"], cwd=tmp_path, home=str(tmp_path)
    )
    name = "notebook_path" if tool == "NotebookEdit" else "file_path"

    assert policy.decide(tool, {name: path.format(cwd=tmp_path.resolve())}).behavior == "deny"
    assert policy.decide("Read", {"file_path": str(tmp_path / "other")}).behavior == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "sort -k link/a b",
        "head -n link/a b",
        "tail --pid link/a b",
        "git diff link/a",
        "git grep x link/a",
        "git grep - link/a",
        "git grep -- -x link/a",
    ],
)
def test_a_value_that_a_link_leads_out_of_the_project_is_asked_about(tmp_path: Path, command: str) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "link").symlink_to(tmp_path)
    rules = [f"Bash({program}:*)" for program in ("sort", "head", "tail", "git")]
    policy = Policy.from_rules(allow=rules, cwd=tmp_path / "work", home=str(tmp_path))

    assert policy.decide("Bash", {"command": command}).behavior == "ask"
    assert policy.decide("Bash", {"command": command.replace("link/a", "3")}).behavior == "allow"


DENIED = ("Read(.env)", "Read(secrets/**)", "Read(src/private/*.py)", "Read(**/*.pem)", "Read(//{cwd}/.env)")
GLOBS = (None, "*", "*.py", "**/*.py", "**/.env", "{.env,x}", "!x", " *.py ", "*.py *.env", 7)


@pytest.mark.parametrize("rule", DENIED)
@pytest.mark.parametrize("behavior", ["deny", "ask"])
def test_a_search_that_may_read_a_denied_file_is_asked_about_whatever_its_glob(
    tmp_path: Path, rule: str, behavior: str
) -> None:
    """``secrets``, and even ``.env``, may be a folder with files of any name in it."""
    rules: dict[str, Any] = {behavior: [rule.format(cwd=tmp_path.resolve()).replace("///", "//")]}
    policy = Policy.from_rules(allow=["Grep", "Read"], **rules, cwd=tmp_path, home=str(tmp_path / "home"))
    folders: list[dict[str, Any]] = [{}, {"path": "."}, {"path": " . "}, {"path": str(tmp_path)}, {"path": ".."}]
    calls = [{"pattern": "x", "glob": glob, **folder} for glob in GLOBS for folder in folders]

    assert [call for call in calls if policy.decide("Grep", call).behavior != "ask"] == []


def test_a_search_where_nothing_is_denied_is_not_asked_about(tmp_path: Path) -> None:
    deny = ["Read(src/private/**)", f"Read(/{tmp_path}/elsewhere/**)", "Edit(**)"]
    policy = Policy.from_rules(deny=deny, cwd=tmp_path, home=str(tmp_path / "home"))

    assert policy.decide("Grep", {"pattern": "x", "path": "docs"}).behavior == "allow"
    assert policy.decide("Grep", {"pattern": "x", "path": "src/public"}).behavior == "allow"
    assert policy.decide("Grep", {"pattern": "x", "path": "src"}).behavior == "ask"


@pytest.mark.parametrize("behavior", ["deny", "ask"])
def test_what_the_settings_deny_is_asked_about_unless_the_cli_is_known_to_read_them(
    tmp_path: Path, behavior: str
) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    (project / ".claude").mkdir(parents=True)
    settings = {"permissions": {behavior: ["Read(.env)"]}}
    (project / ".claude" / "settings.json").write_text(json.dumps(settings))
    where = {"home": str(home), "managed": str(tmp_path / "none.json")}
    search = {"pattern": "x"}

    assert Policy.from_settings(project, **where).decide("Grep", search).behavior == "ask"
    known = Policy.from_settings(project, **where, cli_reads_settings=True)
    assert known.decide("Grep", search).behavior == ("allow" if behavior == "deny" else "ask")
    assert known.with_rules(known.rules).decide("Grep", search) == known.decide("Grep", search)


@pytest.mark.parametrize("tool", ["Read", "Edit", "Write", "Grep", "Glob"])
@pytest.mark.parametrize(
    "disguise", ["{}", " {}", "{} ", "{}\t", "\n{}", "{}\r\n", "{}\xa0", "\ufeff{}", "{}\u3000", "{}\u2028", " ./{} "]
)
def test_blanks_around_a_path_hide_it_from_no_rule(tmp_path: Path, tool: str, disguise: str) -> None:
    allow = ["Read", "Edit", "Write", "Grep", "Glob"]
    policy = Policy.from_rules(allow=allow, deny=["Read(.env)"], cwd=tmp_path, home=str(tmp_path / "home"))
    name = "path" if tool in ("Grep", "Glob") else "file_path"
    given = {"pattern": "x", "content": "x", "old_string": "a", "new_string": "b"}

    assert policy.decide(tool, {**given, name: disguise.format(".env")}).behavior == "deny"
