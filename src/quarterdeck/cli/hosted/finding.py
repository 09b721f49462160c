"""Search in a host's sessions, and bring sessions in."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from quarterdeck.cli.common import OK, USAGE_ERROR, Look, ReportedError, sanitize
from quarterdeck.cli.common.parser import absolute
from quarterdeck.host.requests import ImportSession, Search

from .naming import find_session
from .showing import print_json

if TYPE_CHECKING:
    from quarterdeck.host.resources import Hit
    from quarterdeck.remote import RemoteHost

PART_BYTES = 4 * 1024 * 1024
BEGIN, END = "\x02", "\x03"


async def search(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck search``."""
    session = None if given.session is None else (await find_session(host, given.session)).id
    cwd = "" if given.cwd is None else absolute(given.cwd)
    found = await host.search(Search(q=" ".join(given.words), session=session, cwd=cwd, limit=max(given.limit, 1)))
    if given.json:
        print_json(found.hits)
        return OK
    look = Look.of(sys.stdout)
    if not found.hits:
        print("No matches.")
    for hit in found.hits:
        print(_line(hit, look))
    if found.behind:
        print(look.paint("dim", f"{found.behind} rows are not indexed yet"), file=sys.stderr)
    return OK


def _line(hit: Hit, look: Look) -> str:
    place = look.paint("cyan", hit.session_id[:8])
    name = look.paint("bold", sanitize(hit.name, one_line=True)) if hit.name else ""
    where = look.paint("dim", f"{hit.kind}{f' {hit.seq}' if hit.seq else ''}")
    return f"{' '.join(filter(None, (place, name, where)))}\n    {_marked(hit.excerpt, look)}"


def _marked(excerpt: str, look: Look) -> str:
    """With the matching words highlighted."""
    parts = excerpt.replace(END, BEGIN).split(BEGIN)
    shown = [sanitize(part, one_line=True) for part in parts]
    return "".join(look.paint("bold yellow", part) if number % 2 else part for number, part in enumerate(shown))


async def import_file(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck import``, a part at a time."""
    if given.file == "-":
        return await _import(host, given, sys.stdin.buffer)
    with _opened(given.file) as file:
        return await _import(host, given, file)


def _opened(name: str) -> IO[bytes]:
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise ReportedError(f"cannot read {name}: {error.strerror}", "Check the path.", code=USAGE_ERROR) from error


async def _import(host: RemoteHost, given: argparse.Namespace, file: IO[bytes]) -> int:
    part, import_id, offset = file.read(PART_BYTES), None, 0
    while True:
        following = file.read(PART_BYTES)
        done = await host.import_session(
            ImportSession(
                body=part, import_id=import_id, offset=offset, more=bool(following), name=given.name, cwd=given.cwd
            )
        )
        if not following:
            break
        import_id, offset, part = done.import_id, done.size_bytes, following
    if given.json:
        print_json(done)
    elif done.session is not None:
        print(done.session.id)
    return OK
