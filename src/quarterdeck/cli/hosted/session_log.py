"""The log of a session: drawn as in a pipe, or as its lines or frames are."""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from quarterdeck.cli.common import OK, Look
from quarterdeck.host.events import Gap, RawLine
from quarterdeck.host.folding import Preview
from quarterdeck.host.requests import ReadEvents, WatchSession
from quarterdeck.host.resources import Frame, Session

from .naming import find_session
from .showing import is_simulated

if TYPE_CHECKING:
    from quarterdeck.remote import RemoteHost

PAGE = 500


async def show_log(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck log``."""
    session = await find_session(host, given.session)
    show = _show_lines if given.raw else _show_frames if given.json else _show_drawn
    await show(host, session, given)
    return OK


async def _frames(host: RemoteHost, session: Session, view: str, *, follow: bool) -> AsyncIterator[Frame]:
    """All frames there are; with ``follow``, also those to come."""
    if follow:
        request = WatchSession(session_id=session.id, view=view, previews=False)  # type: ignore[arg-type]
        async with aclosing(host.watch_session(request)) as watched:
            async for one in watched:
                if not isinstance(one, Preview):
                    yield one
        return
    after: str | None = None
    while True:
        page = await host.read_events(ReadEvents(session_id=session.id, after=after, limit=PAGE, view=view))  # type: ignore[arg-type]
        for frame in page.frames:
            yield frame
        if not page.frames or page.frames[-1].seq >= page.last_seq:
            return
        after = f"{page.epoch}-{page.frames[-1].seq}"


async def _show_lines(host: RemoteHost, session: Session, given: argparse.Namespace) -> None:
    """Byte for byte; on a terminal, what could harm it is shown instead."""
    from quarterdeck.cli.terminal.outputs import write_line

    async for frame in _frames(host, session, "raw", follow=given.follow):
        for event in frame.events:
            if isinstance(event, RawLine):
                write_line(event.line.encode())


async def _show_frames(host: RemoteHost, session: Session, given: argparse.Namespace) -> None:
    from quarterdeck.cli.terminal.outputs import write_line

    async for frame in _frames(host, session, "timeline", follow=given.follow):
        write_line(msgspec.json.encode(frame))


async def _show_drawn(host: RemoteHost, session: Session, given: argparse.Namespace) -> None:
    """Finished lines, as ``quarterdeck run`` writes them into a pipe."""
    from quarterdeck.cli.terminal.painter import Painter, plain_markdown
    from quarterdeck.cli.terminal.surface import PlainSurface
    from quarterdeck.timeline import Timeline

    from .following import RowReader
    from .host_lines import host_line

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    look = Look.of(sys.stdout)
    reader = RowReader(Timeline())
    surface = PlainSurface(write, width=look.width)
    painter = Painter(surface, reader.state, colour=look.colour, unicode=look.unicode, draw=plain_markdown)
    painter.simulated = is_simulated(session)
    async for frame in _frames(host, session, "raw", follow=given.follow):
        if any(isinstance(event, Gap) for event in frame.events):
            painter.say("yellow", "gap in the log")
        happened = reader.events(frame)
        painter.show(happened)  # type: ignore[arg-type]  # it leaves out what it does not know
        for line in filter(None, map(host_line, happened)):
            painter.say(*line)
        painter.draw(frame.at)
    painter.draw(0.0, final=True)
