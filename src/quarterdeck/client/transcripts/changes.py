"""Rename, tag and delete stored sessions.

A title or a tag is a record at the end of the transcript; the last one counts. A CLI that has the session open takes it
up, as it reads the end of its file before it repeats its own title (2.1.325).
"""

from __future__ import annotations

import os
import unicodedata
from typing import Any

from quarterdeck.wire._json import dumps

from .errors import SessionNotFound
from .places import check_session_id, find_transcript
from .writing import append_line, inside, remove_transcript, transcript_to_change

_UNSEEN = frozenset({"Cf", "Co", "Cn"})
"""Format, private use, unassigned: characters that make two tags look the same."""
_ROUNDS = 10
"""Normalizing can produce such characters again; it settles after one or two rounds."""


def rename_session(session_id: str, title: str, directory: str | None = None) -> None:
    """Give a session a title. Raises ``ValueError``, ``SessionNotFound`` or ``TranscriptUnwritable``."""
    _append(title_record(session_id, title), session_id, directory)


def tag_session(session_id: str, tag: str | None, directory: str | None = None) -> None:
    """Set a session's tag; None removes it. Raises as ``rename_session`` does."""
    _append(tag_record(session_id, tag), session_id, directory)


def delete_session(session_id: str, directory: str | None = None) -> None:
    """Remove a session and its sub-agents from the disk, for good. Raises as ``rename_session`` does."""
    check_session_id(session_id)
    found = find_transcript(session_id, directory)
    if found is None:
        raise SessionNotFound(session_id, directory)
    folder, name = os.path.split(found[0])
    remove_transcript(os.path.join(inside(folder), name))  # noqa: PTH118  # the link itself, if it is one


def _append(record: dict[str, Any], session_id: str, directory: str | None) -> None:
    append_line(transcript_to_change(session_id, directory), dumps(record))


def title_record(session_id: str, title: str) -> dict[str, Any]:
    """Raises ``ValueError`` if the title is empty."""
    check_session_id(session_id)
    stripped = title.strip()
    if not stripped:
        raise ValueError("title must be non-empty")
    return {"type": "custom-title", "customTitle": stripped, "sessionId": session_id}


def tag_record(session_id: str, tag: str | None) -> dict[str, Any]:
    """Starts with its type: that is how a tag is distinguished from the word."""
    check_session_id(session_id)
    cleaned = "" if tag is None else clean(tag).strip()
    if tag is not None and not cleaned:
        raise ValueError("tag must be non-empty (use None to clear)")
    return {"type": "tag", "tag": cleaned, "sessionId": session_id}


def clean(text: str) -> str:
    """Without characters that cannot be seen, so that the CLI's filter finds the tag."""
    for _ in range(_ROUNDS):
        before = text
        text = unicodedata.normalize("NFKC", text)
        text = "".join(character for character in text if unicodedata.category(character) not in _UNSEEN)
        if text == before:
            break
    return text
