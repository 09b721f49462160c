"""Hints about what a tool does, in MCP's and Claude Code's terms."""

from __future__ import annotations

from typing import Any

_WIRE_NAMES = {
    "read_only_hint": "readOnlyHint",
    "destructive_hint": "destructiveHint",
    "idempotent_hint": "idempotentHint",
    "open_world_hint": "openWorldHint",
    "max_result_size_chars": "maxResultSizeChars",
}
_KNOWN = {"title", *_WIRE_NAMES.values()}


class ToolAnnotations:
    """``title``, ``readOnlyHint``, ``destructiveHint``, ``idempotentHint``, ``openWorldHint``, ``maxResultSizeChars``.

    Each works in either spelling, also as an attribute: ``read_only_hint`` is ``readOnlyHint``. Unknown names are
    kept and sent unchanged. ``maxResultSizeChars`` is Claude Code's own: up to this size a result
    stays in the conversation instead of going to a file.
    """

    __slots__ = ("hints",)

    def __init__(self, **hints: Any) -> None:
        self.hints: dict[str, Any] = {}
        for name, value in hints.items():
            wire_name = _WIRE_NAMES.get(name, name)
            if wire_name == name or wire_name not in hints:  # given in both spellings, the wire's wins
                self.hints[wire_name] = value

    def __getattr__(self, name: str) -> Any:
        wire_name = _WIRE_NAMES.get(name, name)
        if name != "hints" and (wire_name in self.hints or wire_name in _KNOWN):
            return self.hints.get(wire_name)
        raise AttributeError(f"ToolAnnotations has no hint {name!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolAnnotations) and self.hints == other.hints

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ToolAnnotations({', '.join(f'{name}={value!r}' for name, value in self.hints.items())})"


def read_hints(annotations: Any) -> dict[str, Any]:
    """The hints that are not None, by their wire names; of ours, a plain dict, or the ``mcp`` package's class."""
    if annotations is None:
        return {}
    if hasattr(annotations, "model_dump"):
        hints = annotations.model_dump(by_alias=True)
    elif isinstance(annotations, ToolAnnotations):
        hints = annotations.hints
    elif isinstance(annotations, dict):
        hints = ToolAnnotations(**annotations).hints
    else:
        raise TypeError(f"annotations takes ToolAnnotations or a dict, not {annotations!r}")
    return {name: value for name, value in hints.items() if value is not None}
