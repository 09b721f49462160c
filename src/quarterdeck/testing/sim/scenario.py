"""Scenarios: what the simulated model answers to which prompt, and how the simulator asks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from .steps import Agent, Move, Step


class Ask(msgspec.Struct, frozen=True):
    """One request of the simulated CLI to its model."""

    kind: str
    """``main``, ``subagent``, ``side_question``, ``title`` or ``suggestion``."""
    prompt: str
    """What the person (or the parent agent) wrote."""
    text: str
    """All that is new since the last reply: the prompt, or the tools' results."""
    first: bool
    """Whether this is the first request of its turn."""
    model: str
    mode: str
    cwd: Path
    errors: tuple[bool, ...] = ()
    """For each tool that has run since the last reply: did it fail?"""
    agent: Agent | None = None

    @property
    def last_user_text(self) -> str:
        return self.text


class Brain(Protocol):
    """Decides what the model says. ``Scenario.brain()`` makes one; a test may use its own."""

    def next(self, ask: Ask) -> Move:
        """What happens next; called again after each action, and after each round of tools."""

    def rest(self) -> list[Move]:
        """Actions that follow the last reply of the turn that ends now."""


class PromptRule(msgspec.Struct):
    """Steps for each prompt that matches. ``(?P<name>…)`` of the pattern fills ``{name}`` in texts and tool inputs."""

    when: str
    steps: Sequence[Step]
    times: int | None = None

    def __post_init__(self) -> None:
        re.compile(self.when)


class Scenario(msgspec.Struct):
    """What to play. ``turns``: a list of steps per prompt. ``replies``: a flat queue across turns."""

    turns: Sequence[Sequence[Step]] = ()
    replies: Sequence[Step] = ()
    rules: Sequence[PromptRule] = ()
    otherwise: str = "say so"
    """When nothing is left: ``say so``, or ``assistant``: the built-in assistant takes over."""
    name: str = ""
    delta_size: int = 24
    delay_s: float = 0.0
    """Pause before each streamed piece."""
    time_scale: float = 1.0
    """Scales all of the simulator's waiting: with 0, retries and pauses take no time."""

    def brain(self) -> Brain:
        from .brain import ScriptedBrain

        return ScriptedBrain(self)
