"""The screen of one session: its timeline, painter, question queue and frame rate; on a terminal or as plain lines."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import TracebackType

from quarterdeck.cli.common import Look
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.session import Session
from quarterdeck.testing.simulated import is_simulated, is_simulator
from quarterdeck.timeline import Event, Timeline

from .advice import SessionRules
from .answers import Answerer, SessionAnswers
from .live import DrawMarkdown
from .markdown_blocks import MarkdownSplitter
from .painter import Painter, plain_markdown
from .question_queue import Listening, QuestionQueue
from .surface import PlainSurface, Surface, TerminalSurface

FRAME_S = 1 / 30
"""Everything that arrives in between is drawn at once."""
HEARTBEAT_S = 0.1
"""How often the spinner and the elapsed time update when nothing else does."""


class Screen:
    """A context manager around the session. ``failed`` is called when drawing fails."""

    def __init__(
        self,
        surface: Surface,
        look: Look,
        draw: DrawMarkdown,
        *,
        failed: Callable[[Exception], None],
        listening: Listening = nullcontext,
    ) -> None:
        self.failed = failed
        """Ends the command: the user would see nothing."""
        self._surface = surface
        self._draw_markdown = draw
        self.timeline = Timeline()
        self.painter = Painter(surface, self.timeline.state, colour=look.colour, unicode=look.unicode, draw=draw)
        self.on_simulator = False
        """Not the same as a cost that is made up: a scripted model has those on the real CLI, too."""
        self.questions = QuestionQueue(changed=self.changed, listening=listening)
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
        if kind is None or not issubclass(kind, OSError):  # otherwise the output is gone
            self.painter.draw(time.time(), final=True)

    def session(self, options: ClaudeAgentOptions, rules: SessionRules, answerer: Answerer) -> Session:
        """A session, not yet open, that is shown and answered on this screen."""
        env = {**os.environ, **options.env}
        self.painter.simulated, self.on_simulator = is_simulated(env), is_simulator(env)
        options.stderr = lambda line: self.say("dim", line)
        return SessionAnswers(rules, answerer, timeline=self.timeline, show=self.show, failed=self.failed).session(
            options
        )

    def show(self, events: Sequence[Event]) -> None:
        """Events that are in the timeline."""
        self.painter.show(events)
        self.changed()

    def starting(self, what: str) -> None:
        """Show that the CLI is being started, and for how long, until the first prompt is sent."""
        self.painter.starting(what, time.time())
        self.changed()

    # Lines that do not come from the timeline

    @property
    def look(self) -> Look:
        return self.painter.look

    @property
    def folder(self) -> str | None:
        """Where the session works."""
        return self.painter.folder

    @property
    def simulated(self) -> bool:
        """Whether its costs are made up."""
        return self.painter.simulated

    def say(self, style: str, text: str) -> None:
        self.painter.say(style, text)
        self.changed()

    def print(self, lines: Sequence[str], /, *, tool_id: str | None = None) -> None:
        """Lines about a question. With ``tool_id``, they include the whole diff of that call."""
        self.painter.diff_shown(tool_id)
        self.painter.print(lines, kind="ask", gap=True)
        self.changed()

    def markdown(self, source: str, /) -> list[str]:
        blocks = MarkdownSplitter()
        lines: list[str] = []
        for block in [*blocks.feed(source), *blocks.close()]:
            lines += [""] * block.gap + self._draw_markdown(block, self.painter.look.width)
        return lines

    # Frames

    def changed(self) -> None:
        """Draw a frame soon."""
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
            self.questions.drawn()
        except Exception as error:  # noqa: BLE001  # the user sees nothing: end the command
            self.failed(error)
            return
        if self._surface.height and self.painter.busy and self._next is None:
            self._next_is_heartbeat = True
            self._next = loop.call_later(HEARTBEAT_S, self._frame)


def can_draw() -> bool:
    """Whether standard output is a terminal that can be redrawn. Windows consoles are untested."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and sys.platform != "win32"


@contextmanager
def plain_screen(*, failed: Callable[[Exception], None]) -> Iterator[Screen]:
    """For pipes and files: finished lines only."""
    look = Look.of(sys.stdout)
    with Screen(PlainSurface(_write_out, width=look.width), look, plain_markdown, failed=failed) as screen:
        yield screen


@contextmanager
def terminal_screen(
    *, failed: Callable[[Exception], None], escaped: Callable[[], object] = lambda: None, escape_key: str = ""
) -> Iterator[Screen]:
    """Takes over the terminal, and restores it whatever happens.

    ``escaped`` is called for Esc between questions, and for ``escape_key``.
    """
    from .markdown import MarkdownPainter
    from .tty import Keyboard

    look = Look.of(sys.stdout)
    surface = TerminalSurface(sys.stdout.fileno())
    draw = MarkdownPainter(colour=look.colour).lines

    def resized() -> None:
        with contextlib.suppress(OSError):  # the terminal is gone; SIGHUP follows
            surface.resized()
        screen.changed()

    keyboard = Keyboard(
        lambda name: screen.questions.key(name),
        on_escape=escaped,
        escape_key=escape_key,
        on_suspend=surface.close,
        on_resume=resized,
    )
    screen = Screen(surface, look, draw, failed=failed, listening=keyboard.listening)

    loop = asyncio.get_running_loop()
    with keyboard:
        loop.add_signal_handler(signal.SIGWINCH, resized)
        try:
            with screen:
                yield screen
        finally:
            loop.remove_signal_handler(signal.SIGWINCH)
            with contextlib.suppress(OSError):  # the terminal may be gone
                surface.close()


def _write_out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
