"""A host with a simulated Claude Code, in a folder of the test's own."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from quarterdeck.host import Host
from quarterdeck.host.events import ApprovalChanged, ProcessChanged, StatusChange
from quarterdeck.host.requests import (
    CreateSession,
    Decide,
    Decision,
    Lifecycle,
    ListApprovals,
    ListSessions,
    OfSession,
    ReadEvents,
    SendPrompt,
    WatchSession,
)
from quarterdeck.host.resources import Approval, Frame, Session
from quarterdeck.keeper import KeeperClient
from quarterdeck.testing.kit import FakeClaude

Event = TypeVar("Event")

LIMIT_S = 60.0
"""Of every wait, on a busy machine."""
STAYS_DOWN = Lifecycle(restarts=0)
"""What a crash leaves stays for the test to look at."""
ASKS = {"tool": "Bash", "input": {"command": "touch made.txt", "description": "Make a file"}}


class Place:
    """Where one test's host and its sessions live."""

    def __init__(self, root: Path, *, keeper: bool) -> None:
        self.claude = FakeClaude(root / "claude")
        self.folder = root / "state"
        self.keeper = keeper

    @property
    def cwd(self) -> Path:
        return self.claude.cwd

    def host(self, **more: Any) -> Host:
        agents = {"claude": str(self.claude.path)}
        own = {"keeper": self.keeper, "agents": agents, "env": self.claude.env, "lifecycle": STAYS_DOWN}
        return Host(self.folder, **{**own, **more})

    @asynccontextmanager
    async def opened(self, *, limit_s: float = LIMIT_S, **more: Any) -> AsyncIterator[Host]:
        """The host; when it is left, everything it started is ended."""
        async with asyncio.timeout(limit_s), self.host(**more) as host:
            yield host
            for session in (await host.list_sessions(ListSessions(limit=1_000))).sessions:
                await host.stop(OfSession(session_id=session.id))
        await self.end_keeper()

    async def end_keeper(self) -> None:
        if self.keeper:
            await end_keeper(self.folder)

    async def created(self, host: Host, prompt: str | None = "go", **more: Any) -> Session:
        return await host.create_session(CreateSession(cwd=str(self.cwd), prompt=prompt, **more))


async def end_keeper(state: Path) -> None:
    """End the keeper of the host with this folder."""
    async with await KeeperClient.open(state / "keeper", take_over=True) as client:
        await client.stop()


async def frames_until(host: Host, session: str, *states: str, after: str | None = None) -> list[Frame]:
    """The frames up to and with the one that says the session is in one of these states."""
    frames: list[Frame] = []
    began = False
    request = WatchSession(session_id=session, previews=False, after=after)
    async for frame in host.watch_session(request):
        assert isinstance(frame, Frame)
        frames.append(frame)
        for event in frame.events:
            if isinstance(event, StatusChange):
                began = began or event.state == "running"
                if began and event.state in states:
                    return frames
    raise AssertionError("the stream ended")


async def all_frames(host: Host, session: str) -> list[Frame]:
    return (await host.read_events(ReadEvents(session_id=session, limit=100_000))).frames


async def pending(host: Host, session: str | None = None, *, count: int = 1) -> list[Approval]:
    """What waits for a decision; at least so many, bounded."""
    while True:
        found = (await host.list_approvals(ListApprovals(session=session))).approvals
        if len(found) >= count:
            return found
        await asyncio.sleep(0.01)


async def decide(host: Host, approval: Approval, decision: str = "allow", **more: Any) -> Approval:
    fields = {"decision": decision, **more}
    return await host.decide(Decide(approval_id=approval.id, decision=Decision(**fields)))


def kinds(frames: list[Frame]) -> list[str]:
    return [type(event).__name__ for frame in frames for event in frame.events]


def states_of(frames: list[Frame]) -> list[str]:
    """The states of approvals, in the order in which they were told."""
    return [event.approval.state for frame in frames for event in frame.events if isinstance(event, ApprovalChanged)]


def told(frames: list[Frame], kind: type[Event]) -> list[Event]:
    """The events of this kind, in order."""
    return [event for frame in frames for event in frame.events if isinstance(event, kind)]


async def next_turn(host: Host, session: str, content: str = "go on") -> list[Frame]:
    """Send a prompt; the frames from there until the session is idle."""
    known = await host.get_session(OfSession(session_id=session))
    await host.send_prompt(SendPrompt(session_id=session, content=content))
    return await frames_until(host, session, "idle", after=f"{known.epoch}-{known.seq}")


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


async def processes(host: Host, session: Session) -> list[ProcessChanged]:
    return told(await all_frames(host, session.id), ProcessChanged)


async def pid_of(host: Host, session: Session) -> int:
    """The process that the session's log names."""
    pid = [one for one in await processes(host, session) if one.state == "running"][-1].pid
    assert pid is not None
    return pid


async def kill(host: Host, session: Session, how: signal.Signals = signal.SIGKILL) -> None:
    os.kill(await pid_of(host, session), how)


def lives(pid: int) -> bool:
    """Whether this process runs. One that has ended and is not reaped yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
