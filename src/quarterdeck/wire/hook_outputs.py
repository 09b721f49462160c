"""What a hook answers: typed, or a plain dict as with the official SDK.

The classes take their fields by attribute name (``permission_decision``) and also as spelled on the wire
(``permissionDecision``): in the official SDK the same names are typed dicts, built with the wire's spelling, and so are
those in ``quarterdeck.client``.
"""

from __future__ import annotations

from typing import Any, TypeAlias, get_args

import msgspec

from ._base import WireObject, plain
from ._official import RecordType
from ._shapes import Number
from .permissions import PermissionUpdate


class _TakesWireNames(RecordType):
    """Lets a struct be built with the wire's names too. Decoding does not use this."""

    def __call__(cls, *args: Any, **fields: Any) -> Any:  # noqa: N805  # this is a metaclass
        names = dict(zip(cls.__struct_encode_fields__, cls.__struct_fields__, strict=True))
        config = cls.__struct_config__
        if config.tag_field in fields and fields.pop(config.tag_field) != config.tag:
            raise ValueError(f"{cls.__name__} is for {config.tag_field} {config.tag!r} only")
        return super().__call__(*args, **{names.get(name, name): value for name, value in fields.items()})


class _Output(WireObject, kw_only=True, rename="camel", metaclass=_TakesWireNames):
    pass


class _Specific(_Output, kw_only=True, tag_field="hookEventName"):
    pass


class PreToolUseHookSpecificOutput(_Specific, kw_only=True, tag="PreToolUse"):
    permission_decision: str | None = None  # allow, deny, ask, defer
    permission_decision_reason: str | None = None
    updated_input: dict[str, Any] | None = None
    additional_context: str | None = None


class PostToolUseHookSpecificOutput(_Specific, kw_only=True, tag="PostToolUse"):
    additional_context: str | None = None
    classifier_context: str | None = None
    """Facts the host vouches for, shown to the auto-mode classifier. Only a user's own words belong here."""
    updated_tool_output: Any = None
    """Replaces the tool's result; for a built-in tool it must have that tool's output shape, or it is ignored."""
    updated_mcp_tool_output: Any = msgspec.field(default=None, name="updatedMCPToolOutput")


class PostToolUseFailureHookSpecificOutput(_Specific, kw_only=True, tag="PostToolUseFailure"):
    additional_context: str | None = None


class PostToolBatchHookSpecificOutput(_Specific, kw_only=True, tag="PostToolBatch"):
    additional_context: str | None = None


class NotificationHookSpecificOutput(_Specific, kw_only=True, tag="Notification"):
    additional_context: str | None = None


class UserPromptSubmitHookSpecificOutput(_Specific, kw_only=True, tag="UserPromptSubmit"):
    additional_context: str | None = None
    session_title: str | None = None
    suppress_original_prompt: bool | None = None  # when blocking: keep the prompt out of the message about it


class UserPromptExpansionHookSpecificOutput(_Specific, kw_only=True, tag="UserPromptExpansion"):
    additional_context: str | None = None
    suppress_original_prompt: bool | None = None


class SessionStartHookSpecificOutput(_Specific, kw_only=True, tag="SessionStart"):
    additional_context: str | None = None
    initial_user_message: str | None = None
    session_title: str | None = None
    watch_paths: list[str] | None = None
    reload_skills: bool | None = None


class SetupHookSpecificOutput(_Specific, kw_only=True, tag="Setup"):
    additional_context: str | None = None


class StopHookSpecificOutput(_Specific, kw_only=True, tag="Stop"):
    """``additional_context`` makes the conversation continue, without reporting an error."""

    additional_context: str | None = None


class SubagentStartHookSpecificOutput(_Specific, kw_only=True, tag="SubagentStart"):
    additional_context: str | None = None


class SubagentStopHookSpecificOutput(_Specific, kw_only=True, tag="SubagentStop"):
    additional_context: str | None = None


class PreModelSwitchHookSpecificOutput(_Specific, kw_only=True, tag="PreModelSwitch"):
    permission_decision: str | None = None  # allow, deny, ask; ask denies if nobody can be asked
    permission_decision_reason: str | None = None


class PostModelSwitchHookSpecificOutput(_Specific, kw_only=True, tag="PostModelSwitch"):
    additional_context: str | None = None


class HookPermissionAllow(_Output, kw_only=True, tag_field="behavior", tag="allow"):
    updated_input: dict[str, Any] | None = None
    updated_permissions: list[PermissionUpdate] | None = None


class HookPermissionDeny(_Output, kw_only=True, tag_field="behavior", tag="deny"):
    message: str | None = None
    interrupt: bool | None = None


class PermissionRequestHookSpecificOutput(_Specific, kw_only=True, tag="PermissionRequest"):
    decision: HookPermissionAllow | HookPermissionDeny


class PermissionDeniedHookSpecificOutput(_Specific, kw_only=True, tag="PermissionDenied"):
    retry: bool | None = None  # tell the model that it may try again


class ElicitationHookSpecificOutput(_Specific, kw_only=True, tag="Elicitation"):
    action: str | None = None  # accept, decline, cancel
    content: dict[str, Any] | None = None


class ElicitationResultHookSpecificOutput(_Specific, kw_only=True, tag="ElicitationResult"):
    action: str | None = None  # accept, decline, cancel
    content: dict[str, Any] | None = None


class CwdChangedHookSpecificOutput(_Specific, kw_only=True, tag="CwdChanged"):
    watch_paths: list[str] | None = None


class FileChangedHookSpecificOutput(_Specific, kw_only=True, tag="FileChanged"):
    watch_paths: list[str] | None = None


class WorktreeCreateHookSpecificOutput(_Specific, kw_only=True, tag="WorktreeCreate"):
    worktree_path: str


class MessageDisplayHookSpecificOutput(_Specific, kw_only=True, tag="MessageDisplay"):
    """Changes only what is displayed, not what the model or the transcript gets."""

    display_content: str | None = None


HookSpecificOutput: TypeAlias = (
    PreToolUseHookSpecificOutput
    | PostToolUseHookSpecificOutput
    | PostToolUseFailureHookSpecificOutput
    | PostToolBatchHookSpecificOutput
    | NotificationHookSpecificOutput
    | UserPromptSubmitHookSpecificOutput
    | UserPromptExpansionHookSpecificOutput
    | SessionStartHookSpecificOutput
    | SetupHookSpecificOutput
    | StopHookSpecificOutput
    | SubagentStartHookSpecificOutput
    | SubagentStopHookSpecificOutput
    | PreModelSwitchHookSpecificOutput
    | PostModelSwitchHookSpecificOutput
    | PermissionRequestHookSpecificOutput
    | PermissionDeniedHookSpecificOutput
    | ElicitationHookSpecificOutput
    | ElicitationResultHookSpecificOutput
    | CwdChangedHookSpecificOutput
    | FileChangedHookSpecificOutput
    | WorktreeCreateHookSpecificOutput
    | MessageDisplayHookSpecificOutput
)


SPECIFIC_OUTPUT_TYPES: dict[str, type[HookSpecificOutput]] = {
    cls.__struct_config__.tag: cls for cls in get_args(HookSpecificOutput)
}
"""Event → its own output. Events not listed take the common fields only."""


class AsyncHookJSONOutput(_Output, kw_only=True):
    """The hook continues in the background; the CLI does not wait for it."""

    async_: bool = msgspec.field(default_factory=lambda: True, name="async")  # a factory: plain defaults are not sent
    async_timeout: Number | None = None


class SyncHookJSONOutput(_Output, kw_only=True):
    continue_: bool | None = msgspec.field(default=None, name="continue")
    stop_reason: str | None = None  # shown when ``continue_`` is false
    suppress_output: bool | None = None
    decision: str | None = None  # block; approve is the old way to allow a tool
    reason: str | None = None
    system_message: str | None = None
    terminal_sequence: str | None = None  # notification and title sequences only; others are dropped
    hook_specific_output: HookSpecificOutput | None = None


HookJSONOutput: TypeAlias = AsyncHookJSONOutput | SyncHookJSONOutput

_PYTHON_NAMES = {"continue_": "continue", "async_": "async"}
_ACCEPTED = "None, a dict, SyncHookJSONOutput, AsyncHookJSONOutput or a …HookSpecificOutput"


def hook_answer(output: object) -> dict[str, Any]:
    """A hook's output as sent to the CLI. None is no opinion; a specific output may be returned by itself."""
    if output is None or (type(output) is dict and not output):
        return {}
    if isinstance(output, _Specific):
        return {"hookSpecificOutput": output.to_dict()}
    if isinstance(output, AsyncHookJSONOutput | SyncHookJSONOutput):
        return output.to_dict()
    if isinstance(output, dict):
        answer: dict[str, Any] = plain(output)
        return {_PYTHON_NAMES.get(key, key): value for key, value in answer.items()}
    raise TypeError(f"a hook must return {_ACCEPTED}, not {type(output).__name__}")
