"""Requests about the session itself: how it starts, what it runs on, how it is stopped."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from quarterdeck.wire._base import WireObject
from quarterdeck.wire.agents import AgentDefinition, SdkPluginConfig
from quarterdeck.wire.answers.session import (
    ClaimedSession,
    InitializeAnswer,
    InterruptReceipt,
    ModelAnswer,
    PermissionModeAnswer,
    SetCwdResult,
)
from quarterdeck.wire.mcp import McpServerToolPolicy

from . import OutgoingRequest

HookFailurePolicy: TypeAlias = Literal["continue", "block"]
ProactivityLevel: TypeAlias = Literal["ask", "default", "proactive"]


class HookCallbackMatcher(WireObject, rename="camel"):
    """Which callbacks to call, for which tools; no ``matcher`` means all."""

    hook_callback_ids: list[str]
    matcher: str | None = None
    timeout: float | None = None
    """In seconds. A PreToolUse callback that is late keeps its tool from running (2.1.325)."""
    on_failure: str | None = None


class SdkMcpServerOptions(WireObject, rename="camel"):
    """Options of an MCP server inside the host."""

    timeout: float | None = None
    tools: list[McpServerToolPolicy] | None = None
    disable_auto_background: bool | None = None


class SdkMcpServerManifest(WireObject, rename="camel"):
    """A server's answers to ``initialize`` and ``tools/list``, given beforehand; an older CLI still asks for them."""

    initialize_result: dict[str, Any]
    tools_list_result: dict[str, Any] | None = None


class WorkspaceTrust(WireObject):
    """Whether the user trusts the directory."""

    accepted: bool
    directory: str


def _agents_as_written(agents: dict[str, Any]) -> dict[str, Any]:
    """As a dataclass, an agent would be written with its nulls."""
    return {name: one.to_dict() if isinstance(one, AgentDefinition) else one for name, one in agents.items()}


class InitializeRequest(OutgoingRequest, tag="initialize", rename="camel"):
    """The configuration that the host sends at the start of a session. Optional; may be repeated (2.1.325)."""

    Answer: ClassVar[Any] = InitializeAnswer

    hooks: dict[str, list[HookCallbackMatcher]] | None = None
    sdk_mcp_servers: list[str] | None = None
    sdk_mcp_server_configs: dict[str, SdkMcpServerOptions] | None = None
    sdk_mcp_server_manifests: dict[str, SdkMcpServerManifest] | None = None
    sdk_mcp_server_manifests_origin: str | None = None
    json_schema: dict[str, Any] | None = None
    system_prompt: str | list[str] | None = None
    append_system_prompt: str | None = None
    append_subagent_system_prompt: str | None = None
    system_prompt_snapshot: bool | None = None
    plan_mode_instructions: str | None = None
    tool_aliases: dict[str, str] | None = None
    code_running_mcp_tools: dict[str, list[str]] | None = None
    exclude_dynamic_sections: bool | None = None
    agents: dict[str, Any] | None = None
    """Name → ``AgentDefinition``, kept in its form on the wire."""
    title: str | None = None
    skills: list[str] | None = None
    web_search_isolation_exempt_mcp_servers: list[str] | None = None
    prompt_suggestions: bool | None = None
    agent_progress_summaries: bool | None = None
    forward_subagent_text: bool | None = None
    forward_nested_subagent_tool_calls: bool | None = None
    supported_dialog_kinds: list[str] | None = None
    renders_chrome_setup_offer: bool | None = None
    per_task_stop_affordance: bool | None = None
    rapid_followup_preempt: bool | None = None
    proactivity: bool | None = None
    plugins: list[SdkPluginConfig] | None = None
    managed_settings: dict[str, Any] | None = None
    workspace_trust: WorkspaceTrust | None = None

    def __post_init__(self) -> None:
        if self.agents:
            self.agents = _agents_as_written(self.agents)


class ClaimSessionRequest(OutgoingRequest, tag="claim_session"):
    """Make a process started with ``--await-claim`` a session; any other refuses."""

    Answer: ClassVar[Any] = ClaimedSession

    cwd: str
    env: dict[str, str] | None = None
    additional_directories: list[str] | None = None
    permission_mode: str | None = None
    system_prompt: list[str] | None = None
    append_system_prompt: str | None = None
    agents: dict[str, Any] | None = None
    """Name → ``AgentDefinition``, kept in its form on the wire."""
    title: str | None = None
    sdk_mcp_servers: list[str] | None = None
    include_initialize: bool | None = None
    workspace_trust: WorkspaceTrust | None = None

    def __post_init__(self) -> None:
        if self.agents:
            self.agents = _agents_as_written(self.agents)


class InterruptRequest(OutgoingRequest, tag="interrupt"):
    """Stop the running turn, if there is one. ``cancel_queued`` also drops the queued messages."""

    Answer: ClassVar[Any] = InterruptReceipt

    cancel_queued: bool | None = None
    reason: str | None = None
    send_now: bool | None = None
    message_uuid: str | None = None
    for_user_message_uuids: list[str] | None = None
    spare_background_tasks: bool | None = None


class EndSessionRequest(OutgoingRequest, tag="end_session"):
    """Answer, then exit with 0."""

    reason: str | None = None


class SetPermissionModeRequest(OutgoingRequest, tag="set_permission_mode"):
    """Change the permission mode. ``bypassPermissions`` needs the launch flag."""

    Answer: ClassVar[Any] = PermissionModeAnswer

    mode: str
    ultraplan: bool | None = None
    from_settings: bool | None = None


class SetModelRequest(OutgoingRequest, tag="set_model"):
    """Change the model, even during a turn; null or nothing goes back to the default.

    2.1.325 accepts any name, even if there is no such model.
    """

    Answer: ClassVar[Any] = ModelAnswer

    model: str | UnsetType | None = UNSET
    system_prompt: str | None = None
    only_if_model_is_current: bool | None = None


class SetMaxThinkingTokensRequest(OutgoingRequest, tag="set_max_thinking_tokens"):
    """Change the thinking budget and how thinking is shown; null undoes a change, absent leaves it as it is."""

    max_thinking_tokens: int | UnsetType | None = UNSET
    thinking_display: str | UnsetType | None = UNSET


class RenameSessionRequest(OutgoingRequest, tag="rename_session"):
    """Give the session a title. With a ``session_id`` that is not the current one it fails."""

    title: str
    source: str | None = None
    session_id: str | None = None


class SetColorRequest(OutgoingRequest, tag="set_color"):
    """Colour the session's prompt bar. In the types, but 2.1.325 refuses it without a terminal."""

    color: str


class SetHasSubscribersRequest(OutgoingRequest, tag="set_has_subscribers"):
    """Say whether anyone is watching; null means unknown and counts as yes."""

    has_subscribers: bool | None


class SetPromptSuggestionsPausedRequest(OutgoingRequest, tag="set_prompt_suggestions_paused"):
    """Stop or resume suggesting the next prompt."""

    paused: bool


class SetProactivityLevelRequest(OutgoingRequest, tag="set_proactivity_level"):
    """Set how proactive Claude is; only for a session whose ``initialize`` had ``proactivity``."""

    Answer: ClassVar[Any] = dict

    level: str
    offer_bypass: bool | None = None


class SetCwdRequest(OutgoingRequest, tag="set_cwd"):
    """Move the session to another directory; the CLI may ask whether the user trusts it."""

    Answer: ClassVar[Any] = SetCwdResult

    path: str
    trust_accepted: bool | None = None
    trusted_directory: str | None = None
