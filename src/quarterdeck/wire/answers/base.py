"""What every answer is made of, and how a payload becomes one."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from quarterdeck.wire._base import DOES_NOT_FIT, OpenObject, wire_names
from quarterdeck.wire._hints import resolve


class Answer(OpenObject):
    """The payload of a success. Older CLIs send less, so most fields are optional; unknown keys can still be read."""


def parse_answer(request: Any, payload: Any) -> Any:
    """The payload that answers ``request`` (an ``OutgoingRequest`` or its class), typed by its ``Answer``.

    A payload that does not fit is returned unchanged, for the caller to judge. Never raises.
    """
    kind = getattr(request, "Answer", None)
    if not isinstance(payload, dict) or not isinstance(kind, type) or not issubclass(kind, msgspec.Struct):
        return payload
    try:
        _resolve_once(kind)
        answer = msgspec.convert(payload, kind)
    except (*DOES_NOT_FIT, RecursionError):
        return payload
    _remember_origin(answer, payload)
    return answer


_resolve_once = cache(resolve)


def _remember_origin(value: Any, source: Any) -> None:
    """Give each open object in ``value`` the dict it was made from, so that keys without an attribute can be read."""
    if isinstance(value, OpenObject):
        value.origin_ = source
        for key, name in wire_names(type(value)).items():
            if key in source:
                _remember_origin(getattr(value, name), source[key])
    elif isinstance(value, list):
        for item, item_source in zip(value, source, strict=True):
            _remember_origin(item, item_source)
    elif isinstance(value, dict):
        for key, item in value.items():
            _remember_origin(item, source[key])
