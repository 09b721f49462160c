"""A worktree is there because somebody works in it, or was asked for by its name: nothing else leaves one."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path
from typing import Any

import pytest

from host.kit import Place
from host.test_hostile_git import ME, made, run
from quarterdeck.host import Caller, HostError, git, worktrees
from quarterdeck.host.limits import Limits
from quarterdeck.host.requests import (
    CreateSession,
    CreateWorktree,
    DeleteWorktree,
    InFolder,
    Lifecycle,
    ListFolders,
    ListSessions,
    OfSession,
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


@pytest.fixture
def repository(place: Place) -> Path:
    made(place.cwd)
    return place.cwd


async def beside(repository: Path) -> list[str]:
    """Folders next to the repository, and its branches."""
    names = await asyncio.to_thread(os.listdir, repository.parent)
    branches = await asyncio.to_thread(run, repository, "branch", "--format=%(refname:short)")
    return sorted(one for one in names if one.startswith(f"{repository.name}-")) + branches.split()


@pytest.mark.parametrize(
    "wrong",
    [
        {"policy": {"deny": "everything"}},
        {"policy": {"allow": ["Bash"]}},
        {"account": "nobody's"},
        {"preset": "none"},
        {"lifecycle": Lifecycle(park_s=-1.0)},
        {"worktree": "../side"},
        {"worktree": "a/b"},
        {"worktree": ".."},
    ],
    ids=str,
)
async def test_a_session_that_is_refused_leaves_none(place: Place, repository: Path, wrong: dict[str, Any]) -> None:
    async with place.opened() as host:
        with pytest.raises(HostError):
            await host.create_session(CreateSession(cwd=str(repository), **{"worktree": "side", **wrong}))
        assert await beside(repository) == ["main"]


async def test_a_session_too_many_leaves_none(place: Place, repository: Path) -> None:
    async with place.opened(limits=Limits(sessions=1)) as host:
        await place.created(host, None)
        with pytest.raises(HostError) as busy:
            await host.create_session(CreateSession(cwd=str(repository), worktree="side"))
        assert busy.value.code == "busy"
        assert await beside(repository) == ["main"]


@pytest.mark.parametrize("failing", ["quarterdeck.host.worktrees.copy_bytes", "private"])
async def test_a_disk_that_is_full_in_the_middle_leaves_none(
    place: Place, repository: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    (repository / ".worktreeinclude").write_text(".env\n")
    (repository / ".env").write_text("KEY=1\n")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async with place.opened() as host:
        create = CreateSession(cwd=str(repository), worktree="side", options={"env": {"A": "b"}})
        with monkeypatch.context() as disk, pytest.raises((HostError, OSError)):
            if failing == "private":
                disk.setattr(host._private, "keep", full)
            else:
                disk.setattr(failing, full)
            await host.create_session(create)
        assert await beside(repository) == ["main"]
        session = await host.create_session(create)
        assert (Path(session.cwd) / ".env").read_text() == "KEY=1\n"


async def test_a_bare_repository_and_one_whose_git_folder_is_a_link_have_worktrees_too(
    place: Place, repository: Path, tmp_path: Path
) -> None:
    bare, first = tmp_path / "bare.git", tmp_path / "first"
    await asyncio.to_thread(run, tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    await asyncio.to_thread(run, bare, "worktree", "add", "-q", str(first), "main")
    (repository / ".git").rename(tmp_path / "elsewhere")
    (repository / ".git").symlink_to(tmp_path / "elsewhere")
    async with place.opened() as host:
        for cwd, beside_it in ((first, f"{bare}-side"), (repository, f"{repository}-side")):
            made = (await host.create_worktree(CreateWorktree(cwd=str(cwd), name="side"))).details
            assert made["path"] == beside_it
            listed = (await host.list_worktrees(InFolder(cwd=beside_it))).details["worktrees"]
            assert beside_it in [one["path"] for one in listed]
            await host.delete_worktree(DeleteWorktree(path=beside_it))
            assert not await asyncio.to_thread(Path(beside_it).exists)
            with pytest.raises(HostError):
                await host.delete_worktree(DeleteWorktree(path=str(repository)))


async def test_the_worktree_of_a_deleted_session_stays_with_what_was_done_in_it(place: Place, repository: Path) -> None:
    async with place.opened() as host:
        session = await host.create_session(CreateSession(cwd=str(repository), worktree="side"))
        tree = Path(session.cwd)
        (tree / "work.txt").write_text("mine")
        await host.delete_session(OfSession(session_id=session.id))
        assert (tree / "work.txt").read_text() == "mine"
        listed = (await host.list_worktrees(InFolder(cwd=str(repository)))).details["worktrees"]
        assert str(tree) in [one["path"] for one in listed]
        await asyncio.to_thread(run, tree, "add", ".")
        await asyncio.to_thread(run, tree, *ME, "commit", "-qm", "work")
        await host.delete_worktree(DeleteWorktree(path=str(tree)))
        assert await beside(repository) == ["main", "side"]  # its commits are on its branch


@pytest.mark.parametrize("given", ["", ".", "..", "work", "./work", "sub/../."])
async def test_a_folder_is_never_one_of_where_the_host_was_started(
    place: Place, repository: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.chdir(repository)
    somebody = Caller(name="somebody", via="http")
    (repository / "work").mkdir()
    async with place.opened() as host:
        asked = (
            lambda: host.create_worktree(CreateWorktree(cwd=given, name="side"), somebody),
            lambda: host.create_session(CreateSession(cwd=given, worktree="side"), somebody),
            lambda: host.create_session(CreateSession(cwd=given), somebody),
            lambda: host.delete_worktree(DeleteWorktree(path=given), somebody),
            lambda: host.list_worktrees(InFolder(cwd=given), somebody),
        )
        for ask in asked:
            with pytest.raises(HostError) as refused:
                await ask()
            assert refused.value.code == "invalid"
        if given:
            assert (await host.list_folders(ListFolders(prefix=given), somebody)).paths == []
        assert await beside(repository) == ["main"]
        assert (await host.list_sessions(ListSessions(archived=None))).sessions == []
        if given == ".":  # the program that runs the host is where the host is
            assert (await host.create_session(CreateSession(cwd=given))).cwd == str(repository)


async def test_patterns_that_match_very_many_files_neither_prevent_a_worktree_nor_fill_it(
    place: Place, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names of all that match are more than git may say."""
    monkeypatch.setattr(git, "OUTPUT_BYTES", 2_000)
    monkeypatch.setattr(worktrees, "INCLUDED_FILES", 3)
    (repository / ".worktreeinclude").write_text("*.env\n")
    for number in range(50):
        (repository / f"{number:0100}.env").write_text("SECRET=1")
    async with place.opened() as host:
        created = await host.create_worktree(CreateWorktree(cwd=str(repository), name="side"))
    names = await asyncio.to_thread(os.listdir, created.details["path"])
    assert sorted(name for name in names if name.endswith(".env")) == [f"{number:0100}.env" for number in range(3)]


async def test_a_file_of_patterns_that_is_too_large_includes_nothing(
    place: Place, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worktrees, "INCLUDE_BYTES", 100)
    (repository / ".worktreeinclude").write_text(".env\n" * 21)
    (repository / ".env").write_text("SECRET=1")
    async with place.opened() as host:
        created = await host.create_worktree(CreateWorktree(cwd=str(repository), name="side"))
    assert ".env" not in await asyncio.to_thread(os.listdir, created.details["path"])
