"""Requests that ask about the session or reload a part of it: usage, settings, rules, plugins, what dialogs show."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from quarterdeck.wire.agents import SdkPluginConfig
from quarterdeck.wire.answers.dialogs import (
    ChromeDialog,
    MemoryDialog,
    PlanAnswer,
    SandboxDialog,
    SkillsDialog,
    StatusAnswer,
)
from quarterdeck.wire.answers.settings import HooksListing, PermissionRulesAnswer, SettingsAnswer
from quarterdeck.wire.answers.state import (
    BinaryVersion,
    ModelList,
    RegisteredRepoRoot,
    ReloadOutputStylesResult,
    ReloadPluginsResult,
    ReloadSkillsResult,
    SessionCost,
)
from quarterdeck.wire.answers.usage import ContextUsageResponse, UsageAnswer

from . import OutgoingRequest

ContextUsageDetail: TypeAlias = Literal["summary", "full"]
EditableSettings: TypeAlias = Literal["localSettings", "userSettings"]


class GetContextUsageRequest(OutgoingRequest, tag="get_context_usage"):
    """What fills the context window."""

    Answer: ClassVar[Any] = ContextUsageResponse

    detail: str | None = None


class GetSessionCostRequest(OutgoingRequest, tag="get_session_cost"):
    """The cost so far, as text for people."""

    Answer: ClassVar[Any] = SessionCost


class GetUsageRequest(OutgoingRequest, tag="get_usage"):
    """The cost so far in numbers, and the account's limits."""

    Answer: ClassVar[Any] = UsageAnswer

    skip_behaviors: bool | None = None


class ListModelsRequest(OutgoingRequest, tag="list_models"):
    """The available models."""

    Answer: ClassVar[Any] = ModelList


class GetBinaryVersionRequest(OutgoingRequest, tag="get_binary_version"):
    """The version of the CLI."""

    Answer: ClassVar[Any] = BinaryVersion


class GetSettingsRequest(OutgoingRequest, tag="get_settings"):
    """The settings in effect and where they come from."""

    Answer: ClassVar[Any] = SettingsAnswer


class ApplyFlagSettingsRequest(OutgoingRequest, tag="apply_flag_settings"):
    """Settings for this session, which override the files; null removes one."""

    settings: dict[str, Any]


class UpdateSettingsRequest(OutgoingRequest, tag="update_settings"):
    """Write to a settings file; only some keys may be written."""

    source: str
    settings: dict[str, Any]


class GetHooksListingRequest(OutgoingRequest, tag="get_hooks_listing"):
    """The configured hooks."""

    Answer: ClassVar[Any] = HooksListing


class ListPermissionRulesRequest(OutgoingRequest, tag="list_permission_rules"):
    """The permission rules in effect and where they come from."""

    Answer: ClassVar[Any] = PermissionRulesAnswer


class RegisterRepoRootRequest(OutgoingRequest, tag="register_repo_root"):
    """Add a directory to the workspace."""

    Answer: ClassVar[Any] = RegisteredRepoRoot

    directory: str
    reload_claude_md: bool | None = None
    reload_plugins: bool | None = None
    reload_skills: bool | None = None


class ReloadPluginsRequest(OutgoingRequest, tag="reload_plugins"):
    """Reload the plugins."""

    Answer: ClassVar[Any] = ReloadPluginsResult

    hold_on_cache_impact: bool | None = None
    add_plugins: list[SdkPluginConfig] | None = None
    refuse_if_busy: bool | None = None


class ReloadSkillsRequest(OutgoingRequest, tag="reload_skills"):
    """Reload the skills."""

    Answer: ClassVar[Any] = ReloadSkillsResult


class ReloadOutputStylesRequest(OutgoingRequest, tag="reload_output_styles"):
    """Reload the output styles."""

    Answer: ClassVar[Any] = ReloadOutputStylesResult


class GetStatusRequest(OutgoingRequest, tag="get_status"):
    """What ``/status`` shows."""

    Answer: ClassVar[Any] = StatusAnswer


class GetPlanRequest(OutgoingRequest, tag="get_plan"):
    """The session's plan file."""

    Answer: ClassVar[Any] = PlanAnswer


class GetMemoryDialogRequest(OutgoingRequest, tag="get_memory_dialog"):
    """What ``/memory`` shows."""

    Answer: ClassVar[Any] = MemoryDialog


class GetSkillsDialogRequest(OutgoingRequest, tag="get_skills_dialog"):
    """What ``/skills`` shows."""

    Answer: ClassVar[Any] = SkillsDialog


class GetSandboxDialogRequest(OutgoingRequest, tag="get_sandbox_dialog"):
    """What ``/sandbox`` shows."""

    Answer: ClassVar[Any] = SandboxDialog


class GetChromeDialogRequest(OutgoingRequest, tag="get_chrome_dialog"):
    """What ``/chrome`` shows."""

    Answer: ClassVar[Any] = ChromeDialog
