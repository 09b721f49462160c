"""Hooks: commands of the settings (three messages each), and callbacks of ours (a request and our answer)."""

from __future__ import annotations

from typing import Any

from quarterdeck.wire import (
    ControlFailure,
    ControlSuccess,
    HookCallbackRequest,
    HookEventMessage,
    HookProgressMessage,
    HookResponseMessage,
    HookStartedMessage,
)

from .events import Event, HookEnded, HookProgressed, HookStarted
from .items import Hook
from .limits import add_item, clip, new_id
from .state import State
from .toolcalls import call_of


def _hook(state: State, message: HookEventMessage, at: float, out: list[Event]) -> Hook:
    """The hook of a message; up to 2.1.17 the first one is its end."""
    known = state.items.get(message.hook_id or "")
    if isinstance(known, Hook):
        return known
    hook = Hook(
        id=message.hook_id or new_id(state, "hook"), at=at, event=message.hook_event_name, name=message.hook_name or ""
    )
    add_item(state, hook)
    out.append(HookStarted(at, hook.id, hook.event, hook.name))
    return hook


def fold_hook_started(state: State, message: HookStartedMessage, at: float, out: list[Event]) -> None:
    _hook(state, message, at, out)


def fold_hook_progress(state: State, message: HookProgressMessage, at: float, out: list[Event]) -> None:
    hook = _hook(state, message, at, out)
    hook.output = clip(message.output or message.stdout or message.stderr or "", state.limits.output_chars)
    out.append(HookProgressed(at, hook.id, hook.output))


def fold_hook_response(state: State, message: HookResponseMessage, at: float, out: list[Event]) -> None:
    hook = _hook(state, message, at, out)
    text = message.output or message.stdout or message.stderr or ""
    hook.output = clip(text, state.limits.output_chars) if text else None
    hook.exit_code = message.exit_code
    _end(hook, message.outcome or ("success" if not message.exit_code else "error"), at, out)


def fold_hook_callback(state: State, key: str, request: HookCallbackRequest, at: float, out: list[Event]) -> None:
    """The CLI calls one of our hooks. Without a tool, the ``tool_use_id`` next to the input is random."""
    event = request.input.get("hook_event_name")
    tool_id = request.input.get("tool_use_id")
    hook = Hook(
        id=key,
        at=at,
        event=event if isinstance(event, str) else "",
        name=request.callback_id,
        source="callback",
        tool_id=tool_id if isinstance(tool_id, str) else None,
    )
    add_item(state, hook)
    out.append(HookStarted(at, hook.id, hook.event, hook.name, hook.source, hook.tool_id))


def fold_hook_answer(
    state: State, hook: Hook, response: ControlSuccess | ControlFailure, at: float, out: list[Event]
) -> None:
    """What our callback said."""
    if isinstance(response, ControlFailure):
        hook.output = clip(response.error, state.limits.output_chars)
        _end(hook, "error", at, out)
        return
    payload = response.response if isinstance(response.response, dict) else {}
    decided, reason = _decision(payload)
    hook.output = clip(reason, state.limits.output_chars) if reason else None
    call = call_of(state, hook.tool_id)
    if call is not None and hook.event == "PreToolUse" and decided in ("deny", "block"):
        call.reason = reason or "denied by a hook"
    _end(hook, decided, at, out)


def _decision(payload: dict[str, Any]) -> tuple[str, str]:
    """What the callback decided, and why."""
    specific = payload.get("hookSpecificOutput")
    special: dict[str, Any] = specific if isinstance(specific, dict) else {}
    reasons = (special.get("permissionDecisionReason"), *map(payload.get, ("reason", "stopReason", "systemMessage")))
    reason = next((reason for reason in reasons if isinstance(reason, str)), "")
    if payload.get("async"):
        return "async", reason
    if payload.get("continue") is False:
        return "stop", reason
    decided = special.get("permissionDecision") or payload.get("decision")
    return decided if isinstance(decided, str) else "success", reason


def fold_hook_cancelled(hook: Hook, at: float, out: list[Event]) -> None:
    """The CLI waits no longer, e.g. because of the hook's time limit."""
    _end(hook, "cancelled", at, out)


def end_hooks(state: State, at: float, out: list[Event]) -> None:
    """The CLI has ended, and its hooks with it."""
    for hook in state.items.values():
        if isinstance(hook, Hook) and hook.outcome is None:
            _end(hook, "cancelled", at, out)


def _end(hook: Hook, outcome: str, at: float, out: list[Event]) -> None:
    hook.outcome = outcome
    out.append(
        HookEnded(at, hook.id, hook.event, outcome, hook.name, hook.output, hook.exit_code, hook.tool_id)
    )  # fmt: skip
