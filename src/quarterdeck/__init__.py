"""Quarterdeck: the control plane for Claude Code sessions.

Where the official ``claude-agent-sdk`` has a name for the same thing, it is here under that name. A name is imported
when it is first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from ._version import __version__ as __version__

TYPE_CHECKING = False  # as typing has it, without importing typing: some commands start in milliseconds
if TYPE_CHECKING:
    from typing import Any

    from .client import *  # noqa: F403
    from .wire import *  # type: ignore[assignment]  # noqa: F403  # the MCP configurations: those for options are first

_ROOMS = ("client", "wire")
"""Where to look for a name, in this order."""
_MODULES = ("client", "sync", "types")
"""Modules that programs reach as attributes without importing them, as they can in the official SDK."""


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__all__":
        return __dir__()
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    for room in _ROOMS:
        module = import_module(f".{room}", __name__)
        if name in module.__all__:
            value = globals()[name] = getattr(module, name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from importlib import import_module

    names = {name for room in _ROOMS for name in import_module(f".{room}", __name__).__all__}
    return sorted(names | {"__version__"})
