"""Answers with what the terminal's dialogs show: status, plan, memory, skills, sandbox, browser."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from quarterdeck.wire._base import OpenObject
from quarterdeck.wire._shapes import Number

from .base import Answer

SkillState: TypeAlias = Literal["on", "name-only", "user-invocable-only", "off"]
SandboxMode: TypeAlias = Literal["auto-allow", "regular", "disabled"]


class StatusRow(OpenObject):
    """A line of the status."""

    value: str
    label: str | None = None


class StatusSection(OpenObject):
    """Lines of the status that belong together."""

    title: str
    rows: list[StatusRow]


class StatusAnswer(Answer):
    """The status, as text for people."""

    sections: list[StatusSection]


class PlanAnswer(Answer):
    """The session's plan file, if there is one."""

    exists: bool
    content: str | None = None
    path: str | None = None


class MemoryPlace(OpenObject):
    """A file or folder that instructions or memories are kept in."""

    kind: str
    path: str
    label: str | None = None
    description: str | None = None
    exists: bool | None = None


class Memory(OpenObject):
    """Something the session has remembered."""

    name: str
    path: str
    description: str | None = None
    type: str | None = None
    modified_ms: Number | None = None


class MemorySwitch(OpenObject):
    """A kind of memory that can be on or off."""

    enabled: bool | None = None
    toggleable: bool | None = None
    status: str | None = None
    shown: bool | None = None
    detail: str | None = None


class MemoryDialog(Answer):
    """Instructions and memories."""

    files: list[MemoryPlace] | None = None
    folders: list[MemoryPlace] | None = None
    memories: list[Memory] | None = None
    auto_memory: MemorySwitch | None = None
    auto_dream: MemorySwitch | None = None


class SkillRow(OpenObject):
    """A skill and whether it is on."""

    name: str
    display_name: str | None = None
    description: str | None = None
    source: str | None = None
    tokens: Number | None = None
    state: str | None = None
    locked_by: str | None = None
    advertised: bool | None = None
    handles: dict[str, Any] | None = None


class SkillsDialog(Answer):
    """The skills."""

    skills: list[SkillRow]


class SandboxDependencies(OpenObject):
    """What the sandbox lacks on this machine."""

    errors: list[str] | None = None
    warnings: list[str] | None = None


class SandboxRestrictions(OpenObject):
    """What commands in the sandbox may reach."""

    fs_deny_read: list[str] | None = None
    fs_allow_read: list[str] | None = None
    fs_allow_write: list[str] | None = None
    fs_deny_write: list[str] | None = None
    network_allowed_domains: list[str] | None = None
    network_denied_domains: list[str] | None = None
    network_managed: bool | None = None
    unix_sockets: list[str] | None = None
    allow_all_unix_sockets: bool | None = None
    ignored_glob_patterns: list[str] | None = None


class SandboxDialog(Answer):
    """Whether commands run in a sandbox, and in which."""

    supported: bool | None = None
    unsupported_reason: str | None = None
    locked: bool | None = None
    overrides_locked: bool | None = None
    policy_origins: list[str] | None = None
    enabled: bool | None = None
    enabled_in_settings: bool | None = None
    unavailable_reason: str | None = None
    mode: str | None = None
    auto_allow_available: bool | None = None
    no_sandbox_allowed: bool | None = None
    unsandboxed_fallback: bool | None = None
    dependencies: SandboxDependencies | None = None
    excluded_commands: list[str] | None = None
    restrictions: SandboxRestrictions | None = None


class ChromeDialog(Answer):
    """Whether the browser extension is installed."""

    allowed: bool | None = None
    subscriber: bool | None = None
    wsl: bool | None = None
    installed: bool | None = None
    connected: bool | None = None
    paired_browser: str | None = None
    enabled_by_default: bool | None = None
    at_startup: bool | None = None
    urls: dict[str, str] | None = None
