"""Types what does not quite fit, piece by piece, so that one odd piece does not spoil the rest.

Used off the fast path only. In the order tried: unknown pieces of the open unions (content blocks) are
wrapped as their ``Unknown…``; optional fields of an unexpected shape are left out of the typed view; what still does
not fit then is a required field, and the caller gets the reason.
"""

from __future__ import annotations

import copy
import re
from typing import Any

import msgspec

from ._base import DOES_NOT_FIT, Message
from ._shapes import UNKNOWN_TAG
from .blocks import to_block

_MOST_LEFT_OUT = 32
_PLACE = r" - at `\$\.([^`\[]+)[^`]*`$"
"""Compiled when it is needed: most programs never do."""


def typed_or_reason(data: dict[str, Any], cls: type[Message]) -> Message | str:
    """``data`` as a ``cls``, or why it cannot be one."""
    typed: Message | str = leaving_out(_with_unknown_blocks_wrapped(data), cls)
    return typed


def leaving_out(data: dict[str, Any], cls: Any) -> Any:
    """``data`` as a ``cls``, without the optional fields that do not fit, or why it cannot be one."""
    try:
        return msgspec.convert(data, cls)
    except DOES_NOT_FIT:
        softened = copy.deepcopy(data)
    reasons: list[str] = []
    for _ in range(_MOST_LEFT_OUT):
        try:
            return msgspec.convert(softened, cls)
        except DOES_NOT_FIT as error:
            reasons.append(str(error))
            if not _leave_out(softened, reasons[-1]):
                break
    return "; ".join(reasons)


def _leave_out(data: dict[str, Any], reason: str) -> bool:
    """Remove the value that the error names, unless the error is that it is missing."""
    place = re.search(_PLACE, reason)
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


def _with_unknown_blocks_wrapped(data: dict[str, Any]) -> dict[str, Any]:
    message = data.get("message")
    if not isinstance(message, dict):
        return data
    return {**data, "message": {**message, "content": _each_block(message.get("content"))}}


def _each_block(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [_block(block) if isinstance(block, dict) else block for block in content]


def _block(block: dict[str, Any]) -> dict[str, Any]:
    """The block itself, or with only the blocks inside it wrapped, or wrapped as a whole."""
    reason = _misfit(block)
    if reason is None:
        return block
    if isinstance(block.get("content"), list):
        softer = {**block, "content": _each_block(block["content"])}
        if _misfit(softer) is None:
            return softer
    return {"type": UNKNOWN_TAG, "data": block, "reason": reason}


def _misfit(block: dict[str, Any]) -> str | None:
    try:
        to_block(block)
    except DOES_NOT_FIT as error:
        return str(error)
    return None
