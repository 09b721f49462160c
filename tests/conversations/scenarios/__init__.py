"""The scenarios, by what they are about. A scenario's name is its function's name."""

from conversations.scenarios import (  # noqa: F401 - importing a module registers its scenarios
    control,
    edges,
    endings,
    errors,
    hooks,
    mcp,
    permissions,
    questions,
    sessions,
    tasks,
    turns,
)
from conversations.scenarios._registry import SCENARIOS, Scenario

__all__ = ["SCENARIOS", "Scenario"]
