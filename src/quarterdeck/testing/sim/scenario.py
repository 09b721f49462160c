"""A scenario: what the simulated model says to which prompt. And how the simulator asks it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import msgspec

from .steps import Agent, Move, Reply, Step, Suggest, Text, ToolUse, moves_of

NOTHING_LEFT = "The scenario has nothing left to say to this."
SIDE_ANSWER = "A side answer of the simulator."


class Ask(msgspec.Struct, frozen=True):
    """One request of the simulated CLI to its model."""

    kind: str
    """``main``, ``subagent``, ``side_question``, ``title`` or ``suggestion``."""
    prompt: str
    """What the person (or the agent that sent the sub-agent) wrote."""
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
    """Who decides what is said. ``Scenario.brain()`` makes one; a test may bring its own."""

    def next(self, ask: Ask) -> Move:
        """What happens next; called again after each action, and after each round of tools."""

    def rest(self) -> list[Move]:
        """Actions that follow the last reply of the turn that ends now."""


class Rule(msgspec.Struct):
    """Steps for each prompt that matches. ``(?P<name>…)`` of the pattern fills ``{name}`` in texts and tool inputs."""

    when: str
    steps: Sequence[Step]
    times: int | None = None

    def __post_init__(self) -> None:
        re.compile(self.when)


class Scenario(msgspec.Struct):
    """What to play. ``turns``: a list of steps per prompt. ``replies``: a flat queue that goes on over turn borders."""

    turns: Sequence[Sequence[Step]] = ()
    replies: Sequence[Step] = ()
    rules: Sequence[Rule] = ()
    otherwise: str = "say so"
    """When nothing is left: ``say so``, or ``assistant``: the friendly assistant takes over."""
    name: str = ""
    delta_size: int = 24
    delay_s: float = 0.0
    """Pause before each streamed piece."""
    time_scale: float = 1.0
    """All waiting of the simulator, times this: 0 makes retries and pauses take no time."""

    def brain(self) -> Brain:
        return ScriptedBrain(self)


class ScriptedBrain:
    def __init__(self, scenario: Scenario) -> None:
        self._stream = {"delta_size": scenario.delta_size, "delay_s": scenario.delay_s}
        self._turns = deque(scenario.turns)
        self._queue = deque(moves_of(list(scenario.replies), **self._stream))
        self._rules = list(scenario.rules)
        self._left = [rule.times for rule in scenario.rules]
        self._moves: deque[Move] = deque()
        self._agents: dict[int, deque[Move]] = {}
        self._otherwise: Brain | None = None
        self._took_over = False
        if scenario.otherwise == "assistant":
            from .assistant import Assistant

            self._otherwise = Assistant()

    def next(self, ask: Ask) -> Move:
        if ask.kind == "subagent" and ask.agent is not None and ask.agent.steps:
            moves = self._agents.setdefault(id(ask.agent), deque(moves_of(ask.agent.steps, **self._stream)))
            return moves.popleft() if moves else _say(NOTHING_LEFT)
        if ask.kind not in ("main", "subagent"):
            return Reply() if ask.kind == "suggestion" else _say(SIDE_ANSWER)
        if ask.first and ask.kind == "main":
            self._took_over = False
            self._moves = self._moves_for(ask)
        if self._moves:
            return self._moves.popleft()
        if self._queue:
            return self._queue.popleft()
        return self._nothing_left(ask)

    def rest(self) -> list[Move]:
        rest: list[Move] = [move for move in self._moves if not isinstance(move, Reply)]
        while self._queue and isinstance(self._queue[0], Suggest):
            rest.append(self._queue.popleft())
        self._moves.clear()
        if self._otherwise is not None:
            rest += self._otherwise.rest()
        return rest

    def _moves_for(self, ask: Ask) -> deque[Move]:
        for index, rule in enumerate(self._rules):
            match, left = re.search(rule.when, ask.prompt), self._left[index]
            if match is not None and left != 0:
                self._left[index] = None if left is None else left - 1
                found = {name: value or "" for name, value in match.groupdict().items()}
                return deque(moves_of([_filled(step, found) for step in rule.steps], **self._stream))
        return deque(moves_of(list(self._turns.popleft()), **self._stream)) if self._turns else deque()

    def _nothing_left(self, ask: Ask) -> Move:
        if self._otherwise is None or not (ask.first or self._took_over):
            return _say(NOTHING_LEFT)
        self._took_over = True
        return self._otherwise.next(ask)


def _say(text: str) -> Reply:
    return Reply(blocks=(Text(text),))


def _filled(step: Step, found: dict[str, str]) -> Step:
    """The step with the pattern's names filled in, in texts and tool inputs."""
    if isinstance(step, str):
        return str(_fill(step, found))
    if isinstance(step, Text):
        return Text(str(_fill(step.text, found)))
    if isinstance(step, ToolUse):
        return replace(step, input={key: _fill(value, found) for key, value in step.input.items()})
    return step


def _fill(value: Any, found: dict[str, str]) -> Any:
    if isinstance(value, str):
        for name, text in found.items():
            value = value.replace("{" + name + "}", text)
    return value
