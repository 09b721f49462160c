"""Looks after the processes of sessions: starts crashed ones again, ends silent ones, gives up idle ones."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from typing import Any

from quarterdeck.client.errors import QuarterdeckError
from quarterdeck.store.queries import SessionQuery
from quarterdeck.timeline.state import State

from .actor import SessionActor
from .bodies import decode_body
from .errors import HostError
from .events import HangNoticed
from .host_base import HostBase
from .lifetimes import about_cut_off

logger = logging.getLogger("quarterdeck.host")

TICK_S = 0.5
"""How often the host looks."""
HANG_GRACE_S = 20.0
"""How long a silent turn has to end after it was interrupted."""


class Tending(HostBase):
    """What a host does for its sessions without being asked."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._tender: asyncio.Task[None] | None = None
        self._busy: dict[str, asyncio.Task[None]] = {}
        """Session → what is being done for it."""
        self._interrupted: dict[str, tuple[float, float]] = {}
        """Session that hangs → since when it is silent, and when it was interrupted."""
        self._asking: set[asyncio.Task[None]] = set()

    async def _open(self) -> None:
        await super()._open()
        await self._load_restarts()
        self._tender = asyncio.get_running_loop().create_task(self._tend_regularly())

    async def _load_restarts(self) -> None:
        """Sessions whose restart was due, or is to come, when the host ended."""
        cursor: str | None = None
        while True:
            page = await self.store.sessions(SessionQuery(states=["crashed"], limit=500, cursor=cursor))
            for record in page.sessions:
                if decode_body(record).restart_at is not None:
                    await self._load(record.id)
            cursor = page.next_cursor
            if cursor is None:
                return

    async def close(self) -> None:
        """Leave; with a keeper, the processes go on."""
        tasks = [*self._busy.values(), *self._asking, *([] if self._tender is None else [self._tender])]
        self._tender = None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await super().close()

    async def _tend_regularly(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            try:
                self.tend()
            except Exception:
                logger.exception("Checking the sessions failed")

    def tend(self) -> None:
        """Begin what is due. The host does this by itself."""
        now = self.now()
        self._warm.tend()
        for actor in list(self._actors.values()):
            if actor.id in self._busy:
                continue
            body, state = actor.log.body, actor.log.record.state
            if actor.session is None:
                self._interrupted.pop(actor.id, None)
                if body.restart_at is not None and body.restart_at <= now:
                    self._do(actor, self._restart(actor))
            elif state == "limited" and actor.limited_until is None:
                self._do(actor, _look_again(actor))
            elif _is_parkable(actor, now):
                self._do(actor, actor.park())
            else:
                self._watch_for_hang(actor, now)

    def _do(self, actor: SessionActor, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._busy[actor.id] = task
        task.add_done_callback(lambda done: self._done(actor, done))

    def _done(self, actor: SessionActor, done: asyncio.Task[None]) -> None:
        self._busy.pop(actor.id, None)
        if not done.cancelled() and (error := done.exception()) is not None:
            logger.error("Checking session %s failed", actor.id, exc_info=error)

    # Crashes

    async def _restart(self, actor: SessionActor) -> None:
        """Start it again; a start that fails counts like a crash."""
        try:
            await actor.start(again=True)
        except HostError as error:
            logger.warning("Session %s could not be restarted: %s", actor.id, error)
            return
        unfinished, actor.log.body.unfinished = actor.log.body.unfinished, []
        if unfinished and actor.life.tell_model:
            with contextlib.suppress(HostError):  # e.g. its budget is used up
                await actor.prompts.say(about_cut_off(unfinished), sender="host")

    # Hangs

    def _watch_for_hang(self, actor: SessionActor, now: float) -> None:
        heard_at, limit_s = actor.recorder.heard_at, actor.life.hang_s
        began = self._interrupted.get(actor.id)
        if limit_s is None or not actor.log.in_turn or actor.log.approvals.waiting or actor.calls.waiting:
            self._interrupted.pop(actor.id, None)
        elif began is None:
            if now - heard_at >= limit_s:
                self._interrupted[actor.id] = (heard_at, now)
                self._do(actor, self._interrupt(actor, now - heard_at))
        elif now - began[1] >= HANG_GRACE_S:
            del self._interrupted[actor.id]
            self._do(actor, self._end(actor, now - began[0]))

    async def _interrupt(self, actor: SessionActor, silent_s: float) -> None:
        await actor.log.tell(HangNoticed(self.now(), actor.log.body.generation, silent_s, "interrupt"))
        if actor.session is not None:
            asking = asyncio.get_running_loop().create_task(_ask_to_stop(actor))
            self._asking.add(asking)
            asking.add_done_callback(self._asking.discard)

    async def _end(self, actor: SessionActor, silent_s: float) -> None:
        await actor.log.tell(HangNoticed(self.now(), actor.log.body.generation, silent_s, "end"))
        await actor.end(f"Claude Code was silent for {silent_s:.0f} s and did not react to an interrupt.")


async def _ask_to_stop(actor: SessionActor) -> None:
    with contextlib.suppress(QuarterdeckError):
        await actor.call(lambda session: session.request("interrupt", timeout_s=HANG_GRACE_S))


async def _look_again(actor: SessionActor) -> None:
    await actor.log.append([])


def _is_parkable(actor: SessionActor, now: float) -> bool:
    log, limit_s = actor.log, actor.life.park_s
    if limit_s is None or log.record.state != "idle" or now - actor.recorder.heard_at < limit_s:
        return False
    return not log.fold.queue.prompts and not _has_background_work(log.fold.timeline.state)


def _has_background_work(state: State) -> bool:
    return any(task.status == "running" for task in state.tasks.values())
