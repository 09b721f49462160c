"""``system`` lines that report what happens during a turn: the model's, hooks', tools' and notes for the user.

The table of all ``system`` messages is in ``system.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._official import official
from ._shapes import Number, constant
from .system import SystemMessage


class ApiRetryMessage(SystemMessage, kw_only=True, tag="system"):
    """An API call failed and will be retried; ``error_status`` is None when there was no response at all."""

    subtype: str = constant("api_retry")
    attempt: int
    max_retries: int | None = None
    retry_delay_ms: Number | None = None
    error_status: int | None = None
    error: str | None = None
    no_response: dict[str, Any] | None = None


class ControlRequestProgressMessage(SystemMessage, kw_only=True, tag="system"):
    """A slow control request is in progress; ``status`` is started or api_retry."""

    subtype: str = constant("control_request_progress")
    request_id: str
    status: str = constant("")
    attempt: int | None = None
    max_retries: int | None = None
    retry_delay_ms: Number | None = None
    error_status: int | None = None


class ThinkingTokensMessage(SystemMessage, kw_only=True, tag="system"):
    """Thinking so far, if the thinking itself is not shown."""

    subtype: str = constant("thinking_tokens")
    estimated_tokens: int | None = None
    estimated_tokens_delta: int | None = None
    user_message_uuid: str | None = None


class ModelFallbackMessage(SystemMessage, kw_only=True, tag="system"):
    """``--fallback-model`` took over because the model was overloaded."""

    subtype: str = constant("model_fallback")
    trigger: str | None = None
    original_model: str | None = None
    fallback_model: str | None = None
    content: str | None = None


class ModelRefusalFallbackMessage(SystemMessage, kw_only=True, tag="system"):
    """The model refused and another one answers; messages in ``retracted_message_uuids`` no longer count."""

    subtype: str = constant("model_refusal_fallback")
    trigger: str | None = None
    direction: str | None = None
    scope: str | None = None
    original_model: str | None = None
    fallback_model: str | None = None
    request_id: str | None = None
    api_refusal_category: str | None = None
    api_refusal_explanation: str | None = None
    retracted_message_uuids: list[str] | None = None
    refused_user_message_uuid: str | None = None
    content: str | None = None


class ModelRefusalNoFallbackMessage(SystemMessage, kw_only=True, tag="system"):
    """The model refused and there is no other to ask."""

    subtype: str = constant("model_refusal_no_fallback")
    original_model: str | None = None
    request_id: str | None = None
    api_refusal_category: str | None = None
    api_refusal_explanation: str | None = None
    refused_user_message_uuid: str | None = None
    content: str | None = None


class MemoryRecallMessage(SystemMessage, kw_only=True, tag="system"):
    """Memories given to the model; each has path, scope and perhaps content."""

    subtype: str = constant("memory_recall")
    mode: str | None = None
    memories: list[dict[str, Any]] | None = None


@official("subtype data", "hook_event_name session_id uuid", hook_event_name="")
class HookEventMessage(SystemMessage, kw_only=True, tag="system"):
    """A command hook runs: ``HookStartedMessage``, ``HookProgressMessage``, ``HookResponseMessage``.

    SDK callbacks produce no such lines (2.1.325); most events need ``--include-hook-events``.
    """

    hook_id: str | None = None
    hook_name: str | None = None
    hook_event: str | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            subtype: str,
            data: dict[str, Any] = ...,
            hook_event_name: str = "",
            session_id: str | None = None,
            uuid: str | None = None,
            **ours: Any,
        ) -> None: ...

    @classmethod
    def _own_names(cls, given: dict[str, Any]) -> dict[str, Any]:
        return {"hook_event" if name == "hook_event_name" else name: value for name, value in given.items()}

    @property
    def hook_event_name(self) -> str:
        """The event the hook listens to, e.g. ``PreToolUse``."""
        return self.hook_event or self.hook_name or ""

    @hook_event_name.setter
    def hook_event_name(self, name: str) -> None:
        self.hook_event = name


class HookStartedMessage(HookEventMessage, kw_only=True, tag="system"):
    subtype: str = constant("hook_started")


class HookProgressMessage(HookEventMessage, kw_only=True, tag="system"):
    subtype: str = constant("hook_progress")
    stdout: str | None = None
    stderr: str | None = None
    output: str | None = None


class HookResponseMessage(HookEventMessage, kw_only=True, tag="system"):
    """The hook has ended; see ``HookOutcome``."""

    subtype: str = constant("hook_response")
    output: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    outcome: str | None = None


class PermissionDeniedMessage(SystemMessage, kw_only=True, tag="system"):
    """A tool call was denied without asking anyone."""

    subtype: str = constant("permission_denied")
    tool_name: str | None = None
    tool_use_id: str | None = None
    agent_id: str | None = None
    decision_reason_type: str | None = None
    decision_reason: str | None = None
    message: str | None = None


class PluginInstallMessage(SystemMessage, kw_only=True, tag="system"):
    """``status`` is started, installed, failed or completed; the first and the last are about all plugins."""

    subtype: str = constant("plugin_install")
    status: str | None = None
    name: str | None = None
    error: str | None = None


class ElicitationCompleteMessage(SystemMessage, kw_only=True, tag="system"):
    """The user completed a URL elicitation."""

    subtype: str = constant("elicitation_complete")
    mcp_server_name: str | None = None
    elicitation_id: str | None = None


class InformationalMessage(SystemMessage, kw_only=True, tag="system"):
    """A line to show in the transcript; see ``InformationalLevel``."""

    subtype: str = constant("informational")
    content: str = constant("")
    level: str | None = None
    tool_use_id: str | None = None
    prevent_continuation: bool | None = None
    prompt_submit_outcome: dict[str, Any] | None = None
    tag: str | None = None


class NotificationMessage(SystemMessage, kw_only=True, tag="system"):
    """A line to show briefly; a later one with the same ``key`` replaces it. See ``NotificationPriority``."""

    subtype: str = constant("notification")
    key: str | None = None
    text: str = constant("")
    priority: str | None = None
    color: str | None = None
    timeout_ms: Number | None = None


class LocalCommandOutputMessage(SystemMessage, kw_only=True, tag="system"):
    """The output of a slash command that ran in the CLI, without the model."""

    subtype: str = constant("local_command_output")
    content: str = constant("")
