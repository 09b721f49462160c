"""How a turn can end other than with the last word of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .steps import Exit

_TERMINAL = {"error_max_turns": "max_turns", "error_max_budget_usd": "budget_exhausted"}


class TurnEnded(Exception):  # noqa: N818  # a way to end, not an error
    """The turn ends with an error result."""

    def __init__(self, subtype: str, errors: list[str], terminal_reason: str = "") -> None:
        super().__init__(subtype)
        self.subtype = subtype
        self.errors = errors
        self.terminal_reason = terminal_reason or _TERMINAL.get(subtype, "")


class TurnInterrupted(Exception):  # noqa: N818  # what the host wants
    """The host denied a tool and wants the whole turn to end."""


class ProcessEnds(Exception):  # noqa: N818  # what the scenario wants
    """A scenario lets the process die."""

    def __init__(self, step: Exit) -> None:
        super().__init__(f"exit {step.code}")
        self.step = step
