"""Folds rows of the log into frames. The fold depends only on rows, so a replay gives exactly the frames shown live."""

from __future__ import annotations

import time
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from quarterdeck.client.connection import new_id
from quarterdeck.protocol import HostSide, TurnState
from quarterdeck.protocol.snapshot import restore, snapshot
from quarterdeck.store.records import NewRow, Row
from quarterdeck.timeline import Limits, Timeline
from quarterdeck.timeline.events import TextCompleted, ThinkingCompleted
from quarterdeck.wire import (
    ControlRequest,
    ControlResponse,
    KeepAliveMessage,
    Message,
    ResultMessage,
    StreamEvent,
    ThinkingTokensMessage,
    UserMessage,
    decode,
)

from .events import AnyEvent, PolicyDecided, ProcessChanged, QueueChanged
from .prompt_queue import PromptQueue
from .resources import Frame, Resource
from .whole_text import encode_whole, whole_text

FOLD_VERSION = "3"
"""Increase it whenever the same rows produce different frames: it invalidates old cursors."""

NAMED_KEPT = 64
"""How many answers to control calls with a key the fold keeps; their receipts are kept longer."""

KEPT = Limits(items=300)
"""How much is kept to render a session from scratch, so that a long one opens as fast as a short one. Earlier events
stay in the log."""

PREVIEWS: frozenset[type[Message]] = frozenset({StreamEvent, KeepAliveMessage, ThinkingTokensMessage})
"""Lines that are only sent live and never become rows; the message that follows contains everything."""


class Preview(Resource, frozen=True, kw_only=True, gc=False):
    """Text being streamed now. A frame with the finished item of the same ``id`` replaces it."""

    session: str
    after_seq: int
    events: list[Any]


class _Kept(msgspec.Struct):
    """A snapshot: each part as JSON from its owner."""

    timeline: msgspec.Raw
    side: msgspec.Raw
    queue: PromptQueue = msgspec.field(default_factory=PromptQueue)
    verdicts: list[PolicyDecided] = []
    named: dict[str, str | None] = {}


class FrameFold:
    """The part of the fold that frames need: what a person follows."""

    def __init__(self, timeline: Timeline | None = None) -> None:
        self.timeline = timeline or Timeline(limits=KEPT)

    @classmethod
    def restore(cls, snapshot: bytes) -> FrameFold:
        return cls(Timeline.restore(bytes(_kept_decoder.decode(snapshot).timeline)))

    def events(self, row: NewRow | Row, message: Message | None = None) -> list[AnyEvent]:
        """Return the row's events. ``message`` is its decoded line, if available."""
        if row.kind == "received":
            message = decode(whole_text(row.body)) if message is None else message
            self._received(message, row.at)
            return _shown(self.timeline.received(message, at=row.at))
        if row.kind == "sent":
            message = decode(whole_text(row.body)) if message is None else message
            self._sent(message, row.at)
            return _shown(self.timeline.sent(message, at=row.at))
        event = decode_event(row.body)
        self._told(event)
        if not isinstance(event, ProcessChanged):
            return [event]
        if event.state in ("exited", "lost"):
            return [*_shown(self.timeline.process_ended(at=row.at)), event]
        if event.state == "starting":
            self.timeline.process_started()
        return [event]

    def _received(self, message: Message, at: float) -> None:
        """For what follows the conversation in addition to the timeline."""

    def _sent(self, message: Message, at: float) -> None:
        """For what follows the conversation in addition to the timeline."""

    def _told(self, event: AnyEvent) -> None:
        """For what follows the host's events."""


class RowFold(FrameFold):
    """The whole fold: frames, the conversation with the process, and queued prompts."""

    def __init__(
        self, timeline: Timeline | None = None, side: HostSide | None = None, queue: PromptQueue | None = None
    ) -> None:
        super().__init__(timeline)
        self.side = side or _new_side()
        self.queue = queue or PromptQueue()
        self.verdicts: dict[tuple[str, str], PolicyDecided] = {}
        """The policy's verdicts in this turn, by call and by where it was asked."""
        self.named: dict[str, str | None] = {}
        """Our requests with an ID derived from an idempotency key → the answer; None until it arrives."""

    @classmethod
    def restore(cls, snapshot: bytes) -> RowFold:
        kept = _kept_decoder.decode(snapshot)
        side = restore(bytes(kept.side), new_id=new_id, clock=time.monotonic)
        fold = cls(Timeline.restore(bytes(kept.timeline)), side, kept.queue)
        fold.verdicts = {(event.tool_use_id, event.asked_in): event for event in kept.verdicts}
        fold.named = dict(kept.named)
        return fold

    def snapshot(self) -> bytes:
        side = snapshot(self.side, self.timeline.state.at)
        return msgspec.json.encode(
            _Kept(
                msgspec.Raw(self.timeline.snapshot()),
                msgspec.Raw(side),
                self.queue,
                list(self.verdicts.values()),
                self.named,
            )
        )

    def _received(self, message: Message, at: float) -> None:
        self.side.received(message, at)
        if self.queue.prompts or self.queue.at_once:
            self.queue.follow(self.side.open_prompts)
        kind = type(message)
        if kind is ControlResponse and message.request_id in self.named:  # type: ignore[attr-defined]
            self.named[message.request_id] = message.raw.decode()  # type: ignore[attr-defined]
        elif kind is ResultMessage:
            self.verdicts.clear()

    def _sent(self, message: Message, at: float) -> None:
        in_turn = self.side.turn is not TurnState.IDLE
        self.side.sent(message, at)
        if isinstance(message, UserMessage):
            self.queue.sent(message, in_turn=in_turn)
        elif isinstance(message, ControlRequest) and is_made_of_key(message.request_id):
            self.named = {**dict(list(self.named.items())[-NAMED_KEPT + 1 :]), message.request_id: None}

    def _told(self, event: AnyEvent) -> None:
        if isinstance(event, QueueChanged):
            self.queue.told(event.prompts)
        elif isinstance(event, PolicyDecided):
            self.verdicts[event.tool_use_id, event.asked_in] = event
        elif isinstance(event, ProcessChanged) and event.state in ("starting", "exited", "lost"):
            self.side = _new_side()
            self.verdicts.clear()
            self.named = {name: answer for name, answer in self.named.items() if answer is not None}
            if event.state != "starting":
                self.queue.process_ended()


def is_made_of_key(request_id: str) -> bool:
    """Whether an ID was derived from a key: those are hashes, all others random UUIDs."""
    return request_id[14:15] == "5"


def _new_side() -> HostSide:
    return HostSide(new_id=new_id, clock=time.monotonic)


def frame_of(row: Row, events: list[AnyEvent]) -> Frame:
    return Frame(session=row.session, seq=row.seq, at=row.at, events=events)


def _shown(events: list[Any]) -> list[AnyEvent]:
    """Rows have no deltas, so the unsent rest is always everything: it would be in the frame twice."""
    if not _HAVE_REST.isdisjoint(map(type, events)):
        for event in events:
            if type(event) in _HAVE_REST:
                force_setattr(event, "rest", "")  # nobody else has it yet
    return events


_HAVE_REST = frozenset({TextCompleted, ThinkingCompleted})


def encode_event(event: AnyEvent) -> bytes:
    return encode_whole(event)


def decode_event(body: bytes) -> AnyEvent:
    return _decoder.decode(body)


def is_preview(message: Message) -> bool:
    return type(message) in PREVIEWS


_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
_kept_decoder = msgspec.json.Decoder(_Kept)
