"""A host that works through a plan, whenever it is started: ``chaos_host.py FOLDER CWD CLI PLAN``, env on stdin.

It makes what sessions are missing, goes on talking to each until it was told enough, allows whatever is asked, and
lets watchers come and go and write down the frames they get, each going on after the last one it wrote. Prints where
each session's log ends when all is done.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import random
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec

from quarterdeck.host import Host, HostError
from quarterdeck.host.requests import (
    CreateSession,
    Decide,
    Decision,
    ListApprovals,
    ListSessions,
    OfSession,
    ReadEvents,
    SendPrompt,
    WatchSession,
)
from quarterdeck.host.resources import Frame, Session
from quarterdeck.timeline.events import PromptSent, TurnEnded

LOOK_S = 0.05


class Work:
    def __init__(self, host: Any, cwd: str, plan: dict[str, Any]) -> None:
        """``host`` is a ``Host``, or has its methods."""
        self.host = host
        self.cwd = cwd
        self.plan = plan
        self._told: dict[str, tuple[list[PromptSent | TurnEnded], str | None]] = {}
        """Prompts and ends of turns in each session's log, and how far it was read."""

    async def run(self) -> dict[str, int]:
        """Where each session's log ended, when all was done and told to all."""
        sessions = await self.sessions()
        watching = [asyncio.ensure_future(self.watch(number, sessions)) for number in range(self.plan["watchers"])]
        allowing = asyncio.ensure_future(self.allow())
        await asyncio.gather(*(self.talk(session) for session in sessions))
        ends = {session.name: (await self.view(session)).seq for session in sessions}
        for number, watcher in enumerate(watching):
            await self.caught_up(number, sessions, ends)
            watcher.cancel()
        allowing.cancel()
        await asyncio.gather(allowing, *watching, return_exceptions=True)
        return ends

    def host_of(self, watcher: int) -> Any:
        """The host as this watcher sees it."""
        return self.host

    async def sessions(self) -> list[Session]:
        known = {one.name: one for one in (await self.host.list_sessions(ListSessions(limit=1_000))).sessions}
        for number in range(self.plan["sessions"]):
            name = f"s{number}"
            if name not in known:
                known[name] = await self.host.create_session(CreateSession(cwd=self.cwd, name=name))
        return list(known.values())

    async def view(self, session: Session) -> Session:
        return await self.host.get_session(OfSession(session_id=session.id))

    async def told(self, session: Session) -> list[PromptSent | TurnEnded]:
        known, after = self._told.setdefault(session.id, ([], None))
        request = ReadEvents(session_id=session.id, after=after, limit=100_000)
        page = await self.host.read_events(request)
        events = [event for frame in page.frames for event in frame.events]
        known += [event for event in events if isinstance(event, PromptSent | TurnEnded)]
        if page.frames:
            self._told[session.id] = known, f"{page.epoch}-{page.frames[-1].seq}"
        return known

    def is_enough(self, said: int) -> bool:
        """Whether a session was told enough: until everything was killed, more is said."""
        return said >= self.plan["prompts"] and Path(self.plan["enough"]).exists()

    async def talk(self, session: Session) -> None:
        while True:
            state = (await self.view(session)).state
            told = await self.told(session)
            said = [event.text for event in told if isinstance(event, PromptSent)]
            if state == "idle" and told and isinstance(told[-1], PromptSent):
                await self.say(session, said[-1])  # it was lost with its process
            elif state == "idle" and not self.is_enough(len(set(said))):
                await self.say(session, f"{session.name} {len(set(said))}")
            elif state == "idle":
                return
            elif state in ("crashed", "stopped"):
                with contextlib.suppress(HostError):
                    await self.host.resume(OfSession(session_id=session.id))
            await asyncio.sleep(LOOK_S)

    async def say(self, session: Session, text: str) -> None:
        await self.host.send_prompt(SendPrompt(session_id=session.id, content=text))

    async def allow(self) -> None:
        while True:
            for approval in (await self.host.list_approvals(ListApprovals(limit=1_000))).approvals:
                with contextlib.suppress(HostError):
                    await self.host.decide(Decide(approval_id=approval.id, decision=Decision(decision="allow")))
            await asyncio.sleep(LOOK_S)

    # Watchers

    def notes(self, watcher: int, session: Session) -> Path:
        return Path(self.plan["notes"]) / f"{watcher}-{session.name}.txt"

    def last(self, watcher: int, session: Session) -> int:
        path = self.notes(watcher, session)
        lines = path.read_text().splitlines() if path.exists() else []
        return int(lines[-1].split()[0]) if lines else 0

    async def watch(self, watcher: int, sessions: list[Session]) -> None:
        await asyncio.gather(*(self.watch_one(watcher, session) for session in sessions))

    async def watch_one(self, watcher: int, session: Session) -> None:
        chance = random.Random(f"{self.plan['seed']} {watcher} {session.name}")
        while True:
            await self.watch_some(watcher, session, frames=chance.randrange(1, 60))

    async def watch_some(self, watcher: int, session: Session, frames: int) -> None:
        """Come back after the last frame that was noted, take some more, and leave."""
        last = self.last(watcher, session)
        after = None if not last else f"{(await self.view(session)).epoch}-{last}"
        request = WatchSession(session_id=session.id, after=after, previews=watcher % 2 == 0)
        with self.notes(watcher, session).open("a") as notes:
            async with aclosing(self.host_of(watcher).watch_session(request)) as stream:
                async for one in stream:
                    if isinstance(one, Frame):
                        notes.write(noted(one) + "\n")
                        notes.flush()
                        frames -= 1
                    if not frames:
                        return

    async def caught_up(self, watcher: int, sessions: list[Session], ends: dict[str, int]) -> None:
        while any(self.last(watcher, one) < ends[one.name] for one in sessions):  # noqa: ASYNC110
            await asyncio.sleep(LOOK_S)


def noted(frame: Frame) -> str:
    """A frame as watchers note it: its number, and a digest of every byte of it."""
    return f"{frame.seq} {hashlib.sha256(msgspec.json.encode(frame)).hexdigest()}"


async def main(folder: str, cwd: str, cli: str, plan: dict[str, Any], env: dict[str, str]) -> None:
    async with Host(folder, agents={"claude": cli}, env=env) as host:
        print(json.dumps(await Work(host, cwd, plan).run()), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4], plan=json.loads(sys.argv[4]), env=json.load(sys.stdin)))
