"""The raw view: rows as written and, between them, lines that aren't rows.

A watcher that misses a line of a streamed message, because it is late or slow, gets no more lines of it. The row of the
complete message contains everything.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from quarterdeck.store.records import NewRow, Row

from .events import AnyEvent, RawLine
from .fanout import ReadFrames
from .folding import Preview, decode_event
from .resources import Frame


def raw_events(row: NewRow | Row) -> list[AnyEvent]:
    """The raw view of a row."""
    if row.kind in ("received", "sent"):
        return [RawLine(row.at, row.kind, row.body.decode(errors="replace"))]
    return [decode_event(row.body)]


class WholeMessages:
    """Selects the previews for one watcher. Call ``read`` when it has fallen behind."""

    def __init__(self, read: ReadFrames) -> None:
        self._read = read
        self._whole: set[str] = set()
        """The agents (empty for the main one) of whose current message nothing was missed."""

    async def read(self, after: int, limit: int) -> list[Frame]:
        self._whole.clear()
        return await self._read(after, limit)

    def of(self, news: Sequence[Frame | Preview]) -> list[Frame | Preview]:
        return [one for one in news if isinstance(one, Frame) or self._is_whole(one)]

    def _is_whole(self, preview: Preview) -> bool:
        (line,) = preview.events
        head = _decoder.decode(line.line)
        if head.type != "stream_event":
            return True
        speaker = head.parent_tool_use_id or ""
        if head.event.type == "message_start":
            self._whole.add(speaker)
        return speaker in self._whole


class _RawEvent(msgspec.Struct, frozen=True):
    type: str = ""


class _RawLine(msgspec.Struct):
    type: str = ""
    parent_tool_use_id: str | None = None
    event: _RawEvent = _RawEvent()


_decoder = msgspec.json.Decoder(_RawLine)
