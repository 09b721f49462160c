"""Text in progress: lines that aren't rows, folded separately from the log and shown only live."""

from __future__ import annotations

import msgspec

from quarterdeck.timeline import Timeline
from quarterdeck.timeline.events import Event
from quarterdeck.timeline.state import State
from quarterdeck.wire import Direction, Message

from .folding import FrameFold


class LivePreviews:
    """Follows messages while they are streamed.

    A second fold exists only while something is streamed: it starts as a copy of the open items in the rows' fold,
    follows both, and is dropped with the first row after the stream.
    """

    def __init__(self, rows: FrameFold) -> None:
        self._rows = rows
        self._timeline: Timeline | None = None

    @property
    def following(self) -> bool:
        """Whether there is a second fold, which needs rows too."""
        return self._timeline is not None

    @property
    def streaming(self) -> bool:
        """Whether a message is incomplete."""
        return self._timeline is not None and bool(self._timeline.state.streams)

    @property
    def state(self) -> State:
        """The state after all rows and previews."""
        return self._rows.timeline.state if self._timeline is None else self._timeline.state

    def received(self, message: Message, at: float) -> list[Event]:
        """Apply a line that isn't a row. The rows' fold must contain all rows before it."""
        if self._timeline is None:
            self._timeline = _copy_of_what_is_open(self._rows.timeline.state)
        return self._timeline.received(message, at=at)

    def passed(self, direction: Direction, message: Message, at: float) -> None:
        """Apply a row. The rows' own fold reports its events."""
        if self._timeline is None:
            return
        if self.streaming:
            self._timeline.take(direction, message, at=at)
        else:
            self._timeline = None

    def forget(self) -> None:
        """Drop incomplete messages."""
        self._timeline = None


def _copy_of_what_is_open(state: State) -> Timeline:
    blocks = (item for output in state.outputs.values() for item in output.blocks.values())
    items = {key: item for key in (*state.running, *state.waiting, *blocks) if (item := state.items.get(key))}
    tasks = {key: task for key, task in state.tasks.items() if task.ended_at is None}
    part = Timeline()
    part.state = msgspec.structs.replace(state, items=items, tasks=tasks)
    return Timeline.restore(part.snapshot())
