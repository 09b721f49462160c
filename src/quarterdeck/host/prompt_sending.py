"""Sends prompts to a session: at once, or when it is idle and they are due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from quarterdeck.client.connection import new_id
from quarterdeck.client.errors import QuarterdeckError

from .errors import HostError
from .requests import Content
from .resources import Priority, Prompt, PromptAccepted
from .session_log import Receipts
from .times import moment
from .transcripts import uuids_in

if TYPE_CHECKING:
    from .actor import SessionActor

logger = logging.getLogger("quarterdeck.host")

LONGEST_TIMER_S = 3600.0
"""Longer timers are checked again after this time, because the clock may be changed."""


class PromptSender:
    """Sends the prompts of one session to its process."""

    def __init__(self, actor: SessionActor) -> None:
        self._actor = actor
        self._log = actor.log
        self._closed = False
        self._sending: asyncio.Task[None] | None = None
        """The task that sends a queued prompt."""
        self._timer: asyncio.TimerHandle | None = None

    def close(self) -> None:
        self._closed = True
        for waiting in (self._timer, self._sending):
            if waiting is not None:
                waiting.cancel()

    async def say(
        self,
        content: Content,
        *,
        sender: str,
        priority: Priority = "next",
        prompt_id: str | None = None,
        not_before: datetime | None = None,
        receipt: Receipts = None,
    ) -> PromptAccepted:
        """Send a prompt. ``receipt`` is written in the same transaction as its row.

        During a turn, ``next`` goes to the CLI, which adds it between two steps; ``now`` interrupts; ``later`` is
        queued here until everything before it is done.
        """
        self._actor.may_prompt()
        if not_before is not None and not_before.timestamp() > self._log.now():
            async with self._actor.turn:  # a session without a process is started when the prompt is due
                return await self._hold(content, sender, priority, prompt_id or new_id(), not_before, receipt)
        limited_until = self._actor.limited_until
        if limited_until is not None and self._actor.life.limited == "refuse":
            until = moment(limited_until).isoformat()
            raise HostError("limited", f"The account's rate limit is reached until {until}.", until=until)
        await self._actor.start()
        prompt_id = prompt_id or new_id()
        async with self._actor.turn:
            if limited_until is not None or (priority == "later" and (self._log.in_turn or self.due)):
                return await self._hold(content, sender, priority, prompt_id, None, receipt)
            return await self._send(content, sender, priority, prompt_id, receipt)

    async def _hold(
        self,
        content: Content,
        sender: str,
        priority: Priority,
        prompt_id: str,
        not_before: datetime | None,
        receipt: Receipts,
    ) -> PromptAccepted:
        if self._log.body.imported:
            raise HostError("conflict", "This session was imported and can't take prompts.")
        prompt = Prompt(
            id=prompt_id, content=content, state="queued", priority=priority, by=sender, not_before=not_before
        )
        written = await self._log.set_queue(self._log.fold.queue.with_added(prompt), receipt=receipt)
        return PromptAccepted(prompt_id=prompt_id, seq=written.first_seq)

    async def _send(
        self, content: Content, sender: str, priority: Priority, prompt_id: str, receipt: Receipts = None
    ) -> PromptAccepted:
        session, recorder = self._actor.running, self._actor.recorder
        written = recorder.expect(prompt_id, sender=sender or "user", receipt=receipt)
        try:
            await session.send(content, priority=None if priority == "next" else priority, uuid=prompt_id)
        except QuarterdeckError as error:
            if recorder.give_up(prompt_id, HostError("not_running", str(error))):
                raise HostError("not_running", f"The prompt could not be sent: {error}") from error
            # The process ended after the row was written: the prompt is uncertain until the session is resumed.
        return PromptAccepted(prompt_id=prompt_id, seq=(await written).first_seq)

    async def send_waiting(self, prompt_id: str) -> None:
        """Send a queued prompt like a new one; if that fails, it stays queued."""
        await self._actor.start()
        async with self._actor.turn:
            prompt = self._log.fold.queue.find(prompt_id)
            if prompt is not None and prompt.state == "queued" and self._actor.limited_until is None:
                await self._send(prompt.content, prompt.by, prompt.priority, prompt.id)

    @property
    def due(self) -> bool:
        """Whether a prompt is due once the session is idle."""
        return self._actor.session is not None and self._log.fold.queue.due(self._log.now()) is not None

    def send_when_idle(self) -> None:
        """Send the next prompt that is due, if the session is idle. Called after every change."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._closed or self._sending is not None or self._actor.session is None or self._log.record.state != "idle":
            return
        loop, in_s = asyncio.get_running_loop(), self._log.fold.queue.due_in_s(self._log.now())
        if in_s is not None and in_s > 0:
            self._timer = loop.call_later(min(in_s, LONGEST_TIMER_S), self.send_when_idle)
        elif in_s is not None:
            self._sending = loop.create_task(self._send_due())

    async def _send_due(self) -> None:
        try:
            async with self._actor.turn:
                prompt = self._log.fold.queue.due(self._log.now())
                if prompt is not None and self._actor.session is not None and not self._log.in_turn:
                    self._actor.may_prompt()
                    await self._send(prompt.content, prompt.by, "next", prompt.id)
        except HostError as error:
            logger.warning("Session %s: a queued prompt could not be sent: %s", self._log.id, error)
            return  # it stays queued until the next change
        finally:
            self._sending = None
        await self._log.settled()
        self.send_when_idle()

    def knows(self, prompt_id: str) -> bool:
        return prompt_id in self._log.fold.timeline.state.items or self._log.fold.queue.find(prompt_id) is not None

    async def change(
        self,
        prompt_id: str,
        *,
        position: int | None,
        receipt: Callable[[Prompt], Receipts] = lambda _: None,
        **changes: Any,
    ) -> Prompt:
        """Edit, reorder or schedule a queued prompt. If the CLI already has it, it is withdrawn first."""
        async with self._actor.turn:
            prompt = await self._held(prompt_id)
            changed = msgspec.structs.replace(prompt, state="queued", **changes)
            queue = self._log.fold.queue.with_changed(changed, position)
            await self._log.set_queue(queue, receipt=receipt(changed))
            return changed

    async def withdraw(self, prompt_id: str, *, receipt: Receipts = None) -> int:
        """Withdraw a queued prompt; returns the row that records it."""
        async with self._actor.turn:
            await self._held(prompt_id)
            written = await self._log.set_queue(self._log.fold.queue.without(prompt_id), receipt=receipt)
            return written.first_seq

    async def _held(self, prompt_id: str) -> Prompt:
        """Find a prompt that the host holds."""
        queue = self._log.fold.queue
        prompt = queue.find(prompt_id) or queue.at_once.get(prompt_id)
        if prompt is None:
            if prompt_id in self._log.fold.timeline.state.items:
                raise HostError(
                    "conflict", f"Claude Code has already started prompt {prompt_id}.", hint="Interrupt it."
                )
            raise HostError("not_found", f"There is no queued prompt {prompt_id}.", field="prompt_id")
        if prompt.state == "sent" and not await self._actor.call(lambda session: session.cancel_prompt(prompt_id)):
            raise HostError("conflict", f"Claude Code has already started prompt {prompt_id}.", hint="Interrupt it.")
        return prompt

    async def look_for_uncertain(self, env: Mapping[str, str], *, anew: bool = False) -> None:
        """Settle uncertain prompts by the transcript: those in it were delivered, the others are sent again.

        If the transcript isn't found, they stay uncertain, and a person decides; unless the conversation begins
        ``anew``, because the last process did nothing and left none.
        """
        transcript, prompts = self._log.body.transcript_id, self._log.fold.queue.prompts
        if transcript is None or not any(one.state == "uncertain" for one in prompts):
            return
        arrived = set() if anew else await asyncio.to_thread(uuids_in, transcript, self._log.record.cwd, env)
        if arrived is not None:
            settled = [
                msgspec.structs.replace(one, state="queued") if one.state == "uncertain" else one
                for one in prompts
                if one.state != "uncertain" or one.id not in arrived
            ]
            await self._log.set_queue(settled)
