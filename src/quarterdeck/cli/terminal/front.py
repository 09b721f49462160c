"""The screen of ``quarterdeck run``: the whole terminal, or just lines where there is none."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from quarterdeck.cli.common import Look

from .painter import plain_markdown
from .screen import Screen
from .surface import PlainSurface, TerminalSurface


def can_draw() -> bool:
    """Whether standard output is a terminal that can be redrawn. The console of Windows is not tried."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and sys.platform != "win32"


@contextmanager
def lines_only(*, failed: Callable[[Exception], None]) -> Iterator[Screen]:
    """For pipes and files: finished lines, one after the other."""
    look = Look.of(sys.stdout)
    with Screen(PlainSurface(_write_out, width=look.width), look, plain_markdown, failed=failed) as screen:
        yield screen


@contextmanager
def terminal(*, failed: Callable[[Exception], None]) -> Iterator[Screen]:
    """The terminal is ours until the end, and then as it was, whatever happens."""
    from .markdown import MarkdownPainter
    from .tty import Keyboard

    look = Look.of(sys.stdout)
    surface = TerminalSurface(sys.stdout.fileno())
    draw = MarkdownPainter(colour=look.colour).lines

    def resized() -> None:
        with contextlib.suppress(OSError):  # gone; SIGHUP tells the rest
            surface.resized()
        screen.changed()

    keyboard = Keyboard(lambda name: screen.questions.key(name), on_suspend=surface.close, on_resume=resized)
    screen = Screen(surface, look, draw, failed=failed, forget_typed=keyboard.forget)

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
