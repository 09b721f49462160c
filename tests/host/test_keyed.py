"""Every write with a key, after the host was killed between what it does and the note that it is done."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import soak
from host.dying_keyed import KEY, TURNS
from host.kit import LIMIT_S, Place, all_frames, told
from host.test_hostile_git import made, run
from quarterdeck.host import Host, HostError
from quarterdeck.host.operations import OPERATIONS
from quarterdeck.host.requests import CreateWorktree, DeleteWorktree, ListSessions, Nothing
from quarterdeck.host.resources import Session, Token
from quarterdeck.timeline.events import PromptSent

SCRIPT = str(Path(__file__).with_name("dying_keyed.py"))
KEYED = [name for name, operation in OPERATIONS.items() if operation.writes]
IN_TEST = ["create_session", "fork", "rewind", "interrupt", "stop_task", "set_mcp_servers", "adopt_transcript"]
"""Those whose effect is outside the store. The others change nothing that the transaction does not have."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=True)


async def killed(place: Place, operation: str) -> Any:
    """The request in which the host was killed."""

    def child() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, SCRIPT, operation, str(place.folder), str(place.cwd), str(place.claude.path)],
            input=json.dumps(place.claude.env),
            env={**os.environ, "PYTHONPATH": str(Path(SCRIPT).parents[1])},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )

    await asyncio.to_thread(made, place.cwd)
    place.claude.play(TURNS.get(operation, ["Hello."]), ["More."], ["And more."], ["Too much."])
    done = await asyncio.to_thread(child)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return msgspec.json.decode(done.stdout, type=OPERATIONS[operation].takes)


def outcome(answer: Any) -> Any:
    """A session goes on meanwhile, and a secret is shown once."""
    if isinstance(answer, Token):
        return msgspec.structs.replace(answer, secret=None)
    session = answer if isinstance(answer, Session) else getattr(answer, "session", None)
    return (session.id, session.cwd, session.name, session.model) if isinstance(session, Session) else answer


async def counts(host: Host) -> tuple[int, list[int], int]:
    """Sessions, prompts that each of them was sent, tokens."""
    sessions = (await host.list_sessions(ListSessions(archived=None))).sessions
    said = [len(told(await all_frames(host, one.id), PromptSent)) for one in sessions]
    return len(sessions), said, len((await host.list_tokens(Nothing())).tokens)


@pytest.mark.parametrize("operation", [one for one in KEYED if soak.ON or one in [*IN_TEST, "delete_worktree"]])
async def test_a_repeat_gets_an_answer_and_does_nothing_twice(operation: str, place: Place) -> None:
    request = await killed(place, operation)
    async with place.opened() as host:
        first = await getattr(host, operation)(request, key=KEY)
        before = await counts(host)
        again = await getattr(host, operation)(request, key=KEY)
        assert outcome(again) == outcome(first)
        assert await counts(host) == before


async def test_a_worktree_that_was_removed_by_halves_is_removed_wholly_and_another_one_is_left_alone(
    place: Place,
) -> None:
    request = await killed(place, "delete_worktree")
    tree = Path(request.path)
    assert not await asyncio.to_thread(tree.exists)
    await asyncio.to_thread(run, place.cwd, "worktree", "add", "-q", str(tree), "side")
    async with place.opened() as host:
        await host.delete_worktree(request, key=KEY)  # was done before: this is another one
        assert (tree / "a.txt").exists()
        with pytest.raises(HostError) as unknown:
            await host.delete_worktree(DeleteWorktree(path=f"{tree}-too"), key="other")
        assert unknown.value.code == "invalid"


@pytest.mark.parametrize("new_work", [False, True])
async def test_what_is_left_of_a_worktree_goes_unless_somebody_has_worked_there(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, new_work: bool
) -> None:
    await asyncio.to_thread(made, place.cwd)
    async with place.opened() as host:
        tree = Path((await host.create_worktree(CreateWorktree(cwd=str(place.cwd), name="side"))).details["path"])
        request = DeleteWorktree(path=str(tree))

        def die(*arguments: Any, **_: Any) -> str:
            (tree / ".git").unlink()
            raise ZeroDivisionError

        with monkeypatch.context() as dying, pytest.raises(ZeroDivisionError):
            dying.setattr("quarterdeck.host.machine_operations.git", die)
            await host.delete_worktree(request, key=KEY)
        assert (tree / "a.txt").exists()
        if not new_work:
            await host.delete_worktree(request, key=KEY)
            assert not await asyncio.to_thread(tree.exists)
            assert str(tree) not in await asyncio.to_thread(run, place.cwd, "worktree", "list")
            return
        later = (tree / "a.txt").stat().st_mtime + 100
        (tree / "draft.txt").write_text("mine")
        os.utime(tree / "draft.txt", (later, later))
        with pytest.raises(HostError) as kept:
            await host.delete_worktree(request, key=KEY)
        assert (kept.value.code, (tree / "draft.txt").read_text()) == ("conflict", "mine")
