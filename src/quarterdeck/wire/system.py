"""``system`` lines: what the CLI says about itself. ``subtype`` says what about; each subtype has a class.

Read as ``SystemMessage`` first, then as the class that ``system_types.SYSTEM_TYPES`` names for its subtype; a subtype
that is not listed there stays a ``SystemMessage`` with everything in ``data``. Those about the session are in this
file, tasks in ``tasks.py``, the others in ``notices.py``.

=============  =======================================================================================
the session    ``InitMessage`` ``StatusMessage`` ``SessionStateChangedMessage`` ``SessionTitleChangedMessage``
               ``CommandsChangedMessage`` ``CompactBoundaryMessage`` ``WorkerShuttingDownMessage``
               ``SessionWritesLostMessage`` ``MirrorErrorMessage`` ``FilesPersistedMessage``
the model      ``ApiRetryMessage`` ``ThinkingTokensMessage`` ``ModelFallbackMessage``
               ``ModelRefusalFallbackMessage`` ``ModelRefusalNoFallbackMessage`` ``MemoryRecallMessage``
hooks, tools   ``HookEventMessage`` (its three subclasses) ``PermissionDeniedMessage`` ``PluginInstallMessage``
               ``ElicitationCompleteMessage`` ``ControlRequestProgressMessage``
for the user   ``InformationalMessage`` ``NotificationMessage`` ``LocalCommandOutputMessage``
=============  =======================================================================================
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

from ._base import Message, OpenObject, WireObject, plain
from ._shapes import EMPTY_LIST, Number, constant, located
from .agents import SlashCommand
from .permissions import PermissionMode as PermissionMode  # the words of ``permission_mode``

ApiKeySource = Literal[
    "ANTHROPIC_API_KEY",
    "apiKeyHelper",
    "/login managed key",
    "none",
    "user",
    "project",
    "org",
    "temporary",
    "oauth",
]
SessionState = Literal["idle", "running", "requires_action"]
InformationalLevel = Literal["info", "notice", "suggestion", "warning"]
NotificationPriority = Literal["low", "medium", "high", "immediate"]
HookOutcome = Literal["success", "error", "cancelled"]


class SystemMessage(Message, frozen=True, tag="system"):
    """Any ``system`` line. ``data`` has all it says."""

    subtype: str
    uuid: str | None = None
    session_id: str | None = None

    official_fields: ClassVar[tuple[str, ...]] = ("subtype", "data")
    """What the official SDK's class of this name takes, by position."""

    def __post_init__(self) -> None:
        lines = self.lines_
        if lines is not None:
            if lines.system is None:
                lines.system = []
            lines.system.append(self)

    @classmethod
    def _line_of(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """The official SDK's ``SystemMessage(subtype, data)``, and its subclasses with their fields besides."""
        named = {**dict(zip(cls.official_fields, args, strict=False)), **kwargs}
        data = named.pop("data", None)
        if not isinstance(data, dict):
            return None
        if len(args) > len(cls.official_fields):
            raise TypeError(f"takes {len(cls.official_fields)} positional arguments but {len(args)} were given")
        return {"type": "system", **data, **{key: plain(value) for key, value in named.items() if value is not None}}


class InitMcpServer(WireObject, frozen=True):
    """An MCP server of the session; ``source`` is sdk, plugin or a settings scope."""

    name: str
    status: str = constant("")
    source: str | None = None


class InitPlugin(WireObject, frozen=True):
    """A loaded plugin."""

    name: str
    path: str = constant("")
    version: str | None = None
    source: str | None = None


class InitPluginError(WireObject, frozen=True):
    """A plugin that did not load."""

    plugin: str | None = None
    type: str | None = None
    message: str | None = None
    path: str | None = None
    managed_lock: dict[str, Any] | None = None


class InitMessage(SystemMessage, frozen=True, kw_only=True, tag="system"):
    """The session as the turn that begins finds it: written once per turn, after the user's message (2.1.325)."""

    subtype: str = constant("init")
    cwd: str = constant("")
    model: str = constant("")
    permission_mode: str = msgspec.field(name="permissionMode", default_factory=lambda: "default")
    api_key_source: str | None = msgspec.field(default=None, name="apiKeySource")
    claude_code_version: str | None = None
    tools: list[str] = EMPTY_LIST
    mcp_servers: list[InitMcpServer] = EMPTY_LIST
    slash_commands: list[str] = EMPTY_LIST
    terminal_slash_commands: list[str] | None = None
    agents: list[str] | None = None
    skills: list[str] | None = None
    plugins: list[InitPlugin] | None = None
    plugin_errors: list[InitPluginError] | None = None
    output_style: str | None = None
    betas: list[str] | None = None
    capabilities: list[str] | None = None
    fast_mode_state: str | None = None
    fast_mode_disabled_reason: str | None = None
    effort: str | None = None
    per_turn_effort_active: bool | None = None
    ultrathink_available: bool | None = None
    ultrathink_typed_raises: bool | None = None
    view_mode: str | None = None
    original_cwd: str | None = None
    additional_directories: list[str] | None = None
    memory_paths: dict[str, str] | None = None
    messaging_socket_path: str | None = None
    analytics_disabled: bool | None = None
    product_feedback_disabled: bool | None = None
    user_message_uuids: list[str] | None = None


class StatusMessage(SystemMessage, frozen=True, kw_only=True, tag="system"):
    """``status`` is requesting, compacting or None (neither); also the news of another permission mode."""

    subtype: str = constant("status")
    status: str | None = None
    permission_mode: str | None = msgspec.field(default=None, name="permissionMode")
    compact_result: str | None = None
    compact_error: str | None = None
    compact_output_chars: int | None = None
    user_message_uuids: list[str] | None = None


class SessionStateChangedMessage(SystemMessage, frozen=True, kw_only=True, tag="system"):
    """Only written when asked for by environment variable; see ``SessionState``."""

    subtype: str = constant("session_state_changed")
    state: str
    sdk_host_only: bool | None = None


class SessionTitleChangedMessage(SystemMessage, frozen=True, kw_only=True, tag="system"):
    subtype: str = constant("session_title_changed")
    title: str | None = None


class CommandsChangedMessage(SystemMessage, frozen=True, kw_only=True, tag="system"):
    """The slash commands and skills as they are from now on."""

    subtype: str = constant("commands_changed")
    commands: list[SlashCommand]


class PreservedSegment(OpenObject, frozen=True):
    """Messages that compaction kept, as a range."""

    head_uuid: str | None = None
    anchor_uuid: str | None = None
    tail_uuid: str | None = None


class PreservedMessages(OpenObject, frozen=True):
    """Messages that compaction kept, one by one."""

    anchor_uuid: str | None = None
    uuids: list[str] | None = None
    all_uuids: list[str] | None = None


@located("preserved_segment", "preserved_messages")
class CompactMetadata(OpenObject, frozen=True):
    """``trigger`` is manual or auto."""

    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    duration_ms: Number | None = None
    cumulative_dropped_tokens: int | None = None
    preserved_segment: PreservedSegment | None = None
    preserved_messages: PreservedMessages | None = None


@located("compact_metadata")
class CompactBoundaryMessage(SystemMessage, frozen=True, kw_only=True, tag="system"):
    """What came before this line is for the model now only a summary."""

    subtype: str = constant("compact_boundary")
    compact_metadata: CompactMetadata | None = None
    logical_parent_uuid: str | None = None


class WorkerShuttingDownMessage(SystemMessage, frozen=True, kw_only=True, tag="system"):
    subtype: str = constant("worker_shutting_down")
    reason: str | None = None


class SessionWritesLostMessage(SystemMessage, frozen=True, kw_only=True, tag="system"):
    """The disk is full: part of the transcript (or the configuration) was not written."""

    subtype: str = constant("session_writes_lost")
    error_code: str | None = None
    lost: list[str] | None = None
    transcript_session_ids: list[str] | None = None


class MirrorErrorMessage(SystemMessage, frozen=True, kw_only=True, tag="system"):
    """A batch of transcript records did not reach the session store. Made on the SDK's side: the CLI never writes it.

    ``key`` names the transcript as the session store does.
    """

    subtype: str = constant("mirror_error")
    key: dict[str, Any] | None = None
    error: str = constant("")

    official_fields: ClassVar = (*SystemMessage.official_fields, "key", "error")


class FilesPersistedMessage(SystemMessage, frozen=True, kw_only=True, tag="system"):
    """Each of ``files`` has filename and file_id, each of ``failed`` filename and error."""

    subtype: str = constant("files_persisted")
    files: list[dict[str, Any]] | None = None
    failed: list[dict[str, Any]] | None = None
    processed_at: str | None = None


# The official SDK's names for the parts of ``init``.
SystemInitData = InitMessage
SystemInitMcpServer = InitMcpServer
SystemInitPlugin = InitPlugin
SystemInitPluginError = InitPluginError
