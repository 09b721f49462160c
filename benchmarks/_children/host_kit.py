"""What the loads on the host and on bare programs share: what they are asked for, and a host to put them on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from quarterdeck import ClaudeAgentOptions
from quarterdeck.host import Host
from quarterdeck.host.events import StatusChange
from quarterdeck.host.requests import CreateSession, OfSession, SendPrompt, WatchSession
from quarterdeck.host.resources import Frame
from quarterdeck.keeper import KeeperClient, find_keepers

from .client import Figures, Meter

AT_ONCE = 10
"""Sessions that are started together."""
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Setting(msgspec.Struct, kw_only=True):
    """What the parent asks for; each load uses some of it."""

    cli: str
    folder: str
    env: dict[str, str] = {}
    lines: str = ""
    """A file of lines, for what needs no CLI."""
    sessions: int = 1
    subscribers: int = 1
    per_second: int = 0
    count: int = 0
    ids: list[str] = []
    rows: list[int] = []
    started: float = 0.0

    @property
    def state(self) -> Path:
        return Path(self.folder, "state")

    def host(self, **more: Any) -> Host:
        return Host(self.state, agents={"claude": self.cli}, env={**self.env, "HOME": self.folder}, **more)


@asynccontextmanager
async def a_host(setting: Setting) -> AsyncIterator[Host]:
    """With everything ended afterwards."""
    try:
        async with setting.host() as host:
            yield host
    finally:
        await stop_keeper(setting)


async def stop_keeper(setting: Setting) -> None:
    async with await KeeperClient.open(setting.state / "keeper", take_over=True) as client:
        await client.stop()


async def created(host: Host, setting: Setting, count: int) -> list[str]:
    """Ids of new sessions that wait for a prompt."""
    ids: list[str] = []
    while len(ids) < count:
        request = CreateSession(cwd=setting.folder)
        batch = (host.create_session(request) for _ in range(min(AT_ONCE, count - len(ids))))
        ids += [session.id for session in await asyncio.gather(*batch)]
    return ids


async def frames_of_turn(host: Host, session: str, see: Callable[[Frame], None] = lambda _: None) -> int:
    """Send a prompt, and read the session's frames until it is idle again; how many there were."""
    known = await host.get_session(OfSession(session_id=session))
    watched = host.watch_session(WatchSession(session_id=session, after=f"{known.epoch}-{known.seq}", previews=False))
    await host.send_prompt(SendPrompt(session_id=session, content="go"))
    count = 0
    async with aclosing(watched):
        async for frame in watched:
            assert isinstance(frame, Frame)
            count += 1
            see(frame)
            if any(isinstance(event, StatusChange) and event.state == "idle" for event in frame.events):
                return count
    raise AssertionError("the stream ended before the turn")


class KeeperFacts:
    """What the keeper of a host has used."""

    def __init__(self, setting: Setting) -> None:
        self._pid = next(place.pid for place in find_keepers(setting.state / "keeper") if place.alive)

    def processor_s(self) -> float:
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def resident_kb(self) -> float:
        return int(Path(f"/proc/{self._pid}/statm").read_text().split()[1]) * PAGE / 1024


async def metered(setting: Setting, work: Awaitable[Any]) -> tuple[Any, Figures]:
    keeper = KeeperFacts(setting)
    before = keeper.processor_s()
    with Meter() as meter:
        result = await work
    return result, {**meter.figures, "keeper_s": keeper.processor_s() - before}


def options(setting: Setting) -> ClaudeAgentOptions:
    return ClaudeAgentOptions(cli_path=setting.cli, env=setting.env, cwd=setting.folder, include_partial_messages=True)


def delivered(told: Sequence[tuple[int, int]], setting: Setting) -> Figures:
    if any(count != setting.count for count, _ in told):
        raise SystemExit(f"{setting.count} pieces of text, and the subscribers got {sorted({n for n, _ in told})}")
    return {"deliveries": sum(count for count, _ in told)}
