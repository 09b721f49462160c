"""``--resume`` without an id: choose a session from a menu."""

from __future__ import annotations

import asyncio
import sys
import time

from quarterdeck.cli.common import INTERRUPTED, USAGE_ERROR, ReportedError
from quarterdeck.cli.sessions.find import sessions_of
from quarterdeck.client.transcripts import list_sessions

from .interrupts import Interrupts
from .screen import can_draw, terminal_screen
from .text import one_line, seconds
from .widgets import Menu, MenuOption

OFFERED = 9
"""As many as have a one-digit number."""


def choose_session(folder: str, *, agent: str) -> str:
    """The id of the session that the user chooses from the latest ones of this folder."""
    if not (can_draw() and sys.stdin.isatty()):
        raise ReportedError(
            "--resume needs an ID without a terminal", "Run quarterdeck sessions list.", code=USAGE_ERROR
        )
    with sessions_of(agent):
        found = list_sessions(folder, limit=OFFERED)
    if not found:
        raise ReportedError("no sessions in this folder", "Start one without --resume.", code=USAGE_ERROR)
    now = time.time()
    options = [
        MenuOption(one.session_id, one_line(one.summary, 60), f"{seconds(max(now - one.last_modified / 1000, 0))} ago")
        for one in found
    ]
    chosen = asyncio.run(_ask(Menu("Which session?", options, on_escape=None)))
    if chosen is None:
        raise ReportedError("no session chosen", "Start one without --resume.", code=INTERRUPTED)
    return str(chosen)


async def _ask(menu: Menu) -> object | None:
    with Interrupts() as interrupts:
        try:
            with terminal_screen(failed=interrupts.fail) as screen:
                async with screen.questions.turn():
                    return await screen.questions.ask(menu)  # type: ignore[no-any-return]
        except asyncio.CancelledError:
            return None
