"""The prompts of a session: one turn each, in order, and one stop reason each, whatever happens.

A turn ends with Claude Code's ``result``, never by silence. A turn that Claude Code starts itself, after a background
task has ended, ends no prompt. A prompt that steers a turn ends with it if Claude Code took it up in that turn; if it
came too late, it has its own turn.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from quarterdeck._errors import QuarterdeckError
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
        """Sent into its turn."""
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

    def all(self) -> tuple[EditorPrompt, ...]:
        """Itself, and those sent into its turn."""
        return (self, *self.steering)

    def end(self, stop_reason: StopReason, turn: TurnSummary | None = None) -> None:
        for each in self.all():
            if not each.done.done():
                each.stop_reason, each.turn = stop_reason, turn
                each.done.set_result(None)
                if not each.said.done():
                    each.said.set_result(None)

    def fail(self, error: RpcError) -> None:
        for each in self.all():
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
        withdraw: Callable[[EditorPrompt], Awaitable[bool]],
    ) -> None:
        """``withdraw`` takes back a prompt that was sent; False: Claude Code has begun with it."""
        self._send, self._interrupt, self._give_up, self._withdraw = send, interrupt, give_up, withdraw
        self._waiting: deque[EditorPrompt] = deque()
        self._running: EditorPrompt | None = None
        self._sending: asyncio.Task[None] | None = None
        self._cancelling: asyncio.Task[None] | None = None
        self._withdrawing: set[asyncio.Task[None]] = set()
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
        running = self._running
        if len(self._waiting) + (len(running.steering) if running is not None else 0) >= WAITING_LIMIT:
            raise RpcError(jsonrpc.INTERNAL_ERROR, f"this session already has {WAITING_LIMIT} queued prompts")
        steers = steers and running is not None and not running.cancelled
        if not steers:
            self._waiting.append(prompt)
            self._next()
        try:
            if steers and running is not None:
                await self._steer(running, prompt)
            await prompt.said
        except asyncio.CancelledError:
            self._take_back(prompt)
            raise
        return prompt

    async def _steer(self, running: EditorPrompt, prompt: EditorPrompt) -> None:
        """Send it into the turn that runs, after the prompt that began the turn."""
        running.steering.append(prompt)
        await asyncio.wait([running.sent, running.done], return_when=asyncio.FIRST_COMPLETED)
        if prompt.done.done():
            return
        try:
            await self._send(prompt)
        except QuarterdeckError as error:  # its end, if the process has died, is told by the process
            if not prompt.done.done():
                prompt.fail(RpcError(jsonrpc.INTERNAL_ERROR, str(error)))
        else:
            if not prompt.sent.done():
                prompt.sent.set_result(None)

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
        for task in (self._sending, self._cancelling, *self._withdrawing):
            if task is not None:
                task.cancel()
        if self._running is not None:
            self._running.end("cancelled")
            self._running = None

    # What happens

    def happened(self, event: events.PromptChanged | events.TurnEnded) -> None:
        if isinstance(event, events.PromptChanged):
            if event.status == "started":
                self._began(event.id)
            return
        running = self._running
        others, self._others = self._others, False
        if running is not None and (running.started or (event.turn.source is None and not others)):
            self._ended(running, event.turn)

    def _began(self, prompt_id: str) -> None:
        running = self._running
        found = None if running is None else next((one for one in running.all() if one.id == prompt_id), None)
        if running is None or found is None:
            self._others = True
            return
        if not found.started:
            found.begun.set_result(None)
        if not running.started:  # several came too late for their turn, and this one is the first to have another
            found.steering = [one for one in running.all() if one is not found]
            running.steering = []
            self._running = found

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
                for one in tuple(prompt.steering):  # an interrupt would leave them, and the next turn would be theirs
                    await self._give_back(one)
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
        elif self._running is not None and prompt in self._running.steering:
            task = asyncio.get_running_loop().create_task(self._give_back(prompt))
            self._withdrawing.add(task)
            task.add_done_callback(self._withdrawing.discard)

    async def _give_back(self, prompt: EditorPrompt) -> None:
        """A prompt that steers. What Claude Code has taken up stays in the turn; its own turn is stopped."""
        prompt.cancelled = True
        if not prompt.started and await self._withdraw(prompt):
            prompt.end("cancelled")

    def _ended(self, prompt: EditorPrompt, turn: TurnSummary) -> None:
        late = [one for one in prompt.steering if prompt.started and not one.started and not one.done.done()]
        prompt.steering = [one for one in prompt.steering if one not in late]
        self._end(prompt, turn)
        if late and self._running is prompt:
            self._running, *late[0].steering = late
            self._api_error = None
            if late[0].cancelled:
                self._cancelling = asyncio.get_running_loop().create_task(self._stop(late[0]))
        else:
            self._forget(prompt)

    def _end(self, prompt: EditorPrompt, turn: TurnSummary) -> None:
        if prompt.cancelled or turn.outcome == "interrupted":
            prompt.end("cancelled", turn)
        elif turn.outcome == "failed" and turn.stop_reason != "refusal":
            prompt.fail(_failure(turn, self._api_error))
        else:
            prompt.end(stop_reason(turn), turn)

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
