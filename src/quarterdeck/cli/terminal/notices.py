"""Events that are shown as one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quarterdeck.testing.simulated import dollars
from quarterdeck.timeline import events
from quarterdeck.timeline.items import TurnSummary

from .text import one_line, seconds, size

Line = tuple[str, str]
"""A style and a text."""

REASON_CELLS = 48
"""The width of a reason within a longer line."""
_LEVELS = {"warning": "yellow", "error": "red"}
_OUTCOMES = {"done": ("green", "✔ done"), "interrupted": ("yellow", "◼ interrupted"), "limit": ("yellow", "◼ stopped")}


def line_for(event: events.Event) -> Line | None:
    """The line for this event; None if it is shown in another way, or not at all."""
    make_line = _LINES.get(type(event))
    return make_line(event) if make_line is not None else None


def last_line(turn: TurnSummary, *, simulated: bool = False) -> Line:
    """The last line of a turn: turns, time, tokens, cost."""
    style, word = _OUTCOMES.get(turn.outcome, ("red", "✗ failed"))
    if turn.outcome in ("failed", "limit") and (turn.error or turn.subtype):
        word += f": {one_line(turn.error or turn.subtype.replace('_', ' '), REASON_CELLS)}"
    tokens = turn.tokens
    given = tokens.input + tokens.cache_read + tokens.cache_write
    parts = [
        word,
        f"{turn.steps} turn{'s' * (turn.steps != 1)}",
        seconds(turn.duration_s),
        f"{size(given)} tokens in, {size(tokens.output)} out",
        dollars(turn.cost_usd, simulated=simulated),
    ]
    return style, " · ".join(parts)


def _notice(event: events.NoticeShown) -> Line | None:
    return (_LEVELS.get(event.level, "dim"), event.text) if event.text else None


def _retry(event: events.RetryScheduled) -> Line:
    of = f" of {event.max_retries}" if event.max_retries else ""
    why = event.error or (f"status {event.status}" if event.status else "no answer from the API")
    return "yellow", f"retry {event.attempt}{of} in {seconds(event.delay_s)}: {why}"


def _compaction(event: events.CompactionEnded) -> Line:
    if event.error:
        return "yellow", f"compaction failed: {event.error}"
    tokens = "" if event.tokens_before is None else f" ({size(event.tokens_before)} tokens before)"
    return "dim", f"conversation compacted{tokens}"


def _rate_limit(event: events.RateLimitChanged) -> Line | None:
    limit = event.limit
    if limit.status == "allowed":
        return None
    used = "" if limit.used is None else f", {limit.used:.0%} used"
    return "yellow", f"rate limit {limit.kind or ''}: {limit.status.replace('_', ' ')}{used}"


def _mcp(event: events.McpChanged) -> Line | None:
    bad = [f"{one.name}: {one.error or one.status}" for one in event.servers if one.status in ("failed", "needs-auth")]
    return ("yellow", f"MCP servers failed: {', '.join(bad)}") if bad else None


def _task(event: events.TaskNotified) -> Line | None:
    if not event.background:
        return None
    return "dim", f"background task {event.status}: {event.summary or event.id}"


def _hook(event: events.HookEnded) -> Line | None:
    if event.outcome not in ("error", "block"):
        return None
    said = "" if event.output is None else str(event.output)[:200]
    return "yellow", f"hook {event.name or event.event}: {event.outcome}{_after(said)}"


def _after(text: str | None) -> str:
    return f": {text}" if text else ""


def _changed(event: events.ModelChanged | events.ModeChanged) -> Line | None:
    """Not the initial ones."""
    if event.before is None and event.by != "us":
        return None
    if isinstance(event, events.ModelChanged):
        return "dim", f"model: {event.model}{_after(one_line(event.reason or '', 2 * REASON_CELLS))}"
    return "dim", f"mode: {event.mode}"


def _answered(event: events.RequestAnswered) -> Line | None:
    if event.kind == "permission":
        return _permission_answer(event)
    if event.kind == "questions":
        if event.answer == "deny":
            return "yellow", "skipped"
        return "green", "; ".join(f"{answer}" for answer in event.answers.values()) or "answered"
    if event.kind == "plan_review":
        if event.answer == "allow":
            return "green", f"plan approved{f', mode {event.mode}' if event.mode else ''}"
        return "yellow", f"plan rejected: {event.note or ''}"
    return ("dim", f"answered: {event.answer}") if event.kind == "elicitation" else None


def _permission_answer(event: events.RequestAnswered) -> Line | None:
    if event.answer == "allow":
        always = f", always: {', '.join(event.rules_added)}" if event.rules_added else ""
        edited = " with edits" if event.input_changed else ""
        return "green", f"allowed{edited}{always}"
    return ("red", "denied, turn stopped") if event.interrupts else None  # otherwise the end of the call says so


_LINES: dict[type, Callable[[Any], Line | None]] = {
    events.NoticeShown: _notice,
    events.RequestAnswered: _answered,
    events.RequestCancelled: lambda event: ("dim", "request cancelled"),
    events.RetryScheduled: _retry,
    events.CompactionEnded: _compaction,
    events.RateLimitChanged: _rate_limit,
    events.McpChanged: _mcp,
    events.TaskNotified: _task,
    events.HookEnded: _hook,
    events.ModelChanged: _changed,
    events.ModeChanged: _changed,
    events.ToolsSummarised: lambda event: ("dim", event.text),
    events.AuthChanged: lambda event: ("yellow", f"login: {event.error or ' '.join(event.output)}"),
    events.ConversationReset: lambda event: ("dim", "conversation cleared"),
    events.FilesPersisted: lambda event: ("dim", f"files stored: {', '.join(event.files)}"),
    events.FilesRewound: lambda event: ("dim", f"files restored: {len(event.files)}") if event.files else None,
    events.InterruptSent: lambda event: ("yellow", "interrupting …"),
    events.ControlAnswered: lambda event: ("yellow", f"{event.subtype}: {event.error}") if event.error else None,
    events.UnknownSeen: lambda event: ("dim", f"unknown message: {event.what}"),
    events.BadLineSeen: lambda event: ("yellow", f"invalid line ({event.reason}): {event.head[:80]}"),
}
