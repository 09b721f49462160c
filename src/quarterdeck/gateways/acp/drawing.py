"""The timeline as an editor sees it: events in, session updates out. No I/O.

Everything that is shown comes from here, live and when a session is loaded again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from quarterdeck.timeline import Timeline, events
from quarterdeck.timeline.events import Event
from quarterdeck.timeline.parts import CommandInfo

from . import chunks, schema
from .drawing_calls import CallDrawing
from .schema import ContentBlockText, SessionUpdate

Emit = Callable[[SessionUpdate], None]
Chunk = Callable[[chunks.Kind, str, str | None], None]
"""Takes a piece of text and the id of the message it belongs to."""


class Audience(msgspec.Struct, frozen=True):
    """What the editor says it can show."""

    notices: bool = False
    compaction: bool = False
    plans: bool = False
    terminal_output: bool = False
    """It draws a command's output from ``_meta``; Zed and others do."""

    @classmethod
    def of(cls, given: schema.ClientCapabilities | None) -> Audience:
        if given is None:
            return cls()
        session = given.session or schema.ClientSessionCapabilities()
        return cls(
            notices=session.notices is not None,
            compaction=session.compaction is not None,
            plans=given.plan is not None,
            terminal_output=(given.meta or {}).get("terminal_output") is True,
        )


class Drawing:
    """Draws one session. ``emit`` takes the updates in order."""

    def __init__(
        self,
        emit: Emit,
        timeline: Timeline,
        *,
        audience: Audience,
        cwd: str,
        history: bool = False,
        chunk: Chunk | None = None,
    ) -> None:
        """``history``: the editor does not know the prompts either. ``chunk``: takes pieces of text, in ``emit``'s
        place."""
        self._emit = emit
        self._chunk = chunk or (lambda kind, text, message_id: emit(chunks.update(kind, text, message_id)))
        self._timeline = timeline
        self._audience = audience
        self.history = history
        self._calls = CallDrawing(emit, cwd=cwd, terminal_output=audience.terminal_output)
        self._within: dict[str, str] = {}
        """Block of a sub-agent → the call it belongs to."""
        self._compactions = 0
        self._compacting = False
        self._told_usage: schema.SessionUpdateUsageUpdate | None = None

    def draw(self, happened: Iterable[Event]) -> None:
        for event in happened:
            draw = DRAWN.get(type(event))
            if draw is not None:
                draw(self, event)

    def show_terminal(self, call_id: str, terminal_id: str) -> None:
        self._calls.show_terminal(call_id, terminal_id)

    def decided_elsewhere(self, words: str, tool_id: str | None, told: dict[str, Any]) -> None:
        """Somebody else has answered what was asked here."""
        self._notice("info", words)
        self._calls.decided_elsewhere(tool_id, told)

    def commands(self, given: Iterable[CommandInfo]) -> None:
        commands = [_command(one.name, one.description, one.argument_hint) for one in given]
        self._emit(schema.SessionUpdateAvailableCommandsUpdate(available_commands=commands))

    # Messages

    def _block_started(self, event: events.BlockStarted) -> None:
        if event.parent_id is not None:
            self._within[event.id] = event.parent_id

    def text_added(self, event: events.TextAdded) -> None:
        if event.id not in self._within and event.text:
            self._chunk(schema.SessionUpdateAgentMessageChunk, event.text, event.id)

    def _text_completed(self, event: events.TextCompleted) -> None:
        if event.parent_id is None:
            self._say(event.rest, event.id)
        else:
            self._within.pop(event.id, None)
            self._calls.agent_said(event.parent_id, event.text)

    def _thinking_added(self, event: events.ThinkingAdded) -> None:
        if event.id not in self._within:
            self._think(event.text, event.id)

    def _thinking_completed(self, event: events.ThinkingCompleted) -> None:
        self._within.pop(event.id, None)
        if event.parent_id is None:
            self._think(event.rest, event.id)

    def _prompt_sent(self, event: events.PromptSent) -> None:
        if event.parent_id is None and event.text and (self.history or event.source not in ("us", "task-notification")):
            content = ContentBlockText(text=event.text)
            self._emit(schema.SessionUpdateUserMessageChunk(content=content, message_id=event.id))

    def _retracted(self, event: events.Retracted) -> None:
        self._notice("warning", "The answer above was discarded: another model is answering instead.")

    def _say(self, text: str, message_id: str | None = None) -> None:
        if text:
            self._chunk(schema.SessionUpdateAgentMessageChunk, text, message_id)

    def _think(self, text: str, message_id: str | None = None) -> None:
        if text:
            self._chunk(schema.SessionUpdateAgentThoughtChunk, text, message_id)

    # Plans

    def _plan_changed(self, event: events.PlanChanged) -> None:
        entries = [
            schema.PlanEntry(content=one.text, priority="medium", status=one.status, meta=_entry_meta(one))
            for one in event.entries
        ]
        if event.parent_id is None:
            self._emit(schema.SessionUpdatePlan(entries=entries))
        elif self._audience.plans:
            plan = schema.PlanUpdateContentItems(plan_id=event.parent_id, entries=entries)
            self._emit(schema.SessionUpdatePlanUpdate(plan=plan))

    # Everything around them

    def _notice(self, severity: str, title: str) -> None:
        """Every editor shows thoughts; not every one has notices."""
        title = title.strip()
        if not title:
            return
        if self._audience.notices:
            self._emit(schema.SessionUpdateNotice(severity=severity, title=title))
        else:
            self._think(f"\n[{severity}] {title}\n")

    def _notice_shown(self, event: events.NoticeShown) -> None:
        if event.kind == "command_output":
            self._say(event.text)
        elif event.kind not in _SAID_ELSEWHERE and event.parent_id is None:
            self._notice(_SEVERITIES.get(event.level, "info"), event.text)

    def _tools_summarised(self, event: events.ToolsSummarised) -> None:
        self._notice("info", event.text)

    def _retry_scheduled(self, event: events.RetryScheduled) -> None:
        of = f" of {event.max_retries}" if event.max_retries else ""
        why = " ".join(str(part) for part in (event.status, event.error) if part)
        self._notice(
            "warning",
            f"The API failed ({why or 'no reason given'}): retry {event.attempt}{of} in {event.delay_s:.0f} s",
        )

    def _rate_limit_changed(self, event: events.RateLimitChanged) -> None:
        limit = event.limit
        if limit.status != "allowed":
            used = f", {limit.used:.0%} used" if limit.used is not None else ""
            severity = "error" if limit.status == "rejected" else "warning"
            self._notice(severity, f"Rate limit {limit.kind or ''}: {limit.status}{used}")

    def _hook_ended(self, event: events.HookEnded) -> None:
        """A hook that only agreed is not worth a line."""
        output = str(event.output or "").strip()
        if event.outcome not in ("success", "allow", "continue") or output:
            severity = "warning" if event.outcome in ("error", "deny", "block", "cancelled") else "info"
            self._notice(
                severity, f"Hook {event.name or event.event}: {event.outcome}" + (f"\n{output}" if output else "")
            )

    def _auth_changed(self, event: events.AuthChanged) -> None:
        words = event.error or "\n".join(event.output) or ("Signing in …" if event.authenticating else "Signed in.")
        self._notice("error" if event.error else "info", words)

    def _files_persisted(self, event: events.FilesPersisted) -> None:
        failed = "".join(f"\n{name}: {why}" for name, why in event.failed.items())
        self._notice("warning" if failed else "info", f"{len(event.files)} files stored{failed}")

    def _files_rewound(self, event: events.FilesRewound) -> None:
        done = "would be restored" if event.dry_run else "restored"
        if event.files:
            self._notice("info", f"{len(event.files)} files {done} (+{event.insertions} −{event.deletions})")
        else:  # 2.1.325 counts in a dry run only
            self._notice("info", f"Files {done}")

    def _mcp_changed(self, event: events.McpChanged) -> None:
        for server in event.servers:
            if server.status in ("failed", "needs-auth"):
                why = f": {server.error}" if server.error else ""
                self._notice("warning", f"MCP server {server.name}: {server.status}{why}")

    def _model_changed(self, event: events.ModelChanged) -> None:
        if event.by == "cli" and event.reason:
            self._notice("warning", f"Switched to {event.model}: {event.reason}")

    # Compaction

    def _activity_changed(self, event: events.ActivityChanged) -> None:
        if event.activity == "compacting" and not self._compacting:
            self._compacting = True
            self._compactions += 1
            self._compaction("in_progress", "Compacting the conversation …")

    def _compaction_ended(self, event: events.CompactionEnded) -> None:
        if not self._compacting:
            self._compactions += 1
        self._compacting = False
        if event.error:
            self._compaction("failed", f"Compaction failed: {event.error}", event.error)
        else:
            counts = f" ({event.tokens_before} → {event.tokens_after} tokens)" if event.tokens_before else ""
            self._compaction("completed", f"The conversation was compacted{counts}.")

    def _turn_ended(self, event: events.TurnEnded) -> None:
        if self._compacting:  # nothing said how it ended: it was stopped
            self._compacting = False
            self._compaction("cancelled", "The conversation was not compacted.")
        self._usage(event)

    def _compaction(self, status: str, words: str, error: str | None = None) -> None:
        if self._audience.compaction:
            made = f"compaction-{self._compactions}"
            self._emit(schema.SessionUpdateCompactionUpdate(compaction_id=made, status=status, error=error))
        else:
            self._notice("error" if error else "info", words)

    # The session

    def _session_changed(self, event: events.SessionChanged) -> None:
        session = self._timeline.state.session
        if "commands" in event.changed:
            self.commands(session.commands)
        if "title" in event.changed:
            self._emit(schema.SessionUpdateSessionInfoUpdate(title=session.title))

    def _mode_changed(self, event: events.ModeChanged) -> None:
        self._emit(schema.SessionUpdateCurrentModeUpdate(current_mode_id=event.mode))

    def _usage(self, event: events.ContextChanged | events.TurnEnded) -> None:
        context, cost = event.context, self._timeline.state.cost
        if context.window and not self.history:
            told = schema.Cost(amount=round(cost.total_usd, 6), currency="USD")
            used = min(context.tokens, context.window)
            update = schema.SessionUpdateUsageUpdate(used=used, size=context.window, cost=told)
            if update != self._told_usage:
                self._told_usage = update
                self._emit(update)


def _command(name: str, description: str, hint: str) -> schema.AvailableCommand:
    wants = schema.UnstructuredCommandInput(hint=hint) if hint else None
    return schema.AvailableCommand(name=name, description=description, input=wants)


def _entry_meta(entry: Any) -> dict[str, Any] | None:
    more = {"doing": entry.doing, "details": entry.details, "owner": entry.owner, "blockedBy": entry.blocked_by or None}
    told = {key: value for key, value in more.items() if value}
    return {"quarterdeck": told} if told else None


_SEVERITIES = {"warning": "warning", "error": "error"}
_SAID_ELSEWHERE = frozenset({"told_model", "interrupted", "compaction_summary", "process_ended"})
"""Notices already covered by the end of the turn or by their own update."""

DRAWN: dict[type[Any], Callable[[Drawing, Any], None]] = {
    events.BlockStarted: Drawing._block_started,
    events.TextAdded: Drawing.text_added,
    events.TextCompleted: Drawing._text_completed,
    events.ThinkingAdded: Drawing._thinking_added,
    events.ThinkingCompleted: Drawing._thinking_completed,
    events.PromptSent: Drawing._prompt_sent,
    events.Retracted: Drawing._retracted,
    events.ToolStarted: lambda self, event: self._calls.started(event),
    events.ToolCalled: lambda self, event: self._calls.called(event),
    events.ToolProgressed: lambda self, event: self._calls.progressed(event),
    events.ToolOutputAdded: lambda self, event: self._calls.output_added(event),
    events.ToolBackgrounded: lambda self, event: self._calls.backgrounded(event),
    events.ToolEnded: lambda self, event: self._calls.ended(event),
    events.TaskStarted: lambda self, event: self._calls.task_started(event),
    events.TaskProgressed: lambda self, event: self._calls.task_progressed(event),
    events.TaskEnded: lambda self, event: self._calls.task_ended(event),
    events.TaskNotified: lambda self, event: self._calls.task_notified(event),
    events.RequestAnswered: lambda self, event: self._calls.answered(event),
    events.ToolsSummarised: Drawing._tools_summarised,
    events.PlanChanged: Drawing._plan_changed,
    events.NoticeShown: Drawing._notice_shown,
    events.RetryScheduled: Drawing._retry_scheduled,
    events.RateLimitChanged: Drawing._rate_limit_changed,
    events.HookEnded: Drawing._hook_ended,
    events.AuthChanged: Drawing._auth_changed,
    events.FilesPersisted: Drawing._files_persisted,
    events.FilesRewound: Drawing._files_rewound,
    events.McpChanged: Drawing._mcp_changed,
    events.ModelChanged: Drawing._model_changed,
    events.ActivityChanged: Drawing._activity_changed,
    events.CompactionEnded: Drawing._compaction_ended,
    events.SessionChanged: Drawing._session_changed,
    events.ModeChanged: Drawing._mode_changed,
    events.ContextChanged: Drawing._usage,
    events.TurnEnded: Drawing._turn_ended,
}

NOT_DRAWN: dict[type[Any], str] = {
    events.PromptChanged: "reported by the session/prompt response",
    events.ThinkingCounted: "ACP cannot show a number",
    events.ToolInputAdded: "the whole input follows",
    events.PermissionAsked: "asked as session/request_permission",
    events.QuestionsAsked: "asked as elicitation/create, or as session/request_permission",
    events.PlanReviewAsked: "asked as session/request_permission",
    events.ElicitationAsked: "asked as elicitation/create",
    events.DialogAsked: "no dialogs are declared, so none come",
    events.RequestCancelled: "the request to the editor is cancelled",
    events.ElicitationCompleted: "reported as elicitation/complete",
    events.TaskChanged: "reported by its call or its end",
    events.HookStarted: "reported by its end",
    events.HookProgressed: "reported by its end",
    events.TurnStarted: "the editor started it",
    events.InterruptSent: "the editor asked for it",
    events.SessionStateChanged: "reported as activity",
    events.ConversationReset: "the conversation goes on under the same id",
    events.PromptSuggested: "ACP cannot show a suggestion",
    events.ControlAnswered: "answered directly",
    events.ControlProgressed: "answered directly",
    events.UnknownSeen: "written to the log",
    events.BadLineSeen: "written to the log",
}
"""Events that become no update, and why."""
