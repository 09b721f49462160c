"""The routes as OpenAPI 3.1, derived from the types that are decoded and encoded."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, get_args

import msgspec
from msgspec.structs import FieldInfo

from quarterdeck._version import __version__
from quarterdeck.host.errors import Code, HostError
from quarterdeck.host.events import AnyEvent
from quarterdeck.host.resources import Details, Exported, Frame, Token

from . import examples
from .decoding import Shape, plain_type, shape_of
from .links import links_of, of_session
from .problems import MEDIA_TYPE, STATUS, TITLES, Problem, problem_of
from .routes import ROUTES, SOCKET, Route
from .stream_schemas import REF, events_of, socket_of, stream_schemas

LOGIN = "/v1/login"
EXPORTS = ("application/x-ndjson", "text/markdown; charset=utf-8", "text/html; charset=utf-8")

ABOUT = """\
Claude Code sessions over HTTP. Every operation of the host is a route; all but the health checks require
`Authorization: Bearer TOKEN`. Unknown fields are errors. A write can carry an `Idempotency-Key`: a repeat within seven
days returns the first response, marked `Idempotency-Replayed: true`. Errors are `application/problem+json` with a
`code` from a fixed list.

Streams are server-sent events: the first is `hello`, the `id` of an event is the cursor, and `Last-Event-ID` (or
`after`) continues from there. If the log no longer contains the cursor, you get a `gap`. `x-events` has the schema of
the data of each event."""

SOCKET_ABOUT = """\
A WebSocket for everything. The client sends one `ClientMessage` per message: `op` is `subscribe` (`session`: an id, or
`*` for all), `unsubscribe`, `ping`, or any `operationId` with the fields of its path, query and body in one object. The
server sends arrays of one or more `ServerMessage`, and after 15 seconds of silence a `ping`. A browser passes its token
as the subprotocol `bearer.TOKEN` next to `quarterdeck.v1`. Close code 1012 means: reconnect."""


class Login(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A code that was shown once, for a token."""

    code: str


_EVERYWHERE = (400, 401, 403, 421, 429, 431, 503, 507)
_OF_WRITES = (404, 409, 413, 415, 424)
_ASKS_CLI = frozenset({"get_context", "list_mcp_servers", "list_tasks"})
_EXTRA: dict[str, tuple[int, ...]] = {
    "decide": (410,),
    "answer_callback": (410,),
    "get_diff": (409, 424),
    "list_worktrees": (409, 424),
}
_TITLES = {
    405: "Method not allowed",
    408: "Request timeout",
    415: "Unsupported media type",
    421: "Misdirected request",
    431: "Headers too long",
}


@cache
def document(base_path: str = "") -> dict[str, Any]:
    """All of it."""
    schemas = _schemas()
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    paths[LOGIN] = {"post": _login()}
    paths[SOCKET] = {"get": _socket()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Quarterdeck", "version": __version__, "description": ABOUT, "license": {"name": "MIT"}},
        "servers": [{"url": base_path or "/"}],
        "security": [{"bearer": []}],
        "tags": [{"name": name, "description": about} for name, about in TAGS.items()],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas,
            "responses": {str(status): _refused(status) for status in _all_statuses()},
            "links": of_session(),
        },
    }


TAGS = {
    "sessions": "Start, find, change, steer and end sessions.",
    "approvals": "Requests for people, and their decisions.",
    "policy": "Permission rules, and remembered rules.",
    "host": "The host itself: usage, budgets, folders, tokens, health.",
}


def tag_of(route: Route) -> str:
    word = route.path.removeprefix("/v1").split("/")[1]
    return word if word in TAGS else "host"


def _schemas() -> dict[str, Any]:
    bodies = [shape_of(route).body for route in ROUTES if shape_of(route).body is not None]
    results = [route.operation.returns for route in ROUTES if route.operation.returns not in (Details, Exported)]
    types = [
        *dict.fromkeys([*(one for one in bodies if isinstance(one, type)), *results, Problem, Login, Token, Frame])
    ]
    _, found = msgspec.json.schema_components([*types, AnyEvent], ref_template=REF)
    (events,), _ = msgspec.json.schema_components([AnyEvent], ref_template=REF)
    found["Frame"]["properties"]["events"]["items"] = {"$ref": REF.format(name="Event")}
    return {**found, **stream_schemas(), "Event": {"description": "The content of a log row.", **events}}


def _operation(route: Route) -> dict[str, Any]:
    operation, shape = route.operation, shape_of(route)
    shown: dict[str, Any] = {
        "operationId": "get_ready" if route.path == "/readyz" else route.name,
        "summary": operation.about,
        "description": f"{operation.takes.__doc__ or ''}\n\nRequires the scope `{operation.scope}`.".strip(),
        "tags": [tag_of(route)],
        "security": [{"bearer": [operation.scope]}] if not route.public else [{}, {"bearer": []}],
        "parameters": [*map(_in_path, shape.in_path), *(_in_query(route, field) for field in shape.query)],
        "responses": _responses(route),
    }
    if operation.writes:
        shown["parameters"].append(_header("Idempotency-Key", "A repeat with the same key returns the first response."))
    if operation.streams and route.name in ("watch_session", "watch_host"):
        shown["parameters"].append(_header("Last-Event-ID", "Continue after this; takes precedence over `after`."))
    body = _body(route, shape)
    return shown if body is None else {**shown, "requestBody": body}


def _in_path(field: FieldInfo) -> dict[str, Any]:
    return {
        "name": field.encode_name,
        "in": "path",
        "required": True,
        "schema": {"type": "string", "minLength": 1},
        "example": examples.PATHS[field.encode_name],
    }


def _in_query(route: Route, field: FieldInfo) -> dict[str, Any]:
    (schema,), _ = msgspec.json.schema_components([_annotated(field)], ref_template=REF)
    shown: dict[str, Any] = {"name": field.encode_name, "in": "query", "required": field.required, "schema": schema}
    if schema.get("type") == "array":
        shown |= {"style": "form", "explode": False}
    value = examples.QUERIES.get(route.name, {}).get(field.encode_name)
    if value is not None:
        shown["example"] = value.split(",") if schema.get("type") == "array" else value
    return shown


def _annotated(field: FieldInfo) -> Any:
    """Without null, which a query cannot say; with its constraints."""
    plain = plain_type(field.type)
    constraints = [one for one in getattr(field.type, "__metadata__", ()) if isinstance(one, msgspec.Meta)]
    for arm in get_args(field.type):
        constraints += [one for one in getattr(arm, "__metadata__", ()) if isinstance(one, msgspec.Meta)]
    return Annotated[plain, constraints[0]] if constraints else plain


def _header(name: str, about: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": False, "description": about, "schema": {"type": "string"}}


def _body(route: Route, shape: Shape) -> dict[str, Any] | None:
    if route.raw:
        content = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        return {"required": True, "description": "The file, with its own Content-Type.", "content": content}
    if shape.body is None:
        return None
    (schema,), _ = msgspec.json.schema_components([shape.body], ref_template=REF)
    example = examples.BODIES.get(route.name, {})
    return {"required": shape.body_required, "content": {"application/json": {"schema": schema, "example": example}}}


def _responses(route: Route) -> dict[str, Any]:
    statuses = {*_EVERYWHERE, *_EXTRA.get(route.name, ())}
    if route.operation.writes or route.takes_body:
        statuses.update(_OF_WRITES)
    if "{" in route.path or shape_of(route).query:
        statuses.add(404)
    if route.name in _ASKS_CLI:
        statuses.update((409, 424))
    refused = {str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(statuses)}
    done: dict[str, Any] = {"description": route.operation.about, "content": _content(route)}
    shown: dict[str, Any] = {str(route.status): done, **refused}
    if links := links_of(route):
        done["links"] = links
    if route.operation.writes:
        done["headers"] = {
            "Idempotency-Replayed": {"description": "The first response, repeated.", "schema": {"const": "true"}}
        }
    if route.path == "/readyz":
        health = {"schema": {"$ref": REF.format(name="Health")}}
        shown["503"] = {"description": "Not ready.", "content": {"application/json": health, MEDIA_TYPE: {}}}
    return shown


def _content(route: Route) -> dict[str, Any]:
    returns = route.operation.returns
    if route.streams:
        return {"text/event-stream": {"schema": {"type": "string"}, "x-events": events_of(route.name)}}
    if route.name == "get_metrics":
        return {"text/plain; version=0.0.4; charset=utf-8": {"schema": {"type": "string"}}}
    if returns is Exported:
        return {kind: {"schema": {"type": "string"}} for kind in EXPORTS}
    if returns is Details:
        return {"application/json": {"schema": {"type": "object"}, "example": examples.DETAILS[route.name]}}
    schema = {"$ref": REF.format(name=returns.__name__)}
    return {"application/json": {"schema": schema, "example": examples.RETURNED[returns.__name__]}}


def _all_statuses() -> list[int]:
    return sorted({*_EVERYWHERE, *_OF_WRITES, 408, 410, *STATUS.values()})


def _refused(status: int) -> dict[str, Any]:
    codes: list[Code] = [code for code in get_args(Code) if STATUS[code] == status] or ["invalid"]
    shown = {code: {"value": problem_of(HostError(code, f"{TITLES[code]}."), status)} for code in codes}
    content = {MEDIA_TYPE: {"schema": {"$ref": REF.format(name="Problem")}, "examples": shown}}
    about = " / ".join(TITLES[code] for code in codes) if status not in _TITLES else _TITLES[status]
    return {"description": about, "content": content}


def _login() -> dict[str, Any]:
    schema, example = {"$ref": REF.format(name="Login")}, {"code": "the code in the page's URL"}
    token = {"schema": {"$ref": REF.format(name="Token")}, "example": examples.RETURNED["Token"]}
    return {
        "operationId": "login",
        "summary": "Exchange the code in the page's URL for a token.",
        "tags": ["host"],
        "security": [{}],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema, "example": example}}},
        "responses": {
            "201": {"description": "A token for this page.", "content": {"application/json": token}},
            **{str(status): {"$ref": f"#/components/responses/{status}"} for status in (*_EVERYWHERE, 413, 415)},
        },
    }


def _socket() -> dict[str, Any]:
    return {
        "operationId": "connect_websocket",
        "summary": "A WebSocket for everything.",
        "description": SOCKET_ABOUT,
        "x-websocket": socket_of(),
        "tags": ["host"],
        "responses": {
            "101": {"description": "The WebSocket is open."},
            "426": {
                "description": "Without an upgrade.",
                "content": {MEDIA_TYPE: {"schema": {"$ref": REF.format(name="Problem")}}},
            },
            **{str(status): {"$ref": f"#/components/responses/{status}"} for status in _EVERYWHERE},
        },
    }
