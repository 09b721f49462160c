"""``sessions export``: to standard output or to a file, piece by piece."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path

from quarterdeck.cli.common import OK, ReportedError, sanitize
from quarterdeck.client.transcripts import SDKSessionInfo
from quarterdeck.client.transcripts.lines import TranscriptFile
from quarterdeck.client.transcripts.places import find_transcript

from .conversation import conversation_items
from .find import find, size
from .html_page import html_page
from .markdown import markdown


def export(given: Namespace) -> int:
    info = find(given)
    pieces = _pieces(info, given)
    if given.out is None:
        _print(pieces)
        return OK
    target = Path(given.out)
    try:
        _write(target, pieces, overwrite=given.force)
    except FileExistsError as error:
        raise ReportedError(
            f"{sanitize(str(target))} already exists", "Choose another name, or add --force."
        ) from error
    except OSError as error:
        advice = "Check that the folder exists and is writable, and that the disk is not full."
        raise ReportedError(f"cannot write {sanitize(str(target))}: {error.strerror or error}", advice) from error
    print(f"{sanitize(str(target))}: {size(target.stat().st_size)}", file=sys.stderr)
    return OK


def _pieces(info: SDKSessionInfo, given: Namespace) -> Iterator[bytes]:
    if given.format == "ndjson":
        return _raw(info, given.project)
    write = html_page if given.format == "html" else markdown
    items = conversation_items(info.session_id, given.project)
    return (piece.encode("utf-8", "replace") for piece in write(info, items))


def _raw(info: SDKSessionInfo, directory: str | None) -> Iterator[bytes]:
    """The transcript line by line, unchanged, including an incomplete last line."""
    found = find_transcript(info.session_id, directory)
    if found is None:
        raise ReportedError(f"session {info.session_id} is gone", "Run quarterdeck sessions list --all.")
    with TranscriptFile(found[0]) as transcript:
        for _, line in transcript.lines():
            yield line + b"\n"


def _print(pieces: Iterable[bytes]) -> None:
    if sys.stdout.isatty():  # JSON need not escape control characters beyond ASCII
        for piece in pieces:
            sys.stdout.write(sanitize(piece.decode("utf-8", "replace")))
        return
    sys.stdout.flush()
    for piece in pieces:
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _write(target: Path, pieces: Iterable[bytes], *, overwrite: bool) -> None:
    """An export that fails leaves no new file and does not touch an old one."""
    made = target.with_name(f".{target.name}.{os.getpid()}.part") if overwrite else target
    with made.open("xb") as file:
        try:
            file.writelines(pieces)
        except BaseException:
            made.unlink()
            raise
    if overwrite:
        made.replace(target)
