"""Messages as they come out of a stream, without the codec: decoded by class, and told the line they came in."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from quarterdeck.wire import MESSAGE_TYPES, SYSTEM_TYPES, Message
from quarterdeck.wire._json import loads

CLASS_OF_TYPE = {cls.__struct_config__.tag: cls for cls in MESSAGE_TYPES}


def class_of(line: dict[str, Any]) -> type[Message]:
    cls = CLASS_OF_TYPE[line["type"]]
    return SYSTEM_TYPES.get(line["subtype"], cls) if line["type"] == "system" else cls


def typed(line: dict[str, Any]) -> Message:
    """The message of a line, as if it had been built here: it knows no line."""
    return msgspec.json.decode(json.dumps(line).encode(), type=class_of(line))


def received(line: dict[str, Any] | bytes, cls: type[Message] | None = None) -> Any:
    """The message of a line, knowing its line."""
    raw = line if isinstance(line, bytes) else json.dumps(line).encode()
    data = loads(raw)
    message = msgspec.convert(data, cls or class_of(data))
    Message.line_.__set__(message, raw + b"\n")
    return message
