"""Rows of the log → frames, by a fold over rows alone: a replay gives the very frames that were shown live."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from quarterdeck.client.connection import new_id
from quarterdeck.protocol import HostSide, TurnState
from quarterdeck.protocol.snapshot import restore, snapshot
from quarterdeck.store.records import NewRow, Row
from quarterdeck.timeline import Timeline
from quarterdeck.timeline.events import TextCompleted, ThinkingCompleted
from quarterdeck.wire import KeepAliveMessage, Message, StreamEvent, ThinkingTokensMessage, UserMessage, decode

from .events import AnyEvent, ProcessChanged, QueueChanged
from .prompt_queue import PromptQueue
from .resources import Frame, Resource

FOLD_VERSION = "1"
"""Change it whenever the same rows give other frames: cursors into the old ones are foreign then."""

PREVIEWS: tuple[type[Message], ...] = (StreamEvent, KeepAliveMessage, ThinkingTokensMessage)
"""Lines that are no rows: live only, and the message that follows them says it all."""


class Preview(Resource, frozen=True, kw_only=True):
    """What is being said at this moment. The finished item of the same ``id`` comes in a frame and replaces it."""

    session: str
    after_seq: int
    events: list[Any]


class _Kept(msgspec.Struct):
    timeline: bytes
    side: bytes
    queue: PromptQueue = msgspec.field(default_factory=PromptQueue)


class RowFold:
    """The fold of one session's rows: what a person follows, and the conversation with its process."""

    def __init__(
        self, timeline: Timeline | None = None, side: HostSide | None = None, queue: PromptQueue | None = None
    ) -> None:
        self.timeline = timeline or Timeline()
        self.side = side or _new_side()
        self.queue = queue or PromptQueue()

    @classmethod
    def restore(cls, snapshot: bytes) -> RowFold:
        kept = msgspec.json.decode(snapshot, type=_Kept)
        side = restore(kept.side, new_id=new_id, clock=time.monotonic)
        return cls(Timeline.restore(kept.timeline), side, kept.queue)

    def snapshot(self) -> bytes:
        side = snapshot(self.side, self.timeline.state.at)
        return msgspec.json.encode(_Kept(self.timeline.snapshot(), side, self.queue))

    def events(self, row: NewRow | Row) -> list[AnyEvent]:
        match row.kind:
            case "received":
                message = decode(row.body)
                self.side.received(message, row.at)
                self.queue.follow(self.side.open_prompts)
                return _shown(self.timeline.received(message, at=row.at))
            case "sent":
                message = decode(row.body)
                in_turn = self.side.turn is not TurnState.IDLE
                self.side.sent(message, row.at)
                if isinstance(message, UserMessage):
                    self.queue.sent(message, in_turn=in_turn)
                return _shown(self.timeline.sent(message, at=row.at))
        event = decode_event(row.body)
        if isinstance(event, QueueChanged):
            self.queue.told(event.prompts)
        if not isinstance(event, ProcessChanged):
            return [event]
        if event.state in ("exited", "lost"):
            self.side = _new_side()
            self.queue.process_ended()
            return [*_shown(self.timeline.process_ended(at=row.at)), event]
        if event.state == "starting":
            self.side = _new_side()
            self.timeline.process_started()
        return [event]


def _new_side() -> HostSide:
    return HostSide(new_id=new_id, clock=time.monotonic)


def frame_of(row: Row, events: list[AnyEvent]) -> Frame:
    return Frame(session=row.session, seq=row.seq, at=row.at, events=list(events))


def _shown(events: list[Any]) -> list[AnyEvent]:
    """Rows have no pieces, so what no piece has told is always everything: it would be in the frame twice."""
    return [
        msgspec.structs.replace(event, rest="") if isinstance(event, TextCompleted | ThinkingCompleted) else event
        for event in events
    ]


def encode_event(event: AnyEvent) -> bytes:
    return _encoder.encode(event)


def decode_event(body: bytes) -> AnyEvent:
    return _decoder.decode(body)


def is_preview(message: Message) -> bool:
    return isinstance(message, PREVIEWS)


_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
