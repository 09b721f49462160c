"""A scripted model for the real CLI: queue turns, match requests, break streams, inspect requests.

Names are imported on first use: the simulator shares these classes but does not need the HTTP server.
"""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

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
    from .server import ModelServer, ReplyRule

__all__: list[str] = []
_names = LazyNames(globals())
_names.of(".request")
__all__ += ["ApiRequest"]
_names.of(".script")
__all__ += ["Cut", "Error", "Gate", "RawBlock", "RedactedThinking", "Reply", "Stall", "StreamError", "Text", "Thinking"]
__all__ += ["ToolUse", "Usage"]
_names.of(".server")
__all__ += ["ModelServer", "ReplyRule"]
