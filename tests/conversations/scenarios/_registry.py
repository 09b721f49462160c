"""Which scenarios there are and for which CLI versions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from conversations.stage import Stage
from quarterdeck.testing.install import NEWEST

Play: TypeAlias = Callable[[Stage], None]
SCENARIOS: dict[str, Scenario] = {}


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    play: Play
    every_version: bool

    def runs_on(self, version: str) -> bool:
        return self.every_version or version == NEWEST


def newest(play: Play) -> Play:
    """Recorded on the newest CLI only."""
    register(_name(play), play)
    return play


def every(play: Play) -> Play:
    """Recorded on every supported CLI."""
    register(_name(play), play, every_version=True)
    return play


def register(name: str, play: Play, *, every_version: bool = False) -> None:
    """For families of scenarios that are made from a table."""
    if name in SCENARIOS:
        raise ValueError(f"two scenarios are named {name}")
    SCENARIOS[name] = Scenario(name, play, every_version)


def _name(play: Play) -> str:
    return str(getattr(play, "__name__"))  # noqa: B009 - a Callable has no __name__ for the type checker
