"""What a session offers, and its account: agents, commands, models, plugins, the account."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, TypeAlias

from ._base import OpenObject, WireObject
from ._records import ByFields
from .permissions import PermissionMode

EffortLevel: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
ThinkingDisplay: TypeAlias = Literal["summarized", "omitted", "highlights"]
AgentMemory: TypeAlias = Literal["user", "project", "local"]
ApiProvider: TypeAlias = Literal[
    "firstParty", "bedrock", "vertex", "foundry", "anthropicAws", "anthropicGoogleCloud", "mantle", "gateway"
]
FastModeState: TypeAlias = Literal["off", "cooldown", "on"]
FastModeDisabledReason: TypeAlias = Literal[
    "free",
    "preference",
    "extra_usage_disabled",
    "network_error",
    "unknown",
    "not_first_party",
    "disabled_by_env",
    "model_not_allowed",
    "sdk_opt_in_required",
    "pending",
]


@dataclass(repr=False, eq=False)
class AgentDefinition(ByFields):
    """A sub-agent that the host defines. The attributes have the names of the wire, as in the official SDK."""

    description: str
    prompt: str
    tools: list[str] | None = None
    disallowedTools: list[str] | None = None  # noqa: N815
    model: str | None = None
    skills: list[str] | None = None
    memory: AgentMemory | None = None
    mcpServers: list[str | dict[str, Any]] | None = None  # noqa: N815
    initialPrompt: str | None = None  # noqa: N815
    maxTurns: int | None = None  # noqa: N815
    background: bool | None = None
    effort: EffortLevel | int | None = None
    permissionMode: PermissionMode | None = None  # noqa: N815

    _: KW_ONLY
    autoCompactWindow: int | None = None  # noqa: N815
    omitClaudeMd: bool | None = None  # noqa: N815
    observer: str | None = None
    observerMessage: str | None = None  # noqa: N815
    criticalSystemReminder_EXPERIMENTAL: str | None = None  # noqa: N815

    def to_dict(self) -> dict[str, Any]:
        """The form on the wire: what is set."""
        return {name: value for name, value in vars(self).items() if value is not None}


class AgentInfo(OpenObject):
    """A sub-agent that the session can start."""

    name: str
    description: str = ""
    model: str | None = None


class SlashCommand(OpenObject, rename="camel"):
    """A command or skill that the user can call as ``/name``."""

    name: str
    description: str = ""
    argument_hint: str | None = None
    aliases: list[str] | None = None
    builtin: bool | None = None
    plugin: str | None = None


class ModelInfo(OpenObject, rename="camel"):
    """A model that the session can switch to; ``value`` is what ``set_model`` takes."""

    value: str
    display_name: str = ""
    description: str = ""
    resolved_model: str | None = None
    supports_effort: bool | None = None
    supported_effort_levels: list[str] | None = None
    supports_adaptive_thinking: bool | None = None
    supports_fast_mode: bool | None = None
    supports_auto_mode: bool | None = None
    supports_thinking_off: bool | None = None
    disabled: bool | None = None
    promo_list_price: str | None = None


class AccountInfo(OpenObject, rename="camel"):
    """Whose credentials the session uses, as far as the CLI says."""

    email: str | None = None
    organization: str | None = None
    subscription_type: str | None = None
    token_source: str | None = None
    api_key_source: str | None = None
    api_provider: str | None = None


class SdkPluginConfig(WireObject, rename="camel"):
    """A plugin to load from a directory; ``type`` is ``local``."""

    type: str
    path: str
    skip_mcp_discovery: bool | None = None


class LoadedPlugin(OpenObject):
    """A plugin that the session has loaded."""

    name: str
    path: str | None = None
    source: str | None = None
    version: str | None = None
