"""Hooks: every event, the facts about each, and the conversion of a callback's JSON to its typed input.

The facts below are those of CLI 2.1.325 (its listing of hooks, and its published types).
"""

from __future__ import annotations

from typing import Any

import msgspec

from . import hook_inputs
from ._base import DOES_NOT_FIT, HIDDEN
from ._view import typed_view
from .hook_inputs import HookInput, UnknownHookInput

HOOK_INPUT_TYPES: dict[str, type[HookInput]] = {
    str(cls.__struct_config__.tag): cls
    for name, cls in vars(hook_inputs).items()
    if name.endswith("HookInput") and cls not in (HookInput, UnknownHookInput)
}
"""Event → the class of its input."""

HOOK_EVENTS: tuple[str, ...] = tuple(HOOK_INPUT_TYPES)
"""Every event of CLI 2.1.325, in the CLI's own order: that of the classes in ``hook_inputs``."""

WITHOUT_MATCHER: frozenset[str] = frozenset(
    {
        "PostToolBatch",
        "UserPromptSubmit",
        "Stop",
        "TeammateIdle",
        "TaskCreated",
        "TaskCompleted",
        "WorktreeCreate",
        "WorktreeRemove",
        "CwdChanged",
        "MessageDisplay",
    }
)
MATCHER_EVENTS: frozenset[str] = frozenset(HOOK_EVENTS) - WITHOUT_MATCHER
"""Events whose hooks may name what they are for (a tool, a source, a trigger …)."""

FAILURE_NEVER_BLOCKS: frozenset[str] = frozenset({"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"})
"""Events on which the CLI ignores a matcher's wish that a failing hook block the action."""

PERMISSION_DECISIONS: dict[str, tuple[str, ...]] = {
    "PreToolUse": ("allow", "deny", "ask", "defer"),
    "PreModelSwitch": ("allow", "deny", "ask"),
    "PermissionRequest": ("allow", "deny"),
}
"""Event → what its hook may decide. The first two say ``permissionDecision``, the last ``decision.behavior``."""


def parse_hook_input(data: object) -> HookInput:
    """The input of a hook callback, typed by its event. Never raises: what does not fit is an ``UnknownHookInput``."""
    if not isinstance(data, dict):
        return _unknown({}, f"a hook input must be an object, not {type(data).__name__}")
    event = data.get("hook_event_name")
    cls = HOOK_INPUT_TYPES.get(event) if isinstance(event, str) else None
    if cls is None:
        return _unknown(data, f"unknown hook event {event!r}")
    try:
        view: HookInput = typed_view(data, cls)
    except DOES_NOT_FIT as error:
        return _unknown(data, str(error))
    return view


_COMMON_KEYS = HookInput.__struct_encode_fields__


def _unknown(data: dict[str, Any], reason: str) -> UnknownHookInput:
    marked = {key: data[key] for key in _COMMON_KEYS if key in data} | {HIDDEN + "reason": reason}
    try:
        view = msgspec.convert(marked, UnknownHookInput)
    except DOES_NOT_FIT:  # even the common fields are odd
        view = UnknownHookInput(reason=reason)
    view.origin_ = data
    return view
