"""Git in repositories that were made to run a program, to hide work, or to fill the memory."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from host.kit import Place
from quarterdeck.host import Caller, HostError, git
from quarterdeck.host.requests import CreateSession, CreateWorktree, DeleteWorktree, OfSession

ME = ("-c", "user.name=T", "-c", "user.email=t@example.org")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


@pytest.fixture
def repository(place: Place) -> Path:
    made(place.cwd)
    return place.cwd


def made(folder: Path, text: str = "one\n") -> None:
    folder.mkdir(exist_ok=True)
    run(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text(text)
    run(folder, "add", ".")
    run(folder, *ME, "commit", "-qm", "first")


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def configured(folder: Path, text: str) -> None:
    with (folder / ".git" / "config").open("a") as file:
        file.write(text)


def with_an_equals_sign(folder: Path, program: Path) -> None:
    """``-c filter.a=b.clean=`` would set ``filter.a``."""
    configured(folder, f'[filter "a=b"]\n smudge = {program}\n clean = {program}\n')
    (folder / ".git" / "info" / "attributes").write_text("* filter=a=b\n")


def only_on_the_branch(folder: Path, program: Path) -> None:
    """Not to be seen in the repository, only in the worktree that is made."""
    (folder / ".git" / "more").write_text(f'[filter "evil"]\n smudge = {program}\n clean = {program}\n')
    configured(folder, '[includeIf "onbranch:side"]\n path = more\n')
    (folder / ".git" / "info" / "attributes").write_text("* filter=evil\n")


def only_in_worktrees(folder: Path, program: Path) -> None:
    (folder / ".git" / "more").write_text(f'[filter "evil"]\n smudge = {program}\n clean = {program}\n')
    configured(folder, '[includeIf "gitdir:**/worktrees/*"]\n path = more\n')
    (folder / ".git" / "info" / "attributes").write_text("* filter=evil\n")


def without_a_name(folder: Path, program: Path) -> None:
    configured(folder, f'[filter ""]\n smudge = {program}\n clean = {program}\n')
    (folder / ".git" / "info" / "attributes").write_text("* filter=\n")


def a_missing_object(folder: Path, program: Path) -> None:
    """Git would fetch it, from a program that the repository names, over a protocol that the repository allows."""
    configured(
        folder,
        f'[protocol "file"]\n allow = always\n[extensions]\n partialClone = o\n[core]\n repositoryformatversion = 1\n'
        f'[remote "o"]\n promisor = true\n url = {folder}\n uploadpack = {program}\n',
    )
    blob = run(folder, "rev-parse", "HEAD:a.txt").strip()
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


TRAPS = (with_an_equals_sign, only_on_the_branch, only_in_worktrees, without_a_name, a_missing_object)


@pytest.mark.parametrize("trap", TRAPS)
async def test_no_program_of_the_repository_runs(
    place: Place, repository: Path, tmp_path: Path, trap: Callable[[Path, Path], None]
) -> None:
    mark, program = tmp_path / "ran", tmp_path / "trap.sh"
    program.write_text(f"#!/bin/sh\necho ran >> {mark}\nexit 1\n")
    program.chmod(0o755)
    trap(repository, program)
    (repository / "a.txt").write_text("changed\n")
    async with place.opened() as host:
        session = await place.created(host, None)
        for ask in (
            lambda: host.get_diff(OfSession(session_id=session.id)),
            lambda: host.create_worktree(CreateWorktree(cwd=str(repository), name="side")),
            lambda: host.delete_worktree(DeleteWorktree(path=f"{repository}-side")),
        ):
            try:
                await ask()
            except HostError as error:  # to refuse is well
                assert error.code == "invalid", error
    assert not await asyncio.to_thread(mark.exists)


@pytest.mark.parametrize("trap", TRAPS)
def test_the_traps_work(repository: Path, tmp_path: Path, trap: Callable[[Path, Path], None]) -> None:
    mark, program = tmp_path / "ran", tmp_path / "trap.sh"
    program.write_text(f"#!/bin/sh\necho ran >> {mark}\nexit 1\n")
    program.chmod(0o755)
    trap(repository, program)
    (repository / "a.txt").write_text("changed\n")
    for words in (("diff",), ("worktree", "add", "-b", "side", "../side")):
        subprocess.run(["git", *words], cwd=repository, check=False, capture_output=True)
    if trap is not without_a_name:  # this git takes no such filter; another may
        assert mark.exists()


@pytest.mark.parametrize("hiding", ["showUntrackedFiles", "assume-unchanged", "skip-worktree"])
async def test_work_that_git_was_told_not_to_show_is_only_removed_by_force(
    place: Place, repository: Path, hiding: str
) -> None:
    async with place.opened() as host:
        tree = Path((await host.create_worktree(CreateWorktree(cwd=str(repository), name="side"))).details["path"])
        if hiding == "showUntrackedFiles":
            await asyncio.to_thread(run, tree, "config", "status.showUntrackedFiles", "no")
            work = tree / "draft.txt"
        else:
            await asyncio.to_thread(run, tree, "update-index", f"--{hiding}", "a.txt")
            work = tree / "a.txt"
        work.write_text("mine")
        with pytest.raises(HostError, match="uncommitted") as kept:
            await host.delete_worktree(DeleteWorktree(path=str(tree)))
        assert (kept.value.code, work.read_text()) == ("conflict", "mine")


async def test_a_repository_that_a_git_file_names_gives_nobody_more_folders(place: Place, tmp_path: Path) -> None:
    made(tmp_path / "theirs", "secret\n")
    (tmp_path / "theirs" / ".worktreeinclude").write_text(".env\n")
    (tmp_path / "theirs" / ".env").write_text("KEY=1\n")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / ".git").write_text(f"gitdir: {tmp_path}/theirs/.git\n")
    limited = Caller(name="limited", scope="operate", folders=(str(mine),))
    async with place.opened() as host:
        for ask in (
            lambda: host.create_worktree(CreateWorktree(cwd=str(mine), name="side"), limited),
            lambda: host.create_session(CreateSession(cwd=str(mine), worktree="side"), limited),
        ):
            with pytest.raises(HostError) as refused:
                await ask()
            assert refused.value.code == "folder_not_allowed"
        assert not [one for one in await asyncio.to_thread(os.listdir, tmp_path) if one.endswith("-side")]


async def test_a_worktree_that_was_begun_when_the_host_died_is_completed(place: Place, repository: Path) -> None:
    tree = repository.with_name(f"{repository.name}-side")
    await asyncio.to_thread(run, repository, "worktree", "add", "-q", "--no-checkout", "-b", "side", str(tree))
    async with place.opened() as host:
        request = CreateWorktree(cwd=str(repository), name="side")
        made = (await host.create_worktree(request, key="once")).details
        assert made["path"] == str(tree)
        assert (tree / "a.txt").read_text() == "one\n"


async def test_a_diff_is_read_no_further_than_it_is_shown(
    place: Place, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "DIFF_CHARS", 1_000)
    monkeypatch.setattr(git, "UNTRACKED_BYTES", 1_000)
    (repository / "a.txt").write_text("x\n" * 10_000_000)
    for number in range(200):
        (repository / f"untracked-file-{number}").touch()
    async with place.opened() as host:
        session = await place.created(host, None)
        shown = (await host.get_diff(OfSession(session_id=session.id))).details
        assert (len(shown["diff"]), shown["truncated"]) == (1_000, True)
        assert 0 < len(shown["untracked"]) < 100


async def test_a_repository_in_which_git_hangs_delays_nobody_else(
    place: Place, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "TIMEOUT_S", 1.0)
    async with place.opened() as host:
        session = await place.created(host, None)
        await asyncio.to_thread(os.mkfifo, repository / ".git" / "pipe")
        await asyncio.to_thread(configured, repository, "[include]\n path = pipe\n")
        asked = [asyncio.create_task(host.get_diff(OfSession(session_id=session.id))) for _ in range(8)]
        await asyncio.to_thread(lambda: None)  # what else is done in threads goes on
        assert not any(one.done() for one in asked)
        for outcome in await asyncio.gather(*asked, return_exceptions=True):
            assert isinstance(outcome, HostError)
            assert outcome.code == "unavailable"
        await place.created(host, None)  # a session needs no git
