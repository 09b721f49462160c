"""Typing what does not quite fit, piece by piece, so that one odd piece costs only itself.

Used off the fast path only. In the order tried: unknown pieces of the open unions (content blocks, requests) are
wrapped as their ``Unknown…``; optional fields of an unexpected shape are left out of the typed view; what then still
does not fit is a required field, and the caller gets the reason.
"""

from __future__ import annotations

import copy
import re
from typing import Any

import msgspec

from ._base import Message
from ._shapes import UNKNOWN_TAG
from .blocks import ContentBlock
from .control import Request

_MOST_LEFT_OUT = 32
_PLACE = re.compile(r" - at `\$\.([^`\[]+)[^`]*`$")


def typed_or_reason(data: dict[str, Any], cls: type[Message]) -> Message | str:
    """``data`` as a ``cls``, or why it cannot be one."""
    softened = copy.deepcopy(_with_unknown_pieces_wrapped(data))
    reasons: list[str] = []
    for _ in range(_MOST_LEFT_OUT):
        try:
            return msgspec.convert(softened, cls)
        except msgspec.ValidationError as error:
            reasons.append(str(error))
            if not _leave_out(softened, reasons[-1]):
                break
    return "; ".join(reasons)


def _leave_out(data: dict[str, Any], reason: str) -> bool:
    """Remove the value that the error names, unless the complaint is that it is missing."""
    place = _PLACE.search(reason)
    if place is None or "missing required field" in reason:
        return False
    *path, last = place[1].split(".")
    value: Any = data
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, dict) or last not in value:
        return False
    del value[last]
    return True


def _with_unknown_pieces_wrapped(data: dict[str, Any]) -> dict[str, Any]:
    message = data.get("message")
    if data.get("type") == "control_request":
        return _with_request_wrapped(data)
    if isinstance(message, dict):
        return {**data, "message": {**message, "content": _each(message.get("content"), _block)}}
    return data


def _each(values: Any, change: Any) -> Any:
    if not isinstance(values, list):
        return values
    return [change(value) if isinstance(value, dict) else value for value in values]


def _with_request_wrapped(data: dict[str, Any]) -> dict[str, Any]:
    request = data.get("request")
    if not isinstance(request, dict) or (reason := _misfit(request, Request)) is None:
        return data
    return {**data, "request": {"subtype": UNKNOWN_TAG, "data": request, "reason": reason}}


def _block(block: dict[str, Any]) -> dict[str, Any]:
    """The block itself, or with only the blocks inside it wrapped, or wrapped as a whole."""
    reason = _misfit(block, ContentBlock)
    if reason is None:
        return block
    if isinstance(block.get("content"), list):
        softer = {**block, "content": _each(block["content"], _block)}
        if _misfit(softer, ContentBlock) is None:
            return softer
    return {"type": UNKNOWN_TAG, "data": block, "reason": reason}


def _misfit(value: Any, union: Any) -> str | None:
    try:
        msgspec.convert(value, union)
    except msgspec.ValidationError as error:
        return str(error)
    return None
