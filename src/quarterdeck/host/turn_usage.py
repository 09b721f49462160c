"""A turn's usage: the entries to sum up, and the report after its result."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from quarterdeck.store.records import UsageEntry
from quarterdeck.store.text import keepable
from quarterdeck.timeline.items import TurnSummary
from quarterdeck.timeline.parts import ModelCost, Tokens

from .events import UsageReport
from .resources import TokenCounts
from .times import usd

MOST_TOKENS = 10**12
MOST_USD = 1e6
"""Limit per turn, whatever Claude Code reports: the sum of all turns must fit into 64 bits."""


def usage_entries(turn: TurnSummary, at: float, *, session: str, cwd: str) -> list[UsageEntry]:
    """One usage entry per model."""
    day = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
    return [
        UsageEntry(
            session=session,
            turn=turn.number,
            day=day,
            model=keepable(model),
            cwd=cwd,
            input_tokens=_bounded(cost.tokens.input),
            output_tokens=_bounded(cost.tokens.output),
            cache_read_tokens=_bounded(cost.tokens.cache_read),
            cache_write_tokens=_bounded(cost.tokens.cache_write),
            cost_nano_usd=round(min(max(-MOST_USD, cost.cost_usd), MOST_USD) * 1e9),
        )
        for model, cost in turn.by_model.items()
    ]


def usage_report(turn: TurnSummary, at: float, *, total_usd: float) -> UsageReport:
    by_model = {model: usd(cost.cost_usd) for model, cost in turn.by_model.items()}
    used = token_counts(turn.tokens, turn.by_model)
    return UsageReport(
        at,
        turn.number,
        usd(turn.cost_usd),
        used,
        by_model,
        usd(total_usd),
        beside=_difference(used, token_counts(turn.tokens, {})),
    )


def token_counts(conversation: Tokens, by_model: Mapping[str, ModelCost]) -> TokenCounts:
    """All tokens: ``modelUsage`` includes those of sub-agents, which the ``usage`` of a result (2.1.325) omits."""
    every = [cost.tokens for cost in by_model.values()] or [conversation]
    return TokenCounts(
        input=_bounded(sum(used.input for used in every)),
        output=_bounded(sum(used.output for used in every)),
        cache_read=_bounded(sum(used.cache_read for used in every)),
        cache_write=_bounded(sum(used.cache_write for used in every)),
    )


def _bounded(tokens: int) -> int:
    return min(max(-MOST_TOKENS, tokens), MOST_TOKENS)


def _difference(used: TokenCounts, part: TokenCounts) -> TokenCounts:
    return TokenCounts(
        **{name: max(getattr(used, name) - getattr(part, name), 0) for name in TokenCounts.__struct_fields__}
    )
