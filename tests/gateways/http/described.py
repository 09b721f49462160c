"""Whether what is said over the network is what ``/openapi.json`` describes."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema_rs

from quarterdeck.gateways.http.openapi import document
from quarterdeck.gateways.http.routes import ROUTES
from quarterdeck.gateways.http.routing import Paths

CLIENT, SERVER = "#/components/schemas/ClientMessage", "#/components/schemas/ServerMessage"
DOCUMENT: dict[str, Any] = json.loads(json.dumps(document()))
_PATHS = Paths(ROUTES)


def fits(ref: str, value: Any) -> bool:
    """Whether it is one of these."""
    return bool(_validator(ref).is_valid(value))


def check(ref: str, value: Any) -> None:
    """Raises ``AssertionError`` with the reason if it is none."""
    if not fits(ref, value):
        raise AssertionError(f"{value!r} is no {ref}: {[one.message for one in _validator(ref).iter_errors(value)]}")


def check_event(path: str, kind: str, data: Any) -> None:
    """A server-sent event of the stream at this path."""
    events = events_at(path)
    assert kind in events, f"{kind} is none of the events of {path}"
    check(events[kind]["$ref"], data)


@cache
def events_at(path: str) -> dict[str, Any]:
    """The data of each event, by its name."""
    found = _PATHS.find(path.partition("?")[0])
    assert found is not None
    shown = DOCUMENT["paths"][found[0]["GET"].path]["get"]["responses"]["200"]["content"]["text/event-stream"]
    events: dict[str, Any] = shown["x-events"]
    return events


@cache
def _validator(ref: str) -> Any:
    return jsonschema_rs.validator_for({**DOCUMENT, "$ref": ref})
