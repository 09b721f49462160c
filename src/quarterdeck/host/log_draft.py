"""Collects the next commit of a session's log."""

from __future__ import annotations

from collections.abc import Sequence

from quarterdeck.store.commits import Change
from quarterdeck.store.records import NewRow, Origin
from quarterdeck.timeline.events import TextCompleted
from quarterdeck.timeline.items import Text
from quarterdeck.timeline.state import State
from quarterdeck.wire import Message

from .bodies import SessionBody
from .events import AnyEvent, HostEvent
from .folding import RowFold, encode_event


class LogDraft:
    """Rows, their events, and the resulting changes. Rows are folded as they are added."""

    def __init__(self, fold: RowFold, body: SessionBody, changes: Sequence[Change] = ()) -> None:
        self._fold = fold
        self._body = body
        self.rows: list[NewRow] = []
        self.events: list[list[AnyEvent]] = []
        """The events of each row."""
        self.changes: list[Change] = list(changes)

    def add(self, row: NewRow, message: Message | None = None) -> list[AnyEvent]:
        """Add a row; returns its events. ``message`` is its decoded line, if available."""
        told = self._fold.events(row, message)
        self.rows.append(row)
        self.events.append(told)
        return told

    def tell(self, event: HostEvent) -> None:
        """Add one of the host's own events."""
        self.add(event_row(event, self._body.generation))


def event_row(event: HostEvent, generation: int, origin: Origin = "host") -> NewRow:
    return NewRow(at=event.at, kind="event", origin=origin, body=encode_event(event), generation=generation)


def partial_rows(shown: State, at: float, generation: int) -> list[NewRow]:
    """Convert incomplete texts that were shown to rows."""
    rows: list[NewRow] = []
    for output in shown.outputs.values():
        for item_id in output.blocks.values():
            item = shown.items.get(item_id)
            if isinstance(item, Text) and not item.done and str(item):
                event = TextCompleted(at, item_id, str(item), "", output.parent_id, stopped=True)
                body = encode_event(event)
                rows.append(NewRow(at=at, kind="partial", origin="agent", body=body, generation=generation))
    return rows
