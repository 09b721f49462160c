"""Answers about versions, models, costs and reloads."""

from __future__ import annotations

import msgspec

from quarterdeck.wire._base import OpenObject
from quarterdeck.wire.agents import AgentInfo, LoadedPlugin, ModelInfo, SlashCommand
from quarterdeck.wire.mcp import McpServerStatus

from .base import Answer


class BinaryVersion(Answer, rename="camel"):
    """The version of the CLI that runs."""

    version: str
    build_time: str | None = None


class ModelList(Answer):
    """The available models."""

    models: list[ModelInfo]


class SessionCost(Answer):
    """The cost so far, as text for people."""

    text: str


class RegisteredRepoRoot(Answer):
    """The directory as it was registered."""

    directory: str


class CacheImpact(OpenObject):
    """What a reload would change in the part of the prompt that is cached."""

    mcp_servers_added: list[str] | None = None
    mcp_servers_removed: list[str] | None = None
    lsp_tool_change: str | None = None


class ReloadPluginsResult(Answer):
    """What is loaded after the reload; ``held`` if it was put off because of its ``cache_impact``."""

    commands: list[SlashCommand] | None = None
    agents: list[AgentInfo] | None = None
    plugins: list[LoadedPlugin] | None = None
    mcp_servers: list[McpServerStatus] | None = msgspec.field(name="mcpServers", default=None)
    error_count: int | None = None
    held: bool | None = None
    cache_impact: CacheImpact | None = None


class ReloadSkillsResult(Answer):
    """The skills after the reload."""

    skills: list[SlashCommand]


class ReloadOutputStylesResult(Answer):
    """The output styles after the reload."""

    available_output_styles: list[str]
