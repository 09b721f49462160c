"""Draws what the timeline tells: what is finished goes to the scrollback, what is not stays live below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from quarterdeck.cli.roof import Look
from quarterdeck.timeline import State, events
from quarterdeck.timeline.items import ToolCall
from quarterdeck.timeline.parts import PlanEntry

from .blocks import Block, Blocks
from .notices import Line, last_line, line_for
from .surface import Surface
from .text import one_line, safe, seconds, wrapped
from .tool_lines import QUIET, SPINNER, ended_lines, running_lines
from .widgets import Widget

NESTED_LIVE, NESTED_KEPT = 4, 12
"""Calls of a sub-agent that are shown while it runs, and when it has ended."""
THOUGHT_CHARS = 600
PLAN_ROWS = 8
_ACTIVITIES = {"requesting": "waiting for the model", "compacting": "summing up the conversation", "working": "working"}

DrawMarkdown = Callable[[Block, int], list[str]]


def plain_markdown(block: Block, width: int) -> list[str]:
    """As it was written: for pipes, and where ``rich`` is not installed."""
    if block.language is None:
        return safe(block.source).split("\n")
    return [f"    {line}" for line in safe(block.source).split("\n")]


@dataclass(slots=True)
class _Thought:
    started_at: float
    tail: str = ""
    tokens: int = 0


@dataclass(slots=True)
class _Agent:
    """What a sub-agent has done so far, as lines that wait for its end."""

    lines: list[str] = field(default_factory=list)
    dropped: int = 0


class Painter:
    """Told of events by ``show``; ``draw`` puts it all on the surface."""

    def __init__(
        self, surface: Surface, state: State, *, colour: bool, unicode: bool = True, draw: DrawMarkdown = plain_markdown
    ) -> None:
        self._surface = surface
        self._state = state
        self._colour, self._unicode = colour, unicode
        self._draw_markdown = draw
        self._texts: dict[str, Blocks] = {}
        self._fresh: dict[str, list[str]] = {}
        self._thoughts: dict[str, _Thought] = {}
        self._agents: dict[str, _Agent] = {}
        self._shown_diffs: set[str] = set()
        self._plan: list[PlanEntry] = []
        self._last_kind = ""
        self._handlers: dict[type, Callable[[Any], None]] = {
            events.BlockStarted: self._block_started,
            events.TextCompleted: self._text_completed,
            events.ThinkingAdded: self._thinking_added,
            events.ThinkingCounted: self._thinking_counted,
            events.ThinkingCompleted: self._thinking_completed,
            events.ToolCalled: self._tool_called,
            events.ToolEnded: self._tool_ended,
            events.PlanChanged: self._plan_changed,
            events.PermissionAsked: self._permission_asked,
            events.RequestAnswered: self._answered,
            events.RequestCancelled: self._cancelled,
            events.PromptSent: self._prompt_sent,
            events.TurnEnded: self._turn_ended,
        }
        self.interrupting = False

    @property
    def look(self) -> Look:
        return Look(self._colour, self._surface.width, self._unicode)

    @property
    def folder(self) -> str | None:
        """Where the session works."""
        return self._state.session.cwd

    @property
    def busy(self) -> bool:
        """Something moves although nothing comes: the time of a running call."""
        return self._state.activity != "idle" or bool(self._state.running)

    def show(self, told: Iterable[events.Event]) -> None:
        for event in told:
            if type(event) is events.TextAdded:  # by far the most: joined until they are drawn
                self._fresh.setdefault(event.id, []).append(event.text)
                continue
            if self._fresh:
                self._settle()
            handler = self._handlers.get(type(event))
            if handler is not None:
                handler(event)
            else:
                line = line_for(event)
                if line is not None:
                    self.say(*line)

    def say(self, style: str, text: str) -> None:
        """One line of ours about the session."""
        room = self._surface.width - 2
        self.print([self.look.paint(style, f"  {line}") for line in wrapped(safe(text), room)[:6]], kind="notice")

    def print(self, lines: Sequence[str], *, kind: str, gap: bool | None = None) -> None:
        """Finished lines; a blank one before them where something else begins."""
        if not lines:
            return
        wanted = kind != self._last_kind if gap is None else gap
        self._surface.commit(["", *lines] if wanted and self._last_kind else lines)
        self._last_kind = kind

    # What is said

    def _block_started(self, event: events.BlockStarted) -> None:
        if event.kind == "thinking":
            self._thoughts[event.id] = _Thought(event.at)
        elif event.parent_id is None:
            self._texts[event.id] = Blocks()

    def _settle(self) -> None:
        """Take in the pieces of text that have come since."""
        fresh, self._fresh = self._fresh, {}
        for key, pieces in fresh.items():
            blocks = self._texts.get(key)
            if blocks is not None:  # a sub-agent's words are shown when they are complete
                for block in blocks.feed("".join(pieces)):
                    self._block(block)

    def _text_completed(self, event: events.TextCompleted) -> None:
        blocks = self._texts.pop(event.id, None)
        if event.parent_id is not None:
            self._nested(event.parent_id, [one_line(event.text, self._surface.width - 6)])
            return
        if event.error is not None:
            self.say("red", event.text)
            return
        blocks = blocks or Blocks()
        for block in [*blocks.feed(event.rest), *blocks.close()]:
            self._block(block)

    def _block(self, block: Block) -> None:
        gap = block.gap if self._last_kind == "text" else True
        self.print(self._draw_markdown(block, self._surface.width), kind="text", gap=gap)

    def _thinking_added(self, event: events.ThinkingAdded) -> None:
        thought = self._thoughts.setdefault(event.id, _Thought(event.at))
        thought.tail = (thought.tail + event.text)[-THOUGHT_CHARS:]

    def _thinking_counted(self, event: events.ThinkingCounted) -> None:
        for thought in self._thoughts.values():
            thought.tokens = event.tokens

    def _thinking_completed(self, event: events.ThinkingCompleted) -> None:
        self._thoughts.pop(event.id, None)
        if event.parent_id is not None:
            return
        took = "" if event.duration_s is None else f" for {seconds(event.duration_s)}"
        head = one_line(event.text, max(self._surface.width - 22 - len(took), 10)) if not event.hidden else ""
        about = f": {head}" if head else ""
        self.print([self.look.paint("dim italic", f"✻ thought{took}{about}")], kind="thought")

    def _prompt_sent(self, event: events.PromptSent) -> None:
        if event.parent_id is None and event.text:
            lines = wrapped(safe(event.text), self._surface.width - 2)
            shown = [f"› {lines[0]}", *(f"  {line}" for line in lines[1:10])]
            if len(lines) > 10:
                shown.append(f"  … {len(lines) - 10} more lines")
            self.print([self.look.paint("bold", line) for line in shown], kind="prompt")

    # Tools

    def _call(self, key: str | None) -> ToolCall | None:
        item = self._state.items.get(key or "")
        return item if isinstance(item, ToolCall) else None

    def _tool_called(self, event: events.ToolCalled) -> None:
        if event.agent_type is not None:
            self._agents.setdefault(event.id, _Agent())

    def _tool_ended(self, event: events.ToolEnded) -> None:
        call = self._call(event.id) or ToolCall(id=event.id, name=event.name)
        if event.name in QUIET and event.status not in ("failed", "interrupted"):
            return
        look = self.look if event.parent_id is None else Look(self._colour, self._surface.width - 4, self._unicode)
        lines = ended_lines(call, event, look, diff_was_shown=event.id in self._shown_diffs, folder=self.folder)
        self._shown_diffs.discard(event.id)
        if event.parent_id is not None:
            self._nested(event.parent_id, lines[:1])
            return
        agent = self._agents.pop(event.id, None)
        if agent is not None:
            lines[1:1] = [*self._dropped(agent.dropped), *agent.lines]
        self.print(lines, kind="tool")

    def _nested(self, parent_id: str, lines: Sequence[str]) -> None:
        """Under the sub-agent's call; when that has ended already (it works in the background), on their own."""
        depth, root = 0, parent_id
        while (above := self._call(root)) is not None and above.parent_id is not None:
            depth, root = depth + 1, above.parent_id
        bar = self.look.paint("dim", "  │ ") + "  " * depth
        agent = self._agents.get(root)
        if agent is None:
            self.print([f"{bar}{line}" for line in lines], kind="nested")
            return
        agent.lines += [f"{bar}{line}" for line in lines]
        over = len(agent.lines) - NESTED_KEPT
        if over > 0:
            del agent.lines[:over]
            agent.dropped += over

    def _dropped(self, count: int) -> list[str]:
        return [self.look.paint("dim", f"  │ … {count} before")] if count else []

    def _plan_changed(self, event: events.PlanChanged) -> None:
        if event.parent_id is not None:
            return
        self._plan = event.entries
        if self._surface.height == 0:
            doing = next((entry for entry in event.entries if entry.status == "in_progress"), None)
            done = sum(entry.status == "completed" for entry in event.entries)
            now = f": {doing.doing or doing.text}" if doing else ""
            self.say("dim", f"plan {done}/{len(event.entries)}{now}")

    # People

    def _permission_asked(self, event: events.PermissionAsked) -> None:
        if event.request.tool_id and event.request.diffs:
            self._shown_diffs.add(event.request.tool_id)

    def _answered(self, event: events.RequestAnswered) -> None:
        if event.answer == "deny" and event.tool_id:
            self._shown_diffs.discard(event.tool_id)
        line = _answer_line(event)
        if line is not None:
            self.say(*line)

    def _cancelled(self, event: events.RequestCancelled) -> None:
        self.say("dim", "no longer asked")

    # The end

    def _turn_ended(self, event: events.TurnEnded) -> None:
        self._close_texts()
        self._thoughts.clear()
        self.interrupting = False
        if self._plan:
            self.print(self._plan_lines(len(self._plan)), kind="plan")
            self._plan = []
        style, text = last_line(event.turn)
        self.print([self.look.paint(style, one_line(text, self._surface.width))], kind="end")

    def _close_texts(self) -> None:
        """What was not finished will not be."""
        for blocks in self._texts.values():
            for block in blocks.close():
                self._block(block)
        self._texts.clear()

    # The live part

    def draw(self, now: float, widget: Widget | None = None, *, waiting: int = 0, final: bool = False) -> None:
        """One frame. ``now`` is on the clock of the events; ``final``: what is still open is shown as it is."""
        self._settle()
        if final:
            self._close_texts()
        lines, cursor = [] if final else self._live(now, widget, waiting), None
        if widget is not None:
            shown = widget.lines(self.look)
            if widget.cursor is not None:
                cursor = (len(lines) + widget.cursor[0], widget.cursor[1])
            lines += shown
        self._surface.live(lines, cursor)
        self._surface.flush()

    def _live(self, now: float, widget: Widget | None, waiting: int) -> list[str]:
        if self._surface.height == 0:
            return []
        tick = int(now * 10)
        room = max(self._surface.height - 14, 3)
        lines = self._tails()[-room:]
        lines += self._thinking_lines(now, tick)
        lines += self._running(now, tick, asking=widget is not None)[-room:]
        if widget is not None:
            if waiting:
                lines.append(self.look.paint("yellow", f"{waiting} more to answer after this"))
            return ["", *lines[-room:], ""] if lines else [""]
        if self._plan and any(entry.status != "completed" for entry in self._plan):
            lines += self._plan_lines(PLAN_ROWS)
        lines += self._status(now, tick, quiet=bool(lines))
        return ["", *lines] if lines and self._last_kind else lines

    def _tails(self) -> list[str]:
        lines: list[str] = []
        for blocks in self._texts.values():
            for block in blocks.tail():
                lines += self._draw_markdown(block, self._surface.width)
        return lines

    def _thinking_lines(self, now: float, tick: int) -> list[str]:
        lines: list[str] = []
        for thought in self._thoughts.values():
            count = f" · about {thought.tokens} tokens" if thought.tokens else ""
            head = f"{SPINNER[tick % len(SPINNER)]} thinking {seconds(max(now - thought.started_at, 0))}{count}"
            lines.append(self.look.paint("dim italic", head))
            last = [line for line in wrapped(safe(thought.tail), self._surface.width - 2) if line.strip()][-2:]
            lines += [self.look.paint("dim italic", f"  {line}") for line in last]
        return lines

    def _running(self, now: float, tick: int, *, asking: bool) -> list[str]:
        lines: list[str] = []
        for key in self._state.running:
            call = self._call(key)
            if call is None or call.parent_id is not None or call.name in QUIET:
                continue
            if asking and call.status == "waiting":  # it is what is asked about
                continue
            lines += self._running_call(call, now, tick)
            agent = self._agents.get(key)
            if agent is not None:
                lines += [*self._dropped(agent.dropped), *agent.lines[-NESTED_LIVE:]]
                lines += self._running_inside(key, now, tick)
        return lines

    def _running_inside(self, parent_id: str, now: float, tick: int) -> list[str]:
        inside = [call for key in self._state.running if (call := self._call(key)) and call.parent_id == parent_id]
        bar = self.look.paint("dim", "  │ ")
        return [f"{bar}{self._running_call(call, now, tick)[0]}" for call in inside[-NESTED_LIVE:]]

    def _running_call(self, call: ToolCall, now: float, tick: int) -> list[str]:
        began = call.called_at if call.called_at is not None else call.at
        return running_lines(
            call, self.look, tick=tick, elapsed_s=max(now - began, call.elapsed_s or 0), folder=self.folder
        )

    def _plan_lines(self, limit: int) -> list[str]:
        marks = {"completed": ("dim", "☑"), "in_progress": ("bold", "◧"), "pending": ("", "☐")}
        first = next((index for index, entry in enumerate(self._plan) if entry.status != "completed"), 0)
        begin = max(0, min(first - 1, len(self._plan) - limit))
        lines = []
        for entry in self._plan[begin : begin + limit]:
            style, mark = marks[entry.status]
            text = entry.doing if entry.status == "in_progress" and entry.doing else entry.text
            line = f"{mark} {one_line(text, self._surface.width - 2)}"
            lines.append(self.look.paint(style, line) if style else line)
        hidden = len(self._plan) - len(lines)
        return lines + ([self.look.paint("dim", f"  {hidden} more")] if hidden > 0 else [])

    def _status(self, now: float, tick: int, *, quiet: bool) -> list[str]:
        """What it does when nothing else moves, and since when."""
        state = self._state
        if self.interrupting:
            return [self.look.paint("yellow", "◼ interrupting … Ctrl-C again leaves")]
        if state.turn_started_at is None or (quiet and state.activity == "responding"):
            return []
        doing = _ACTIVITIES.get(state.activity, "")
        if state.retry is not None:
            doing = f"waiting to ask the model again ({state.retry.error or state.retry.status})"
        if not doing or (quiet and state.activity == "working"):
            return []
        spin = SPINNER[tick % len(SPINNER)]
        return [
            self.look.paint("dim", f"{spin} {doing} · {seconds(max(now - state.turn_started_at, 0))} · Ctrl-C stops")
        ]


def _answer_line(event: events.RequestAnswered) -> Line | None:
    if event.kind == "permission":
        return _permission_answer(event)
    if event.kind == "questions":
        if event.answer == "deny":
            return "yellow", "skipped"
        return "green", "; ".join(f"{answer}" for answer in event.answers.values()) or "answered"
    if event.kind == "plan_review":
        if event.answer == "allow":
            return "green", f"plan approved{f', mode {event.mode}' if event.mode else ''}"
        return "yellow", f"plan not approved: {event.note or ''}"
    return ("dim", f"answered: {event.answer}") if event.kind == "elicitation" else None


def _permission_answer(event: events.RequestAnswered) -> Line | None:
    if event.answer == "allow":
        always = f", from now on {', '.join(event.rules_added)}" if event.rules_added else ""
        edited = ", with another input" if event.input_changed else ""
        return "green", f"allowed{edited}{always}"
    return ("red", "denied, and stopped") if event.interrupts else None  # else the call's end tells it
