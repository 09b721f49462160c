"""Archived sessions stay on disk. Lists show them with ``archived``; a new prompt unarchives one.

The mark is a separate file, ``<session id>/archived.json`` next to the transcript, which is not changed. The CLI and
the TypeScript SDK (0.3.325) read and write the same file.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from quarterdeck.wire._json import dumps, loads

from .errors import SessionNotFound, TranscriptOutside, TranscriptUnwritable
from .places import SUFFIX, check_session_id, find_transcripts
from .prompt import PromptFinder, prompt_texts
from .summary import epoch_ms
from .windows import open_file, windows
from .writing import inside

MARK_NAME = "archived.json"
LARGEST_MARK_BYTES = 4096
"""A larger file is none of ours."""

_NOT_TYPED = (
    *("isCompactSummary", "isSidechain", "isVirtual", "isVisibleInTranscriptOnly", "isMeta", "textNotTyped"),
    *("handedOff", "queueSkipAttachments"),
)
_SCHEDULED = ("persist", "wakeupSource", "scheduledTaskId")
_TURN_ORIGINS = (None, "human", "sdk", "unknown")


def archive_session(session_id: str, directory: str | None = None) -> None:
    """Mark a session as archived. Raises ``ValueError``, ``SessionNotFound`` or ``TranscriptUnwritable``.

    The transcript is not changed, and a process that runs the session continues. ``list_sessions`` still shows the
    session, with ``archived`` true, until a prompt is sent in it or ``unarchive_session`` is called. A session store
    keeps only records of transcripts, so it has no such mark.
    """
    _mark(session_id, directory, archived=True)


def unarchive_session(session_id: str, directory: str | None = None) -> None:
    """Undo ``archive_session``: ``archived`` is then false. Raises as ``archive_session`` does."""
    _mark(session_id, directory, archived=False)


def _mark(session_id: str, directory: str | None, *, archived: bool) -> None:
    check_session_id(session_id)
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    mark = dumps({"archived": archived, "at": at, "by": "sdk"})
    files = [inside(path) for path, _ in find_transcripts(session_id, directory)]
    if not files:
        raise SessionNotFound(session_id, directory)
    for path in files:  # a session that was continued in another worktree has a transcript in each
        _write(mark_path(path), mark)


def mark_path(transcript: str) -> str:
    return f"{transcript.removesuffix(SUFFIX)}{os.sep}{MARK_NAME}"


def _write(path: str, mark: bytes) -> None:
    folder = os.path.dirname(path)  # noqa: PTH120
    draft = f"{folder}{os.sep}.{uuid.uuid4()}.draft"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        inside(folder)
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(file, mark)
        finally:
            os.close(file)
        os.replace(draft, path)  # noqa: PTH105
    except TranscriptOutside:
        raise
    except OSError as error:
        raise TranscriptUnwritable.because(error, f"{path} could not be written") from error


# Reading


def is_archived(transcript: str) -> bool | None:
    """None if the session was never archived; false if it was, and was brought back by a call or by a prompt since."""
    mark = _read(mark_path(transcript))
    if mark is None:
        return None
    archived, at = mark
    return archived and not _was_prompted_after(at, transcript)


def _read(path: str) -> tuple[bool, int] | None:
    try:
        file = open_file(path)
    except OSError:
        return None
    try:
        data = os.read(file, LARGEST_MARK_BYTES + 1)
        mark = loads(data) if len(data) <= LARGEST_MARK_BYTES else None
    except (OSError, ValueError):
        return None
    finally:
        os.close(file)
    if not isinstance(mark, dict) or not isinstance(mark.get("archived"), bool):
        return None
    at = epoch_ms(mark.get("at"))
    return None if at is None else (mark["archived"], at)


def _was_prompted_after(at: int, transcript: str) -> bool:
    """As far as the first and the last window of the transcript show."""
    return any((typed := _typed_at(record)) is not None and typed > at for record in _records(transcript))


def _records(transcript: str) -> Iterator[dict[str, Any]]:
    try:
        file = open_file(transcript)
    except OSError:
        return
    try:
        data = windows(file, os.fstat(file).st_size)
    finally:
        os.close(file)
    head, tail = data or (b"", b"")
    for line in (tail if head is tail else tail + b"\n" + head).split(b"\n"):
        if (b'"user"' in line or b'"queued_command"' in line) and b'"tool_result"' not in line:
            try:
                record = loads(line)
            except ValueError:
                continue  # cut off by the window
            if isinstance(record, dict):
                yield record


def _typed_at(record: dict[str, Any]) -> int | None:
    """When a person, or the program in a person's place, sent this prompt; None if it is none."""
    queued = record.get("attachment")
    if record.get("type") == "user":
        source, content = record, (record.get("message") or {}).get("content")
        made = any(key in record for key in _SCHEDULED) or record.get("toolUseResult") is not None
        if made or record.get("turnOrigin") not in _TURN_ORIGINS:
            return None
    elif record.get("type") == "attachment" and isinstance(queued, dict) and queued.get("type") == "queued_command":
        source, content = {**record, **queued}, queued.get("prompt")
    else:
        return None
    origin = source.get("origin")
    if any(source.get(flag) for flag in _NOT_TYPED) or (isinstance(origin, dict) and origin.get("kind") != "human"):
        return None
    return epoch_ms(record.get("timestamp")) if _says_something(content, known_human=origin is not None) else None


def _says_something(content: Any, *, known_human: bool) -> bool:
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    if any(block.get("type") in ("image", "document") for block in blocks):
        return True
    texts = [text.lstrip() for text in prompt_texts({"message": {"content": content}})]
    if known_human:
        return any(texts) and not any(text.startswith("<command-name>") for text in texts)
    return PromptFinder().offer(texts) or any(text.startswith("<command-message>") for text in texts)
