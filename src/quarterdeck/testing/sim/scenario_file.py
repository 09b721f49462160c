"""A scenario from a file, in the vocabulary of ``steps``; ``docs/simulator.md`` describes it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .positions import Node, ScenarioFileError, read
from .scenario import PromptRule, Scenario
from .steps import (
    Agent,
    Compact,
    Emit,
    End,
    Error,
    Exit,
    Next,
    Pause,
    Plan,
    RateLimit,
    RawBlock,
    RedactedThinking,
    Step,
    Stop,
    Suggest,
    Text,
    Thinking,
    Tool,
    Usage,
    WaitFor,
)

OTHERWISE = ("say so", "assistant")
ENDS = ("error_max_turns", "error_max_budget_usd", "error_during_execution", "error_max_structured_output_retries")

MAX_TIMES = 10_000
"""How often an error can be repeated: each is a separate step."""


def load(path: Path | str) -> Scenario:
    """Read a ``.json``, ``.yaml`` or ``.yml`` file; raises ``ScenarioFileError``."""
    file = Path(path)
    return _StepReader(file).scenario(read(file))


class _StepReader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._steps: dict[str, tuple[Callable[[Node, dict[str, Node]], list[Step]], tuple[str, ...]]] = {
            "text": (lambda node, _: [Text(self._text(node))], ()),
            "thinking": (lambda node, _: [Thinking(self._text(node))], ()),
            "redacted_thinking": (lambda node, _: [RedactedThinking(self._text(node))], ()),
            "block": (lambda node, _: [RawBlock(self._mapping(node))], ()),
            "tool": (self._tool, ("input", "result", "failed", "takes_s", "elicit", "id")),
            "agent": (self._agent, ("description", "type", "background", "steps")),
            "ask": (self._question, ("options", "header", "multi")),
            "plan": (lambda node, _: [Plan.of(self._text(node))], ()),
            "usage": (self._usage, ()),
            "stop": (lambda node, more: [Stop(self._text(node), self._optional(more, "details"))], ("details",)),
            "next": (lambda node, _: [Next()], ()),
            "pause": (lambda node, _: [Pause(self._number(node))], ()),
            "wait_for": (lambda node, _: [WaitFor(self._text(node))], ()),
            "emit": (self._emit, ()),
            "rate_limit": (lambda node, _: [RateLimit(self._mapping(node))], ()),
            "compact": (lambda node, _: [Compact(self._text(node))], ()),
            "suggest": (lambda node, _: [Suggest(self._text(node))], ()),
            "error": (self._api_error, ("message", "times", "retry_after")),
            "end": (self._end, ("errors",)),
            "exit": (
                lambda node, more: [Exit(int(self._number(node)), str(self._optional(more, "stderr") or ""))],
                ("stderr",),
            ),
        }

    def scenario(self, node: Node) -> Scenario:
        known = ("name", "turns", "replies", "rules", "otherwise", "delta_size", "delay_s", "time_scale")
        fields = self._fields(node, known, "a scenario")
        if not fields.keys() & {"turns", "replies", "rules", "otherwise"}:
            raise self._error(node, "has nothing to play; expected `turns`, `replies`, `rules` or `otherwise`")
        scenario = Scenario()
        if "name" in fields:
            scenario.name = self._text(fields["name"])
        if "turns" in fields:
            scenario.turns = [self._step_list(turn) for turn in self._list(fields["turns"])]
        if "replies" in fields:
            scenario.replies = self._step_list(fields["replies"])
        if "rules" in fields:
            scenario.rules = [self._rule(rule) for rule in self._list(fields["rules"])]
        if "otherwise" in fields:
            scenario.otherwise = self._one_of(fields["otherwise"], OTHERWISE)
        if "delta_size" in fields:
            scenario.delta_size = max(1, int(self._number(fields["delta_size"])))
        for name in ("delay_s", "time_scale"):
            if name in fields:
                setattr(scenario, name, self._number(fields[name]))
        return scenario

    def _rule(self, node: Node) -> PromptRule:
        fields = self._fields(node, ("when", "steps", "times"), "a rule")
        for name in ("when", "steps"):
            if name not in fields:
                raise self._error(node, f"a rule needs `{name}`")
        pattern = self._text(fields["when"])
        try:
            re.compile(pattern)
        except re.error as error:
            raise self._error(fields["when"], f"is not a regular expression: {error}") from None
        times = int(self._number(fields["times"])) if "times" in fields else None
        return PromptRule(pattern, self._step_list(fields["steps"]), times)

    def _step_list(self, node: Node) -> list[Step]:
        if isinstance(node.value, str):
            return [Text(node.value)]
        return [step for item in self._list(node) for step in self._step(item)]

    def _step(self, node: Node) -> list[Step]:
        if isinstance(node.value, str):
            return [Text(node.value)]
        if not isinstance(node.value, dict):
            raise self._error(node, f"expected a step (a string, or a mapping such as `tool: Bash`), found {node.kind}")
        verbs = [key for key in node.value if key in self._steps]
        if len(verbs) != 1:
            found = f"found `{'` and `'.join(verbs or node.value)}`" if node.value else "found nothing"
            raise self._error(node, f"expected one of {', '.join(self._steps)} in a step, {found}")
        verb = verbs[0]
        make, also = self._steps[verb]
        more = {key: value for key, value in node.value.items() if key != verb}
        for key, value in more.items():
            if key not in also:
                expected = f"`{verb}` can have {', '.join(also)}" if also else f"`{verb}` takes no other keys"
                raise self._error(value, f"`{key}` does not belong to a `{verb}` step; {expected}")
        return make(node.value[verb], more)

    def _tool(self, node: Node, more: dict[str, Node]) -> list[Step]:
        elicit = more.get("elicit")
        tool = Tool(
            self._text(node),
            self._mapping(more["input"]) if "input" in more else {},
            self._text(more["id"]) if "id" in more else None,
            self._optional(more, "result"),
            is_error=self._optional(more, "failed") is True,
            takes_s=self._number(more["takes_s"]) if "takes_s" in more else 0.0,
            elicit=None if elicit is None else self._mapping(elicit),
        )
        return [tool]

    def _agent(self, node: Node, more: dict[str, Node]) -> list[Step]:
        steps = self._step_list(more["steps"]) if "steps" in more else []
        options: dict[str, Any] = {}
        if "description" in more:
            options["description"] = self._text(more["description"])
        if "type" in more:
            options["kind"] = self._text(more["type"])
        if "background" in more:
            options["background"] = more["background"].plain is True
        return [Agent.of(self._text(node), *steps, **options)]

    def _question(self, node: Node, more: dict[str, Node]) -> list[Step]:
        if "options" not in more:
            raise self._error(node, "`ask` needs `options`, a list of strings")
        labels = [self._text(option) for option in self._list(more["options"])]
        question = {
            "question": self._text(node),
            "header": self._text(more["header"]) if "header" in more else "Question",
            "options": [{"label": label, "description": label} for label in labels],
            "multiSelect": self._optional(more, "multi") is True,
        }
        return [Tool("AskUserQuestion", {"questions": [question]})]

    def _usage(self, node: Node, more: dict[str, Node]) -> list[Step]:
        names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        fields = self._fields(node, names, "`usage`")
        return [Usage(**{name: int(self._number(value)) for name, value in fields.items()})]

    def _emit(self, node: Node, more: dict[str, Node]) -> list[Step]:
        message = self._mapping(node)
        if not isinstance(message.get("type"), str):
            raise self._error(node, "`emit` needs a message with a `type`")
        return [Emit(message)]

    def _api_error(self, node: Node, more: dict[str, Node]) -> list[Step]:
        headers = {"retry-after": str(int(self._number(more["retry_after"])))} if "retry_after" in more else {}
        error = Error(int(self._number(node)), str(self._optional(more, "message") or ""), headers=headers)
        times = int(self._number(more["times"])) if "times" in more else 1
        if times > MAX_TIMES:
            raise self._error(more["times"], f"expected at most {MAX_TIMES} times, found {times}")
        return [error] * times

    def _end(self, node: Node, more: dict[str, Node]) -> list[Step]:
        errors = tuple(self._text(item) for item in self._list(more["errors"])) if "errors" in more else ()
        return [End(self._one_of(node, ENDS), errors)]

    # Values

    def _fields(self, node: Node, known: tuple[str, ...], what: str) -> dict[str, Node]:
        if not isinstance(node.value, dict):
            raise self._error(node, f"expected {what} to be a mapping, found {node.kind}")
        for key, value in node.value.items():
            if key not in known:
                raise self._error(value, f"unknown key `{key}` in {what}; expected one of {', '.join(known)}")
        return node.value

    def _mapping(self, node: Node) -> dict[str, Any]:
        if not isinstance(node.value, dict):
            raise self._error(node, f"expected a mapping, found {node.kind}")
        plain: dict[str, Any] = node.plain
        return plain

    def _list(self, node: Node) -> list[Node]:
        if not isinstance(node.value, list):
            raise self._error(node, f"expected a list, found {node.kind}")
        return node.value

    def _text(self, node: Node) -> str:
        if not isinstance(node.value, str):
            raise self._error(node, f"expected a string, found {node.kind}")
        return node.value

    def _number(self, node: Node) -> float:
        value: object = node.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise self._error(node, f"expected a number that is not negative, found {node.value!r}")
        return value

    def _one_of(self, node: Node, words: tuple[str, ...]) -> str:
        if node.value not in words:
            raise self._error(node, f"expected one of {', '.join(words)}, found {node.value!r}")
        return str(node.value)

    def _optional(self, more: dict[str, Node], name: str) -> Any:
        return more[name].plain if name in more else None

    def _error(self, node: Node, message: str) -> ScenarioFileError:
        return ScenarioFileError(self._path, node.line, message)
