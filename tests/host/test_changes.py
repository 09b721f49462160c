"""What a session changed as one patch: new files included, of a folder that nobody vouches for."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from host.kit import Place
from quarterdeck.host import Host, changes, git
from quarterdeck.host.requests import OfSession

ME = ("-c", "user.name=T", "-c", "user.email=t@example.org")
NEW_FILES = {
    "new.txt": b"new\n",
    "one/two/deep.txt": b"a\nb\n",
    "no end.txt": b"without a newline",
    "empty": b"",
    "lines.txt": b"\r\n\x0b\x0c\xe2\x80\xa8+\n-\n\n",
    "diff --git a": b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n",
    'quo"te\\back': b"x\n",
    "new\nline\ttab\x07\x7f": b"x\n",
    "größe 鳥": "größe\n".encode(),
    " blank ": b"x\n",
}


def run(folder: Path, *arguments: str, **more: Any) -> bytes:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, **more).stdout


def begun(folder: Path) -> None:
    run(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("one\n")
    run(folder, "add", ".")
    run(folder, *ME, "commit", "-qm", "first")


def written(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


@pytest.fixture
def repository(place: Place) -> Path:
    begun(place.cwd)
    return place.cwd


async def shown(host: Host, session: str) -> dict[str, Any]:
    return (await host.get_diff(OfSession(session_id=session))).details


def applied(patch: str, to: Path) -> dict[str, bytes]:
    """The files that a copy of the first commit has after the patch."""
    to.mkdir()
    begun(to)
    run(to, "apply", "--whitespace=nowarn", "-", input=patch.encode())
    return {
        str(one.relative_to(to)): one.read_bytes() for one in to.rglob("*") if one.is_file() and ".git" not in one.parts
    }


async def test_the_patch_makes_the_same_files_elsewhere(place: Place, repository: Path, tmp_path: Path) -> None:
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        await asyncio.to_thread(written, repository, NEW_FILES | {"a.txt": b"two\n"})
        (repository / "new.txt").chmod(0o755)
        (repository / ".gitignore").write_text("*.log\n")
        (repository / "made.log").write_text("ignored")
        told = await shown(host, session.id)
    assert (told["truncated"], told["left_out"]) == (False, [])
    assert sorted(told["untracked"]) == sorted([*NEW_FILES, ".gitignore"])
    files = await asyncio.to_thread(applied, told["diff"], tmp_path / "copy")
    assert files == {**NEW_FILES, "a.txt": b"two\n", ".gitignore": b"*.log\n"}
    assert (tmp_path / "copy" / "new.txt").stat().st_mode & 0o100


async def test_new_files_are_shown_as_git_would_show_them(place: Place, repository: Path) -> None:
    files = {name: content for name, content in NEW_FILES.items() if name != "empty"} | {"image.png": b"\x89PNG\0\1\2"}
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        await asyncio.to_thread(written, repository, files)
        told = await shown(host, session.id)
    await asyncio.to_thread(run, repository, "add", "--intent-to-add", ".")
    by_git = await asyncio.to_thread(run, repository, "-c", "core.quotePath=false", "diff")
    assert without_index(told["diff"]) == without_index(by_git.decode())
    assert "Binary files /dev/null and b/image.png differ" in told["diff"]


def without_index(patch: str) -> dict[str, str]:
    """Each file's part, without the names of objects that git puts in."""
    parts = patch.split("\ndiff --git ")
    lines = [[line for line in part.split("\n") if not line.startswith("index ")] for part in parts]
    return {part[0].removeprefix("diff --git "): "\n".join(part).rstrip("\n") for part in lines}


async def test_in_a_folder_below_paths_are_those_of_the_repository(place: Place, tmp_path: Path) -> None:
    await asyncio.to_thread(begun, tmp_path)
    (place.cwd / "b.txt").write_text("b\n")
    where = place.cwd.relative_to(tmp_path)
    await asyncio.to_thread(run, tmp_path, "add", str(where))
    await asyncio.to_thread(run, tmp_path, *ME, "commit", "-qm", "second")
    for name in ("diff.relative", "diff.noprefix", "diff.mnemonicPrefix"):
        await asyncio.to_thread(run, tmp_path, "config", name, "true")
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        (place.cwd / "b.txt").write_text("c\n")
        (place.cwd / "new.txt").write_text("new\n")
        told = await shown(host, session.id)
    headers = [line for line in told["diff"].splitlines() if line.startswith("+++ ")]
    assert headers == [f"+++ b/{where}/b.txt", f"+++ b/{where}/new.txt"]
    assert told["untracked"] == ["new.txt"]


async def test_before_the_first_commit_everything_is_new_and_stays_so(place: Place) -> None:
    await asyncio.to_thread(run, place.cwd, "init", "-q")
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        (place.cwd / "a.txt").write_text("a\n")
        told = await shown(host, session.id)
        assert ("+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n" in told["diff"], told["untracked"]) == (True, ["a.txt"])
        await asyncio.to_thread(run, place.cwd, "add", ".")
        assert "+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n" in (await shown(host, session.id))["diff"]
        await asyncio.to_thread(run, place.cwd, *ME, "commit", "-qm", "first")
        told = await shown(host, session.id)
        assert ("+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n" in told["diff"], told["untracked"]) == (True, [])


async def test_what_is_no_regular_file_is_named_and_not_opened(place: Place, repository: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not yours")
    (repository / "link.txt").symlink_to(secret)
    (repository / "linked").symlink_to(tmp_path)
    (repository / "endless").symlink_to("/dev/zero")
    (repository / "nested").mkdir()
    await asyncio.to_thread(begun, repository / "nested")
    await asyncio.to_thread(os.mkfifo, repository / "pipe")
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        told = await shown(host, session.id)
    assert told["diff"] == ""
    assert told["left_out"] == told["untracked"] == ["endless", "link.txt", "linked", "nested/"]
    assert not told["truncated"]


async def test_a_file_that_is_exchanged_after_it_was_listed_leads_nowhere(
    place: Place, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.txt").write_text("not yours")
    (repository / "folder").symlink_to(tmp_path)
    (repository / "link").symlink_to(tmp_path / "secret.txt")
    await asyncio.to_thread(os.mkfifo, repository / "pipe")
    names = [b"folder/secret.txt", b"link", b"pipe", b"gone", b"folder"]
    monkeypatch.setattr(git, "untracked", lambda cwd: (names, True))
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        told = await shown(host, session.id)
    assert (told["diff"], told["left_out"]) == ("", [name.decode() for name in names])


async def test_large_and_many_files_are_named_and_the_small_ones_shown(
    place: Place, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def filled() -> None:
        with (repository / "huge.bin").open("wb") as file:
            file.truncate(100 * 1024 * 1024 * 1024)
        (repository / "large.txt").write_text("x" * (changes.NEW_FILE_BYTES + 1))
        (repository / "small.txt").write_text("small\n")

    await asyncio.to_thread(filled)
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        told = await shown(host, session.id)
        assert "+small" in told["diff"]
        assert len(told["diff"]) < 1_000
        assert (told["left_out"], told["truncated"]) == (["huge.bin", "large.txt"], True)
        monkeypatch.setattr(changes, "MOST_NEW_FILES", 3)
        for number in range(5):
            (repository / f"a{number}.txt").write_text("x\n")
        told = await shown(host, session.id)
        assert told["diff"].count("diff --git") == 3
        assert (len(told["untracked"]), len(told["left_out"]), told["truncated"]) == (8, 5, True)


async def test_new_files_have_the_room_that_the_rest_leaves(
    place: Place, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "DIFF_CHARS", 2_000)
    for number in range(20):
        (repository / f"{number:02}.txt").write_text("\n" * 100)
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        told = await shown(host, session.id)
        assert 1_000 < len(told["diff"]) <= 2_000
        assert told["diff"].count("diff --git") + len(told["left_out"]) == 20
        assert told["truncated"]
        (repository / "a.txt").write_text("y\n" * 2_000)
        told = await shown(host, session.id)
        assert (len(told["diff"]), len(told["left_out"]), told["truncated"]) == (2_000, 20, True)


async def test_names_and_texts_in_no_known_encoding_are_shown(place: Place, repository: Path) -> None:
    path = os.path.join(os.fsencode(repository), b"gr\xf6\xdfe.txt")  # noqa: PTH118  # no text can name it
    await asyncio.to_thread(lambda: Path(os.fsdecode(path)).write_bytes(b"caf\xe9\n"))
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        told = await shown(host, session.id)
    assert told["untracked"] == ["gr��e.txt"]
    assert "+++ b/gr��e.txt\n@@ -0,0 +1 @@\n+caf�\n" in told["diff"]
