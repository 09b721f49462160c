"""Lines on the terminal that are redrawn as things change, until ``q`` or Ctrl-C; the last ones stay."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from quarterdeck.cli.common import Look

if TYPE_CHECKING:
    from quarterdeck.cli.terminal.surface import TerminalSurface

FRAME_S = 0.1
"""What changes in between is drawn at once."""
BEAT_S = 1.0
"""How often times are redrawn when nothing else changes."""

Draw = Callable[[Look, int], list[str]]
"""The lines of this frame, at most this many rows."""


async def show_live(draw: Draw, follow: Callable[[Callable[[], None]], Awaitable[object]]) -> None:
    """Draw until a key ends it. ``follow`` is given a function to call when something has changed."""
    from quarterdeck.cli.terminal.surface import TerminalSurface
    from quarterdeck.cli.terminal.tty import Keyboard

    surface = TerminalSurface(sys.stdout.fileno())
    changed, left = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def resized() -> None:
        with contextlib.suppress(OSError):  # the terminal is gone; SIGHUP follows
            surface.resized()
        changed.set()

    def pressed(key: str) -> None:
        if key in ("q", "escape", "ctrl-d"):
            left.set()

    keyboard = Keyboard(pressed, on_suspend=surface.close, on_resume=resized)
    with keyboard, keyboard.listening():
        loop.add_signal_handler(signal.SIGWINCH, resized)
        following = asyncio.ensure_future(follow(changed.set))
        leaving = asyncio.ensure_future(left.wait())
        try:
            while not leaving.done() and not following.done():
                changed.clear()
                _frame(surface, draw)
                await asyncio.sleep(FRAME_S)
                await _next([leaving, following], changed)
            if following.done():
                following.result()
        finally:
            for task in (following, leaving):
                task.cancel()
            await asyncio.gather(following, leaving, return_exceptions=True)
            loop.remove_signal_handler(signal.SIGWINCH)
            with contextlib.suppress(OSError):
                surface.commit(_lines(surface, draw))
                surface.close()


async def _next(ends: list[asyncio.Future[Any]], changed: asyncio.Event) -> None:
    """Until something changes, or the next beat."""
    waiting = asyncio.ensure_future(changed.wait())
    await asyncio.wait([*ends, waiting], timeout=BEAT_S, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()


def _lines(surface: TerminalSurface, draw: Draw) -> list[str]:
    look = Look.of(sys.stdout)
    return draw(Look(look.colour, surface.width, look.unicode), surface.height)


def _frame(surface: TerminalSurface, draw: Draw) -> None:
    surface.live(_lines(surface, draw))
    surface.flush()
