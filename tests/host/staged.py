"""A host whose Claude Code is the real one with a scripted model, or the simulator: one script plays on both.

The stage is the conformance suite's; ``Staged`` puts a host over it, and ``Talk`` follows one session of that host.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.real import RealStage
from conformance.simulated import SimulatedStage
from conformance.stage import Heard
from conformance.stage import Stage as Stage
from host.kit import LIMIT_S, decide, end_keeper, frames_until, pending
from needs import real_cli
from quarterdeck.host import Host
from quarterdeck.host.requests import CreateSession, ListSessions, OfSession, SendPrompt
from quarterdeck.host.resources import Approval, Frame, Priority, Session
from quarterdeck.testing.install import NEWEST

BOTH = [pytest.param("real", marks=pytest.mark.real), "sim"]
"""For fixtures that give every test both kinds of Claude Code."""
EVERYWHERE = [*BOTH, pytest.param("websocket", marks=pytest.mark.real), pytest.param("rest", marks=pytest.mark.real)]
"""The same, and the real one on a host that is asked over the network: by WebSocket, and by requests and SSE."""


@contextmanager
def stage_in(folder: Path, kind: str) -> Iterator[Stage]:
    folder.mkdir(exist_ok=True)
    stage = RealStage(folder, real_cli().argv, NEWEST) if kind == "real" else SimulatedStage(folder)
    try:
        yield stage
    finally:
        stage.close()


def host_over(stage: Stage, *, keeper: bool = True, **more: Any) -> Host:
    """A host whose Claude Code is the stage's. Open it as a context manager."""
    options = stage.options()
    given = {"agents": {"claude": options.cli_path}, "env": options.env, **more}
    return Host(stage.folder / "state", keeper=keeper, **given)


class Talk:
    """One session, and how far it has been followed."""

    def __init__(self, staged: Staged, session: Session) -> None:
        self.staged = staged
        self.host = staged.host
        self.id = session.id
        self.of = OfSession(session_id=session.id)
        self.cursor: str | None = None
        """The last row before what was said last."""
        self.prompt_id = ""
        """Of what was said last."""

    async def now(self) -> Session:
        return await self.host.get_session(self.of)

    async def mark(self) -> None:
        """Follow it from here."""
        known = await self.now()
        self.cursor = f"{known.epoch}-{known.seq}"

    async def send(self, text: Any, priority: Priority = "next") -> str:
        request = SendPrompt(session_id=self.id, content=text, priority=priority)
        return (await self.host.send_prompt(request)).prompt_id

    async def say(self, text: Any = "go") -> None:
        """Begin a turn."""
        await self.mark()
        self.prompt_id = await self.send(text)

    async def asked(self) -> Approval:
        """The one thing that waits for a decision."""
        (approval,) = await pending(self.host, self.id)
        return approval

    async def decide(self, decision: str = "allow", **more: Any) -> Approval:
        """Wait until something is asked, and decide it."""
        return await decide(self.host, await self.asked(), decision, **more)

    async def until(self, *states: str) -> list[Frame]:
        """The frames since what was said last, up to the state."""
        return await frames_until(self.host, self.id, *(states or ("idle",)), after=self.cursor)

    async def turn(self, text: Any = "go") -> list[Frame]:
        """Say something that nobody is asked about."""
        await self.say(text)
        return await self.until("idle")


class Staged:
    """A host over a stage, with an event loop of its own, so that several tests can share its sessions."""

    def __init__(self, stage: Stage, kind: str, runner: asyncio.Runner, *, keeper: bool = True) -> None:
        self.stage = stage
        self.kind = kind
        self.keeper = keeper
        self.state = stage.folder / "state"
        self.host = host_over(stage, keeper=keeper)
        self._runner = runner

    @property
    def real(self) -> bool:
        return self.kind == "real"

    @property
    def cwd(self) -> Path:
        return self.stage.cwd

    @property
    def heard(self) -> list[Heard]:
        """What the model was asked."""
        return self.stage.heard

    async def conversation(self, talk: Talk) -> str:
        """What the model was shown of the conversation in the last turn; on the simulator, what its transcript has."""
        if isinstance(self.stage, RealStage):
            return self.stage.conversation
        (path,) = self.stage.home.glob(f".claude/projects/*/{(await talk.now()).transcript_id}.jsonl")
        records = [json.loads(line) for line in path.read_text().splitlines()]
        by_uuid = {one["uuid"]: one for one in records if "uuid" in one}
        chain, one = [], list(by_uuid.values())[-1]
        while one is not None:
            chain.append(json.dumps(one.get("message")))
            one = by_uuid.get(one["parentUuid"])
        return "\n".join(reversed(chain))

    async def talk(self, prompt: str | None = None, **more: Any) -> Talk:
        return Talk(self, await self.host.create_session(CreateSession(cwd=str(self.cwd), prompt=prompt, **more)))

    def run(self, test: Coroutine[Any, Any, Any]) -> Any:
        async def bounded() -> Any:
            async with asyncio.timeout(LIMIT_S):
                return await test

        return self._runner.run(bounded())

    async def close(self) -> None:
        """End everything it has started."""
        for session in (await self.host.list_sessions(ListSessions(limit=1_000))).sessions:
            await self.host.stop(OfSession(session_id=session.id))
        await self.host.close()
        if self.keeper:
            await end_keeper(self.state)


@contextmanager
def staged_in(folder: Path, kind: str, *, keeper: bool = True) -> Iterator[Staged]:
    if kind in ("websocket", "rest"):
        from remote.staged import staged_elsewhere

        with staged_elsewhere(folder, kind) as staged:
            yield staged
        return
    with stage_in(folder, kind) as stage, asyncio.Runner() as runner:
        staged = Staged(stage, kind, runner, keeper=keeper)
        staged.run(staged.host.open())
        try:
            yield staged
        finally:
            staged.run(staged.close())
