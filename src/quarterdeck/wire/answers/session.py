"""Answers about the session itself: what it offers at its start, what it runs on, what an interrupt did."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from quarterdeck.wire._base import OpenObject
from quarterdeck.wire._shapes import Number
from quarterdeck.wire.agents import AccountInfo, AgentInfo, ModelInfo, SlashCommand

from .base import Answer

ManifestOutcome: TypeAlias = Literal[
    "parked", "already_connected", "protocol_version_mismatch", "malformed", "not_honoured"
]
InterruptedTurn: TypeAlias = Literal["stopped", "idle", "spared"]
SetCwdStatus: TypeAlias = Literal["ok", "needs_trust", "rejected"]


class AuthConflict(OpenObject):
    """Two credentials at once."""

    token_source: str | None = None
    api_key_source: str | None = None


class FeedbackMode(OpenObject):
    """Whether the user can send feedback: ``post``, ``bundle``, ``share`` or ``disabled``."""

    kind: str | None = None


class InitializeAnswer(Answer):
    """What the session offers. 2.0.77 and 2.1.25 give no agents, pid, version or capabilities."""

    commands: list[SlashCommand] | None = None
    agents: list[AgentInfo] | None = None
    output_style: str | None = None
    available_output_styles: list[str] | None = None
    user_output_styles_dir: str | None = None
    models: list[ModelInfo] | None = None
    unavailable_models: list[ModelInfo] | None = None
    account: AccountInfo | None = None
    auth_conflict: AuthConflict | None = None
    pid: int | None = None
    claude_code_version: str | None = None
    current_model: str | None = None
    current_permission_mode: str | None = None
    permission_mode_from_default_fallback: bool | None = None
    auto_default_nudge: str | None = None
    session_state: str | None = None
    capabilities: list[str] | None = None
    hooks_applied: bool | None = None
    hook_on_failure_supported: bool | None = None
    other_hook_ask_outranks_host: bool | None = None
    host_worded_asks: bool | None = None
    plugins_applied: bool | None = None
    managed_settings_applied: bool | None = None
    workspace_trust_recorded: bool | None = None
    code_running_mcp_tools_applied: dict[str, list[str]] | None = None
    sdk_mcp_manifests_parked: dict[str, str] | None = None
    inbound_read_receipts: bool | None = None
    fast_mode_state: str | None = None
    fast_mode_disabled_reason: str | None = None
    feedback_mode: FeedbackMode | None = None
    analytics_disabled: bool | None = None
    remote_control_available: bool | None = None
    remote_control_auto_enable: bool | None = None
    remote_control_auto_on_by_default: bool | None = None
    remote_control_auto_connect_default: bool | None = None
    ide_rc_auto_enable_gate: bool | None = None
    claude_in_chrome_at_startup: bool | None = None


class ClaimedSession(Answer):
    """A waiting process has become a session."""

    status: str | None = None
    cwd: str | None = None
    session_id: str | None = None
    parked_ms: Number | None = None
    sdk_mcp_settled: bool | None = None
    initialize: dict[str, Any] | None = None
    workspace_trust_recorded: bool | None = None


class InterruptReceipt(Answer):
    """What an interrupt left: the ids of user messages. 2.0.77 and 2.1.25 answer without a payload."""

    still_queued: list[str] | None = None
    cancelled: list[str] | None = None
    put_back: list[str] | None = None
    send_now: str | None = None
    turn: str | None = None


class PermissionModeAnswer(Answer):
    """The mode now in effect."""

    mode: str | None = None


class ModelAnswer(Answer):
    """The model now in effect, by its full name."""

    model: str | None = None


class SetCwdResult(Answer):
    """Whether the session moved; ``status`` determines which other fields are present."""

    status: str | None = None
    cwd: str | None = None
    changed: bool | None = None
    transcript_relocated: bool | None = None
    directory: str | None = None
    trust_root: str | None = None
    reason: str | None = None
    message: str | None = None
