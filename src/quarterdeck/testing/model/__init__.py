"""A scripted model for the real CLI: queue turns, match requests, break streams, look at what was asked.

Imported when asked for: the simulator shares the words a model says, and must not pay for the HTTP server.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .request import ApiRequest
    from .script import (
        Cut,
        Error,
        Gate,
        RawBlock,
        RedactedThinking,
        Reply,
        Stall,
        StreamError,
        Text,
        Thinking,
        ToolUse,
        Usage,
    )
    from .server import ModelServer, Rule

__all__ = [
    "ApiRequest",
    "Cut",
    "Error",
    "Gate",
    "ModelServer",
    "RawBlock",
    "RedactedThinking",
    "Reply",
    "Rule",
    "Stall",
    "StreamError",
    "Text",
    "Thinking",
    "ToolUse",
    "Usage",
]

_MODULES = ("script", "request", "server")


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in _MODULES:
            found = getattr(import_module(f".{module}", __name__), name, None)
            if found is not None:
                globals()[name] = found
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
