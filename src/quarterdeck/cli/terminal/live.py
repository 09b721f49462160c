"""The live part of the screen: unfinished items, redrawn in each frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from quarterdeck.cli.common import Look
from quarterdeck.timeline import State
from quarterdeck.timeline.items import ToolCall
from quarterdeck.timeline.parts import PlanEntry

from .markdown_blocks import MarkdownBlock, MarkdownSplitter
from .surface import Surface
from .text import one_line, safe, seconds, wrapped
from .tool_lines import QUIET, SPINNER, running_lines

NESTED_LIVE = 4
"""Calls of a running sub-agent that are shown."""
PLAN_ROWS = 8
ABOVE_A_QUESTION = 4
"""Lines above a question, at most."""
QUESTION_ROWS = 14
"""What a question needs: only from here on there is room for lines above it."""
_ACTIVITIES = {
    "requesting": "waiting for the model",
    "responding": "answering",
    "compacting": "compacting the conversation",
    "working": "working",
}
_MARKS = {"completed": ("dim", "☑"), "in_progress": ("bold", "◧"), "pending": ("", "☐")}

DrawMarkdown = Callable[[MarkdownBlock, int], list[str]]


@dataclass(slots=True)
class Thought:
    started_at: float
    tail: str = ""
    tokens: int = 0


@dataclass(slots=True)
class SubagentLines:
    """The calls of a running sub-agent, as lines."""

    lines: list[str] = field(default_factory=list)
    dropped: int = 0


@dataclass(slots=True)
class OpenParts:
    """What has started but not ended, except tool calls: those are in the timeline's state."""

    texts: dict[str, MarkdownSplitter] = field(default_factory=dict)
    thoughts: dict[str, Thought] = field(default_factory=dict)
    agents: dict[str, SubagentLines] = field(default_factory=dict)
    plan: list[PlanEntry] = field(default_factory=list)
    interrupting: bool = False
    starting: tuple[str, float] | None = None
    """What is being started, and since when."""


class LivePart:
    def __init__(
        self, opened: OpenParts, state: State, surface: Surface, draw: DrawMarkdown, *, colour: bool, unicode: bool
    ) -> None:
        self._open = opened
        self._state = state
        self._surface = surface
        self._draw_markdown = draw
        self._colour, self._unicode = colour, unicode

    @property
    def look(self) -> Look:
        return Look(self._colour, self._surface.width, self._unicode)

    def lines(self, now: float, *, asking: bool, waiting: int, gap: bool) -> list[str]:
        """All lines. ``asking``: a question is shown below, and ``waiting`` more will follow."""
        tick = int(now * 10)
        room = max(self._surface.height - 14, 3)
        lines = self._tails()[-room:]
        lines += self._thinking_lines(now, tick)
        lines += self._running(now, tick, asking=asking)[-room:]
        if asking:
            return self._above_a_question(lines, waiting)
        if self._open.plan and any(entry.status != "completed" for entry in self._open.plan):
            lines += plan_lines(self._open.plan, self.look, limit=PLAN_ROWS)
        lines += self._status(now, tick, quiet=bool(lines))
        return ["", *lines] if lines and gap else lines

    def _above_a_question(self, lines: list[str], waiting: int) -> list[str]:
        """Some of the current activity, if the question leaves room for it."""
        if waiting:
            lines.append(self.look.paint("yellow", f"{waiting} more question{'s' * (waiting > 1)} after this one"))
        room = max(0, min(ABOVE_A_QUESTION, (self._surface.height - QUESTION_ROWS) // 4))
        shown = lines[-room:] if room else []
        gap = [""] * (self._surface.height >= QUESTION_ROWS)
        return ["", *shown, ""] if shown else gap

    def _tails(self) -> list[str]:
        lines: list[str] = []
        for blocks in self._open.texts.values():
            for block in blocks.tail():
                lines += self._draw_markdown(block, self._surface.width)
        return lines

    def _thinking_lines(self, now: float, tick: int) -> list[str]:
        lines: list[str] = []
        for thought in self._open.thoughts.values():
            count = f" · about {thought.tokens} tokens" if thought.tokens else ""
            head = f"{SPINNER[tick % len(SPINNER)]} thinking {seconds(max(now - thought.started_at, 0))}{count}"
            lines.append(self.look.paint("dim italic", head))
            last = [line for line in wrapped(safe(thought.tail), self._surface.width - 2) if line.strip()][-2:]
            lines += [self.look.paint("dim italic", f"  {line}") for line in last]
        return lines

    def _running(self, now: float, tick: int, *, asking: bool) -> list[str]:
        lines: list[str] = []
        for key in self._state.running:
            call = call_of(self._state, key)
            if call is None or call.parent_id is not None or call.name in QUIET:
                continue
            if asking and call.status == "waiting":  # the question is about this call
                continue
            lines += self._running_call(call, now, tick)
            agent = self._open.agents.get(key)
            if agent is not None:
                lines += [*dropped_line(agent, self.look), *agent.lines[-NESTED_LIVE:]]
                lines += self._running_inside(key, now, tick)
        return lines

    def _running_inside(self, parent_id: str, now: float, tick: int) -> list[str]:
        inside = [
            call for key in self._state.running if (call := call_of(self._state, key)) and call.parent_id == parent_id
        ]
        bar = self.look.paint("dim", "  │ ")
        return [f"{bar}{self._running_call(call, now, tick)[0]}" for call in inside[-NESTED_LIVE:]]

    def _running_call(self, call: ToolCall, now: float, tick: int) -> list[str]:
        began = call.called_at if call.called_at is not None else call.at
        return running_lines(
            call, self.look, tick=tick, elapsed_s=max(now - began, call.elapsed_s or 0), folder=self._state.session.cwd
        )

    def _status(self, now: float, tick: int, *, quiet: bool) -> list[str]:
        """What it is doing and for how long, if nothing else shows it."""
        state = self._state
        if self._open.interrupting:
            return [self.look.paint("yellow", "◼ interrupting … Ctrl-C to exit")]
        if self._open.starting is not None:
            what, since = self._open.starting
            return [self.look.paint("dim", f"{SPINNER[tick % len(SPINNER)]} {what} · {seconds(max(now - since, 0))}")]
        if state.turn_started_at is None or (quiet and state.activity == "responding"):
            return []
        doing = _ACTIVITIES.get(state.activity, "")
        if state.retry is not None:
            doing = f"waiting to retry ({state.retry.error or state.retry.status})"
        if not doing or (quiet and state.activity == "working"):
            return []
        spin = SPINNER[tick % len(SPINNER)]
        return [
            self.look.paint("dim", f"{spin} {doing} · {seconds(max(now - state.turn_started_at, 0))} · Esc to stop")
        ]


def call_of(state: State, key: str | None) -> ToolCall | None:
    item = state.items.get(key or "")
    return item if isinstance(item, ToolCall) else None


def dropped_line(agent: SubagentLines, look: Look) -> list[str]:
    return [look.paint("dim", f"  │ … {agent.dropped} earlier")] if agent.dropped else []


def plan_lines(plan: list[PlanEntry], look: Look, *, limit: int) -> list[str]:
    """The part of the plan around the current entry."""
    first = next((index for index, entry in enumerate(plan) if entry.status != "completed"), 0)
    begin = max(0, min(first - 1, len(plan) - limit))
    lines = []
    for entry in plan[begin : begin + limit]:
        style, mark = _MARKS[entry.status]
        text = entry.doing if entry.status == "in_progress" and entry.doing else entry.text
        line = f"{mark} {one_line(text, look.width - 2)}"
        lines.append(look.paint(style, line) if style else line)
    hidden = len(plan) - len(lines)
    return lines + ([look.paint("dim", f"  {hidden} more")] if hidden > 0 else [])
