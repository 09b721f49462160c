"""The records of a transcript as links of a chain: as little of each as finding the conversation needs.

A transcript of 1 GB has some hundred thousand records; their links fit in memory, their contents need not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from .lines import TranscriptFile, record_of

LINKED_TYPES = frozenset({"user", "assistant", "attachment", "system", "progress"})
"""Records that have a uuid and a parent. All others describe the session and are not part of the conversation."""


class RecordLink(msgspec.Struct, gc=False, eq=False):
    """One record. ``source`` is what the record is found by again: its place in the file, or the record itself."""

    type: str
    uuid: str
    parent: str | None
    source: Any
    is_sidechain: bool = False
    is_meta: bool = False
    of_team: bool = False
    agent_id: str | None = None
    timestamp: str = ""
    message_id: str | None = None
    """Of an assistant's record: the answer it is a part of. The CLI writes one record per content block."""
    calls: tuple[str, ...] = ()
    """The tools called in it, by id."""
    answers: tuple[str, ...] = ()
    """The calls whose results are in it, by id."""
    holds_result: bool = False
    caller: str | None = None
    """The record of the call, as a result names it."""


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    id: str | None = None
    tool_use_id: str | None = None


class _Message(msgspec.Struct, gc=False):
    id: str | None = None
    content: msgspec.Raw = msgspec.Raw()


class _Record(msgspec.Struct, gc=False, rename="camel"):
    type: str = ""
    uuid: str | None = None
    parent_uuid: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    team_name: str | None = None
    agent_id: str | None = None
    timestamp: str | None = None
    source_tool_assistant_uuid: str | None = msgspec.field(default=None, name="sourceToolAssistantUUID")
    message: _Message | None = None


_decode = msgspec.json.Decoder(_Record).decode
_decode_blocks = msgspec.json.Decoder(list[_Block]).decode


def links_in(transcript: TranscriptFile) -> Iterator[RecordLink]:
    """The links of a file, in order; ``source`` is (offset, length). Other records and bad lines are skipped."""
    for offset, line in transcript.lines():
        link = _link(line, (offset, len(line)))
        if link is not None:
            yield link


def links_of(records: Iterable[Any]) -> Iterator[RecordLink]:
    """The links of records that are in memory; ``source`` is the record."""
    for record in records:
        link = link_of_record(record, record) if isinstance(record, dict) else None
        if link is not None:
            yield link


def _link(line: bytes, source: Any) -> RecordLink | None:
    try:
        record = _decode(line)
        if record.type not in LINKED_TYPES or record.uuid is None:
            return None
        return _typed_link(record, source)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        loose = record_of(line)  # an odd record, or no record at all
        return None if loose is None else link_of_record(loose, source)


def _typed_link(record: _Record, source: Any) -> RecordLink:
    message = record.message
    content = b"" if message is None else bytes(message.content)
    blocks = _decode_blocks(content) if content.startswith(b"[") else []
    assert record.uuid is not None  # noqa: S101  # the caller has looked
    return RecordLink(
        record.type,
        record.uuid,
        record.parent_uuid,
        source,
        bool(record.is_sidechain),
        bool(record.is_meta),
        bool(record.team_name),
        record.agent_id,
        record.timestamp or "",
        (None if message is None else message.id or None) if record.type == "assistant" else None,
        tuple(block.id for block in blocks if block.type == "tool_use" and block.id is not None),
        tuple(block.tool_use_id for block in blocks if block.type == "tool_result" and block.tool_use_id is not None),
        record.type == "user" and any(block.type == "tool_result" for block in blocks),
        record.source_tool_assistant_uuid,
    )


def link_of_record(record: dict[str, Any], source: Any) -> RecordLink | None:
    """The same from a dict, for whatever is in it."""
    kind, uuid = record.get("type"), record.get("uuid")
    if not isinstance(kind, str) or kind not in LINKED_TYPES or not isinstance(uuid, str):
        return None
    message = record.get("message")
    said: dict[str, Any] = message if isinstance(message, dict) else {}
    content = said.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    results = [block for block in blocks if block.get("type") == "tool_result"]
    return RecordLink(
        kind,
        uuid,
        _text(record.get("parentUuid")),
        source,
        bool(record.get("isSidechain")),
        bool(record.get("isMeta")),
        bool(record.get("teamName")),
        _text(record.get("agentId")),
        _text(record.get("timestamp")) or "",
        (_text(said.get("id")) or None) if kind == "assistant" else None,
        _ids(blocks, "tool_use", "id"),
        _ids(results, "tool_result", "tool_use_id"),
        kind == "user" and bool(results),
        _text(record.get("sourceToolAssistantUUID")),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _ids(blocks: list[dict[str, Any]], kind: str, key: str) -> tuple[str, ...]:
    return tuple(block[key] for block in blocks if block.get("type") == kind and isinstance(block.get(key), str))
