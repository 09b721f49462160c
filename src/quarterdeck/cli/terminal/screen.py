"""The view of one session: its timeline, the painter, the queue of questions, and the pace of the frames."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from quarterdeck.cli.common import Look
from quarterdeck.client.session import Session
from quarterdeck.timeline import Event, Request, Timeline
from quarterdeck.timeline.events import (
    PermissionAsked,
    PlanReviewAsked,
    QuestionsAsked,
    RequestAnswered,
    RequestCancelled,
)

from .blocks import Blocks
from .feed import Feed
from .live import DrawMarkdown
from .painter import Painter
from .question_queue import QuestionQueue
from .surface import Surface

FRAME_S = 1 / 30
"""No eye sees more; all that comes in between is drawn at once."""
HEARTBEAT_S = 0.1
"""How often a spinner and the elapsed time move when nothing else does."""

_ASKED = frozenset({PermissionAsked, PlanReviewAsked, QuestionsAsked})


class Screen:
    """Use it as a context manager around the session. ``failed`` is told when nothing can be drawn any more."""

    def __init__(
        self,
        surface: Surface,
        look: Look,
        draw: DrawMarkdown,
        *,
        failed: Callable[[Exception], None],
        forget_typed: Callable[[], None] = lambda: None,
    ) -> None:
        self._failed = failed
        self._surface = surface
        self._draw_markdown = draw
        self.timeline = Timeline()
        self.painter = Painter(surface, self.timeline.state, colour=look.colour, unicode=look.unicode, draw=draw)
        self.questions = QuestionQueue(changed=self.changed, forget_typed=forget_typed)
        self._asked: dict[str, Request] = {}
        self._frame_at = 0.0
        self._next: asyncio.TimerHandle | None = None
        self._next_is_heartbeat = False

    def __enter__(self) -> Screen:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None
        if kind is None or not issubclass(kind, OSError):  # else nobody reads any more
            self.painter.draw(time.time(), final=True)

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

    # What is said beside the timeline

    @property
    def look(self) -> Look:
        return self.painter.look

    @property
    def folder(self) -> str | None:
        """Where the session works."""
        return self.painter.folder

    def say(self, style: str, text: str) -> None:
        self.painter.say(style, text)
        self.changed()

    def print(self, lines: Sequence[str], /, *, tool_id: str | None = None) -> None:
        """Finished lines about what a person is asked; with ``tool_id``, all that this call would change is in them."""
        self.painter.diff_shown(tool_id)
        self.painter.print(lines, kind="ask", gap=True)
        self.changed()

    def markdown(self, source: str, /) -> list[str]:
        blocks = Blocks()
        lines: list[str] = []
        for block in [*blocks.feed(source), *blocks.close()]:
            lines += [""] * block.gap + self._draw_markdown(block, self.painter.look.width)
        return lines

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
            self.painter.draw(time.time(), self.questions.widget, waiting=self.questions.waiting)
        except Exception as error:  # noqa: BLE001  # nobody sees anything any more: it ends the command
            self._failed(error)
            return
        if self._surface.height and self.painter.busy and self._next is None:
            self._next_is_heartbeat = True
            self._next = loop.call_later(HEARTBEAT_S, self._frame)
