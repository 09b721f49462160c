"""Answers about what was used: the context window, tokens and money, the account's limits."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from quarterdeck.wire._base import OpenObject
from quarterdeck.wire._shapes import Number
from quarterdeck.wire.usage import SessionUsage

from .base import Answer

ContextCategoryKind: TypeAlias = Literal["used", "free", "buffer", "deferred"]


class ContextUsageCategory(OpenObject, rename="camel"):
    """One share of the context window."""

    name: str
    tokens: int
    color: str = ""
    id: str | None = None
    kind: str | None = None
    is_deferred: bool | None = None


class ContextUsageResponse(Answer, rename="camel"):
    """What fills the context window. The rows are plain dicts, each with its ``tokens``."""

    categories: list[ContextUsageCategory] | None = None
    total_tokens: int | None = None
    max_tokens: int | None = None
    raw_max_tokens: int | None = None
    percentage: Number | None = None
    model: str | None = None
    is_auto_compact_enabled: bool | None = None
    auto_compact_threshold: int | None = None
    autocompact_source: str | None = None
    memory_files: list[dict[str, Any]] | None = None
    mcp_tools: list[dict[str, Any]] | None = None
    mcp_instructions: list[dict[str, Any]] | None = None
    deferred_builtin_tools: list[dict[str, Any]] | None = None
    system_tools: list[dict[str, Any]] | None = None
    system_prompt_sections: list[dict[str, Any]] | None = None
    agents: list[dict[str, Any]] | None = None
    slash_commands: dict[str, Any] | None = None
    skills: dict[str, Any] | None = None
    message_breakdown: dict[str, Any] | None = None
    api_usage: dict[str, Any] | None = None
    grid_rows: list[list[dict[str, Any]]] | None = None


class LimitWindow(OpenObject):
    """How much of a limit is used (in percent) and when it resets (ISO 8601)."""

    utilization: Number | None = None
    resets_at: str | None = None
    display_name: str | None = None


class ExtraUsage(OpenObject):
    """Usage beyond the plan, paid for separately."""

    is_enabled: bool | None = None
    monthly_limit: Number | None = None
    used_credits: Number | None = None
    utilization: Number | None = None
    currency: str | None = None


class AccountLimits(OpenObject):
    """The limits of a subscription; None for windows that do not apply."""

    five_hour: LimitWindow | None = None
    seven_day: LimitWindow | None = None
    seven_day_oauth_apps: LimitWindow | None = None
    seven_day_opus: LimitWindow | None = None
    seven_day_sonnet: LimitWindow | None = None
    model_scoped: list[LimitWindow] | None = None
    extra_usage: ExtraUsage | None = None


class UsageAnswer(Answer):
    """What the session has used and, with a subscription, where the account stands."""

    session: SessionUsage | None = None
    subscription_type: str | None = None
    rate_limits_available: bool | None = None
    rate_limits: AccountLimits | None = None
    behaviors: dict[str, Any] | None = None
    """What the usage of the last day and week came from."""
