"""Encodes requests as WebSocket messages, and decodes answers to the host's resources and events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from quarterdeck.gateways.http.routes import BY_OPERATION
from quarterdeck.host.events import AnyEvent, Gap
from quarterdeck.host.folding import Preview
from quarterdeck.host.operations import Operation
from quarterdeck.host.requests import Request
from quarterdeck.host.resources import Approval, Call, Details, Exported, Frame, Frames

from .subscriptions import Told


def message_for(operation: Operation, request: Request) -> dict[str, Any]:
    """Build a message: the operation's name, with all fields at one level."""
    if not isinstance(request, operation.takes):
        raise TypeError(f"{operation.name} takes {operation.takes.__name__}, not {type(request).__name__}")
    fields: dict[str, Any] = msgspec.to_builtins(request)
    whole = BY_OPERATION[operation.name].whole
    if whole and isinstance(getattr(request, whole), msgspec.Struct):
        fields |= fields.pop(whole)
    if fields.get("cwd"):
        fields["cwd"] = from_here(fields["cwd"])
    return {"op": operation.name, **fields}


def from_here(folder: str) -> str:
    """Resolve a path against this program's folder, as for a local session; ``~`` is the host's home."""
    return folder if folder.startswith("~") else str(Path(folder).absolute())


def result_of(operation: Operation, written: msgspec.Raw) -> Any:
    """Decode the operation's result to the same type that a local host returns."""
    if operation.returns is Details:
        return Details(details=msgspec.json.decode(written))
    if operation.returns is Exported:
        shown = msgspec.json.decode(written, type=_Exported)
        return Exported(media_type=shown.media_type, body=shown.body.encode(), next_cursor=shown.next_cursor)
    if operation.returns is Frames:
        read = msgspec.json.decode(written, type=_Frames)
        frames = [_frame(one) for one in read.frames]
        return Frames(frames=frames, last_seq=read.last_seq, epoch=read.epoch, gap=read.gap)
    return msgspec.json.decode(written, type=operation.returns)


def item_of(told: Told) -> Any:
    """Decode an item of a stream."""
    kind, written = told
    match kind:
        case "frame":
            return _frame(_frame_decoder.decode(written))
        case "preview":
            preview = _preview_decoder.decode(written)
            return Preview(session=preview.session, after_seq=preview.after_seq, events=_events(preview.events))
        case "call":
            return msgspec.json.decode(written, type=Call)
    fields: dict[str, Any] = msgspec.json.decode(written)
    if kind == "gap" and "seq" in fields:
        gap = Gap(0.0, fields["reason"], fields["epoch"], fields["first_seq"], fields["seq"])
        return Frame(session=fields["session"], seq=gap.seq, at=0.0, events=[gap])
    if kind == "approval" and "pos" not in fields:
        return msgspec.convert(fields, Approval)
    return Details(details={"kind": kind, **{name: fields[name] for name in fields if name not in ("op", "ref")}})


class _Exported(msgspec.Struct):
    media_type: str
    body: str
    next_cursor: str | None = None


class _Frame(msgspec.Struct):
    session: str
    seq: int
    at: float
    events: msgspec.Raw


class _Frames(msgspec.Struct):
    frames: list[_Frame]
    last_seq: int
    epoch: str
    gap: dict[str, Any] | None = None


class _Preview(msgspec.Struct):
    session: str
    after_seq: int
    events: msgspec.Raw


def _frame(read: _Frame) -> Frame:
    return Frame(session=read.session, seq=read.seq, at=read.at, events=_events(read.events))


def _events(written: msgspec.Raw) -> list[Any]:
    """Decode events. Those of a newer host that this version doesn't know stay raw."""
    try:
        return _events_decoder.decode(written)
    except msgspec.ValidationError:
        return [_event(one) for one in msgspec.json.decode(written, type=list[msgspec.Raw])]


def _event(written: msgspec.Raw) -> Any:
    try:
        return _event_decoder.decode(written)
    except msgspec.ValidationError:
        return msgspec.json.decode(written)


_event_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
_events_decoder: msgspec.json.Decoder[list[AnyEvent]] = msgspec.json.Decoder(list[AnyEvent])
_frame_decoder = msgspec.json.Decoder(_Frame)
_preview_decoder = msgspec.json.Decoder(_Preview)
