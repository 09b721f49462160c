"""Which keys of a line have no attribute in the typed view of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from quarterdeck.wire import ControlRequest, Message, StreamEvent, UnknownBlock, UnknownRequest, UserMessage
from quarterdeck.wire._base import wire_names


def untyped_keys(message: Message) -> Iterator[str]:
    """Paths of keys that only ``data`` knows, at any depth that is typed at all."""
    data = message.data
    if isinstance(message, StreamEvent):
        yield from _walk("event", message.event, data["event"])
        return
    if isinstance(message, ControlRequest):
        yield from _walk("request", message.request, data.get("request"))
        return
    if isinstance(message, UserMessage) and "tool_use_result" in data:
        assert message.tool_use_result == data.pop("tool_use_result")  # decoded apart, when asked for
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
        for item, value in zip(typed, data, strict=True):
            yield from _walk(f"{path}[]", item, value)
    elif isinstance(typed, dict) and isinstance(data, dict):
        for key, item in typed.items():
            yield from _walk(f"{path}.*", item, data[key])
