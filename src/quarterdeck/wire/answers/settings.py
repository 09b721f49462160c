"""Answers about configuration: settings, hooks, permission rules, each with where it comes from."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from quarterdeck.wire._base import OpenObject
from quarterdeck.wire._shapes import Number

from .base import Answer

SettingsSource: TypeAlias = Literal[
    "userSettings", "projectSettings", "localSettings", "flagSettings", "policySettings"
]
PermissionRuleSource: TypeAlias = Literal[
    "userSettings",
    "projectSettings",
    "localSettings",
    "flagSettings",
    "policySettings",
    "cliArg",
    "command",
    "session",
    "mcpMount",
    "toolsNarrowing",
    "mcpServerPolicy",
    "hostCredential",
]
RuleEditability: TypeAlias = Literal["persistent", "session", "readonly"]


class SettingsParseError(OpenObject):
    """Something wrong in a settings file."""

    path: str
    message: str
    file: str | None = None


class SettingsLayer(OpenObject):
    """The settings of one source."""

    source: str
    settings: dict[str, Any]


class AppliedSettings(OpenObject, rename="camel"):
    """The settings that the session runs with, all sources combined."""

    model: str | None = None
    effort: str | None = None
    advisor: str | None = None
    ultracode: bool | None = None
    ultracode_requested: bool | None = None
    ultracode_available: bool | None = None
    ultrathink_available: bool | None = None
    outside_file_tool_reads_blocked: bool | None = None
    outside_file_tool_writes_blocked: bool | None = None
    outside_blocks_count_launch_folders_only: bool | None = None
    launch_env_left_own_files_in_place: bool | None = None


class SettingsAnswer(Answer):
    """The settings in effect, and each source's own."""

    effective: dict[str, Any] | None = None
    sources: list[SettingsLayer] | None = None
    applied: AppliedSettings | None = None
    errors: list[SettingsParseError] | None = None
    remote_control_policy_lock_reason: str | None = None
    withheld: bool | None = None


class HookEventInfo(OpenObject, rename="camel"):
    """A hook event; ``hook_count`` only where hooks are configured for it."""

    name: str
    summary: str | None = None
    supports_matcher: bool | None = None
    hook_count: int | None = None


class ListedHook(OpenObject, rename="camel"):
    """One configured hook."""

    event: str
    type: str
    matcher: str | None = None
    source: str | None = None
    source_label: str | None = None
    plugin_name: str | None = None
    display_text: str | None = None
    command_text: str | None = None
    content_label: str | None = None
    condition: str | None = None
    timeout: Number | None = None
    status_message: str | None = None
    runs_once: bool | None = None
    runs_in_background: bool | None = None
    disabled: bool | None = None
    editable: dict[str, Any] | None = None


class HookPolicy(OpenObject, rename="camel"):
    """The administrator's hook policy."""

    disabled_by_policy: bool | None = None
    managed_only: bool | None = None
    plugin_only: bool | None = None
    all_disabled: bool | None = None
    policy_hook_count: int | None = None
    policy_unreadable: bool | None = None


class HooksListing(Answer, rename="camel"):
    """The configured hooks, and all events."""

    events: list[HookEventInfo] | None = None
    hooks: list[ListedHook] | None = None
    event_catalog: list[HookEventInfo] | None = None
    policy: HookPolicy | None = None
    safe_mode: dict[str, Any] | None = None
    bare_mode: dict[str, Any] | None = None
    errors: list[SettingsParseError] | None = None


class RuleDescription(OpenObject):
    """A rule in words, with its middle part emphasised."""

    prefix: str
    emphasis: str | None = None
    suffix: str | None = None


class PermissionRuleEntry(OpenObject):
    """One rule in effect."""

    behavior: str
    rule: str
    source: str | None = None
    description: RuleDescription | None = None
    editability: str | None = None
    not_in_effect: bool | None = msgspec.field(name="notInEffect", default=None)


class WorkspaceDirectory(OpenObject):
    """A directory that the session may work in."""

    path: str
    source: str | None = None


class PermissionRulesState(OpenObject, rename="camel"):
    """All rules and directories."""

    rules: list[PermissionRuleEntry] | None = None
    workspace_directories: list[WorkspaceDirectory] | None = None
    original_cwd: str | None = None
    managed_only: bool | None = None
    errors: list[SettingsParseError] | None = None
    withheld: bool | None = None


class PermissionRulesAnswer(Answer):
    """The permission rules in effect."""

    state: PermissionRulesState
