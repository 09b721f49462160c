"""Tool calls, from the start of their input to their result."""

from __future__ import annotations

from itertools import islice
from typing import Any

from quarterdeck.wire import (
    McpToolUseBlock,
    PermissionDeniedMessage,
    ServerToolUseBlock,
    ToolProgressMessage,
    ToolResultBlock,
    ToolUseBlock,
    ToolUseSummaryMessage,
)

from ._words import FINAL_TOOL_STATUSES, ToolStatus
from .activity import settle
from .diffs import made, proposed
from .events import Event, ToolBackgrounded, ToolCalled, ToolEnded, ToolProgressed, ToolsSummarised, ToolStarted
from .items import Permission, Prompt, RequestBase, Text, Thinking, ToolCall
from .limits import add_item, clip, clip_value
from .naming import AGENT_TOOLS, about, label
from .notices import note, show
from .parts import FileDiff, Kept
from .plan import fold_plan
from .state import State
from .tool_output import ResultBlock, for_people, output_of

Call = ToolUseBlock | ServerToolUseBlock | McpToolUseBlock
CALLS = (ToolUseBlock, ServerToolUseBlock, McpToolUseBlock)

_REJECTED = "The user doesn't want to proceed with this tool use"
"""How the text for the model begins when a call was stopped, or denied with an interrupt. 2.1.325 also says so beside
it: ``non_execution_kind`` is ``user-rejected``, or ``permission-rule`` for any other denial."""
_NOT_ASKED = "Tool permission request failed"
"""How it begins up to 2.1.52 when the answer to the permission request was no good."""
_OVERTAKEN = 20
"""How far back to look for a request that preceded its call: about as many as fit in one chunk of input."""
_NO_REQUESTS = frozenset({ToolCall, Text, Thinking, Prompt})
"""What most items are."""


def call_of(state: State, key: str | None) -> ToolCall | None:
    item = state.items.get(key) if key else None
    return item if type(item) is ToolCall else None


def call_started(state: State, block: Call, parent_id: str | None, at: float, out: list[Event]) -> ToolCall:
    """A call whose input is still to come; one that is known and has not ended is not begun again."""
    known = call_of(state, block.id)
    if known is not None and known.status not in FINAL_TOOL_STATUSES:
        return known
    by_api = type(block) is not ToolUseBlock
    call = ToolCall(id=block.id, at=at, parent_id=parent_id, name=block.name, label=_label(block), run_by_api=by_api)
    add_item(state, call)
    state.running.append(call.id)
    out.append(ToolStarted(at, call.id, call.name, call.label, parent_id))
    return call


def _label(block: Call) -> str:
    return f"{block.server_name}: {block.name}" if type(block) is McpToolUseBlock else label(block.name)


def call_completed(
    state: State, block: Call, parent_id: str | None, shown: str | None, at: float, out: list[Event]
) -> None:
    """The input is complete. ``shown`` is the CLI's own name for people, which MCP tools have."""
    call = call_started(state, block, parent_id, at, out)
    call.label = shown or call.label
    call.input = clip_value(block.input, state.limits.input_chars)
    if call.input_size:
        call.input_pieces, call.input_size = [], 0
    call.about = about(block.name, block.input)
    call.diffs = proposed(block.name, block.input, state.limits.diff_lines)
    if block.name in AGENT_TOOLS:
        kind = block.input.get("subagent_type")
        call.agent_type = kind if isinstance(kind, str) else "general-purpose"
    call.status, call.called_at = "running", at
    _join_request(state, call)
    out.append(
        ToolCalled(
            at, call.id, call.name, call.label, call.about, block.input, call.diffs, call.agent_type,
            call.parent_id, call.run_by_api,
        )
    )  # fmt: skip


def _join_request(state: State, call: ToolCall) -> None:
    """Control messages overtake content: a request about a call may have been seen, and answered, before it."""
    for item in islice(reversed(state.items.values()), _OVERTAKEN):
        if type(item) not in _NO_REQUESTS and isinstance(item, RequestBase) and item.tool_id == call.id:
            call.request_id, item.parent_id = item.id, call.parent_id
            if item.status == "open":
                call.status = "waiting"
            elif isinstance(item, Permission) and item.allowed is False:
                call.reason = item.note or "denied"
            return


def fold_progress(state: State, message: ToolProgressMessage, at: float, out: list[Event]) -> None:
    """On 2.1.325 the heartbeat has its own id and the call's as its parent; before, the other way round."""
    beats = bool(message.heartbeat) or "-heartbeat-" in message.tool_use_id
    call = call_of(state, message.parent_tool_use_id if beats else message.tool_use_id)
    call = call or call_of(state, message.parent_tool_use_id)
    if call is None:
        return
    call.elapsed_s = float(message.elapsed_time_seconds or 0)
    again = message.subagent_retry
    retry = None if again is None else f"{again.error_category or again.error_status}, attempt {again.attempt}"
    out.append(ToolProgressed(at, call.id, call.elapsed_s, retry))


def fold_result(
    state: State,
    block: ResultBlock,
    result: Any,
    refusal: str | None,
    parent_id: str | None,
    at: float,
    out: list[Event],
) -> None:
    """A call has its result: the text for the model (``block``), and what the tool itself gave back (``result``)."""
    call = call_of(state, block.tool_use_id)
    if call is None:  # it began before we looked
        call = ToolCall(id=block.tool_use_id, at=at, parent_id=parent_id, name="")
        add_item(state, call)
    elif call.status in FINAL_TOOL_STATUSES:
        return
    text, images = output_of(block)
    failed = bool(block.is_error if type(block) is ToolResultBlock else block.get("is_error"))
    status = _status(state, call, result, refusal, text, failed=failed)
    text = for_people(call.name, result, text, failed=failed)
    if status == "background":
        _goes_on(state, call, clip(text, state.limits.output_chars), at, out)
        return
    _end(state, call, status, clip(text, state.limits.output_chars), images, at)
    if isinstance(result, dict):
        path = result.get("persistedOutputPath")
        call.output_path = path if isinstance(path, str) else None
    if status in ("failed", "denied"):
        call.reason = call.reason or text[:2_000]
    if status == "finished":
        call.diffs = made(call.name, result, state.limits.diff_lines) or call.diffs
    _tell_end(state, call, call.diffs if status == "finished" else [], at, out)
    if status == "finished":
        fold_plan(state, call, result, text, at, out)


def _status(state: State, call: ToolCall, result: Any, refusal: str | None, text: str, *, failed: bool) -> ToolStatus:
    facts = result if isinstance(result, dict) else {}
    rejected = refusal == "user-rejected" or (failed and text.startswith(_REJECTED))
    if facts.get("interrupted") is True or (rejected and call.reason is None):
        return "interrupted"  # nobody denied it: the turn was stopped while it waited or ran
    if refusal == "permission-rule" or (failed and (call.reason is not None or text.startswith(_NOT_ASKED))):
        return "denied"
    if failed:
        return "failed"
    if facts.get("backgroundTaskId") or facts.get("status") == "async_launched":
        return "background"
    task = state.tasks.get(call.task_id or "")
    return "background" if task is not None and task.background and task.ended_at is None else "finished"


def _goes_on(state: State, call: ToolCall, output: Kept, at: float, out: list[Event]) -> None:
    call.status, call.output = "background", output
    out.append(ToolBackgrounded(at, call.id, call.name, output, call.task_id, call.parent_id))


def _end(state: State, call: ToolCall, status: ToolStatus, output: Kept, images: int, at: float) -> None:
    call.status, call.output, call.output_images, call.ended_at = status, output, images, at
    if call.called_at is not None:
        call.elapsed_s = max(0.0, at - call.called_at)
    if call.input_pieces:
        call.input_pieces = []
    if status in FINAL_TOOL_STATUSES and call.id in state.running:
        state.running.remove(call.id)


def _tell_end(state: State, call: ToolCall, diffs: list[FileDiff], at: float, out: list[Event]) -> None:
    out.append(
        ToolEnded(
            at, call.id, call.name, call.status, call.output or Kept(), call.elapsed_s, diffs,
            call.output_images, call.output_path, call.reason, call.parent_id,
        )
    )  # fmt: skip
    if call.status in FINAL_TOOL_STATUSES:
        stop_children(state, call.id, at, out)


def call_stopped(state: State, call: ToolCall, at: float, out: list[Event]) -> None:
    """It will never have a result."""
    if call.status not in FINAL_TOOL_STATUSES:
        _end(state, call, "interrupted", call.output or Kept(), call.output_images, at)
        _tell_end(state, call, [], at, out)


def background_ended(state: State, call: ToolCall, status: ToolStatus, at: float, out: list[Event]) -> None:
    """The task of a background call is over, and so is the call."""
    if call.status == "background":
        _end(state, call, status, Kept(), 0, at)
        _tell_end(state, call, [], at, out)


def stop_children(state: State, parent_id: str | None, at: float, out: list[Event]) -> None:
    """The caller of these is done: nothing waits for them any more."""
    if not state.running:
        return
    for key in list(state.running):
        call = call_of(state, key)
        if call is not None and call.parent_id == parent_id and call.status != "background":
            call_stopped(state, call, at, out)


def fold_denied(state: State, message: PermissionDeniedMessage, at: float, out: list[Event]) -> None:
    """Denied without anyone having been asked. The result follows."""
    call = call_of(state, message.tool_use_id)
    why = message.message or message.decision_reason or ""
    if call is not None:
        call.reason = why
    details = {"tool": message.tool_name, "reason": message.decision_reason, "kind": message.decision_reason_type}
    ids = [message.tool_use_id] if message.tool_use_id else []
    known = {key: value for key, value in details.items() if value is not None}
    parent_id = call.parent_id if call is not None else None
    show(
        state, at, out, kind="denied", text=why, level="warning", tool_ids=ids, details=known, parent_id=parent_id
    )  # fmt: skip
    settle(state, at, out)


def fold_summary(state: State, message: ToolUseSummaryMessage, at: float, out: list[Event]) -> None:
    ids = list(message.preceding_tool_use_ids or ())
    for key in ids:
        if (call := call_of(state, key)) is not None:
            call.summary = message.summary
    note(state, at, kind="summary", text=message.summary, tool_ids=ids)
    out.append(ToolsSummarised(at, message.summary, ids))
