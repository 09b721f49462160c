"""Control traffic: the CLI's requests and our answers, our requests and the CLI's answers.

An answer from the CLI that says something about the session is reported as that; every other one as
``ControlAnswered``, so that a user interface can at least show that it came. Traffic of MCP servers inside the host has
nothing to show: the tool calls behind it do.
"""

from __future__ import annotations

from typing import Any

from quarterdeck.wire import (
    CanUseToolRequest,
    ControlCancelRequest,
    ControlFailure,
    ControlRequest,
    ControlRequestProgressMessage,
    ControlResponse,
    ElicitationRequest,
    HookCallbackRequest,
    McpMessageRequest,
    UnknownRequest,
    UserDialogRequest,
    encode,
)

from .answers import ANSWERS
from .events import ControlAnswered, ControlProgressed, Event, InterruptSent
from .hooks import fold_hook_answer, fold_hook_callback, fold_hook_cancelled
from .items import Hook
from .limits import text_or_none
from .notices import note, unknown
from .requests import fold_answer, fold_can_use_tool, fold_cancelled, fold_dialog, fold_elicitation, open_request
from .state import Asked, State

_SILENT = frozenset({"mcp_message", "set_has_subscribers", "seed_read_state"})
"""Requests of ours whose good answer says nothing to a person."""

_ASKED_LIMIT = 1_000
"""Requests of ours that wait: some CLIs never answer one they do not know (``versions.REFUSES_UNKNOWN_REQUESTS``)."""


def fold_request(state: State, message: ControlRequest, at: float, out: list[Event]) -> None:
    """The CLI asks us."""
    key, request = message.request_id, message.request
    if open_request(state, key) is not None:
        return  # listed again by the answer to a second ``initialize``
    match request:
        case CanUseToolRequest():
            fold_can_use_tool(state, key, request, at, out)
        case HookCallbackRequest():
            fold_hook_callback(state, key, request, at, out)
        case ElicitationRequest():
            fold_elicitation(state, key, request, at, out)
        case UserDialogRequest():
            fold_dialog(state, key, request, at, out)
        case McpMessageRequest():
            return
        case UnknownRequest():
            unknown(state, at, out, what=f"request {request.subtype}", raw=message.raw, reason=request.reason)
        case _:
            unknown(state, at, out, what=f"request {message.subtype}", raw=encode(message).rstrip(b"\n"))


def fold_sent_response(state: State, message: ControlResponse, at: float, out: list[Event]) -> None:
    """We answer. The CLI ignores an answer to what it did not ask, or not any more; so do we."""
    key = message.request_id
    hook = state.items.get(key)
    if isinstance(hook, Hook):
        if hook.outcome is None:
            fold_hook_answer(state, hook, message.response, at, out)
        return
    request = open_request(state, key)
    if request is not None:
        fold_answer(state, request, message.response, at, out)


def fold_cancel(state: State, message: ControlCancelRequest, at: float, out: list[Event]) -> None:
    """The CLI withdraws a request."""
    hook = state.items.get(message.request_id)
    if isinstance(hook, Hook) and hook.outcome is None:
        fold_hook_cancelled(hook, at, out)
    elif (request := open_request(state, message.request_id)) is not None:
        fold_cancelled(state, request, at, out)


def fold_sent_request(state: State, message: ControlRequest, at: float, out: list[Event]) -> None:
    """We ask the CLI."""
    subtype, request = message.subtype, message.request
    details = {key: value for key in _KEPT.get(subtype, ()) if (value := request.get(key)) is not None}
    state.asked[message.request_id] = Asked(subtype, at, details)
    if len(state.asked) > _ASKED_LIMIT:
        del state.asked[next(iter(state.asked))]
    if subtype == "interrupt":
        state.interrupting = state.turn_started_at is not None
        out.append(InterruptSent(at))
    elif subtype == "set_permission_mode":
        state.mode_wanted = text_or_none(details.get("mode"))


_KEPT: dict[str, tuple[str, ...]] = {
    "set_permission_mode": ("mode",),
    "set_model": ("model",),
    "rewind_files": ("user_message_id", "dry_run"),
    "get_task_output": ("task_id",),
    "rename_session": ("title",),
    "mcp_toggle": ("serverName", "enabled"),
}
"""Of a request of ours: what its answer does not repeat."""


def fold_response(state: State, message: ControlResponse, at: float, out: list[Event]) -> None:
    """The CLI answers. With ``--replay-user-messages`` our own answers come back too: those ask nothing of ours."""
    response = message.response
    for pending in response.pending_requests():
        fold_request(state, pending, at, out)
    asked = state.asked.pop(message.request_id, None)
    if asked is None:
        return
    if isinstance(response, ControlFailure):
        if asked.subtype == "set_permission_mode":
            state.mode_wanted = None
        note(state, at, kind="refused", text=f"{asked.subtype}: {response.error}", level="error")
        out.append(ControlAnswered(at, message.request_id, asked.subtype, response.error, response.error_code))
        return
    payload: dict[str, Any] = response.response if isinstance(response.response, dict) else {}
    told = ANSWERS.get(asked.subtype)
    if told is not None:
        told(state, asked, payload, at, out)
    elif asked.subtype not in _SILENT:
        out.append(ControlAnswered(at, message.request_id, asked.subtype))


def fold_sent_cancel(state: State, message: ControlCancelRequest, at: float, out: list[Event]) -> None:
    """We no longer want the CLI's answer; it sends one anyway (an error), which is reported then."""


def fold_control_progress(state: State, message: ControlRequestProgressMessage, at: float, out: list[Event]) -> None:
    asked = state.asked.get(message.request_id)
    subtype = asked.subtype if asked is not None else ""
    out.append(
        ControlProgressed(at, message.request_id, subtype, message.status, message.attempt, message.max_retries)
    )  # fmt: skip
