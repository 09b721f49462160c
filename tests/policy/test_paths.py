# Paths are text here too; pathlib would tidy them before they are followed.
# ruff: noqa: PTH116
"""Where paths lead on a real disk: the quick look for links says what following every name says."""

from __future__ import annotations

import contextlib
import os
import random
import re
from pathlib import Path

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
    ["sort -k link/a b", "head -n link/a b", "tail --pid link/a b", "git diff link/a", "git grep x link/a"],
)
def test_a_value_that_a_link_leads_out_of_the_project_is_asked_about(tmp_path: Path, command: str) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "link").symlink_to(tmp_path)
    rules = [f"Bash({program}:*)" for program in ("sort", "head", "tail", "git")]
    policy = Policy.from_rules(allow=rules, cwd=tmp_path / "work", home=str(tmp_path))

    assert policy.decide("Bash", {"command": command}).behavior == "ask"
    assert policy.decide("Bash", {"command": command.replace("link/a", "3")}).behavior == "allow"
