"""Tokens, money and limits: usage reported in messages.

``Usage``       the Messages API's own count; on ``AssistantMessage``, ``ResultMessage`` and two stream events
``ModelUsage``  the CLI's sum per model, on ``ResultMessage.model_usage`` (cumulative over the process)
``TaskUsage``   what one background task or sub-agent used so far
``ContextUsage``, ``UsageReport``  what ``/context`` and ``/usage`` answer, attached to an assistant message
``RateLimitInfo``  where the account stands, on ``RateLimitEvent``
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ._base import HIDDEN, OpenObject, WireObject
from ._official import official
from ._shapes import Number, Word, constant

RateLimitStatus = Literal["allowed", "allowed_warning", "rejected"]
RateLimitType = Literal[
    "five_hour", "seven_day", "seven_day_opus", "seven_day_sonnet", "seven_day_overage_included", "overage"
]


class CacheCreation(OpenObject):
    """Tokens written to the prompt cache, by lifetime of the entry."""

    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class ServerToolUsage(OpenObject):
    """Calls of tools that the API runs itself."""

    web_search_requests: int | None = None
    web_fetch_requests: int | None = None


class OutputTokensDetails(OpenObject):
    """What the output tokens were spent on."""

    thinking_tokens: int | None = None


class FallbackCredit(OpenObject):
    """Whether the cost of a refused request was credited to its retry."""

    status: dict[str, Any] | None = None


class IterationUsage(WireObject):
    """One of the model calls behind one message.

    ``type``: message, compaction, advisor_message or fallback_message.
    """

    type: str = ""
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: CacheCreation | None = None


class Usage(OpenObject):
    """Tokens of one message (not final on an ``AssistantMessage``) or of one turn (on ``ResultMessage``)."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: CacheCreation | None = None
    server_tool_use: ServerToolUsage | None = None
    service_tier: str | None = None
    inference_geo: str | None = None
    speed: str | None = None
    iterations: list[IterationUsage] | None = None
    output_tokens_details: OutputTokensDetails | None = None
    fallback_credit: FallbackCredit | None = None


class ModelUsage(OpenObject, rename="camel"):
    """Tokens and cost of one model. Read as a dict it has the wire's camelCase keys."""

    input_tokens: int = constant(0)
    output_tokens: int = constant(0)
    cache_read_input_tokens: int = constant(0)
    cache_creation_input_tokens: int = constant(0)
    web_search_requests: int = constant(0)
    cost_usd: Number = msgspec.field(name="costUSD", default_factory=float)
    context_window: int = constant(0)
    max_output_tokens: int | None = None
    thinking_tokens: int | None = None
    cache_creation_ephemeral_5m_input_tokens: int | None = msgspec.field(
        default=None, name="cacheCreationEphemeral5mInputTokens"
    )
    cache_creation_ephemeral_1h_input_tokens: int | None = msgspec.field(
        default=None, name="cacheCreationEphemeral1hInputTokens"
    )
    canonical_model: str | None = None
    provider: str | None = None
    cost_basis: str | None = None


class TaskUsage(OpenObject):
    """What a task has used since it started."""

    total_tokens: int = constant(0)
    tool_uses: int = constant(0)
    duration_ms: Number = constant(0)


class ContextUsage(OpenObject):
    """How full the context window is, and what fills it. The rows are plain dicts, each with ``tokens``."""

    model: str | None = None
    total_tokens: int | None = None
    raw_max_tokens: int | None = None
    percentage: Number | None = None
    over_limit: dict[str, Any] | None = None
    categories: list[dict[str, Any]] | None = None
    mcp_tools: list[dict[str, Any]] | None = None
    memory_files: list[dict[str, Any]] | None = None
    agents: list[dict[str, Any]] | None = None
    skills: list[dict[str, Any]] | None = None


class SessionUsage(OpenObject):
    """The session's totals inside a ``UsageReport``."""

    total_cost_usd: Number | None = None
    total_api_duration_ms: Number | None = None
    total_duration_ms: Number | None = None
    total_lines_added: int | None = None
    total_lines_removed: int | None = None
    model_usage: dict[str, ModelUsage] | None = None


class UsageReport(OpenObject):
    """The answer to ``/usage``; ``rate_limits`` has ``limits`` and perhaps ``extra_usage``."""

    session: SessionUsage | None = None
    rate_limits: dict[str, Any] | None = None


class RateLimitWindow(OpenObject, rename="camel"):
    """One window of ``RateLimitInfo.unified_windows``."""

    utilization: Number | None = None
    resets_at: Number | None = None
    surpassed_threshold: Number | None = None


@official(
    "status",
    "resets_at rate_limit_type utilization overage_status overage_resets_at overage_disabled_reason raw",
    raw=dict,
)
class RateLimitInfo(OpenObject, rename="camel"):
    """The account's rate-limit status; ``resets_at`` is in seconds since 1970, ``utilization`` a fraction."""

    status: Word[RateLimitStatus]
    resets_at: Number | None = None
    rate_limit_type: Word[RateLimitType] | None = None
    utilization: Number | None = None
    overage_status: Word[RateLimitStatus] | None = None
    overage_resets_at: Number | None = None
    overage_disabled_reason: str | None = None
    raw: dict[str, Any] = msgspec.field(default_factory=dict, name=HIDDEN + "raw")
    """Everything the wire says about it."""
    is_using_overage: bool | None = None
    overage_in_use: bool | None = None
    overage_enabled: bool | None = None
    surpassed_threshold: Number | None = None
    limit_scope: str | None = None
    error_code: str | None = None
    can_user_purchase_credits: bool | None = None
    has_chargeable_saved_payment_method: bool | None = None
    unified_windows: dict[str, RateLimitWindow] | None = None
