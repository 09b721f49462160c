"""What a turn has used: the entries that are summed up, and the report that follows its result."""

from __future__ import annotations

from datetime import UTC, datetime

from quarterdeck.store.records import UsageEntry
from quarterdeck.timeline.items import TurnSummary
from quarterdeck.timeline.parts import Tokens

from .events import UsageReport
from .resources import TokenCounts
from .times import usd


def usage_entries(turn: TurnSummary, at: float, *, session: str, cwd: str) -> list[UsageEntry]:
    """One for each model."""
    day = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
    return [
        UsageEntry(
            session=session,
            turn=turn.number,
            day=day,
            model=model,
            cwd=cwd,
            input_tokens=cost.tokens.input,
            output_tokens=cost.tokens.output,
            cache_read_tokens=cost.tokens.cache_read,
            cache_write_tokens=cost.tokens.cache_write,
            cost_nano_usd=round(cost.cost_usd * 1e9),
        )
        for model, cost in turn.by_model.items()
    ]


def usage_report(turn: TurnSummary, at: float, *, total_usd: float) -> UsageReport:
    by_model = {model: usd(cost.cost_usd) for model, cost in turn.by_model.items()}
    return UsageReport(at, turn.number, usd(turn.cost_usd), token_counts(turn.tokens), by_model, usd(total_usd))


def token_counts(used: Tokens) -> TokenCounts:
    return TokenCounts(input=used.input, output=used.output, cache_read=used.cache_read, cache_write=used.cache_write)
