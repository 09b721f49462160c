"""Draws the timeline: finished lines go to the scrollback, the rest stays live below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from quarterdeck.cli.common import Look
from quarterdeck.timeline import State, events
from quarterdeck.timeline.items import ToolCall

from .live import DrawMarkdown, LivePart, OpenParts, SubagentLines, Thought, call_of, dropped_line, plan_lines
from .markdown_blocks import MarkdownBlock, MarkdownSplitter
from .notices import last_line, line_for
from .surface import Surface
from .text import one_line, safe, seconds, wrapped
from .tool_lines import QUIET, ended_lines
from .widgets import Widget

NESTED_KEPT = 12
"""Calls of a finished sub-agent that are shown."""
THOUGHT_CHARS = 600
PROMPT_LINES = 10
BASH_INPUT = "<bash-input>"
"""How Claude Code marks a command that the user ran. The chat has already shown it."""


def plain_markdown(block: MarkdownBlock, width: int) -> list[str]:
    """Markdown as written: for pipes, and without ``rich``."""
    if block.language is None:
        return safe(block.source).split("\n")
    return [f"    {line}" for line in safe(block.source).split("\n")]


class Painter:
    """Receives events through ``show``; ``draw`` puts them on the surface."""

    def __init__(
        self, surface: Surface, state: State, *, colour: bool, unicode: bool = True, draw: DrawMarkdown = plain_markdown
    ) -> None:
        self._surface = surface
        self._state = state
        self._colour, self._unicode = colour, unicode
        self._draw_markdown = draw
        self._open = OpenParts()
        self._live = LivePart(self._open, state, surface, draw, colour=colour, unicode=unicode)
        self._fresh: dict[str, list[str]] = {}
        self._shown_diffs: set[str] = set()
        self._last_kind = ""
        self.simulated = False
        """Whether costs are made up."""
        self._handlers: dict[type, Callable[[Any], None]] = {
            events.BlockStarted: self._block_started,
            events.TextCompleted: self._text_completed,
            events.ThinkingAdded: self._thinking_added,
            events.ThinkingCounted: self._thinking_counted,
            events.ThinkingCompleted: self._thinking_completed,
            events.ToolCalled: self._tool_called,
            events.ToolEnded: self._tool_ended,
            events.PlanChanged: self._plan_changed,
            events.PromptSent: self._prompt_sent,
            events.Retracted: self._retracted,
            events.TurnEnded: self._turn_ended,
        }

    @property
    def look(self) -> Look:
        return Look(self._colour, self._surface.width, self._unicode)

    @property
    def folder(self) -> str | None:
        """The session's working directory."""
        return self._state.session.cwd

    @property
    def busy(self) -> bool:
        """Whether to redraw without new events, for the elapsed time."""
        return self._open.starting is not None or self._state.activity != "idle" or bool(self._state.running)

    def show(self, received: Iterable[events.Event]) -> None:
        for event in received:
            if type(event) is events.TextAdded:  # by far the most frequent: joined before drawing
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

    def starting(self, what: str, now: float) -> None:
        """Something is being started; the first prompt ends it."""
        self._open.starting = what, now

    def interrupting(self) -> None:
        """The user has interrupted the turn."""
        self._open.interrupting = True

    @property
    def is_interrupting(self) -> bool:
        return self._open.interrupting

    def diff_shown(self, tool_id: str | None) -> None:
        """The permission prompt has already shown the diff of this call."""
        if tool_id is not None:
            self._shown_diffs.add(tool_id)

    def say(self, style: str, text: str) -> None:
        """A notice."""
        room = self._surface.width - 2
        self.print([self.look.paint(style, f"  {line}") for line in wrapped(safe(text), room)[:6]], kind="notice")

    def print(self, lines: Sequence[str], *, kind: str, gap: bool | None = None) -> None:
        """Finished lines, after a blank line if ``kind`` changes."""
        if not lines:
            return
        wanted = kind != self._last_kind if gap is None else gap
        self._surface.commit(["", *lines] if wanted and self._last_kind else lines)
        self._last_kind = kind

    # Text and thinking

    def _block_started(self, event: events.BlockStarted) -> None:
        if event.kind == "thinking":
            self._open.thoughts[event.id] = Thought(event.at)
        elif event.parent_id is None:
            self._open.texts[event.id] = MarkdownSplitter()

    def _settle(self) -> None:
        """Split the text received since the last frame into blocks."""
        fresh, self._fresh = self._fresh, {}
        for key, pieces in fresh.items():
            blocks = self._open.texts.get(key)
            if blocks is not None:  # sub-agents' text is shown when complete
                for block in blocks.feed("".join(pieces)):
                    self._block(block)

    def _text_completed(self, event: events.TextCompleted) -> None:
        blocks = self._open.texts.pop(event.id, None)
        if event.parent_id is not None:
            self._nested(event.parent_id, [one_line(event.text, self._surface.width - 6)])
            return
        if event.error is not None:
            self.say("red", event.text)
            return
        blocks = blocks or MarkdownSplitter()
        for block in [*blocks.feed(event.rest), *blocks.close()]:
            self._block(block)

    def _block(self, block: MarkdownBlock) -> None:
        gap = block.gap if self._last_kind == "text" else True
        self.print(self._draw_markdown(block, self._surface.width), kind="text", gap=gap)

    def _thinking_added(self, event: events.ThinkingAdded) -> None:
        thought = self._open.thoughts.setdefault(event.id, Thought(event.at))
        thought.tail = (thought.tail + event.text)[-THOUGHT_CHARS:]

    def _thinking_counted(self, event: events.ThinkingCounted) -> None:
        for thought in self._open.thoughts.values():
            thought.tokens = event.tokens

    def _thinking_completed(self, event: events.ThinkingCompleted) -> None:
        self._open.thoughts.pop(event.id, None)
        if event.parent_id is not None:
            return
        took = "" if event.duration_s is None else f" for {seconds(event.duration_s)}"
        head = one_line(event.text, max(self._surface.width - 22 - len(took), 10)) if not event.hidden else ""
        about = f": {head}" if head else ""
        self.print([self.look.paint("dim italic", f"✻ thought{took}{about}")], kind="thought")

    def _prompt_sent(self, event: events.PromptSent) -> None:
        self._open.starting = None
        if event.parent_id is None and event.text and not event.text.startswith(BASH_INPUT):
            lines = wrapped(safe(event.text), self._surface.width - 2)
            shown = [f"› {lines[0]}", *(f"  {line}" for line in lines[1:PROMPT_LINES])]
            if len(lines) > PROMPT_LINES:
                shown.append(f"  … {len(lines) - PROMPT_LINES} more lines")
            self.print([self.look.paint("bold", line) for line in shown], kind="prompt")

    # Tools

    def _tool_called(self, event: events.ToolCalled) -> None:
        if event.agent_type is not None:
            self._open.agents.setdefault(event.id, SubagentLines())

    def _tool_ended(self, event: events.ToolEnded) -> None:
        call = call_of(self._state, event.id) or ToolCall(id=event.id, name=event.name)
        if event.name in QUIET and event.status not in ("failed", "interrupted"):
            return
        look = self.look if event.parent_id is None else Look(self._colour, self._surface.width - 4, self._unicode)
        lines = ended_lines(call, event, look, diff_was_shown=event.id in self._shown_diffs, folder=self.folder)
        self._shown_diffs.discard(event.id)
        if event.parent_id is not None:
            self._nested(event.parent_id, lines[:1])
            return
        agent = self._open.agents.pop(event.id, None)
        if agent is not None:
            lines[1:1] = [*dropped_line(agent, self.look), *agent.lines]
        self.print(lines, kind="tool")

    def _nested(self, parent_id: str, lines: Sequence[str]) -> None:
        """Below the sub-agent's call; on their own if that call has ended (a background agent)."""
        depth, root = 0, parent_id
        while (above := call_of(self._state, root)) is not None and above.parent_id is not None:
            depth, root = depth + 1, above.parent_id
        bar = self.look.paint("dim", "  │ ") + "  " * depth
        agent = self._open.agents.get(root)
        if agent is None:
            self.print([f"{bar}{line}" for line in lines], kind="nested")
            return
        agent.lines += [f"{bar}{line}" for line in lines]
        over = len(agent.lines) - NESTED_KEPT
        if over > 0:
            del agent.lines[:over]
            agent.dropped += over

    def _plan_changed(self, event: events.PlanChanged) -> None:
        if event.parent_id is not None:
            return
        self._open.plan = event.entries
        if self._surface.height == 0:
            doing = next((entry for entry in event.entries if entry.status == "in_progress"), None)
            done = sum(entry.status == "completed" for entry in event.entries)
            now = f": {doing.doing or doing.text}" if doing else ""
            self.say("dim", f"plan {done}/{len(event.entries)}{now}")

    # The end

    def _turn_ended(self, event: events.TurnEnded) -> None:
        self._close_texts()
        self._open.thoughts.clear()
        self._open.interrupting = False
        if self._open.plan:
            self.print(plan_lines(self._open.plan, self.look, limit=len(self._open.plan)), kind="plan")
            self._open.plan = []
        if event.turn.steps == 0 and event.turn.outcome == "done" and not event.turn.result and not event.turn.command:
            return  # the model was not asked: we only added to its context
        style, text = last_line(event.turn, simulated=self.simulated)
        self.print([self.look.paint(style, line) for line in wrapped(safe(text), self._surface.width)], kind="end")

    def _retracted(self, event: events.Retracted) -> None:
        for key in event.ids:
            self._open.texts.pop(key, None)
            self._open.thoughts.pop(key, None)
        self.say("dim", "the model is starting this answer over")

    def _close_texts(self) -> None:
        """Draw unfinished text as it is."""
        for blocks in self._open.texts.values():
            for block in blocks.close():
                self._block(block)
        self._open.texts.clear()

    # The live part

    def draw(self, now: float, widget: Widget | None = None, *, waiting: int = 0, final: bool = False) -> None:
        """One frame. ``now`` is on the clock of the events; ``final`` draws unfinished text as it is."""
        self._settle()
        if final:
            self._close_texts()
        lines: list[str] = []
        cursor = None
        if self._surface.height and not final:
            lines = self._live.lines(now, asking=widget is not None, waiting=waiting, gap=bool(self._last_kind))
        if widget is not None:
            shown = widget.lines(self.look, self._surface.height - len(lines))
            if widget.cursor is not None:
                cursor = (len(lines) + widget.cursor[0], widget.cursor[1])
            lines += shown
        self._surface.live(lines, cursor)
        self._surface.flush()
