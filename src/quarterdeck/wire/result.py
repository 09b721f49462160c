"""``ResultMessage``: the end of a turn, exactly one per turn.

What to know before reading one (2.1.325):

- a failed API call ends as subtype ``success`` with ``is_error`` true, its text in ``result`` and ``api_error_status``;
- an interrupt ends as ``error_during_execution`` with ``terminal_reason`` aborted_streaming or aborted_tools;
- ``total_cost_usd`` and ``model_usage`` count since the process started, ``usage`` and ``num_turns`` this turn only.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ._base import Message, WireObject
from ._official import official
from ._shapes import ModelUsageDict, Number, OriginDict, constant
from .agents import FastModeDisabledReason as FastModeDisabledReason  # the values of ``fast_mode_disabled_reason``
from .agents import FastModeState as FastModeState  # the values of ``fast_mode_state``
from .usage import ModelUsage, Usage

ResultSubtype = Literal[
    "success",
    "error_during_execution",
    "error_max_turns",
    "error_max_budget_usd",
    "error_max_structured_output_retries",
]
TerminalReason = Literal[
    "blocking_limit",
    "rapid_refill_breaker",
    "prompt_too_long",
    "image_error",
    "model_error",
    "api_error",
    "malformed_tool_use_exhausted",
    "aborted_streaming",
    "aborted_tools",
    "stop_hook_prevented",
    "hook_stopped",
    "tool_deferred",
    "max_turns",
    "background_requested",
    "completed",
    "budget_exhausted",
    "structured_output_retry_exhausted",
    "tool_deferred_unavailable",
    "turn_setup_failed",
]
StartupFailureReason = Literal[
    "org_pin_api_key_conflict",
    "provider_not_allowed",
    "org_verify_failed",
    "org_pin_mismatch",
    "managed_settings_invalid",
    "remote_settings_required_unavailable",
    "gateway_signin_required",
    "gateway_access_denied",
    "proxy_invalid",
    "temp_dir_unusable",
    "cwd_unavailable",
    "shell_tool_missing",
    "session_held_by_background",
    "worktree_resume_refused",
    "worktree_unverified",
    "cli_version_too_old",
    "bypass_root",
    "org_config_required_unavailable",
    "org_config_refused",
    "sandbox_required_unavailable",
    "initialize_not_first",
    "config_file_invalid",
    "managed_settings_not_delivered",
]
MessageOriginKind = Literal[
    "human",
    "channel",
    "peer",
    "task-notification",
    "coordinator",
    "unclassified",
    "observer",
    "auto-continuation",
    "observer-activity",
]
TaskNotificationOriginSubkind = Literal["scheduled-trigger", "peer-send-message", "projects-relay", "session-inbox"]


class MessageOrigin(WireObject, rename="camel"):
    """Who put a user message into the session, or started the turn of a result. None or ``human``: the user. ``kind``
    determines the other keys. ``from_`` and ``name`` are not verified."""

    kind: str = constant("")
    server: str | None = None
    from_: str | None = msgspec.field(default=None, name="from")
    from_mode: str | None = None
    name: str | None = None
    from_session: str | None = None
    sender_task_id: str | None = None
    body: str | None = None
    verified_peer_pid: int | None = None
    subkind: str | None = None
    fire_reason: str | None = None
    run_id: str | None = None
    producer: str | None = None


@official("id name input")
class DeferredToolUse(WireObject):
    """The tool call that a ``PreToolUse`` hook deferred; the turn ended there."""

    id: str
    name: str
    input: dict[str, Any]


class PermissionDenial(WireObject):
    """A tool call of this turn that was not allowed."""

    tool_name: str | None = None
    tool_use_id: str | None = None
    tool_input: dict[str, Any] | None = None


class InvalidConfigFile(WireObject):
    """With ``startup_failure_reason`` config_file_invalid: which file."""

    path: str | None = None
    is_global: bool | None = None
    backup_searched: bool | None = None
    backup_path: str | None = None


class SubagentStats(WireObject):
    """Sub-agents of the process so far; the dicts count by reason, ``by_type`` by sub-agent type (2.1.325)."""

    spawned: int | None = None
    requested: dict[str, int] | None = None
    started_in_background: int | None = None
    spawned_by_subagents: int | None = None
    max_depth: int | None = None
    completed: int | None = None
    failed: int | None = None
    killed: dict[str, int] | None = None
    refused: dict[str, int] | None = None
    by_type: dict[str, int] | None = None


@official(
    "subtype duration_ms duration_api_ms is_error num_turns session_id",
    "stop_reason total_cost_usd usage result structured_output model_usage permission_denials deferred_tool_use errors"
    " api_error_status uuid terminal_reason origin",
)
class ResultMessage(Message, tag="result"):
    """The end of a turn. Only ``subtype`` is required, so that every result is recognized."""

    subtype: str
    duration_ms: Number = constant(0)
    duration_api_ms: Number = constant(0)
    is_error: bool = constant(False)
    num_turns: int = constant(0)
    session_id: str = constant("")
    stop_reason: str | None = None
    total_cost_usd: Number | None = None
    usage: dict[str, Any] | None = None
    """As on the wire; see ``typed_usage``."""
    result: str | None = None
    structured_output: Any = None
    model_usage: dict[str, ModelUsageDict] | None = msgspec.field(default=None, name="modelUsage")
    permission_denials: list[dict[str, Any]] | None = None
    deferred_tool_use: DeferredToolUse | None = None
    errors: list[str] | None = None
    api_error_status: int | None = None
    uuid: str | None = None
    terminal_reason: str | None = None
    origin: OriginDict | None = None
    api_error: str | None = None
    api_error_type: str | None = None
    startup_failure_reason: str | None = None
    invalid_config_file: InvalidConfigFile | None = None
    user_message_uuid: str | None = None
    user_message_uuids: list[str] | None = None
    resume_reason: str | None = None
    local_command: str | None = None
    queued_turn_count: int | None = None
    result_index: int | None = None
    credential_expires_at: str | None = None
    fast_mode_state: str | None = None
    fast_mode_disabled_reason: str | None = None
    model_usage_since_last_result: dict[str, ModelUsageDict] | None = None
    subagent_stats: SubagentStats | None = None
    safety_stops: int | None = None
    warm_spare_claimed: bool | None = None
    first_request_input_tokens: int | None = None
    first_request_cache_read_input_tokens: int | None = None
    ttft_ms: Number | None = None
    ttft_stream_ms: Number | None = None
    time_to_request_ms: Number | None = None
    time_to_request_from_spawn_ms: Number | None = None
    time_origin_ms: Number | None = None
    request_sent_wall_ms: Number | None = None
    first_content_frame_ms: Number | None = None
    first_stream_post_ms: Number | None = None
    first_stream_post_ack_ms: Number | None = None
    first_stream_post_queue_wait_ms: Number | None = None
    first_stream_post_queued_behind: str | None = None
    first_stream_post_wall_ms: Number | None = None
    first_text_post_ms: Number | None = None
    first_text_post_queue_wait_ms: Number | None = None
    first_text_post_queued_behind: str | None = None
    first_text_post_wall_ms: Number | None = None

    @property
    def typed_usage(self) -> Usage | None:
        return None if self.usage is None else Usage.of(self.usage)

    @property
    def typed_model_usage(self) -> dict[str, ModelUsage]:
        return {name: ModelUsage.of(used) for name, used in (self.model_usage or {}).items()}

    @property
    def typed_model_usage_since_last_result(self) -> dict[str, ModelUsage] | None:
        since = self.model_usage_since_last_result
        return None if since is None else {name: ModelUsage.of(used) for name, used in since.items()}

    @property
    def failed(self) -> bool:
        """Did the turn fail? CLIs up to 2.1.52 leave ``is_error`` false for some of the error subtypes."""
        return self.is_error or self.subtype.startswith("error")
