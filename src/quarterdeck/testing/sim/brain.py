"""The brain of a scenario: finds what is said next.

Apart from ``scenario`` because it needs every step there is, and the simulator greets its host before it needs one.
"""

from __future__ import annotations

import contextlib
import re
import signal
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .steps import Move, Reply, Step, Suggest, Text, ToolUse, moves_of

if TYPE_CHECKING:
    from .scenario import Ask, Brain, Scenario

NOTHING_LEFT = "The scenario has no reply left for this."
SIDE_ANSWER = "A side answer from the simulator."

TOO_SLOW = "The scenario's rule `when: {}` takes too long for this prompt; simplify the regular expression."
MATCH_S = 1.0
"""Processor time for all patterns of a scenario and one prompt: a pattern such as ``(a+)+$`` could take years."""


class _TooSlowError(Exception):
    """The time for matching is up."""


def _give_up(*_: object) -> None:
    raise _TooSlowError


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Only a signal interrupts a regular expression, and only the main thread gets signals: elsewhere it continues."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before or signal.SIG_DFL)


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
        looked_for = ""
        try:
            with _at_most(MATCH_S):
                for index, rule in enumerate(self._rules):
                    looked_for, left = rule.when, self._left[index]
                    match = re.search(rule.when, ask.prompt) if left != 0 else None
                    if match is not None:
                        return self._matched(index, match)
        except _TooSlowError:
            return deque([_say(TOO_SLOW.format(looked_for[:200]))])
        return deque(moves_of(list(self._turns.popleft()), **self._stream)) if self._turns else deque()

    def _matched(self, index: int, match: re.Match[str]) -> deque[Move]:
        rule, left = self._rules[index], self._left[index]
        self._left[index] = None if left is None else left - 1
        found = {name: value or "" for name, value in match.groupdict().items()}
        return deque(moves_of([_filled(step, found) for step in rule.steps], **self._stream))

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
