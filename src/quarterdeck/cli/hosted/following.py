"""The timeline of a host's session, followed from here: its rows are folded as the host folds them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec

from quarterdeck.host.events import AnyEvent, Gap, RawLine
from quarterdeck.host.folding import FrameFold, Preview, encode_event
from quarterdeck.host.requests import OfSession, WatchSession
from quarterdeck.host.resources import Frame
from quarterdeck.store.records import NewRow
from quarterdeck.timeline import State, Timeline, events
from quarterdeck.timeline.events import BlockStarted, TextCompleted
from quarterdeck.timeline.items import Item, Notice, Prompt, Text, Thinking, ToolCall, TurnSummary
from quarterdeck.timeline.parts import Kept

if TYPE_CHECKING:
    from quarterdeck.remote import RemoteHost

SHOWN_ITEMS = 60
"""Of the earlier rows. ``quarterdeck log`` shows all of them."""


class RowReader:
    """Folds rows as the host does. Texts are reported whole when they are complete."""

    def __init__(self, timeline: Timeline) -> None:
        self._fold = FrameFold(timeline)
        self._pieces: dict[str, str] = {}
        """Texts in progress, as far as they were reported."""

    @property
    def state(self) -> State:
        return self._fold.timeline.state

    def events(self, frame: Frame) -> list[AnyEvent]:
        """What a frame of the raw view shows."""
        return [event for part in frame.events for event in self._row(part, frame.at)]

    def _row(self, part: AnyEvent, at: float) -> Iterator[AnyEvent]:
        if isinstance(part, RawLine):
            row = NewRow(at=at, kind=part.direction, origin="agent", body=part.line.encode())
        elif isinstance(part, dict):  # of a newer host
            return
        else:
            row = NewRow(at=at, kind="event", origin="host", body=encode_event(part))
        for event in self._fold.events(row):
            if isinstance(event, TextCompleted):
                yield self._completed(event)
            elif not isinstance(event, BlockStarted) or event.id not in self._pieces:  # a preview has already shown it
                yield event

    def _completed(self, event: TextCompleted) -> TextCompleted:
        """With the part of its text that no preview has shown."""
        told = self._pieces.pop(event.id, "")
        rest = event.text.removeprefix(told)
        return msgspec.structs.replace(event, rest=rest)


class FollowedSession(RowReader):
    """Keeps ``timeline`` up to date and reports what happens.

    Rows arrive as lines, so the whole state is here and not only its changes. Text in progress has no rows: it arrives
    as previews, which are shown at their place among the rows.
    """

    def __init__(
        self,
        host: RemoteHost,
        session_id: str,
        timeline: Timeline,
        *,
        received: Callable[[bytes], None] = lambda _: None,
    ) -> None:
        """``received`` gets every line of the CLI that is in the log."""
        super().__init__(timeline)
        self._received = received
        self._host = host
        self.session_id = session_id
        self._cursor: tuple[str, int] | None = None
        self._early: list[Preview] = []
        """Those that belong after rows which have not come yet."""

    async def load(self) -> list[AnyEvent]:
        """Everything so far; the end of it as events to draw."""
        view = await self._host.get_timeline(OfSession(session_id=self.session_id))
        loaded = Timeline.restore(msgspec.json.encode(view.state)).state
        for name in State.__struct_fields__:  # the view holds this very object
            setattr(self.state, name, getattr(loaded, name))
        self._cursor = view.epoch, view.seq
        self._pieces, self._early = {}, []
        return [*_drawn(self.state)]

    async def follow(self) -> AsyncGenerator[list[AnyEvent], None]:
        """What happens, in batches; ends when the session is deleted. ``load`` it first, or all of it comes."""
        told: asyncio.Queue[Frame | Preview | Exception | None] = asyncio.Queue()
        after = None if self._cursor is None else "{}-{}".format(*self._cursor)
        tasks = [
            asyncio.ensure_future(self._watch(told, after, "raw")),
            asyncio.ensure_future(self._watch(told, after, "timeline")),
        ]
        try:
            while True:
                batch = [await told.get()]
                while not told.empty():
                    batch.append(told.get_nowait())
                if happened := [event for one in batch for event in await self._taken(one)]:
                    yield happened
                if None in batch:
                    return
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, told: asyncio.Queue[Any], after: str | None, view: str) -> None:
        """Rows of one view, previews of the other."""
        wanted = Frame if view == "raw" else Preview
        request = WatchSession(session_id=self.session_id, after=after, view=view, previews=view != "raw")  # type: ignore[arg-type]
        try:
            async with aclosing(self._host.watch_session(request)) as watched:
                async for one in watched:
                    if isinstance(one, wanted):
                        told.put_nowait(one)
            if view == "raw":
                told.put_nowait(None)
        except Exception as error:  # noqa: BLE001  # raised where it is read
            told.put_nowait(error)

    async def _taken(self, one: Frame | Preview | Exception | None) -> list[AnyEvent]:
        if isinstance(one, Exception):
            raise one
        if isinstance(one, Preview):
            self._early.append(one)
            return self._due()
        if one is None:
            return []
        if any(isinstance(event, Gap) for event in one.events):
            return await self.load()
        for event in one.events:
            if isinstance(event, RawLine) and event.direction == "received":
                self._received(event.line.encode())
        happened = self.events(one)
        self._cursor = (self._cursor or ("", 0))[0], one.seq
        return [*happened, *self._due()]

    def _due(self) -> list[AnyEvent]:
        """Previews for this very moment; those of former ones say nothing any more."""
        seq = 0 if self._cursor is None else self._cursor[1]
        due = [event for one in self._early if one.after_seq == seq for event in one.events]
        self._early = [one for one in self._early if one.after_seq > seq]
        return [event for event in due if self._begun(event)]

    def _begun(self, event: Any) -> bool:
        """Whether its beginning was shown: half a text is useless."""
        if isinstance(event, BlockStarted) and event.kind == "text":
            self._pieces[event.id] = ""
        elif isinstance(event, events.TextAdded):
            if event.id not in self._pieces:
                return False
            self._pieces[event.id] += event.text
        return not isinstance(event, dict)


def _drawn(state: State) -> Iterator[AnyEvent]:
    """Events that draw the end of what there is, from top to bottom."""
    items = [item for item in state.items.values() if item.parent_id is None]
    hidden = len(items) - SHOWN_ITEMS
    if hidden > 0 or state.dropped_items:
        text = "… earlier output: quarterdeck log"
        yield events.NoticeShown(state.at, "earlier", "history", text)
    for item in items[-SHOWN_ITEMS:]:
        yield from _event_of(item, state)


def _event_of(item: Item, state: State) -> Iterator[AnyEvent]:
    match item:
        case Prompt():
            yield events.PromptSent(item.at, item.id, str(item.text), item.source, item.attachments)
        case Text(done=True, retracted=False):
            yield TextCompleted(item.at, item.id, str(item), str(item), error=item.error)
        case Thinking(done=True, retracted=False):
            yield events.ThinkingCompleted(
                item.at, item.id, str(item), "", hidden=item.hidden, duration_s=item.duration_s
            )
        case ToolCall(ended_at=float()):
            yield events.ToolEnded(
                item.at,
                item.id,
                item.name,
                item.status,
                item.output or Kept(),
                item.elapsed_s,
                item.diffs,
                item.output_images,
                item.output_path,
                item.reason,
            )
        case ToolCall(agent_type=str()):
            yield events.ToolCalled(
                item.at, item.id, item.name, item.label, item.about, item.input, agent_type=item.agent_type
            )
        case Notice():
            yield events.NoticeShown(item.at, item.id, item.kind, item.text, item.level)
        case TurnSummary():
            yield events.TurnEnded(item.at, item, state.context)
