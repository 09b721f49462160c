"""``@tool``: a function becomes something Claude can call."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


@dataclass
class SdkMcpTool(Generic[T]):
    """The definition of an in-process tool. Calling it calls its function, so you can use and test it as one."""

    name: str
    description: str
    input_schema: type[T] | dict[str, Any] | None
    """None: the function's own parameters, by their type hints."""
    handler: Callable[..., Awaitable[dict[str, Any]]]
    """As the official SDK types it; a function may also be a plain one, and return other data."""
    annotations: Any = None
    """``ToolAnnotations``, a dict, or the ``mcp`` package's class."""

    # Beyond the official SDK; its repr shows none of them.
    title: str | None = field(default=None, kw_only=True, repr=False)
    output_schema: type[Any] | dict[str, Any] | None = field(default=None, kw_only=True, repr=False)
    blocking: bool = field(default=True, kw_only=True, repr=False)
    """A handler that is a plain function may block, so it runs in a thread. False: it runs on the event loop."""
    search_hint: str | None = field(default=None, kw_only=True, repr=False)
    always_load: bool | None = field(default=None, kw_only=True, repr=False)
    meta: dict[str, Any] | None = field(default=None, kw_only=True, repr=False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.handler(*args, **kwargs)


@overload
def tool(name: Callable[..., Any], /) -> SdkMcpTool[Any]: ...
@overload
def tool(
    name: str | None = None,
    description: str | None = None,
    input_schema: type | dict[str, Any] | None = None,
    annotations: Any = None,
    *,
    title: str | None = None,
    output_schema: type | dict[str, Any] | None = None,
    blocking: bool = True,
    search_hint: str | None = None,
    always_load: bool | None = None,
    meta: dict[str, Any] | None = None,
) -> Callable[[Callable[..., Any]], SdkMcpTool[Any]]: ...
def tool(
    name: str | Callable[..., Any] | None = None,
    description: str | None = None,
    input_schema: type | dict[str, Any] | None = None,
    annotations: Any = None,
    **more: Any,
) -> Any:
    """Turn a function into a tool.

    With an ``input_schema`` the function gets one value. A dict of types (``{"a": float}``), a TypedDict or a JSON
    schema: the arguments as a dict, checked, as the official SDK does. A dataclass, ``msgspec.Struct`` or Pydantic
    model: an instance of it.

    Without one (also as plain ``@tool``) the function is called with keywords, converted to the types of its
    parameters; the name is the function's, the description its docstring.

    ``Annotated[str, "what it is"]`` describes a parameter in every form. A parameter annotated ``ToolContext`` gets the
    context of the call. Functions may be async or plain; ``results`` says what they may return. An exception becomes
    an error result with its message, and so do invalid arguments.

    Args:
        annotations: ``ToolAnnotations(readOnlyHint=True)`` and the like.
        title: The name that people see.
        output_schema: What the structured result looks like, in the forms of ``input_schema``.
        blocking: False runs a plain function on the event loop rather than in a thread; for trivial ones.
        search_hint: Keywords for Claude Code's tool search.
        always_load: Keep the tool in the prompt, never behind tool search.
        meta: More ``_meta`` for the tool's listing.
    """
    if callable(name) and not isinstance(name, str):
        return tool()(name)

    def decorate(function: Callable[..., Any]) -> SdkMcpTool[Any]:
        own_name = getattr(function, "__name__", None)
        if name is None and (own_name is None or own_name == "<lambda>"):
            raise TypeError(f"tool: {function!r} has no name; give it one with @tool('name')")
        return SdkMcpTool(
            name=name or str(own_name),
            description=(inspect.getdoc(function) or "") if description is None else description,
            input_schema=input_schema,
            handler=function,
            annotations=annotations,
            **more,
        )

    return decorate
