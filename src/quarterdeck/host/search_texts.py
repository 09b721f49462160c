"""The searchable text of a row: prompts, Claude's text, tool calls and external events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from quarterdeck.store.records import Row, SessionRecord
from quarterdeck.store.search import SearchDocument

from .events import CustomEvent

LONGEST = 20_000
"""Limit on indexed characters per row."""
INPUT_CHARS = 1_000
"""Limit per value of a tool's input: enough for a command or path, not for a whole file."""
_CUSTOM = f'"{CustomEvent.__struct_config__.tag}"'.encode()


class _TextMessage(msgspec.Struct):
    content: Any = None


class _TextLine(msgspec.Struct):
    type: str = ""
    message: _TextMessage | None = None


class _TextEvent(msgspec.Struct):
    text: str = ""
    name: str = ""
    data: Any = None


_decode_line = msgspec.json.Decoder(_TextLine).decode
_decode_event = msgspec.json.Decoder(_TextEvent).decode


def document_of(row: Row) -> SearchDocument | None:
    """The document for a row; None if it contains nothing to search."""
    try:
        kind, parts = _parts(row)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None
    text = "\n".join(parts)[:LONGEST]
    return SearchDocument(row.seq, kind, text.encode(errors="replace").decode()) if text.strip() else None


def document_about(record: SessionRecord) -> SearchDocument:
    """The document for the session itself."""
    return SearchDocument(0, "session", "\n".join((record.name, *record.tags, record.cwd)))


def _parts(row: Row) -> tuple[str, list[str]]:
    body = row.body
    if row.kind == "received":
        if b'"assistant"' not in body[:400]:
            return "", []
        blocks = list(_blocks(_decode_line(body), "assistant"))
        said = [part for kind, part in blocks if kind == "text"]
        return (
            ("text", said + [part for kind, part in blocks if kind != "text"])
            if said
            else (
                "tool",
                [part for _, part in blocks],
            )
        )
    if row.kind == "sent":
        if b'"user"' not in body:
            return "", []
        return "prompt", [part for kind, part in _blocks(_decode_line(body), "user") if kind == "text"]
    if row.kind == "partial":
        return "text", [_decode_event(body).text]
    if _CUSTOM in body:
        event = _decode_event(body)
        return "event", [event.name, *_texts(event.data)]
    return "", []


def _blocks(line: _TextLine, wanted: str) -> Iterator[tuple[str, str]]:
    if line.type != wanted or line.message is None:
        return
    content = line.message.content
    if isinstance(content, str):
        yield "text", content
        return
    for block in content if isinstance(content, list) else ():
        match block:
            case {"type": "text", "text": str(text)}:
                yield "text", text
            case {"type": "tool_use", "name": str(name)}:
                yield "tool", " ".join([name, *_texts(block.get("input"))])


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value[:INPUT_CHARS]]
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    return [text for one in value for text in _texts(one)] if isinstance(value, list) else []
