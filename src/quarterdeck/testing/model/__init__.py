"""A scripted model for the real CLI: queue turns, match requests, break streams, look at what was asked."""

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
