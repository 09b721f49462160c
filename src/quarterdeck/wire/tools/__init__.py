"""The built-in tools: their inputs and results, a class each; ``tables`` has them by name."""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames
from quarterdeck.wire._view import View

if TYPE_CHECKING:
    from .questions import answer_questions
    from .tables import TOOL_ALIASES, TOOL_INPUT_TYPES, TOOL_OUTPUT_TYPES, parse_tool_input, parse_tool_output

__all__: list[str] = ["ToolInput", "ToolOutput"]
_names = LazyNames(globals())
_names.of(".questions")
__all__ += ["answer_questions"]
_names.of(".tables")
__all__ += ["TOOL_ALIASES", "TOOL_INPUT_TYPES", "TOOL_OUTPUT_TYPES", "parse_tool_input", "parse_tool_output"]


class ToolInput(View, kw_only=True):
    """What the model asks a tool to do. Mostly snake_case on the wire; the exceptions are marked."""


class ToolOutput(View, kw_only=True, rename="camel"):
    """What a tool gave back (``tool_use_result``, ``tool_response``). Mostly camelCase on the wire."""
