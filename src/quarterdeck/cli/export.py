"""``quarterdeck export``: a session of a host as a document."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from .common import OK, USAGE_ERROR, Parser, ReportedError
from .hosted.connecting import EXITS, add_host_options, on_host

if TYPE_CHECKING:
    from argparse import Namespace

    from quarterdeck.host.requests import Export
    from quarterdeck.remote import RemoteHost

FORMATS = {"md": ".md", "html": ".html", "ndjson": ".ndjson"}


def parser() -> Parser:
    built = Parser(
        "quarterdeck export",
        description="Export a session of a host as Markdown, HTML or NDJSON (every row of its log, for quarterdeck "
        "import). SESSION is an id, a unique prefix of it, or a name. For sessions that did not run on a host, use "
        "quarterdeck sessions export.",
        examples=[
            ("quarterdeck export review > review.md", "Markdown"),
            ("quarterdeck export review --out review.html", "the file name sets the format"),
        ],
        exits=EXITS,
    )
    built.add_argument("session", metavar="SESSION", help="the session")
    built.add_argument("--format", choices=tuple(FORMATS), help="md (default), html or ndjson")
    built.add_argument("--out", "-o", metavar="FILE", help="write to this file (default: standard output)")
    add_host_options(built, json=None)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    return on_host(given, lambda host: _export(host, given))


async def _export(host: RemoteHost, given: Namespace) -> int:
    from quarterdeck.host.requests import Export

    from .hosted.naming import find_session

    session = await find_session(host, given.session)
    request = Export(session_id=session.id, format=_format(given))  # type: ignore[arg-type]
    if given.out is None:
        await _write(host, request, sys.stdout.buffer)
        return OK
    place = Path(given.out)
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        try:
            with beside.open("wb") as file:
                await _write(host, request, file)
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise ReportedError(
            f"cannot write {place}: {error.strerror}", "Use another --out.", code=USAGE_ERROR
        ) from error
    return OK


async def _write(host: RemoteHost, request: Export, file: IO[bytes]) -> None:
    """Written in parts: a session may not fit in memory."""
    from msgspec.structs import replace

    while True:
        part = await host.export_session(request)
        file.write(part.body)
        file.flush()
        if part.next_cursor is None:
            return
        request = replace(request, cursor=part.next_cursor)


def _format(given: Namespace) -> str:
    if given.format:
        return str(given.format)
    ends = (name for name, end in FORMATS.items() if (given.out or "").lower().endswith(end))
    return next(ends, "md")
