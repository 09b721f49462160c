"""Which keys of a line the typed view of it has, and which it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ._base import Message
from ._base import wire_names as wire_names
from ._json import loads
from .blocks import UnknownBlock
from .control import ControlRequest
from .inbound import UnknownRequest
from .messages import UserMessage
from .stream import StreamEvent


def untyped_keys(message: Message) -> Iterator[str]:
    """Paths of keys that only ``data`` knows, at any depth that is typed at all."""
    data = loads(message.raw)
    if isinstance(message, StreamEvent):
        yield from _walk("event", message.event, data["event"])
        return
    if isinstance(message, ControlRequest):
        yield from _walk("request", message.request, data.get("request"))
        return
    if isinstance(message, UserMessage):
        data.pop("tool_use_result", None)  # decoded apart, when asked for
    yield from _walk("", message, data)


def _walk(path: str, typed: Any, data: Any) -> Iterator[str]:
    if isinstance(typed, (UnknownBlock, UnknownRequest)):
        yield f"{path} is {type(typed).__name__}: {typed.reason}"
    elif isinstance(typed, msgspec.Struct) and isinstance(data, dict):
        names = wire_names(type(typed))
        for key, value in data.items():
            if key in names:
                yield from _walk(f"{path}.{key}", getattr(typed, names[key]), value)
            elif key != typed.__struct_config__.tag_field:
                yield f"{path}.{key}"
    elif isinstance(typed, list) and isinstance(data, list):
        for item, value in zip(typed, data, strict=False):
            yield from _walk(f"{path}[]", item, value)
    elif isinstance(typed, dict) and isinstance(data, dict):
        for key, item in typed.items():
            yield from _walk(f"{path}.*", item, data.get(key))
