"""Tokens and dollars: per turn, and for the process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import facts

if TYPE_CHECKING:
    from .steps import Usage

_COUNTS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Bill:
    """What was used. ``total_cost_usd`` and ``modelUsage`` grow over the process, ``usage`` is per turn (2.1.325)."""

    def __init__(self) -> None:
        self._models: dict[str, dict[str, int]] = {}
        self._since_result: dict[str, dict[str, int]] = {}
        self._turn = dict.fromkeys(_COUNTS, 0)
        self.api_ms = 0
        self.requests = 0
        self.lines_added = 0
        self.lines_removed = 0

    def add(self, model: str, usage: Usage, *, beside: bool = False) -> None:
        """``beside``: used by a sub-agent, which the turn's ``usage`` excludes."""
        self.requests += 1
        for name in _COUNTS:
            count = getattr(usage, name)
            self._turn[name] += 0 if beside else count
            for table in (self._models, self._since_result):
                counts = table.setdefault(model, dict.fromkeys(_COUNTS, 0))
                counts[name] += count

    def start_turn(self) -> None:
        self._turn = dict.fromkeys(_COUNTS, 0)

    @property
    def total_cost_usd(self) -> float:
        return sum(_cost(model, counts) for model, counts in self._models.items())

    def cost_with(self, model: str, usage: Usage) -> float:
        """The total once this is added."""
        return self.total_cost_usd + _cost(model, {name: getattr(usage, name) for name in _COUNTS})

    @property
    def context_tokens(self) -> int:
        return sum(self._turn.values())

    def usage(self) -> dict[str, Any]:
        return full_usage(self._turn)

    def last_counts(self) -> dict[str, int]:
        return dict(self._turn)

    def model_usage(self) -> dict[str, Any]:
        return {model: _model_usage(model, counts) for model, counts in self._models.items()}

    def since_last_result(self) -> dict[str, Any]:
        found = {model: _model_usage(model, counts) for model, counts in self._since_result.items()}
        self._since_result.clear()
        return found

    def text(self, wall_s: float) -> str:
        """The table that /cost and get_session_cost show."""
        lines = [
            f"Total cost:            ${self.total_cost_usd:.4f}",
            f"Total duration (API):  {self.api_ms // 1000}s",
            f"Total duration (wall): {int(wall_s)}s",
            f"Total code changes:    {self.lines_added} lines added, {self.lines_removed} lines removed",
        ]
        if self._models:
            lines.append("Usage by model:")
        for model, counts in self._models.items():
            read, write = counts["cache_read_input_tokens"], counts["cache_creation_input_tokens"]
            lines.append(
                f"{model:>20}:  {counts['input_tokens']} input, {counts['output_tokens']} output, "
                f"{read} cache read, {write} cache write (${_cost(model, counts):.4f})"
            )
        return "\n".join(lines)


def full_usage(counts: dict[str, int]) -> dict[str, Any]:
    return {
        **counts,
        "output_tokens_details": {"thinking_tokens": 0},
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard",
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
        "inference_geo": "",
        "iterations": [],
        "speed": "standard",
        "fallback_credit": None,
    }


def _cost(model: str, counts: dict[str, int]) -> float:
    price_in, price_out = facts.prices(model)
    tokens_in = (
        counts["input_tokens"]
        + counts["cache_read_input_tokens"] * facts.CACHE_READ_PRICE
        + counts["cache_creation_input_tokens"] * facts.CACHE_WRITE_PRICE
    )
    return (tokens_in * price_in + counts["output_tokens"] * price_out) / 1_000_000


def _model_usage(model: str, counts: dict[str, int]) -> dict[str, Any]:
    return {
        "inputTokens": counts["input_tokens"],
        "outputTokens": counts["output_tokens"],
        "cacheReadInputTokens": counts["cache_read_input_tokens"],
        "cacheCreationInputTokens": counts["cache_creation_input_tokens"],
        "webSearchRequests": 0,
        "costUSD": _cost(model, counts),
        "contextWindow": facts.CONTEXT_WINDOW,
        "maxOutputTokens": facts.MAX_OUTPUT_TOKENS,
        "thinkingTokens": 0,
        "cacheCreationEphemeral5mInputTokens": 0,
        "cacheCreationEphemeral1hInputTokens": 0,
        "canonicalModel": model,
        "provider": "firstParty",
        "costBasis": "list",
    }
