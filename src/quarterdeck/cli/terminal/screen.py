"""The view of one session: its timeline, the painter, the desk where a person is asked, and the pace of the frames."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import TracebackType

from quarterdeck.cli.roof import Look
from quarterdeck.client.session import Session
from quarterdeck.timeline import Event, Request, Timeline
from quarterdeck.timeline.events import (
    PermissionAsked,
    PlanReviewAsked,
    QuestionsAsked,
    RequestAnswered,
    RequestCancelled,
)

from .blocks import Block
from .desk import Desk
from .feed import Feed
from .painter import Painter, plain_markdown
from .surface import PlainSurface, Surface, TerminalSurface
from .tty import Keyboard

FRAME_S = 1 / 30
"""No eye sees more; all that comes in between is drawn at once."""
HEARTBEAT_S = 0.1
"""How often a spinner and the elapsed time move when nothing else does."""

_ASKED = frozenset({PermissionAsked, PlanReviewAsked, QuestionsAsked})


class Screen:
    """Use it as a context manager around the session. ``live`` says whether it is a terminal that can be redrawn."""

    def __init__(self, *, live: bool, failed: Callable[[Exception], None]) -> None:
        look = Look.of(sys.stdout)
        self.live = live
        self._failed = failed
        self._stack = ExitStack()
        self._keyboard = Keyboard(self._key)
        self._terminal: TerminalSurface | None = None
        surface: Surface
        if live:
            from .markdown import MarkdownPainter

            surface = self._terminal = TerminalSurface(sys.stdout.fileno())
            draw = MarkdownPainter(colour=look.colour).lines
        else:
            surface = PlainSurface(_write_out, width=look.width)
            draw = plain_markdown
        self.timeline = Timeline()
        self.painter = Painter(surface, self.timeline.state, colour=look.colour, unicode=look.unicode, draw=draw)
        self._draw_markdown = draw
        self.desk = Desk(changed=self.changed, forget_typed=self._keyboard.forget)
        self._asked: dict[str, Request] = {}
        self._frame_at = 0.0
        self._next: asyncio.TimerHandle | None = None
        self._next_is_heartbeat = False

    def __enter__(self) -> Screen:
        if self._terminal is not None:
            loop = asyncio.get_running_loop()
            self._stack.enter_context(self._keyboard)
            self._stack.callback(self._give_back)
            if hasattr(signal, "SIGWINCH"):
                loop.add_signal_handler(signal.SIGWINCH, self._resized)
                self._stack.callback(loop.remove_signal_handler, signal.SIGWINCH)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._next is not None:
            self._next.cancel()
        try:
            if kind is None or not issubclass(kind, OSError):  # else nobody reads any more
                self.painter.draw(time.time(), final=True)
        finally:
            self._next = None
            self._stack.close()

    def _give_back(self) -> None:
        with contextlib.suppress(OSError):  # the terminal may be gone
            if self._terminal is not None:
                self._terminal.close()

    def follow(self, session: Session) -> None:
        """Before the session is opened."""
        session.observe(Feed(self.timeline, self._show, clock=time.time, failed=self._failed))

    def _show(self, events: Sequence[Event]) -> None:
        for event in events:
            if type(event) in _ASKED:
                self._asked[event.request.id] = event.request  # type: ignore[union-attr]
            elif isinstance(event, RequestAnswered | RequestCancelled):
                self._asked.pop(event.id, None)
        self.painter.show(events)
        self.changed()

    def asked(self, request_id: str | None) -> Request | None:
        """The open request of that id, with its whole input: the state keeps long ones only in part."""
        return self._asked.get(request_id or "")

    def say(self, style: str, text: str) -> None:
        self.painter.say(style, text)
        self.changed()

    def print(self, lines: Sequence[str]) -> None:
        """Finished lines about what a person is asked."""
        self.painter.print(lines, kind="ask", gap=True)
        self.changed()

    @property
    def look(self) -> Look:
        return self.painter.look

    @property
    def folder(self) -> str | None:
        """Where the session works."""
        return self.painter.folder

    def markdown(self, source: str) -> list[str]:
        return self._draw_markdown(Block(source), self.painter.look.width)

    # Frames

    def changed(self) -> None:
        """Something is to be drawn: soon, and together with what else comes until then."""
        if self._next is not None and not self._next_is_heartbeat:
            return
        if self._next is not None:
            self._next.cancel()
        loop = asyncio.get_running_loop()
        self._next_is_heartbeat = False
        self._next = loop.call_at(max(self._frame_at + FRAME_S, loop.time()), self._frame)

    def _frame(self) -> None:
        loop = asyncio.get_running_loop()
        self._frame_at = loop.time()
        self._next = None
        try:
            self.painter.draw(time.time(), self.desk.widget, waiting=self.desk.waiting)
        except Exception as error:  # noqa: BLE001  # nobody sees anything any more: it ends the command
            self._failed(error)
            return
        if self.live and self.painter.busy and self._next is None:
            self._next_is_heartbeat = True
            self._next = loop.call_later(HEARTBEAT_S, self._frame)

    def _resized(self) -> None:
        if self._terminal is not None:
            with contextlib.suppress(OSError):  # between two sizes, or gone
                self._terminal.resized()
            self.changed()

    def _key(self, name: str) -> None:
        self.desk.key(name)


def _write_out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def can_draw() -> bool:
    """Whether standard output is a terminal that can be redrawn."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
