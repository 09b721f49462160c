"""A hook's input as both worlds know it: the plain dict of the official SDK, and our typed class.

Programs written for the official SDK log it with ``json.dumps``, copy it, ask ``isinstance(…, dict)``; ours read
``event.tool_name`` and match on classes. So the callback gets a real dict that answers for the typed object too, which
is made only if it is asked for.
"""

from __future__ import annotations

from typing import Any

from quarterdeck.wire import HookInput, parse_hook_input


class HookInputDict(dict[str, Any]):
    """The dict; its attributes, and its class for ``isinstance`` and ``match``, are those of the typed input."""

    __slots__ = ("_typed",)

    _typed: HookInput

    @property
    def typed(self) -> HookInput:
        try:
            return self._typed
        except AttributeError:
            self._typed = parse_hook_input(dict(self))
            return self._typed

    @property  # type: ignore[misc]  # read-only here: nobody gives an input another class
    def __class__(self) -> Any:
        return type(self.typed)

    def __getattr__(self, name: str) -> Any:
        if name == "_typed" or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        return getattr(self.typed, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A copy is the plain dict."""
        return dict, (dict(self),)
