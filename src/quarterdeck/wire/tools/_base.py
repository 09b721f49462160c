"""What the tools' inputs and results are made of."""

from __future__ import annotations

from quarterdeck.wire._view import View


class ToolInput(View, kw_only=True):
    """What the model asks a tool to do. Mostly snake_case on the wire; the exceptions are marked."""


class ToolOutput(View, kw_only=True, rename="camel"):
    """What a tool gave back (``tool_use_result``, ``tool_response``). Mostly camelCase on the wire."""
