"""A tool ready to be called: everything that can be decided before the call is decided here."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any

from .annotations import read_hints
from .arguments import compile_arguments, output_schema_of
from .checks import compile_schema
from .context import ToolContext
from .converters import ArgumentError
from .decorator import SdkMcpTool
from .results import error_result, render

logger = logging.getLogger(__name__)


class CompiledTool:
    """Its entry in ``tools/list``, and ``call``."""

    __slots__ = ("_arguments", "_check_output", "_handler", "_in_thread", "listing", "name")

    def __init__(self, definition: SdkMcpTool[Any], *, always_load: bool = False) -> None:
        self.name = definition.name
        self._handler: Callable[..., Any] = definition.handler
        self._in_thread = definition.blocking and not _is_async(definition.handler)
        try:
            self._arguments = compile_arguments(definition.input_schema, definition.handler)
            output = None if definition.output_schema is None else output_schema_of(definition.output_schema)
            self.listing = _listing(definition, self._arguments.schema, output, always_load=always_load)
            self._check_output = None if output is None else compile_schema(output)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"tool {definition.name!r}: {error}") from error

    async def call(self, arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """Run the handler. Whatever goes wrong in it is a result the model can read; only cancellation is raised."""
        plan = self._arguments
        try:
            value = plan.convert(arguments)
            positional, keywords = ((), value) if plan.as_keywords else ((value,), {})
            if plan.context_parameter is not None:
                keywords[plan.context_parameter] = context
            if self._in_thread:
                returned = await asyncio.to_thread(self._handler, *positional, **keywords)
            else:
                returned = self._handler(*positional, **keywords)
            if inspect.isawaitable(returned):
                returned = await returned
            result = render(returned, structured=self._check_output is not None)
        except ArgumentError as error:
            return error_result(f"Input validation error: {error}")
        except Exception as error:
            logger.info("tool %r failed", self.name, exc_info=True)
            return error_result(str(error) or type(error).__name__)
        return result if self._check_output is None else self._checked_output(result)

    def _checked_output(self, result: dict[str, Any]) -> dict[str, Any]:
        if result.get("isError"):
            return result
        if "structuredContent" not in result:
            return error_result(f"Tool {self.name!r} has an output_schema but returned no structured content")
        problem = self._check_output(result["structuredContent"]) if self._check_output is not None else None
        if problem is None:
            return result
        place = f" at {problem.path!r}" if problem.path else ""
        return error_result(
            f"Tool {self.name!r} returned a result that violates its output_schema{place}: {problem.text}"
        )


def _is_async(handler: Any) -> bool:
    while isinstance(handler, functools.partial):
        handler = handler.func
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(type(handler).__call__)


def _listing(definition: SdkMcpTool[Any], schema: Any, output: Any, *, always_load: bool) -> dict[str, Any]:
    hints = read_hints(definition.annotations)
    meta = {
        # Claude Code's own hints travel in _meta: clients drop annotations they do not know.
        "anthropic/maxResultSizeChars": hints.pop("maxResultSizeChars", None),
        "anthropic/searchHint": definition.search_hint,
        "anthropic/alwaysLoad": definition.always_load if definition.always_load is not None else always_load or None,
        **(definition.meta or {}),
    }
    optional = {
        "title": definition.title,
        "outputSchema": output,
        "annotations": hints or None,
        "_meta": {name: value for name, value in meta.items() if value is not None} or None,
    }
    listed = {"name": definition.name, "description": definition.description, "inputSchema": schema}
    return listed | {key: value for key, value in optional.items() if value is not None}
