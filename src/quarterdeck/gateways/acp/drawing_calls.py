"""Tool calls as an editor follows them: announced once, then updated, whatever happens in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from quarterdeck.timeline import events

from . import schema, tool_calls
from .schema import SessionUpdate, ToolCallContent, ToolCallStatus

AGENT_TEXT_LIMIT = 20_000
"""Characters of a sub-agent's text shown in its call."""
ENDED_KEPT = 1_000


class _DrawnCall(msgspec.Struct):
    """What has been sent about a call."""

    name: str
    parent_id: str | None = None
    content: list[ToolCallContent] = msgspec.field(default_factory=list)
    """From its input."""
    said: str = ""
    """By the sub-agent that it is."""
    shown: str = ""
    """Of a command's output."""
    in_terminal: bool = False
    """A terminal of the editor's shows it."""
    command: str = ""
    """Of a shell."""
    in_background: bool = False
    exited: bool = False
    """Its exit code has been sent."""


class CallDrawing:
    """The calls of one session."""

    def __init__(self, emit: Callable[[SessionUpdate], None], *, cwd: str, terminal_output: bool) -> None:
        self._emit = emit
        self._cwd = cwd
        self._terminal_output = terminal_output
        self._calls: dict[str, _DrawnCall] = {}
        self._ended: dict[str, _DrawnCall] = {}
        """Calls that are over and whose task may still say something, the newest last."""

    # From start to end

    def started(self, event: events.ToolStarted) -> None:
        if event.name in tool_calls.SHOWN_AS_PLAN:
            return
        call = self._calls[event.id] = _DrawnCall(event.name, event.parent_id)
        self._announce(event.id, call, title=event.label, kind=tool_calls.kind_of(event.name))

    def called(self, event: events.ToolCalled) -> None:
        if event.name in tool_calls.SHOWN_AS_PLAN:
            return
        call = self._calls.get(event.id)
        if call is None:
            call = self._calls[event.id] = _DrawnCall(event.name, event.parent_id)
            self._announce(event.id, call, title=event.label, kind=tool_calls.kind_of(event.name))
        call.content = tool_calls.input_content(event.name, event.input, event.diffs, self._cwd)
        shown, meta = call.content, None
        if self._terminal_output and event.name in tool_calls.SHELLS:
            shown = [schema.ToolCallContentTerminal(terminal_id=event.id)]
            meta = {"terminal_info": {"terminal_id": event.id, "cwd": self._cwd}}
            call.command = str(event.input.get("command", ""))
        self._update(
            event.id,
            call,
            status="in_progress",
            title=tool_calls.title_of(event.name, event.label, event.about, event.input, self._cwd),
            kind=tool_calls.kind_of(event.name),
            locations=tool_calls.locations_of(event.input, event.diffs, self._cwd) or None,
            content=shown or None,
            raw_input=event.input,
            more=meta,
        )

    def answered(self, event: events.RequestAnswered) -> None:
        call = self._calls.get(event.tool_id or "")
        if call is not None and event.answer == "allow":
            self._update(event.tool_id or "", call, status="in_progress")

    def decided_elsewhere(self, call_id: str | None, told: dict[str, Any]) -> None:
        call = self._calls.get(call_id or "")
        if call is not None and call_id is not None:
            self._update(call_id, call, more={"quarterdeck": {"decidedBy": _told(told)}})

    def progressed(self, event: events.ToolProgressed) -> None:
        call = self._calls.get(event.id)
        if call is not None:
            told: dict[str, Any] = {"elapsedSeconds": event.elapsed_s}
            if event.retry:
                told["retry"] = event.retry
            self._update(event.id, call, status="in_progress", more={"quarterdeck": told})

    def output_added(self, event: events.ToolOutputAdded) -> None:
        """The CLI sends the whole output each time; a terminal needs only the new part."""
        call = self._calls.get(event.id)
        if call is None:
            return
        words = tool_calls.output_of(event.output)
        if self._terminal_output and call.name in tool_calls.SHELLS:
            new = words.removeprefix(call.shown) if words.startswith(call.shown) else words
            call.shown = words
            if new:
                data = {"terminal_output": {"terminal_id": event.id, "data": new}}
                self._update(event.id, call, more=data)
        elif words.strip():
            drawn = tool_calls.text(tool_calls.fenced(words, "console"))
            self._update(event.id, call, status="in_progress", content=[drawn])

    def show_terminal(self, call_id: str, terminal_id: str) -> None:
        """A command runs in the editor's own terminal: that is what the call shows from here on."""
        call = self._calls.get(call_id)
        if call is not None:
            call.in_terminal = True
            shown: list[ToolCallContent] = [schema.ToolCallContentTerminal(terminal_id=terminal_id)]
            self._update(call_id, call, status="in_progress", content=shown)

    def backgrounded(self, event: events.ToolBackgrounded) -> None:
        call = self._calls.get(event.id)
        if call is not None:
            call.in_background = True
            words = tool_calls.output_of(event.output)
            content = [*call.content, *([tool_calls.text(words)] if words.strip() else [])]
            told = {"background": True, "taskId": event.task_id}
            self._update(event.id, call, status="in_progress", content=content or None, more={"quarterdeck": told})

    def ended(self, event: events.ToolEnded) -> None:
        call = self._calls.pop(event.id, None)
        if call is None:
            return
        self._ended[event.id] = call
        if len(self._ended) > ENDED_KEPT:
            del self._ended[next(iter(self._ended))]
        failed = event.status != "finished"
        words = tool_calls.output_of(event.output)
        more: dict[str, Any] = {"quarterdeck": {"status": event.status}} if failed else {}
        content: list[ToolCallContent] | None
        if self._terminal_output and call.name in tool_calls.SHELLS:
            new = words.removeprefix(call.shown) if words.startswith(call.shown) else words
            more["terminal_output"] = {"terminal_id": event.id, "data": new}
            if not call.in_background or event.status == "interrupted":
                more |= _exit(event.id, call, tool_calls.exit_code_of(event.status, call.command, words))
            content = None
        elif call.in_terminal:
            content = None
        else:
            content = tool_calls.result_content(call.name, event.output, event.diffs, failed, self._cwd)
            if event.images:
                content.append(tool_calls.text(f"({event.images} images)"))
            if event.reason and event.reason not in words:
                content.append(tool_calls.text(event.reason))
        self._update(
            event.id,
            call,
            status="failed" if failed else "completed",
            content=content or None,
            locations=tool_calls.locations_of({}, event.diffs, self._cwd) or None,
            raw_output={"output": words} if words else None,
            more=more,
        )

    # Sub-agents and background tasks belong to a call

    def agent_said(self, call_id: str, words: str) -> None:
        """A sub-agent's text is shown in its call, so that no editor mistakes it for the agent's own."""
        call = self._calls.get(call_id)
        if call is None or not words.strip():
            return
        call.said = f"{call.said}\n\n{words}".strip()[-AGENT_TEXT_LIMIT:]
        self._update(call_id, call, status="in_progress", content=[*call.content, tool_calls.text(call.said)])

    def task_started(self, event: events.TaskStarted) -> None:
        told = {"taskId": event.id, "background": event.background, "agentType": event.agent_type}
        self._task(event.tool_id, told)

    def task_progressed(self, event: events.TaskProgressed) -> None:
        told = {
            "taskId": event.id,
            "doing": event.doing,
            "toolUses": event.tool_uses,
            "tokens": event.tokens,
            "elapsedSeconds": event.duration_s,
        }
        self._task(event.tool_id, told, event.summary or event.doing)

    def task_ended(self, event: events.TaskEnded) -> None:
        self._task(event.tool_id, {"taskId": event.id, "taskStatus": event.status, "error": event.error})

    def task_notified(self, event: events.TaskNotified) -> None:
        """A call that returned long ago may still get the outcome of its task."""
        call = self._calls.get(event.tool_id or "") or self._ended.get(event.tool_id or "")
        if call is None or event.tool_id is None:
            return
        told = {"taskId": event.id, "taskStatus": event.status, "outputPath": event.output_path}
        status: ToolCallStatus = "completed" if event.status == "completed" else "failed"
        more: dict[str, Any] = {"quarterdeck": _told(told)}
        if self._terminal_output and call.name in tool_calls.SHELLS:
            more |= _exit(event.tool_id, call, tool_calls.exit_code_in(event.summary or ""))
        content = [*call.content, tool_calls.text(event.summary)] if event.summary else None
        self._update(event.tool_id, call, status=status, content=content, more=more)

    def _task(self, tool_id: str | None, told: dict[str, Any], doing: str | None = None) -> None:
        call = self._calls.get(tool_id or "")
        if call is None or tool_id is None:
            return
        content = None
        if doing and not call.said and call.name not in tool_calls.SHELLS:
            content = [*call.content, tool_calls.text(doing)]
        self._update(tool_id, call, content=content, more={"quarterdeck": _told(told)})

    # Writing

    def _announce(self, call_id: str, call: _DrawnCall, *, title: str, kind: schema.ToolKind) -> None:
        self._emit(
            schema.SessionUpdateToolCall(
                tool_call_id=call_id, title=title, name=call.name, kind=kind, status="pending", meta=_meta(call)
            )
        )

    def _update(
        self,
        call_id: str,
        call: _DrawnCall,
        *,
        more: dict[str, Any] | None = None,
        **fields: Any,
    ) -> None:
        meta = {**_meta(call), **(more or {})}
        self._emit(schema.SessionUpdateToolCallUpdate(tool_call_id=call_id, meta=meta, **fields))


def _meta(call: _DrawnCall) -> dict[str, Any]:
    """Under the names that editors know from the agents before this one."""
    told = {"toolName": call.name}
    if call.parent_id is not None:
        told["parentToolUseId"] = call.parent_id
    return {"claudeCode": told}


def _exit(call_id: str, call: _DrawnCall, code: int | None) -> dict[str, Any]:
    """Once per command."""
    if call.exited:
        return {}
    call.exited = True
    return {"terminal_exit": {"terminal_id": call_id, "exit_code": code, "signal": None}}


def _told(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value not in (None, "")}
