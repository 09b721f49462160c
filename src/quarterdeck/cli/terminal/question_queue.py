"""Asks the user one question at a time; the rest is queued."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Any

from .widgets import NOT_YET, Widget

Listening = Callable[[], AbstractContextManager[bool | None]]
TYPING_S = 0.5
"""Who typed this recently is still typing, until a pause or Enter."""


class QuestionQueue:
    """Shows one widget at a time and passes it the keys.

    A key counts only once the question is visible: keys typed before cannot be meant for it, nor can keys of someone
    who keeps typing without a pause. A widget that continues the same question (the text field after "Deny with a
    note") also gets the keys typed ahead for it.
    """

    def __init__(self, *, changed: Callable[[], None], listening: Listening = nullcontext) -> None:
        """``listening`` is entered while there is a question: keys are read only then. Yields whether someone was
        typing when it was entered."""
        self._changed = changed
        self._listening = listening
        self._turn = asyncio.Lock()
        self._answer: asyncio.Future[Any] | None = None
        self._ahead: deque[str] = deque()
        self._typed_at = -TYPING_S
        """When someone last typed something that was not for a question."""
        self.widget: Widget | None = None
        self.listening = False
        """Whether keys go to the question that is being asked."""
        self.waiting = 0
        """How many questions are waiting."""
        self.on_end: Callable[[list[str]], None] = lambda unused: None
        """Called after each question, with the keys that came after its answer."""

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
            with self._listening() as was_typing:
                self._typed_at = time.monotonic() if was_typing else self._typed_at
                yield self
        finally:
            self.listening = False
            unused = [*self._ahead]
            self._ahead.clear()
            self._turn.release()
            self.on_end(unused)
            self._changed()

    async def ask(self, widget: Widget, *, follows: bool = False) -> Any:
        """Show the widget until it has an answer. ``follows``: it continues the previous question."""
        if not follows:
            self.listening = False
            self._ahead.clear()
        self._answer = asyncio.get_running_loop().create_future()
        self.widget = widget
        while self._ahead and not self._answer.done():
            self._press(self._ahead.popleft())
        self._changed()
        try:
            return await self._answer
        finally:
            self.widget = self._answer = None
            self._changed()

    def drawn(self) -> None:
        """The widget is visible: keys now apply to it."""
        self.listening = self.listening or self.widget is not None

    def key(self, name: str) -> None:
        """Handle a key; ignored unless it applies to the question."""
        now = time.monotonic()
        if not self.listening or now - self._typed_at < TYPING_S:
            self._typed_at = now if name != "enter" else -TYPING_S
            return
        if self._answer is None or self._answer.done():
            self._ahead.append(name)
            return
        self._press(name)
        self._changed()

    def _press(self, name: str) -> None:
        if self.widget is not None and self._answer is not None:
            answer = self.widget.key(name)
            if answer is not NOT_YET:
                self._answer.set_result(answer)
