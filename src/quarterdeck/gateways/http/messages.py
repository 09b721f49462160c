"""Messages of the WebSocket: every operation by its name, with the fields of its route, and three words more.

A client sends one object; the server sends an array of one or more, for what happens at one moment.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

import msgspec

from quarterdeck.host.requests import Request, WatchHost, WatchSession

from .decoding import _as_field, path_fields, shape_of
from .routes import BY_OPERATION, Route

REF_CHARS = 200
Name = Annotated[str, msgspec.Meta(max_length=REF_CHARS)] | Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Ref = Name | None
"""The client's own name for what it asks. Whatever answers has it, too, so it is short."""


class Subscribe(msgspec.Struct, tag_field="op", tag="subscribe", forbid_unknown_fields=True, kw_only=True):
    """Frames of one session, or with ``*`` the changes of all sessions and approvals."""

    session: str
    ref: Name
    after: str | int | None = None
    """``EPOCH-SEQ`` of a session, a position of all."""
    view: Literal["timeline", "raw"] = "timeline"
    previews: bool = True

    def request(self) -> Request:
        if self.session == "*":
            return msgspec.convert({"after": self.after}, WatchHost)
        given = {"session_id": self.session, "after": self.after, "view": self.view, "previews": self.previews}
        return msgspec.convert(given, WatchSession)


class Unsubscribe(msgspec.Struct, tag_field="op", tag="unsubscribe", forbid_unknown_fields=True, kw_only=True):
    """End the subscription with this ``ref``."""

    ref: Name


class Ping(msgspec.Struct, tag_field="op", tag="ping", forbid_unknown_fields=True, kw_only=True):
    """Checks the connection. Answered with ``ok``."""

    ref: Ref = None


class _Command(msgspec.Struct, tag_field="op", forbid_unknown_fields=True, kw_only=True):
    ref: Ref = None
    idempotency_key: str | None = None
    traceparent: str | None = None
    tracestate: str | None = None
    baggage: str | None = None

    @property
    def trace(self) -> dict[str, str]:
        """What it says about the trace that it is part of."""
        given = {"traceparent": self.traceparent, "tracestate": self.tracestate, "baggage": self.baggage}
        return {name: value for name, value in given.items() if value is not None}


def _command(route: Route) -> Any:
    """The fields of the path and those of the body, side by side."""
    shape = shape_of(route)
    inner = [field for field in shape.in_path if field.encode_name in path_fields(route)]
    body = shape.body
    if route.whole and isinstance(body, type) and issubclass(body, msgspec.Struct):
        inner += msgspec.structs.fields(body)
    else:
        inner += [field for field in msgspec.structs.fields(shape.takes) if field not in inner]
    fields = [_as_field(field) for field in inner]
    name = "".join(word.capitalize() for word in route.name.split("_")) + "Message"
    return msgspec.defstruct(name, fields, bases=(_Command,), tag=route.name, kw_only=True, forbid_unknown_fields=True)


COMMANDS: dict[str, Any] = {name: _command(route) for name, route in BY_OPERATION.items()}
CLIENT_MESSAGE: Any = Union[Subscribe, Unsubscribe, Ping, *COMMANDS.values()]
_decoder = msgspec.json.Decoder(CLIENT_MESSAGE)


def decode(text: str | bytes) -> Any:
    """Raises ``msgspec.MsgspecError`` or ``RecursionError``."""
    return _decoder.decode(text)


def request_of(message: _Command) -> tuple[Route, Request]:
    """What the message asks for."""
    route = BY_OPERATION[str(message.__struct_config__.tag)]
    shape = shape_of(route)
    path = {field.name: getattr(message, field.name) for field in shape.in_path}
    if route.whole and isinstance(shape.body, type) and issubclass(shape.body, msgspec.Struct):
        names = shape.body.__struct_fields__
        return route, shape.merged(path, shape.body(**{name: getattr(message, name) for name in names}))
    rest = {name: getattr(message, name) for name in shape.takes.__struct_fields__ if name not in path}
    return route, shape.takes(**path, **rest)
