"""What streams say, as JSON schemas for OpenAPI: the data of server-sent events, and both sides of the WebSocket."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from quarterdeck.host.events import AnyEvent
from quarterdeck.host.folding import Preview
from quarterdeck.host.resources import Approval, Call, Frame, Session

from . import messages
from .credentials import SOCKET_BEARER, SOCKET_PROTOCOL
from .problems import Problem

REF = "#/components/schemas/{name}"

Resume = Literal["ok", "gap"]


class SessionHello(msgspec.Struct, kw_only=True):
    """The stream of a session has begun. With ``gap``, a ``gap`` follows."""

    session: str
    epoch: str
    last_seq: int
    resume: Resume


class HostHello(msgspec.Struct, kw_only=True):
    """The stream of the host has begun after ``pos``. With ``gap``, a ``gap`` follows."""

    pos: int
    last_pos: int
    resume: Resume


class Empty(msgspec.Struct, forbid_unknown_fields=True):
    """Nothing more."""


class SessionGap(msgspec.Struct, kw_only=True):
    """The log does not continue at the cursor; the frames that follow begin at ``first_seq``, or live after ``seq``."""

    session: str
    reason: str
    epoch: str
    first_seq: int
    seq: int


class HostGap(msgspec.Struct, kw_only=True):
    """Changes up to ``pos`` are lost: fetch the lists again."""

    pos: int


class SessionChange(msgspec.Struct, kw_only=True):
    """A session has changed; null: it is deleted."""

    pos: int
    id: str
    session: Session | None


class ApprovalChange(msgspec.Struct, kw_only=True):
    """An approval has changed; null: it is deleted with its session."""

    pos: int
    id: str
    approval: Approval | None


class Greeting(msgspec.Struct, kw_only=True):
    """The first message of a WebSocket. ``name`` is the token's."""

    api_version: str
    heartbeat_s: float
    name: str


class Done(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What the request with this ``ref`` returned: of an operation, what its route returns as JSON."""

    result: Any = None
    idempotency_replayed: bool = False


EVENTS: dict[str, dict[str, tuple[Any, ...]]] = {
    "watch_session": {"hello": (SessionHello,), "frame": (Frame,), "preview": (Preview,), "gap": (SessionGap,)},
    "watch_host": {
        "hello": (HostHello,),
        "session": (SessionChange,),
        "approval": (ApprovalChange,),
        "gap": (HostGap,),
    },
    "watch_approvals": {"hello": (Empty,), "approval": (Approval,)},
    "attach_callbacks": {"hello": (Empty,), "call": (Call,)},
}
"""Operation → the names of its events, and what their data is. Each stream may also end with ``error``."""

ALONE: dict[str, tuple[Any, ...]] = {"hello": (Greeting,), "ping": (Empty,)}
"""What a WebSocket says of itself, without a ``ref``."""
ANSWERS: dict[str, tuple[Any, ...]] = {"ok": (Done,), "error": (Problem,), "end": (Empty,)}
"""What answers a request, or ends a subscription."""


def stream_schemas() -> dict[str, Any]:
    """The components, with ``ClientMessage`` and ``ServerMessage``."""
    told = {kind for table in (*EVENTS.values(), ALONE, ANSWERS) for kinds in table.values() for kind in kinds}
    types = sorted(told, key=lambda kind: str(kind.__name__))
    (client, *_), found = msgspec.json.schema_components([messages.CLIENT_MESSAGE, *types, AnyEvent], ref_template=REF)
    for name in ("Frame", "Preview"):
        found[name]["properties"]["events"]["items"] = {"$ref": REF.format(name="Event")}
    found["ClientMessage"] = {
        "description": "One object per message. `ref` is your own name for the request; the answer has it, too.",
        "oneOf": client["anyOf"],
        "discriminator": client["discriminator"],
    }
    found |= _server_messages()
    return found


def _server_messages() -> dict[str, Any]:
    """One component for each ``op``."""
    about: dict[str, list[dict[str, Any]]] = {}
    for table in (*EVENTS.values(), ANSWERS):
        for op, kinds in table.items():
            about.setdefault(op, []).extend(_with_ref(op, kind) for kind in kinds)
    for op, kinds in ALONE.items():
        about.setdefault(op, []).extend(_with(_named(op), kind) for kind in kinds)
    made: dict[str, Any] = {}
    mapping: dict[str, str] = {}
    for op, forms in sorted(about.items()):
        name = f"Server{op.capitalize()}"
        distinct = [form for at, form in enumerate(forms) if form not in forms[:at]]
        made[name] = distinct[0] if len(distinct) == 1 else {"type": "object", "anyOf": distinct}
        mapping[op] = REF.format(name=name)
    return made | {
        "ServerMessage": {
            "description": "An object of the arrays that the server sends. `ref` names the request or subscription.",
            "oneOf": [{"$ref": ref} for ref in mapping.values()],
            "discriminator": {"propertyName": "op", "mapping": mapping},
        }
    }


def _named(op: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"op": {"const": op}}, "required": ["op"]}


def _with_ref(op: str, kind: Any) -> dict[str, Any]:
    named = _named(op)
    types = ["string", "integer", "null"] if op in ANSWERS else ["string", "integer"]
    named["properties"]["ref"] = {"type": types}
    named["required"].append("ref")
    return _with(named, kind)


def _with(named: dict[str, Any], kind: Any) -> dict[str, Any]:
    return {**named, "additionalProperties": False} if kind is Empty else {"allOf": [named, _ref(kind)]}


def _ref(kind: Any) -> dict[str, Any]:
    return {"$ref": REF.format(name=kind.__name__)}


def events_of(operation: str) -> dict[str, Any]:
    """The data of each server-sent event of a stream."""
    told = {**EVENTS[operation], "error": (Problem,)}
    return {op: _ref(kinds[0]) for op, kinds in told.items()}


def socket_of() -> dict[str, Any]:
    """What OpenAPI has no words for: the subprotocols, and what the messages are."""
    return {
        "subprotocols": [SOCKET_PROTOCOL, f"{SOCKET_BEARER}{{token}}"],
        "client": {"$ref": REF.format(name="ClientMessage")},
        "server": {"type": "array", "minItems": 1, "items": {"$ref": REF.format(name="ServerMessage")}},
    }
