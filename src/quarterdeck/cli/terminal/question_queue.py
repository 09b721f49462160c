"""Asks the user one question at a time; the others wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Any

from .widgets import NOT_YET, Widget

Listening = Callable[[], AbstractContextManager[object]]


class QuestionQueue:
    """Shows one widget at a time and passes it the keys."""

    def __init__(self, *, changed: Callable[[], None], listening: Listening = nullcontext) -> None:
        """``listening`` is entered while there is a question: keys are read only then."""
        self._changed = changed
        self._listening = listening
        self._turn = asyncio.Lock()
        self._answer: asyncio.Future[Any] | None = None
        self.widget: Widget | None = None
        self.waiting = 0
        """How many questions are waiting."""

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[QuestionQueue]:
        """Hold this while asking one question, which may take several widgets. Cancelling removes it."""
        self.waiting += 1
        self._changed()
        try:
            await self._turn.acquire()
        finally:
            self.waiting -= 1
        try:
            with self._listening():
                yield self
        finally:
            self._turn.release()
            self._changed()

    async def ask(self, widget: Widget) -> Any:
        """Show the widget until it has an answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self.widget = widget
        self._changed()
        try:
            return await self._answer
        finally:
            self.widget = self._answer = None
            self._changed()

    def key(self, name: str) -> None:
        """Handle a key; ignored if there is no question."""
        if self.widget is None or self._answer is None or self._answer.done():
            return
        answer = self.widget.key(name)
        if answer is not NOT_YET:
            self._answer.set_result(answer)
        self._changed()
