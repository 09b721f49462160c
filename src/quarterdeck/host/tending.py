"""Manages the processes of sessions: restarts crashed ones, ends silent ones, parks idle ones."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
from collections.abc import Coroutine
from typing import Any

from quarterdeck._memory import give_back
from quarterdeck.client.errors import QuarterdeckError
from quarterdeck.store.queries import SessionQuery
from quarterdeck.timeline.state import State

from .actor import SessionActor
from .bodies import decode_body
from .errors import HostError
from .events import BudgetChanged, HangNoticed
from .host_base import HostBase
from .lifetimes import AFTER_THE_LIMIT, about_cut_off, is_cut_off_by_limit

logger = logging.getLogger("quarterdeck.host")

TICK_S = 0.5
"""How often the host checks."""
HANG_GRACE_S = 20.0
"""How long a silent turn has to end after an interrupt."""
UNLOAD_S = 60.0
"""How long a session without a process stays in memory after its last use."""
AHEAD_S = 60.0
"""A session with a prompt due sooner than this keeps its process."""
WAKE_AGAIN_S = 60.0
"""Delay before retrying to start a session for a prompt that is due."""
LEFT_TOGETHER = 20
"""Parked and unloaded sessions are in reference cycles, and Python may collect them only after hundreds more. The host
runs a collection when there are this many and no session is working. It excludes the program itself (``Host.open``), so
a collection visits only sessions in memory: 0.05 ms each ..."""
LEFT_SHARE = 4
"""... so if there are many, it waits until this share of them has left."""
WITHOUT_PROCESS = ("crashed", "parked", "stopped")


class Tending(HostBase):
    """The host's background work for sessions."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._tender: asyncio.Task[None] | None = None
        self._busy: dict[str, asyncio.Task[None]] = {}
        """Session → the task working on it."""
        self._interrupted: dict[str, tuple[float, float]] = {}
        """Hanging session → since when it is silent, and when it was interrupted."""
        self._asking: set[asyncio.Task[None]] = set()
        self._stopped_for_budget: set[str] = set()
        """Sessions whose turn was interrupted because a budget is used up."""
        self._left = 0
        """Sessions whose memory can be collected."""
        self._due: dict[str, float] = {}
        """Session not in memory → when its first prompt is due."""

    async def _open(self) -> None:
        await super()._open()
        await self._load_restarts()
        self._tender = asyncio.get_running_loop().create_task(self._tend_regularly())

    async def _load_restarts(self) -> None:
        """Load sessions whose restart or scheduled prompt was pending when the host closed."""
        cursor: str | None = None
        while True:
            page = await self.store.sessions(SessionQuery(states=WITHOUT_PROCESS, limit=500, cursor=cursor))
            for record in page.sessions:
                body = decode_body(record)
                if body.restart_at is not None:
                    await self._load(record.id)
                elif body.next_prompt_at is not None:
                    self._due[record.id] = body.next_prompt_at
            cursor = page.next_cursor
            if cursor is None:
                return

    async def close(self) -> None:
        """Leave; with a keeper, the processes keep running."""
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
        """Do what is due. The host calls this itself."""
        now = self.now()
        self._warm.tend()
        self._folds.forget(before=asyncio.get_running_loop().time() - UNLOAD_S)
        self._spending.watch({one.id: one.log.standing.meter for one in self._actors.values() if one.log.in_turn})
        for session_id in [one for one, due_at in self._due.items() if due_at <= now]:
            self._due.pop(session_id)
            self._start_task(session_id, self._load_due(session_id))
        for actor in list(self._actors.values()):
            if actor.id in self._busy:
                continue
            if actor.session is None:
                self._tend_without_process(actor, now)
            else:
                self._tend_process(actor, now)
        enough = max(LEFT_TOGETHER, len(self._actors) // LEFT_SHARE)
        if self._left >= enough and not any(actor.log.in_turn for actor in self._actors.values()):
            self._left = 0
            gc.collect()
            give_back()

    def _tend_without_process(self, actor: SessionActor, now: float) -> None:
        self._interrupted.pop(actor.id, None)
        restart_at = actor.log.body.restart_at
        if restart_at is not None:
            if restart_at <= now:
                self._do(actor, self._restart(actor))
        elif self._is_awaited(actor, now):
            self._do(actor, self._wake(actor))
        elif self._is_idle_here(actor):
            self._do(actor, self._unload(actor))

    def _tend_process(self, actor: SessionActor, now: float) -> None:
        log = actor.log
        if log.fold.queue.prompts:
            actor.prompts.send_when_idle()  # by the current clock, which may have been changed
        warnings = self._spending.warn(actor.id, log.body, now)
        over = self._spending.over(actor.id, log.body, now) if log.in_turn else None
        if over is None:
            self._stopped_for_budget.discard(actor.id)
        if over is not None and actor.id not in self._stopped_for_budget:
            self._stopped_for_budget.add(actor.id)
            self._do(actor, self._stop_for_budget(actor, [*warnings, over]))
        elif warnings:
            self._do(actor, self._tell_all(actor, warnings))
        elif log.record.state == "limited" and actor.limited_until is None:
            self._do(actor, _look_again(actor))
        elif _was_cut_off(actor):
            self._do(actor, _continue(actor))
        elif _is_parkable(actor, now):
            self._left += 1
            self._do(actor, actor.park())
        else:
            self._watch_for_hang(actor, now)

    def _do(self, actor: SessionActor, work: Coroutine[Any, Any, None]) -> None:
        self._start_task(actor.id, work)

    def _start_task(self, session_id: str, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._busy[session_id] = task
        task.add_done_callback(lambda done: self._done(session_id, done))

    def _done(self, session_id: str, done: asyncio.Task[None]) -> None:
        self._busy.pop(session_id, None)
        if not done.cancelled() and (error := done.exception()) is not None:
            logger.error("Checking session %s failed", session_id, exc_info=error)

    # Budgets

    async def _tell_all(self, actor: SessionActor, changes: list[BudgetChanged]) -> None:
        for change in changes:
            await actor.log.tell(change)

    async def _stop_for_budget(self, actor: SessionActor, changes: list[BudgetChanged]) -> None:
        """Interrupt the turn; further prompts are refused until someone raises the budget."""
        await self._tell_all(actor, changes)
        if actor.session is not None:
            self._ask_to_stop(actor)

    # Prompts for later

    def _is_awaited(self, actor: SessionActor, now: float) -> bool:
        """Whether it has a prompt that is due, but no process."""
        due_at = actor.log.fold.queue.next_at()
        is_due = due_at is not None and due_at <= now and not actor.log.record.archived
        return is_due and asyncio.get_running_loop().time() - actor.woken_at >= WAKE_AGAIN_S

    async def _load_due(self, session_id: str) -> None:
        if await self.store.session(session_id) is not None:
            await self._load(session_id)

    async def _wake(self, actor: SessionActor) -> None:
        """Start the session; its prompt is sent as soon as it is idle."""
        actor.woken_at = asyncio.get_running_loop().time()
        try:
            actor.may_prompt()
            await actor.start()
        except HostError as error:
            logger.warning("Session %s could not be started for a prompt that is due: %s", actor.id, error)

    # Memory

    def _is_idle_here(self, actor: SessionActor) -> bool:
        """Whether it can be unloaded."""
        log = actor.log
        is_watched = log.fanout.watched or log.raw_fanout.watched or actor.calls.attached
        is_free = not (is_watched or actor.turn.locked() or actor.has_process or log.trouble is not None)
        return is_free and asyncio.get_running_loop().time() - actor.touched >= UNLOAD_S

    async def _unload(self, actor: SessionActor) -> None:
        """Drop a session from memory; it can be loaded again."""
        await actor.log.drained()
        if not self._is_idle_here(actor) or self._actors.get(actor.id) is not actor:
            return
        del self._actors[actor.id]
        due_at = actor.log.fold.queue.next_at()
        if due_at is not None and not actor.log.record.archived:
            self._due[actor.id] = due_at
        self._left += 1
        self._unloaded(actor)
        await actor.leave()

    # Crashes

    async def _restart(self, actor: SessionActor) -> None:
        """Restart a session; a failed start counts as a crash."""
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
            self._ask_to_stop(actor)

    def _ask_to_stop(self, actor: SessionActor) -> None:
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
    """Update a session after its rate limit ended."""
    await actor.log.append([])


def _was_cut_off(actor: SessionActor) -> bool:
    """Whether a rate limit ended its last turn, is over, and the session should continue."""
    if actor.life.limited != "continue" or not actor.is_idle or actor.limited_until is not None:
        return False
    if asyncio.get_running_loop().time() - actor.woken_at < WAKE_AGAIN_S:
        return False  # it could not just now
    return not actor.log.fold.queue.prompts and is_cut_off_by_limit(actor.log.fold.timeline.state)


async def _continue(actor: SessionActor) -> None:
    actor.woken_at = asyncio.get_running_loop().time()
    with contextlib.suppress(HostError):  # e.g. its budget is used up
        await actor.prompts.say(AFTER_THE_LIMIT, sender="host")


def _is_parkable(actor: SessionActor, now: float) -> bool:
    log, limit_s = actor.log, actor.life.park_s
    if limit_s is None or log.record.state != "idle" or now - actor.recorder.heard_at < limit_s:
        return False
    due_in_s = log.fold.queue.due_in_s(now)
    has_prompts = any(one.state != "queued" for one in log.fold.queue.prompts) or (
        due_in_s is not None and due_in_s < AHEAD_S
    )
    return not has_prompts and not _has_background_work(log.fold.timeline.state)


def _has_background_work(state: State) -> bool:
    return any(task.status == "running" for task in state.tasks.values())
