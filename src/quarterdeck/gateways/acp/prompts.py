"""The prompts of a session: one turn each, in order, and one stop reason each, whatever happens.

A turn ends with Claude Code's ``result``, never by silence. A turn that Claude Code starts itself, after a background
task has ended, ends no prompt.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from quarterdeck.timeline import events
from quarterdeck.timeline.items import TurnSummary

from . import jsonrpc
from .jsonrpc import RpcError
from .schema import StopReason, Usage

CANCEL_LIMIT_S = 10.0
"""A CLI told to stop needs milliseconds; after this it is ended."""
WAITING_LIMIT = 100
"""Prompts of one session that wait for their turn."""


class EditorPrompt:
    """Something to say, and how it ended."""

    def __init__(self, id_: str, content: list[dict[str, Any]]) -> None:
        self.id = id_
        self.content = content
        self.cancelled = False
        self.steering: list[EditorPrompt] = []
        self.stop_reason: StopReason = "end_turn"
        self.turn: TurnSummary | None = None
        loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = loop.create_future()
        self.said: asyncio.Future[None] = loop.create_future()
        """As ``done``, for the caller, who may stop waiting. ``shield`` would wake it a turn of the loop later."""
        self.sent: asyncio.Future[None] = loop.create_future()
        """Claude Code has it. Stays unset if it was withdrawn before that."""
        self.begun: asyncio.Future[None] = loop.create_future()
        """Its turn has begun."""

    @property
    def started(self) -> bool:
        return self.begun.done()

    def end(self, stop_reason: StopReason, turn: TurnSummary | None = None) -> None:
        for each in (self, *self.steering):
            if not each.done.done():
                each.stop_reason, each.turn = stop_reason, turn
                each.done.set_result(None)
                if not each.said.done():
                    each.said.set_result(None)

    def fail(self, error: RpcError) -> None:
        for each in (self, *self.steering):
            if not each.done.done():
                each.done.set_result(None)
                if not each.said.done():
                    each.said.set_exception(error)

    def usage(self) -> Usage | None:
        if self.turn is None:
            return None
        tokens = self.turn.tokens
        read, write = tokens.cache_read, tokens.cache_write
        return Usage(
            total_tokens=tokens.context,
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cached_read_tokens=read or None,
            cached_write_tokens=write or None,
            thought_tokens=tokens.thinking or None,
        )


class EditorPromptQueue:
    """The queue of one session."""

    def __init__(
        self,
        send: Callable[[EditorPrompt], Awaitable[None]],
        interrupt: Callable[[EditorPrompt], Awaitable[None]],
        give_up: Callable[[], Awaitable[None]],
    ) -> None:
        self._send, self._interrupt, self._give_up = send, interrupt, give_up
        self._waiting: deque[EditorPrompt] = deque()
        self._running: EditorPrompt | None = None
        self._sending: asyncio.Task[None] | None = None
        self._cancelling: asyncio.Task[None] | None = None
        self._api_error: str | None = None
        self._others = False
        """Someone else's prompt is being answered."""
        self._closed = False

    @property
    def busy(self) -> bool:
        return self._running is not None

    async def say(self, prompt: EditorPrompt, *, steers: bool = False) -> EditorPrompt:
        """Wait until the prompt's turn has ended. Cancelling the caller cancels the prompt."""
        if self._closed:
            raise RpcError(jsonrpc.NOT_FOUND, "the session is closed")
        if len(self._waiting) >= WAITING_LIMIT:
            raise RpcError(jsonrpc.INTERNAL_ERROR, f"this session already has {WAITING_LIMIT} queued prompts")
        running = self._running
        if steers and running is not None and not running.cancelled:
            running.steering.append(prompt)
            await self._send(prompt)
        else:
            self._waiting.append(prompt)
            self._next()
        try:
            await prompt.said
        except asyncio.CancelledError:
            self._take_back(prompt)
            raise
        return prompt

    def cancel(self) -> None:
        """Everything that waits is cancelled at once; what runs, when Claude Code has stopped."""
        while self._waiting:
            self._waiting.popleft().end("cancelled")
        running = self._running
        if running is not None and not running.cancelled:
            running.cancelled = True
            self._cancelling = asyncio.get_running_loop().create_task(self._stop(running))

    def close(self) -> None:
        self._closed = True
        while self._waiting:
            self._waiting.popleft().end("cancelled")
        for task in (self._sending, self._cancelling):
            if task is not None:
                task.cancel()
        if self._running is not None:
            self._running.end("cancelled")
            self._running = None

    # What happens

    def happened(self, event: events.PromptChanged | events.TurnEnded) -> None:
        running = self._running
        if isinstance(event, events.PromptChanged):
            if event.status != "started":
                return
            if running is not None and event.id == running.id:
                if not running.started:
                    running.begun.set_result(None)
            elif event.id not in self._steering():
                self._others = True
            return
        others, self._others = self._others, False
        if running is not None and (running.started or (event.turn.source is None and not others)):
            self._ended(running, event.turn)

    def _steering(self) -> list[str]:
        return [] if self._running is None else [one.id for one in self._running.steering]

    def api_failed(self, error: str) -> None:
        """The API's term for it; the result that follows has only text."""
        self._api_error = error

    def process_ended(self, why: str) -> None:
        running, self._others = self._running, False
        if running is None:
            return
        if running.cancelled:
            running.end("cancelled")
        else:
            hint = "The session continues with the next prompt."
            running.fail(RpcError(jsonrpc.INTERNAL_ERROR, f"{why}. {hint}"))
        self._forget(running)

    # One after another

    def _next(self) -> None:
        if self._running is None and self._waiting and not self._closed:
            self._running = prompt = self._waiting.popleft()
            self._api_error = None
            self._sending = asyncio.get_running_loop().create_task(self._begin(prompt))

    async def _begin(self, prompt: EditorPrompt) -> None:
        try:
            await self._send(prompt)
            if not prompt.sent.done():
                prompt.sent.set_result(None)
        except Exception as error:  # noqa: BLE001  # whatever it is, the editor waits for an answer
            if prompt.cancelled:
                prompt.end("cancelled")
            else:
                prompt.fail(error if isinstance(error, RpcError) else RpcError(jsonrpc.INTERNAL_ERROR, str(error)))
            self._forget(prompt)

    async def _stop(self, prompt: EditorPrompt) -> None:
        """Cancel always returns: what does not stop is ended."""
        try:
            async with asyncio.timeout(CANCEL_LIMIT_S):
                if self._sending is not None and not self._sending.done():
                    await asyncio.wait([self._sending])
                if not prompt.started:  # an interrupt that arrives before the turn stops nothing
                    await self._interrupt(prompt)
                    await asyncio.wait([prompt.begun, prompt.done], return_when=asyncio.FIRST_COMPLETED)
                if not prompt.done.done():
                    await self._interrupt(prompt)
                await asyncio.wait([prompt.done])
        except TimeoutError:
            await self._give_up()
        finally:
            if not prompt.done.done():
                prompt.end("cancelled")
            self._forget(prompt)

    def _take_back(self, prompt: EditorPrompt) -> None:
        if prompt in self._waiting:
            self._waiting.remove(prompt)
        elif prompt is self._running:
            self.cancel()

    def _ended(self, prompt: EditorPrompt, turn: TurnSummary) -> None:
        if prompt.cancelled or turn.outcome == "interrupted":
            prompt.end("cancelled", turn)
        elif turn.outcome == "failed" and turn.stop_reason != "refusal":
            prompt.fail(_failure(turn, self._api_error))
        else:
            prompt.end(stop_reason(turn), turn)
        self._forget(prompt)

    def _forget(self, prompt: EditorPrompt) -> None:
        if self._running is prompt:
            self._running = None
            self._next()


def stop_reason(turn: TurnSummary) -> StopReason:
    """How a turn ended that neither failed nor was interrupted."""
    if turn.outcome == "limit":
        return "max_turn_requests"
    if turn.stop_reason == "max_tokens":
        return "max_tokens"
    return "refusal" if turn.stop_reason == "refusal" else "end_turn"


def _failure(turn: TurnSummary, api_error: str | None) -> RpcError:
    words = turn.error or "the turn failed"
    if api_error in ("authentication_failed", "oauth_org_not_allowed"):
        return RpcError(jsonrpc.AUTH_REQUIRED, f"Authentication required: {words}")
    return RpcError(jsonrpc.INTERNAL_ERROR, words, {"errorKind": api_error} if api_error else None)
