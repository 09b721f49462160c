"""Full-text search in all stored sessions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from .lines import TranscriptFile, record_of
from .listing import transcripts_in
from .messages import agent_files
from .places import projects_of
from .types import SearchHit

AROUND = 60
"""Characters shown before and after a match."""

_PLAIN_RUN = re.compile(r"[ !#-\[\]-~]+")
"""Characters that every JSON writer leaves unescaped."""


def search_sessions(
    query: str,
    directory: str | None = None,
    *,
    limit: int | None = None,
    case_sensitive: bool = False,
    include_subagents: bool = True,
    include_worktrees: bool = True,
) -> Iterator[SearchHit]:
    """The messages that have ``query`` in their text, tool input or tool result; the newest sessions first.

    Searches the sessions of a folder and its worktrees, or all. One hit per message; transcripts are streamed.
    """
    if not query:
        raise ValueError("query must be non-empty")
    projects = projects_of(directory, include_worktrees=include_worktrees)
    found = [one for folder, project in projects for one in transcripts_in(folder, project)]
    found.sort(key=lambda one: one.mtime, reverse=True)
    needle = _Needle(query, case_sensitive=case_sensitive)
    count = 0
    for one in found:
        files = [one.path, *(file for _, file in agent_files(one.path))] if include_subagents else [one.path]
        for hit in (hit for file in files for hit in _hits(file, one.session_id, needle)):
            yield hit
            count += 1
            if limit is not None and count >= limit:
                return


def _hits(path: str, session_id: str, needle: _Needle) -> Iterator[SearchHit]:
    try:
        with TranscriptFile(path) as transcript:
            for _, line in transcript.lines():
                record = record_of(line) if needle.may_be_in(line) else None
                if record is None or record.get("type") not in ("user", "assistant"):
                    continue
                excerpt = needle.excerpt(_texts(record.get("message")))
                if excerpt is not None:
                    uuid, timestamp = record.get("uuid"), record.get("timestamp")
                    yield SearchHit(session_id, uuid, record["type"], excerpt, timestamp, path)
    except OSError:
        return  # removed in the meantime, or not readable


class _Needle:
    """The search term: first in bytes, which rules out nearly every line, then in the message text."""

    def __init__(self, query: str, *, case_sensitive: bool) -> None:
        self._text = re.compile(re.escape(query), 0 if case_sensitive else re.IGNORECASE)
        plain = max(_PLAIN_RUN.findall(query), key=len, default="").encode()
        if not case_sensitive and not query.isascii():
            plain = b""  # some letters beyond ASCII equal ASCII ones when case does not count
        self._bytes = re.compile(re.escape(plain), 0 if case_sensitive else re.IGNORECASE)

    def may_be_in(self, line: bytes) -> bool:
        return self._bytes.search(line) is not None

    def excerpt(self, texts: Iterable[str]) -> str | None:
        for text in texts:
            match = self._text.search(text)
            if match is not None:
                start, end = max(0, match.start() - AROUND), match.end() + AROUND
                cut = " ".join(text[start:end].split())
                return f"{'…' if start else ''}{cut}{'…' if end < len(text) else ''}"
        return None


def _texts(value: Any) -> Iterator[str]:
    """Every text in a message, but what are only names of things."""
    content = value.get("content") if isinstance(value, dict) else None
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            for key in ("text", "thinking", "content", "input"):
                yield from _strings(block.get(key))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in ("type", "media_type", "data"):
                yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
