"""A scenario: a short conversation and what must come of it. And the list of all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from .stage import Stage

Group: TypeAlias = Literal[
    "framing",
    "handshake",
    "turns",
    "prompt queue",
    "permissions",
    "questions",
    "plans",
    "hooks",
    "in-process tools",
    "MCP",
    "control requests",
    "sub-agents and tasks",
    "errors",
    "interrupts",
    "resume and fork",
    "slash commands",
    "ends and signals",
    "structured output",
    "options",
]

ALONE: frozenset[Group] = frozenset(
    {
        "resume and fork",
        "ends and signals",
    }
)
"""Groups whose scenarios need a CLI of their own each; the others may share one, for a CLI takes a second to start."""

_MODULES = (
    "framing",
    "turns",
    "queue",
    "permissions",
    "questions",
    "hooks",
    "tools",
    "control",
    "tasks",
    "errors",
    "sessions",
    "ends",
    "options",
)

Play: TypeAlias = Callable[["Stage"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Scenario:
    id: str
    group: Group
    title: str
    """What the newest CLI does, in one sentence."""
    play: Play
    sources: tuple[str, ...] = ()
    """Claims of the published descriptions it shows: ids of ``tests/requirements.toml``."""
    simulator: str | None = None
    """Why the simulator does not claim it; None where it does."""
    alone: bool = False
    """Needs a CLI of its own: it ends it, or changes it for good, or looks at how it starts."""


_REGISTERED: dict[str, Scenario] = {}


def scenario(
    group: Group,
    title: str,
    *sources: str,
    simulator: str | None = None,
    alone: bool | None = None,
) -> Callable[[Play], Play]:
    """Put a scenario on the list; its id is the function's name."""

    def register(play: Play) -> Play:
        identifier = str(getattr(play, "__name__", ""))
        if identifier in _REGISTERED:
            raise ValueError(f"two scenarios are called {identifier}")
        apart = group in ALONE if alone is None else alone
        _REGISTERED[identifier] = Scenario(identifier, group, title, play, sources, simulator, apart)
        return play

    return register


@cache
def all_scenarios() -> dict[str, Scenario]:
    """Every scenario by its id, in the order of the list."""
    for name in _MODULES:
        import_module(f".scenarios.{name}", __package__)
    return dict(_REGISTERED)
