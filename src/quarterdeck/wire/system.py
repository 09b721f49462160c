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

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec

from ._base import Message, WireObject, system_messages
from ._official import official
from ._shapes import EMPTY_LIST, Number, constant
from .agents import SlashCommand
from .permissions import PermissionMode as PermissionMode  # the values of ``permission_mode``

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


@official("subtype data")
class SystemMessage(Message, tag="system"):
    """Any ``system`` line. ``data`` has the whole line."""

    subtype: str
    uuid: str | None = None
    session_id: str | None = None

    if TYPE_CHECKING:
        __match_args__: ClassVar[tuple[Literal["subtype"], Literal["data"]]]

        def __init__(self, subtype: str, data: dict[str, Any] = ..., **ours: Any) -> None: ...

    def __post_init__(self) -> None:
        of_this_chunk = system_messages.get()
        if of_this_chunk is not None:
            of_this_chunk.append(self)

    @classmethod
    def _built(cls, given: dict[str, Any]) -> SystemMessage | None:
        """The official SDK's ``SystemMessage(subtype, data)``, and its subclasses with their fields besides."""
        if not isinstance(given.get("data"), dict):
            return None
        from ._degrade import leaving_out

        given = cls._own_names(given)
        data = given.pop("data")
        read = leaving_out({**data, "type": "system", "subtype": given.get("subtype", data.get("subtype"))}, cls)
        if isinstance(read, str):
            read = cls.plainly_built(**given)
        for name, value in given.items():
            setattr(read, name, value)
        read.data = data
        return read  # type: ignore[no-any-return]

    @classmethod
    def _own_names(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Official arguments under the names of our fields, where these differ."""
        return dict(given)


class InitMcpServer(WireObject):
    """An MCP server of the session; ``source`` is sdk, plugin or a settings scope."""

    name: str
    status: str = constant("")
    source: str | None = None


class InitPlugin(WireObject):
    """A loaded plugin."""

    name: str
    path: str = constant("")
    version: str | None = None
    source: str | None = None


class InitPluginError(WireObject):
    """A plugin that did not load."""

    plugin: str | None = None
    type: str | None = None
    message: str | None = None
    path: str | None = None
    managed_lock: dict[str, Any] | None = None


class InitMessage(SystemMessage, kw_only=True, tag="system"):
    """The session's state at the start of a turn: written once per turn, after the user's message (2.1.325)."""

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


class StatusMessage(SystemMessage, kw_only=True, tag="system"):
    """``status`` is requesting, compacting or None (neither); also the news of another permission mode."""

    subtype: str = constant("status")
    status: str | None = None
    permission_mode: str | None = msgspec.field(default=None, name="permissionMode")
    compact_result: str | None = None
    compact_error: str | None = None
    compact_output_chars: int | None = None
    user_message_uuids: list[str] | None = None


class SessionStateChangedMessage(SystemMessage, kw_only=True, tag="system"):
    """Only written when asked for by environment variable; see ``SessionState``."""

    subtype: str = constant("session_state_changed")
    state: str
    sdk_host_only: bool | None = None


class SessionTitleChangedMessage(SystemMessage, kw_only=True, tag="system"):
    subtype: str = constant("session_title_changed")
    title: str | None = None


class CommandsChangedMessage(SystemMessage, kw_only=True, tag="system"):
    """The slash commands and skills as they are from now on."""

    subtype: str = constant("commands_changed")
    commands: list[SlashCommand]


class PreservedSegment(WireObject):
    """Messages that compaction kept, as a range."""

    head_uuid: str | None = None
    anchor_uuid: str | None = None
    tail_uuid: str | None = None


class PreservedMessages(WireObject):
    """Messages that compaction kept, one by one."""

    anchor_uuid: str | None = None
    uuids: list[str] | None = None
    all_uuids: list[str] | None = None


class CompactMetadata(WireObject):
    """``trigger`` is manual or auto."""

    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    duration_ms: Number | None = None
    cumulative_dropped_tokens: int | None = None
    preserved_segment: PreservedSegment | None = None
    preserved_messages: PreservedMessages | None = None


class CompactBoundaryMessage(SystemMessage, kw_only=True, tag="system"):
    """Everything before this line is now only a summary for the model."""

    subtype: str = constant("compact_boundary")
    compact_metadata: CompactMetadata | None = None
    logical_parent_uuid: str | None = None


class WorkerShuttingDownMessage(SystemMessage, kw_only=True, tag="system"):
    subtype: str = constant("worker_shutting_down")
    reason: str | None = None


class SessionWritesLostMessage(SystemMessage, kw_only=True, tag="system"):
    """The disk is full: part of the transcript (or the configuration) was not written."""

    subtype: str = constant("session_writes_lost")
    error_code: str | None = None
    lost: list[str] | None = None
    transcript_session_ids: list[str] | None = None


@official("subtype data", "key error", error="")
class MirrorErrorMessage(SystemMessage, kw_only=True, tag="system"):
    """A batch of transcript records did not reach the session store. Made on the SDK's side, never by the CLI."""

    subtype: str = constant("mirror_error")
    key: Any = None
    """The ``SessionKey`` of the transcript, or None."""
    error: str = constant("")

    if TYPE_CHECKING:

        def __init__(
            self,
            subtype: str = ...,
            data: dict[str, Any] = ...,
            key: Mapping[str, Any] | None = None,
            error: str = "",
            **ours: Any,
        ) -> None: ...


class FilesPersistedMessage(SystemMessage, kw_only=True, tag="system"):
    """Each of ``files`` has filename and file_id, each of ``failed`` filename and error."""

    subtype: str = constant("files_persisted")
    files: list[dict[str, Any]] | None = None
    failed: list[dict[str, Any]] | None = None
    processed_at: str | None = None
