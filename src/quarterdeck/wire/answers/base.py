"""What every answer is made of, and how a payload becomes one."""

from __future__ import annotations

from typing import Any

import msgspec

from quarterdeck.wire._base import DOES_NOT_FIT, OpenObject, wire_names


class Answer(OpenObject):
    """The payload of a success. Older CLIs answer less, so nearly all is optional; newer ones more, so it is open."""


def parse_answer(request: Any, payload: Any) -> Any:
    """The payload that answers ``request`` (an ``OutgoingRequest`` or its class), typed by its ``Answer``.

    A payload that does not fit is returned as it is: an odd answer is for the caller to judge. Never raises.
    """
    kind = getattr(request, "Answer", None)
    if not isinstance(payload, dict) or not isinstance(kind, type) or not issubclass(kind, msgspec.Struct):
        return payload
    try:
        answer = msgspec.convert(payload, kind)
    except (*DOES_NOT_FIT, RecursionError):
        return payload
    _remember_origin(answer, payload)
    return answer


def _remember_origin(value: Any, source: Any) -> None:
    """Tell each open object in ``value`` the dict it was made from, so that keys without an attribute are answered."""
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
