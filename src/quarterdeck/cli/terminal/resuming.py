"""``--resume`` without an id: which session?"""

from __future__ import annotations

import asyncio
import sys
import time

from quarterdeck.cli.common import INTERRUPTED, USAGE_ERROR, Trouble
from quarterdeck.client.transcripts import list_sessions

from .front import can_draw, terminal
from .interrupts import Interrupts
from .text import one_line, seconds
from .widgets import Menu, Option

OFFERED = 9
"""Each can be chosen with one key."""


def choose_session(folder: str) -> str:
    """The id of the session that the person chooses among the latest ones of this folder."""
    if not (can_draw() and sys.stdin.isatty()):
        raise Trouble("--resume needs an id here", "quarterdeck sessions list shows them", code=USAGE_ERROR)
    found = list_sessions(folder, limit=OFFERED)
    if not found:
        raise Trouble("there is no session of this folder", "start one without --resume", code=USAGE_ERROR)
    now = time.time()
    options = [
        Option(one.session_id, one_line(one.summary, 60), f"{seconds(max(now - one.last_modified / 1000, 0))} ago")
        for one in found
    ]
    chosen = asyncio.run(_ask(Menu("Which session?", options, on_escape=None)))
    if chosen is None:
        raise Trouble("no session was chosen", "start one without --resume", code=INTERRUPTED)
    return str(chosen)


async def _ask(menu: Menu) -> object | None:
    with Interrupts() as interrupts:
        try:
            with terminal(failed=interrupts.fail) as screen:
                async with screen.questions.turn():
                    return await screen.questions.ask(menu)  # type: ignore[no-any-return]
        except asyncio.CancelledError:
            return None
