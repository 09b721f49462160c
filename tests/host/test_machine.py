"""Folders, transcripts and repositories of the machine; git in a folder that nobody vouches for runs nothing."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from host.kit import LIMIT_S, Place
from quarterdeck.host import Caller, Host, HostError
from quarterdeck.host.requests import (
    CreateSession,
    CreateToken,
    CreateWorktree,
    DeleteWorktree,
    ExplainPolicy,
    InFolder,
    ListFolders,
    ListTranscripts,
    OfSession,
    OfTranscript,
    SendPrompt,
    TryRule,
    Wait,
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


@pytest.fixture
def repository(place: Place) -> Path:
    git(place.cwd, "init", "-q", "-b", "main")
    (place.cwd / "a.txt").write_text("one\n")
    git(place.cwd, "add", ".")
    git(place.cwd, "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "first")
    return place.cwd


def git(cwd: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True)


def everything_in(folder: Path) -> list[Path]:
    return list(folder.rglob("*"))


async def idle(host: Host, session: str) -> None:
    await host.wait(Wait(session_id=session, for_=["idle"], timeout_s=LIMIT_S))


async def test_the_diff_has_what_changed_since_the_session_began(place: Place, repository: Path) -> None:
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        (repository / "a.txt").write_text("two\n")
        (repository / "new.txt").write_text("new\n")
        await asyncio.to_thread(git, repository, "-c", "user.name=T", "-c", "user.email=t@e.org", "commit", "-qam", "2")
        shown = (await host.get_diff(OfSession(session_id=session.id))).details
        assert "-one\n+two\n" in shown["diff"]
        assert shown["untracked"] == ["new.txt"]
        assert not shown["truncated"]


async def test_outside_a_repository_there_is_no_diff(place: Place) -> None:
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        with pytest.raises(HostError, match="not in a git repository") as missing:
            await host.get_diff(OfSession(session_id=session.id))
        assert missing.value.code == "not_found"


@pytest.fixture
def trap(repository: Path, tmp_path: Path) -> Path:
    """A repository whose every setting runs a program that leaves a mark; returns the mark."""
    mark = tmp_path / "ran"
    program = tmp_path / "trap.sh"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> {mark}\ncat\n')
    program.chmod(0o755)
    hooks = repository / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman"):
        (hooks / hook).write_text(program.read_text())
        (hooks / hook).chmod(0o755)
    for name in ("core.fsmonitor", "diff.external", "diff.evil.command", "diff.evil.textconv", "core.pager"):
        git(repository, "config", name, str(program))
    for part in ("clean", "smudge", "process"):
        git(repository, "config", f"filter.evil.{part}", str(program))
    git(repository, "config", "filter.evil.required", "true")
    (repository / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (repository / "a.txt").write_text("changed\n")
    return mark


async def test_git_runs_nothing_that_a_repository_names(place: Place, trap: Path) -> None:
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        shown = (await host.get_diff(OfSession(session_id=session.id))).details
        assert "+changed" in shown["diff"]
        await host.create_worktree(CreateWorktree(cwd=str(place.cwd), name="side"))
        await host.list_worktrees(InFolder(cwd=str(place.cwd)))
        await host.delete_worktree(DeleteWorktree(path=f"{place.cwd}-side"))
        assert not await asyncio.to_thread(trap.exists)


def test_the_trap_works(trap: Path, repository: Path) -> None:
    subprocess.run(["git", "diff"], cwd=repository, check=False, capture_output=True)
    assert trap.exists()


async def test_a_worktree_with_uncommitted_work_is_only_removed_by_force(place: Place, repository: Path) -> None:
    async with place.opened() as host:
        made = (await host.create_worktree(CreateWorktree(cwd=str(repository), name="side"))).details
        assert made["branch"] == "side"
        path = Path(made["path"])
        (path / "draft.txt").write_text("not committed")
        listed = (await host.list_worktrees(InFolder(cwd=str(path)))).details["worktrees"]
        assert [one["branch"] for one in listed] == ["main", "side"]
        with pytest.raises(HostError, match="uncommitted") as kept:
            await host.delete_worktree(DeleteWorktree(path=str(path)))
        assert kept.value.code == "conflict"
        assert (path / "draft.txt").read_text()
        await host.delete_worktree(DeleteWorktree(path=str(path), force=True))
        assert not await asyncio.to_thread(path.exists)
        with pytest.raises(HostError, match="not a worktree"):
            await host.delete_worktree(DeleteWorktree(path=str(repository), force=True))
        for name in ("../out", "-b", ""):
            with pytest.raises(HostError, match="is not a valid name for a worktree"):
                await host.create_worktree(CreateWorktree(cwd=str(repository), name=name))


async def test_worktreeinclude_brings_what_is_not_committed_and_nothing_from_elsewhere(
    place: Place, repository: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not yours")
    for name in (".env", "conf/local.toml", "conf/deep/more.toml", "other.txt"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(name)
    (repository / "link.toml").symlink_to(secret)
    (repository / "linked").symlink_to(tmp_path)
    await asyncio.to_thread(os.mkfifo, repository / "pipe.toml")
    lines = [
        ".env",
        "*.toml",
        "!conf/deep/more.toml",
        "../secret.txt",
        "/../secret.txt",
        str(secret),
        "linked/*",
        ".git/*",
        "a.txt",
    ]
    (repository / ".worktreeinclude").write_text("\n".join([*lines, "\x00", "[", "x" * 100_000]))
    async with place.opened() as host:
        made = Path((await host.create_worktree(CreateWorktree(cwd=str(repository), name="side"))).details["path"])
        files = [one for one in await asyncio.to_thread(everything_in, made) if ".git" not in one.parts]
        assert not any(one.is_symlink() for one in files)
        copied = {str(one.relative_to(made)) for one in files if one.is_file()}
        assert copied == {"a.txt", ".env", "conf/local.toml"}
        assert (made / ".env").read_text() == ".env"
        await host.delete_worktree(DeleteWorktree(path=str(made), force=True))


async def test_a_worktreeinclude_that_is_a_link_is_not_read(place: Place, repository: Path, tmp_path: Path) -> None:
    (tmp_path / "patterns").write_text("*\n")
    (repository / ".env").write_text("x")
    (repository / ".worktreeinclude").symlink_to(tmp_path / "patterns")
    async with place.opened() as host:
        made = Path((await host.create_worktree(CreateWorktree(cwd=str(repository), name="side"))).details["path"])
        assert not (made / ".env").exists()


async def test_a_worktree_that_a_host_made_before_it_died_is_found_by_the_same_key(
    place: Place, repository: Path
) -> None:
    async with place.opened() as host:
        request = CreateWorktree(cwd=str(repository), name="side")
        made = (await host.create_worktree(request)).details  # as if the answer were lost, and the receipt
        assert (await host.create_worktree(request, key="once")).details == made
        with pytest.raises(HostError, match="already exists"):
            await host.create_worktree(request)
        (Path(made["path"]) / "a.txt").write_text("work of somebody")
        with pytest.raises(HostError, match="already exists"):
            await host.create_worktree(request, key="another")


async def test_commits_that_no_branch_has_are_only_removed_by_force(place: Place, repository: Path) -> None:
    async with place.opened() as host:
        made = (await host.create_worktree(CreateWorktree(cwd=str(repository), name="side"))).details
        path = Path(made["path"])
        me = ("-c", "user.name=T", "-c", "user.email=t@example.org")
        await asyncio.to_thread(git, path, "checkout", "-q", "--detach")
        (path / "b.txt").write_text("work")
        await asyncio.to_thread(git, path, "add", ".")
        await asyncio.to_thread(git, path, *me, "commit", "-qm", "on no branch")
        with pytest.raises(HostError, match="no branch") as kept:
            await host.delete_worktree(DeleteWorktree(path=str(path)))
        assert kept.value.code == "conflict"
        await asyncio.to_thread(git, path, "branch", "kept")
        await host.delete_worktree(DeleteWorktree(path=str(path)))
        assert not await asyncio.to_thread(path.exists)


async def test_folders_are_offered_where_sessions_may_start(place: Place, tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    for name in ("allowed/inside", "allowed/.hidden", "other"):
        (tmp_path / name).mkdir(parents=True)
    async with place.opened(folders=[allowed]) as host:

        async def offered(prefix: str) -> list[str]:
            return (await host.list_folders(ListFolders(prefix=prefix))).paths

        assert await offered("") == [str(allowed)]
        assert await offered(f"{tmp_path}/") == [str(allowed)]
        assert await offered(f"{allowed}/") == [str(allowed / "inside")]
        assert await offered(f"{tmp_path}/oth") == []
        with pytest.raises(HostError) as refused:
            await host.list_worktrees(InFolder(cwd=str(tmp_path / "other")))
        assert refused.value.code == "folder_not_allowed"


async def test_a_transcript_on_disk_becomes_a_session_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place.cwd.parent / "home" / ".claude"))
    place.claude.play(["Hi."], ["Welcome back."])
    async with place.opened() as host:
        session = await place.created(host)
        await idle(host, session.id)
        transcript = (await host.get_session(OfSession(session_id=session.id))).transcript_id
        assert transcript is not None
        with pytest.raises(HostError) as owned:
            await host.adopt_transcript(OfTranscript(transcript_id=transcript))
        assert owned.value.code == "conflict"
        while not (await host.list_transcripts(ListTranscripts(q="Hi."))).details["transcripts"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # the CLI writes its transcript when it can
        await host.delete_session(OfSession(session_id=session.id))
        listed = (await host.list_transcripts(ListTranscripts(cwd=str(place.cwd)))).details["transcripts"]
        assert [(one["session_id"], one["adopted_as"]) for one in listed] == [(transcript, None)]
        found = (await host.list_transcripts(ListTranscripts(q="Hi."))).details["transcripts"]
        assert [one["session_id"] for one in found] == [transcript]
        adopted = await host.adopt_transcript(OfTranscript(transcript_id=transcript))
        assert (adopted.state, adopted.cwd, adopted.transcript_id) == ("stopped", str(place.cwd), transcript)
        await host.send_prompt(SendPrompt(session_id=adopted.id, content="I am back"))
        await idle(host, adopted.id)
        assert (await host.get_session(OfSession(session_id=transcript))).id == adopted.id
        with pytest.raises(HostError) as twice:
            await host.adopt_transcript(OfTranscript(transcript_id=transcript))
        assert twice.value.code == "conflict"


async def test_transcripts_of_accounts_and_of_sessions_with_a_home_of_their_own_are_found(
    place: Place, tmp_path: Path
) -> None:
    place.claude.play(["Hi."], ["Welcome back."])
    homes = {"account": tmp_path / "work", "own": tmp_path / "own"}
    given: dict[str, dict[str, Any]] = {
        "account": {"account": "work"},
        "own": {"options": {"env": {"CLAUDE_CONFIG_DIR": str(homes["own"])}}},
    }
    async with place.opened(accounts={"work": homes["account"]}) as host:

        async def listed(text: str = "") -> dict[str, dict[str, Any]]:
            found = (await host.list_transcripts(ListTranscripts(q=text))).details["transcripts"]
            return {one["session_id"]: one for one in found}

        for kind, options in given.items():
            session = await place.created(host, **options)
            await idle(host, session.id)
            transcript = (await host.get_session(OfSession(session_id=session.id))).transcript_id
            assert transcript is not None
            while transcript not in await listed("Hi."):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert (await listed())[transcript]["home"] == str(homes[kind])
            keeps_home = await place.created(host, None, **options)  # so that the host knows of it
            await host.delete_session(OfSession(session_id=session.id))
            adopted = await host.adopt_transcript(OfTranscript(transcript_id=transcript))
            await host.send_prompt(SendPrompt(session_id=adopted.id, content="I am back"))
            await idle(host, adopted.id)
            again = await host.get_session(OfSession(session_id=adopted.id))
            assert (again.transcript_id, again.account) == (transcript, options.get("account", ""))
            await host.stop(OfSession(session_id=keeps_home.id))


BAD_PATHS = {"nobody": "~nobody-of-that-name", "long": "/" + "x" * 5_000, "null": "/srv\0/repo", "half": "/srv/\ud800"}
ASKED: dict[str, Callable[[Host, str], Awaitable[Any]]] = {
    "create_session": lambda host, path: host.create_session(CreateSession(cwd=path)),
    "create_session, agent": lambda host, path: host.create_session(CreateSession(cwd="/", agent=path)),
    "list_worktrees": lambda host, path: host.list_worktrees(InFolder(cwd=path)),
    "create_worktree": lambda host, path: host.create_worktree(CreateWorktree(cwd=path, name="side")),
    "delete_worktree": lambda host, path: host.delete_worktree(DeleteWorktree(path=path)),
    "list_rules": lambda host, path: host.list_rules(InFolder(cwd=path)),
    "explain_policy": lambda host, path: host.explain_policy(ExplainPolicy(tool="Bash", input={}, cwd=path)),
    "try_rule": lambda host, path: host.try_rule(TryRule(rule="Bash(ls)", cwd=path)),
    "list_transcripts": lambda host, path: host.list_transcripts(ListTranscripts(cwd=path)),
    "create_token": lambda host, path: host.create_token(CreateToken(name="x", scope="read", folders=[path])),
}


async def test_what_can_be_no_path_is_refused_as_such_wherever_a_path_is_given(place: Place) -> None:
    in_a_folder = Caller(name="limited", scope="admin", folders=(str(place.cwd),))
    async with place.opened() as host:
        for name, path in BAD_PATHS.items():
            for operation, ask in ASKED.items():
                with pytest.raises(HostError) as refused:
                    await ask(host, path)
                assert refused.value.code == "invalid", (operation, name)
                assert len(str(refused.value)) < 1_000
            assert (await host.list_folders(ListFolders(prefix=path))).paths == []
            with pytest.raises(HostError) as limited:
                await host.create_session(CreateSession(cwd=path), in_a_folder)
            assert limited.value.code == "invalid"
