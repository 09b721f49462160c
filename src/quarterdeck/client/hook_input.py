"""A hook's input in both forms: the plain dict of the official SDK, and our typed class.

Programs written for the official SDK log it with ``json.dumps``, copy it, ask ``isinstance(…, dict)``; ours read
``event.tool_name`` and match on classes. So the callback gets a real dict that answers for the typed object too, which
is made only if it is asked for.
"""

from __future__ import annotations

from typing import Any

from quarterdeck.wire import HookInput, UnknownHookInput, parse_hook_input
from quarterdeck.wire.hooks import HOOK_INPUT_TYPES


def hook_input(data: dict[str, Any]) -> HookInputDict:
    """The input for a callback. Its class has the name of the event's, for programs that print it."""
    event = data.get("hook_event_name")
    return (_DICTS.get(event, _UNKNOWN) if isinstance(event, str) else _UNKNOWN)(data)


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


def _dict_named_like(typed: type[HookInput]) -> type[HookInputDict]:
    return type(typed.__name__, (HookInputDict,), {"__slots__": (), "__doc__": typed.__doc__})


_DICTS = {event: _dict_named_like(typed) for event, typed in HOOK_INPUT_TYPES.items()}
_UNKNOWN = _dict_named_like(UnknownHookInput)
