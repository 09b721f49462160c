"""The host is killed right after a write was committed, and the write is repeated with its key: it was done once."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from host.dying_writer import HOSTS_POLICY, KEY, PROMPT, request_for
from host.kit import LIMIT_S, Place, all_frames, frames_until, told
from quarterdeck.host import Host
from quarterdeck.host.events import CustomEvent, PolicyDecided
from quarterdeck.host.requests import ListSessions, OfSession
from quarterdeck.timeline.events import PromptSent, ToolEnded, TurnEnded

SCRIPT = str(Path(__file__).with_name("dying_writer.py"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=True)


async def killed(place: Place, write: str) -> tuple[str, str]:
    """The id of the session whose host was killed in this write, and what more its request needs."""

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, SCRIPT, write, str(place.folder), str(place.cwd), str(place.claude.path)],
            input=json.dumps(place.claude.env),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )

    done = await asyncio.to_thread(run)
    assert done.returncode == -signal.SIGKILL, done.stderr
    session, _, more = done.stdout.partition("\n")
    return session.strip(), more.strip()


async def repeated(place: Place, host: Host, write: str, session: str, more: str) -> Any:
    """Twice: the answer must be the same."""
    operation, request = request_for(write, str(place.cwd), session, more)
    first = await getattr(host, operation)(request, key=KEY)
    again = await getattr(host, operation)(request, key=KEY)
    if operation not in ("create_session", "fork"):  # a session goes on meanwhile
        assert again == first
    return first


async def prompts(host: Host, session: str) -> list[str]:
    return [event.text for event in told(await all_frames(host, session), PromptSent)]


async def turns(host: Host, session: str, count: int) -> None:
    """Wait until so many have ended."""
    while len(told(await all_frames(host, session), TurnEnded)) < count:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def sent(host: Host, session: str, *parts: bytes) -> int:
    """How many lines of ours say this."""
    rows = (await host.store.read(session, after=0)).rows
    return sum(row.kind == "sent" and all(part in row.body for part in parts) for row in rows)


@pytest.mark.parametrize("write", ["create, before its process", "create, before its prompt"])
async def test_a_session_that_was_begun_gets_its_prompt(write: str, place: Place) -> None:
    place.claude.play(["Done."])
    await killed(place, write)
    async with place.opened() as host:
        session = await repeated(place, host, write, "", "")
        await frames_until(host, session.id, "idle")
        assert [one.id for one in (await host.list_sessions(ListSessions())).sessions] == [session.id]
        assert await prompts(host, session.id) == [PROMPT]


async def test_a_prompt_is_neither_lost_nor_said_twice(place: Place) -> None:
    place.claude.play(["Hello."], ["Done."], ["Once more."])
    session, _ = await killed(place, "send_prompt")
    async with place.opened() as host:
        accepted = await repeated(place, host, "send_prompt", session, "")
        await turns(host, session, 2)
        assert await prompts(host, session) == ["go", PROMPT]
        (frame,) = [one for one in await all_frames(host, session) if one.seq == accepted.seq]
        assert [event.id for event in told([frame], PromptSent)] == [accepted.prompt_id]


async def test_a_prompt_that_waits_is_queued_once(place: Place) -> None:
    gate = place.cwd / "go_on"
    place.claude.play([{"wait_for": str(gate)}, "Hello."], ["Done."], ["Once more."])
    session, _ = await killed(place, "queue")
    async with place.opened() as host:
        await repeated(place, host, "queue", session, "")
        gate.touch()
        await turns(host, session, 2)
        assert await prompts(host, session) == ["go", PROMPT]


async def test_a_prompt_that_was_taken_back_stays_so(place: Place) -> None:
    gate = place.cwd / "go_on"
    place.claude.play([{"wait_for": str(gate)}, "Hello."], ["Never."])
    session, prompt_id = await killed(place, "withdraw_prompt")
    async with place.opened() as host:
        await repeated(place, host, "withdraw_prompt", session, prompt_id)
        gate.touch()
        await frames_until(host, session, "idle")
        assert await prompts(host, session) == ["go"]


async def test_an_event_is_written_once_and_its_prompt_is_said(place: Place) -> None:
    place.claude.play(["Hello."], ["Done."], ["Once more."])
    session, _ = await killed(place, "add_event")
    async with place.opened() as host:
        await repeated(place, host, "add_event", session, "")
        await turns(host, session, 2)
        frames = await all_frames(host, session)
        assert len(told(frames, CustomEvent)) == 1
        said = [event.text for event in told(frames, PromptSent)]
        assert len(said) == 2
        assert PROMPT in said[1]


async def test_an_interrupt_is_asked_for_once(place: Place) -> None:
    place.claude.play([{"wait_for": str(place.cwd / "never")}, "Hello."])
    session, _ = await killed(place, "interrupt")
    async with place.opened() as host:
        await repeated(place, host, "interrupt", session, "")
        await frames_until(host, session, "idle")
        assert await sent(host, session, b'"subtype":"interrupt"') == 1


async def test_a_fork_that_was_begun_is_the_fork(place: Place) -> None:
    place.claude.play(["Hello."])
    session, _ = await killed(place, "fork")
    async with place.opened() as host:
        fork = await repeated(place, host, "fork", session, "")
        assert {one.id for one in (await host.list_sessions(ListSessions())).sessions} == {session, fork.id}
        assert (await host.get_session(OfSession(session_id=fork.id))).state == "idle"


async def test_the_answer_to_a_call_is_given_once(place: Place) -> None:
    place.claude.play([{"tool": "mcp__sums__add", "input": {}}, "Done."])
    session, call_id = await killed(place, "answer_callback")
    async with place.opened() as host:
        await repeated(place, host, "answer_callback", session, call_id)
        frames = await frames_until(host, session, "idle")
        assert [str(event.output) for event in told(frames, ToolEnded)] == ["the answer"]
        assert await sent(host, session, b"the answer") == 1


@pytest.mark.parametrize(
    ("asked_in", "file", "decision"), [("can_use_tool", "allowed.txt", "allow"), ("PreToolUse", "never.txt", "deny")]
)
async def test_a_verdict_of_the_policy_is_told_once(asked_in: str, file: str, decision: str, place: Place) -> None:
    place.claude.play([{"tool": "Bash", "input": {"command": f"touch {file}"}}, "Done."])
    session, _ = await killed(place, f"policy {asked_in}")
    async with place.opened(policy=HOSTS_POLICY) as host:
        frames = await frames_until(host, session, "idle")
        verdicts = [(event.asked_in, event.decision) for event in told(frames, PolicyDecided)]
        assert verdicts == [(asked_in, decision)]
    assert (place.cwd / file).exists() == (decision == "allow")
