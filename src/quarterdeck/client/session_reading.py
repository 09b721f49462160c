"""Reading a session's messages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from quarterdeck.wire import Message, ResultMessage

from .errors import Aborted, CLIConnectionError
from .session_base import SessionBase


class SessionReading(SessionBase):
    """Reads messages, one reader at a time."""

    async def next_message(self) -> Message | None:
        """The next message; None at the end. Raises ``ProcessExited`` if the CLI died during a turn."""
        message = next(self._ready, None)
        if message is None and await self._fill():
            message = next(self._ready)
        return message

    async def _fill(self) -> bool:
        """Wait for more once nothing is ready; False at the end. One coroutine, because another would cost every time.

        When a reader sees a result, or the end, the session store is up to date.
        """
        inbox = self._link.inbox
        batch = inbox.take()
        was_there = bool(batch)
        while batch is None:
            await inbox.arrival()
            batch = inbox.take()
        self._ready = iter(batch)
        if self._stored is not None:
            result = next((at for at, one in enumerate(batch) if isinstance(one, ResultMessage)), None)
            if result is not None or not batch:
                batch[result or 0 : result or 0] = await self._stored.flush()
        if was_there:
            await asyncio.sleep(0)  # let other sessions run
        return bool(batch)

    async def batches(self) -> AsyncIterator[list[Message]]:
        """All messages until the end, in batches of those that have arrived: the fastest way to read."""
        while True:
            if batch := list(self._ready):
                yield batch
            elif not await self._fill():
                return

    async def messages(self) -> AsyncGenerator[Message, None]:
        """All messages until the session ends, including those between turns. Stopping early loses nothing."""
        while True:
            for message in self._ready:
                yield message
            if not await self._fill():
                return

    async def response(self) -> AsyncGenerator[Message, None]:
        """The messages up to and including the next result, of whichever prompt. Stopping early loses nothing."""
        while True:
            for message in self._ready:
                yield message
                if type(message) is ResultMessage:
                    return
            if not await self._fill():
                return

    def ignore_messages(self) -> None:
        """Discard messages: a journal reader gets every line instead."""
        self._ready = iter(())
        self._link.inbox.ignore()

    def ended_early(self) -> Exception:
        """Why a turn has no result, for everyone who waits for it."""
        if self._closed:
            return Aborted("the session was closed before the turn ended")
        if (failure := self._transport_failure) is not None:
            return failure
        status = self._link.exit
        if status is not None:
            return status.error(self._link.stderr_tail)
        return CLIConnectionError("the CLI ended its output before the turn ended")
