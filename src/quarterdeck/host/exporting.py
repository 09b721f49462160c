"""Exports a session: as rows to import elsewhere, or as Markdown or HTML to read. Long exports come in parts.

A part depends only on a page of the log and where that page starts, so the next part can be requested later, or from
another host with the same log. The host keeps the fold between parts for a while, so that no row is folded twice.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from hashlib import sha256
from typing import Any, Literal

import msgspec

from quarterdeck.client.transcripts.export import fenced
from quarterdeck.store import EventStore
from quarterdeck.store.records import LogHead, Origin, Row, RowKind, SessionRecord
from quarterdeck.timeline.events import (
    NoticeShown,
    PlanReviewAsked,
    PromptSent,
    RequestAnswered,
    Retracted,
    TextCompleted,
    ThinkingCompleted,
    ToolCalled,
    ToolEnded,
    TurnEnded,
)

from .bodies import decode_body
from .errors import HostError
from .events import AnyEvent, CustomEvent
from .frames import KeptFolds, replayed
from .resources import Exported
from .times import moment
from .whole_text import encode_whole

FORMAT = 1
"""The version of the NDJSON."""
PART_ROWS = 250
PART_BYTES = 1024 * 1024
"""Approximate size of a part; a larger row gets its own."""
MEDIA_TYPES = {
    "ndjson": "application/x-ndjson",
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
}
_STYLE = (
    "body{max-width:52rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif}"
    "pre{background:#f4f4f5;padding:.75rem;overflow:auto;white-space:pre-wrap}"
    "section{border-top:1px solid #ddd;padding:.5rem 0}h2{font-size:1rem;color:#555}"
)
_POLICY = f"default-src 'none'; style-src 'sha256-{base64.b64encode(sha256(_STYLE.encode()).digest()).decode()}'"
"""Keeps a browser from loading or running anything in the document."""
_CURSOR = re.compile(r"([0-9]{1,12})-([0-9]{1,12})")


class ExportHeader(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The first line of an NDJSON file."""

    quarterdeck_session: int
    """``FORMAT``"""
    id: str
    cwd: str
    created_at: float
    first_seq: int = 1
    name: str = ""
    tags: list[str] = []
    agent: str = "claude"
    model: str | None = None
    permission_mode: str | None = None
    cli_version: str | None = None
    transcript_id: str | None = None


class ExportedRow(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Any other line: a row of the log, as the original JSON (``line``) or as bytes."""

    seq: int
    at: float
    kind: RowKind
    origin: Origin
    generation: int = 0
    sender: str = ""
    line: msgspec.Raw = msgspec.Raw()
    bytes_base64: str = ""


class ExportPart(msgspec.Struct, frozen=True):
    """One item of the conversation: a heading, and text that is prose or not."""

    heading: str
    text: str
    verbatim: bool = False


async def exported(
    store: EventStore,
    head: LogHead,
    record: SessionRecord,
    form: Literal["ndjson", "md", "html"],
    cursor: str | None,
    kept: KeptFolds,
) -> Exported:
    """Return the part that starts at the cursor. Raises ``HostError`` for an invalid cursor."""
    after, end = _place(cursor, head)
    made = bytearray()
    if cursor is None:
        made += _opening(form, record, head)
    parts = _rows(store, head, after, end) if form == "ndjson" else _conversation(store, head, form, after, end, kept)
    async with aclosing(parts):
        async for seq, text in parts:
            made += text
            after = seq
            if len(made) >= PART_BYTES:
                break
    is_last = after >= end
    if is_last and form == "html":
        made += b"</body></html>\n"
    return Exported(media_type=MEDIA_TYPES[form], body=bytes(made), next_cursor=None if is_last else f"{after}-{end}")


def _place(cursor: str | None, head: LogHead) -> tuple[int, int]:
    """The row to start after, and the row to end at: the last one when the export started."""
    if cursor is None:
        return head.first_seq - 1, head.last_seq
    found = _CURSOR.fullmatch(cursor)
    if found is None or int(found[2]) > head.last_seq:
        raise HostError("invalid", f"{cursor!r} is not a cursor.", field="cursor")
    return max(int(found[1]), head.first_seq - 1), int(found[2])


def _opening(form: str, record: SessionRecord, head: LogHead) -> bytes:
    body = decode_body(record)
    if form == "ndjson":
        header = ExportHeader(
            quarterdeck_session=FORMAT,
            id=record.id,
            cwd=record.cwd,
            created_at=record.created_at,
            first_seq=head.first_seq,
            name=record.name,
            tags=list(record.tags),
            agent=body.agent,
            model=body.model,
            permission_mode=body.permission_mode,
            cli_version=body.cli_version,
            transcript_id=body.transcript_id,
        )
        return msgspec.json.encode(header) + b"\n"
    title = record.name or f"Session {record.id}"
    about = f"{record.cwd} · {moment(record.created_at):%Y-%m-%d %H:%M} UTC"
    if head.first_seq > 1:
        about += f" · the first {head.first_seq - 1} rows are no longer available"
    if form == "md":
        return f"# {_line(title)}\n\n{about}\n".encode()
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(_POLICY)}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{html.escape(title)}</h1><p>{html.escape(about)}</p>\n"
    ).encode()


# Rows


async def _rows(store: EventStore, head: LogHead, after: int, end: int) -> AsyncGenerator[tuple[int, bytes], None]:
    while after < end:
        page = await store.read(
            head.session, after=after, limit_rows=min(PART_ROWS, end - after), limit_bytes=PART_BYTES
        )
        if not page.rows:
            return
        for row in page.rows:
            after = row.seq
            yield row.seq, _row_line(row)


def _row_line(row: Row) -> bytes:
    shown = ExportedRow(
        seq=row.seq, at=row.at, kind=row.kind, origin=row.origin, generation=row.generation, sender=row.sender
    )
    if _is_json(row.body):
        shown.line = msgspec.Raw(row.body)
    else:
        shown.bytes_base64 = base64.b64encode(row.body).decode()
    return encode_whole(shown) + b"\n"


def _is_json(body: bytes) -> bool:
    try:
        body.decode()
        msgspec.json.decode(body, type=msgspec.Raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return b"\n" not in body and body == body.strip()


# To read


async def _conversation(
    store: EventStore, head: LogHead, form: str, after: int, end: int, kept: KeptFolds
) -> AsyncGenerator[tuple[int, bytes], None]:
    shown = _markdown if form == "md" else _section
    frames = replayed(store, head, after, end, kept, page_rows=PART_ROWS, page_bytes=PART_BYTES)
    async with aclosing(frames):
        async for frame in frames:
            yield frame.seq, "".join(map(shown, _parts(frame.events))).encode(errors="replace")


def _parts(events: Iterable[AnyEvent]) -> Iterator[ExportPart]:
    for event in events:
        inside = " (sub-agent)" if getattr(event, "parent_id", None) else ""
        match event:
            case PromptSent():
                whose = "" if event.source == "us" else f" from {event.source}"
                yield ExportPart(f"Prompt{whose}{inside}", event.text)
            case TextCompleted():
                yield ExportPart(f"Claude{inside}", event.text)
            case ThinkingCompleted() if event.text:
                yield ExportPart(f"Thinking{inside}", event.text)
            case ToolCalled():
                yield ExportPart(f"{event.label or event.name}{inside}", event.about, verbatim=True)
            case ToolEnded():
                yield from _ended(event, inside)
            case _:
                yield from _told(event, inside)


def _told(event: AnyEvent, inside: str) -> Iterator[ExportPart]:
    match event:
        case PlanReviewAsked():
            yield ExportPart("Plan", event.request.plan or "")
        case RequestAnswered() if event.answers:
            yield ExportPart("Answers", "\n".join(f"{asked}: {said}" for asked, said in event.answers.items()))
        case Retracted():
            yield ExportPart("Notice", "The model was replaced here; what it had begun to say does not count.")
        case NoticeShown():
            yield ExportPart(f"Notice{inside}", event.text)
        case CustomEvent():
            yield ExportPart(f"Event {event.name} from {event.by}", _pretty(event.data), verbatim=True)
        case TurnEnded() if event.turn.error:
            yield ExportPart("Turn failed", event.turn.error)


def _ended(call: ToolEnded, inside: str) -> Iterator[ExportPart]:
    for one in call.diffs:
        lines = [line for hunk in one.hunks for line in hunk.lines]
        yield ExportPart(f"Change of {one.path}", "\n".join(lines), verbatim=True)
    output = str(call.output)
    if output or call.status != "finished":
        yield ExportPart(f"{call.name}{inside} · {call.status}", output, verbatim=True)
    if call.reason:
        yield ExportPart("Reason", call.reason)


def _pretty(data: Any) -> str:
    return msgspec.json.format(encode_whole(data), indent=2).decode(errors="replace")


def _markdown(part: ExportPart) -> str:
    return f"\n## {_line(part.heading)}\n\n{fenced(part.text) if part.verbatim else part.text}\n"


def _section(part: ExportPart) -> str:
    text = html.escape(part.text)
    if part.verbatim:
        shown = f"<pre>{text}</pre>"
    else:
        shown = "".join(f"<p>{one}</p>" for one in re.split(r"\n{2,}", text)).replace("\n", "<br>")
    return f"<section><h2>{html.escape(part.heading)}</h2>{shown}</section>\n"


def _line(text: str) -> str:
    return " ".join(text.split())
