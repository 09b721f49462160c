"""The built-in tools: their inputs and results, a class each; ``tables`` has them by name."""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from ._base import ToolInput, ToolOutput
    from .questions import answer_questions
    from .tables import TOOL_ALIASES, TOOL_INPUT_TYPES, TOOL_OUTPUT_TYPES, parse_tool_input, parse_tool_output

__all__: list[str] = []
_names = LazyNames(globals())
_names.of("._base")
__all__ += ["ToolInput", "ToolOutput"]
_names.of(".questions")
__all__ += ["answer_questions"]
_names.of(".tables")
__all__ += ["TOOL_ALIASES", "TOOL_INPUT_TYPES", "TOOL_OUTPUT_TYPES", "parse_tool_input", "parse_tool_output"]
