"""The host's diff as Claude Code shows one: both are asked about the same changes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from e2e.kit import Stage
from quarterdeck import Session

pytestmark = pytest.mark.real


def git(folder: Path, *arguments: str) -> None:
    own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false")
    subprocess.run(["git", *own, *arguments], cwd=folder, check=True, capture_output=True)


def first_commit(folder: Path) -> None:
    git(folder, "init", "-b", "main")
    (folder / "changed").write_text("".join(f"{number}\n" for number in range(40)))
    (folder / "with a blank").write_text("one\ntwo\nthree\n")
    (folder / "old name").write_text("x\n" * 20)
    (folder / "gone").write_text("g\n")
    (folder / "picture").write_bytes(b"\0\1\2")
    (folder / "program").write_text("")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")


def change(folder: Path) -> None:
    lines = [f"{number}\n" for number in range(40)]
    lines[1], lines[30] = "one\n", ""
    (folder / "changed").write_text("".join(lines))
    (folder / "with a blank").write_text("one\n-- two\nthree")  # no newline at the end
    git(folder, "mv", "old name", "new name")
    (folder / "gone").unlink()
    (folder / "picture").write_bytes(b"\0\3")
    (folder / "program").chmod(0o755)
    (folder / "added").write_text("a\n\nb\n")
    (folder / "empty").write_text("")
    git(folder, "add", "added", "empty")


def by_path(shown: dict[str, Any]) -> dict[str, Any]:
    return {
        "stats": {one["path"]: one for one in shown["perFileStats"]},
        "hunks": {one["path"]: one["hunks"] for one in shown["hunks"]},
    }


async def test_the_changes_of_a_session_on_a_host_are_what_claude_code_shows_of_them(stage: Stage) -> None:
    first_commit(stage.cwd)
    async with stage.session() as session:
        change(stage.cwd)
        told = (await session.workspace_diff()).to_dict()["diff"]
        async with Session(Stage.options(stage)) as local:
            wanted = (await local.workspace_diff()).to_dict()["diff"]
        assert told["stats"] == wanted["stats"]
        assert by_path(told) == by_path(wanted)
        (stage.cwd / 'new "ä"\n').write_text("n\n")
        git(stage.cwd, "commit", "--all", "-m", "second")
        again = (await session.workspace_diff()).to_dict()["diff"]
        (new,) = [one for one in again["perFileStats"] if one["isUntracked"]]
        assert (new["path"], new["added"], new["status"]) == ('new "ä"\n', 1, "added")
        assert len(again["perFileStats"]) == len(told["perFileStats"]) + 1, "a commit hides nothing"
