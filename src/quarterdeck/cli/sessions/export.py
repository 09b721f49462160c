"""``sessions export``: to standard output or into a file, piece by piece."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path

from quarterdeck.cli.common import OK, Trouble, plain
from quarterdeck.client.transcripts import SDKSessionInfo
from quarterdeck.client.transcripts.lines import TranscriptFile
from quarterdeck.client.transcripts.places import find_transcript

from .find import find, size
from .markdown import markdown
from .page import page
from .story import story


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
        raise Trouble(f"{plain(str(target))} is there already", "choose another name, or add --force") from error
    except OSError as error:
        advice = "check that the folder exists and is yours, and that the disk has room"
        raise Trouble(f"{plain(str(target))} cannot be written: {error.strerror or error}", advice) from error
    print(f"{plain(str(target))}: {size(target.stat().st_size)}", file=sys.stderr)
    return OK


def _pieces(info: SDKSessionInfo, given: Namespace) -> Iterator[bytes]:
    if given.format == "ndjson":
        return _raw(info, given.project)
    write = page if given.format == "html" else markdown
    return (piece.encode("utf-8", "replace") for piece in write(info, story(info.session_id, given.project)))


def _raw(info: SDKSessionInfo, directory: str | None) -> Iterator[bytes]:
    """The transcript line by line, unchanged; a torn last line is kept, too."""
    found = find_transcript(info.session_id, directory)
    if found is None:
        raise Trouble(f"the session {info.session_id} is gone", "quarterdeck sessions list --all shows what there is")
    with TranscriptFile(found[0]) as transcript:
        for _, line in transcript.lines():
            yield line + b"\n"


def _print(pieces: Iterable[bytes]) -> None:
    if sys.stdout.isatty():  # raw lines could hold control characters beyond ASCII, which JSON need not escape
        for piece in pieces:
            sys.stdout.write(plain(piece.decode("utf-8", "replace")))
        return
    sys.stdout.flush()
    for piece in pieces:
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _write(target: Path, pieces: Iterable[bytes], *, overwrite: bool) -> None:
    """An export that fails half-way leaves nothing new, and an old file as it was."""
    made = target.with_name(f".{target.name}.{os.getpid()}.part") if overwrite else target
    with made.open("xb") as file:
        try:
            file.writelines(pieces)
        except BaseException:
            made.unlink()
            raise
    if overwrite:
        made.replace(target)
