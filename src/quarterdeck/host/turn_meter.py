"""Estimates the cost of the running turn: Claude Code reports it only at the end.

Prices are learned from earlier reports. All models are billed in the same proportions (output five times the input,
cache reads a tenth, cache writes five quarters), so we learn only one price per model.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from quarterdeck.store.records import Usage, UsageEntry
from quarterdeck.wire import AssistantMessage

OUTPUT, CACHE_READ, CACHE_WRITE = 5.0, 0.1, 1.25
CHARS_PER_TOKEN = 4
FAMILIES = {"haiku": 1e-6, "sonnet": 3e-6, "opus": 5e-6}
"""Initial dollars per input token; unknown families have no price until one is learned."""


class Prices:
    """Dollars per input token, by model."""

    def __init__(self) -> None:
        self._learned: dict[str, float] = {}

    def learn(self, model: str, used: Usage) -> None:
        units = _units(used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens)
        if units > 0 and used.cost_nano_usd > 0:
            self._learned[model] = used.cost_nano_usd / 1e9 / units

    def learn_all(self, entries: Iterable[UsageEntry]) -> None:
        for entry in entries:
            self.learn(entry.model, entry)

    def of(self, model: str) -> float:
        """0 if unknown."""
        known = self._learned.get(model)
        if known is not None:
            return known
        return next((price for family, price in FAMILIES.items() if family in model), 0.0)


class TurnMeter:
    """The messages of one turn."""

    def __init__(self) -> None:
        self._messages: dict[str, tuple[str, float]] = {}
        """Message → its model, and its tokens as equivalent input tokens."""
        self._said: dict[str, int] = {}

    def add(self, message: AssistantMessage, size_bytes: int) -> None:
        """Add a line of this size. Each block of a message arrives in its own line, with the message's usage so far."""
        said = message.message
        key, used = said.id, said.usage
        if used is None or key is None:
            return
        length = self._said[key] = self._said.get(key, 0) + size_bytes
        count = used.get
        output, guessed = count("output_tokens") or 0, length // (2 * CHARS_PER_TOKEN)  # half is around the text
        units = _units(
            count("input_tokens") or 0,
            max(guessed, output),
            count("cache_read_input_tokens") or 0,
            count("cache_creation_input_tokens") or 0,
        )
        self._messages[key] = said.model or "", units

    def clear(self) -> None:
        if self._messages:
            self._messages.clear()
            self._said.clear()

    def cost_usd(self, prices: Prices) -> Decimal:
        """The estimate."""
        total = sum(units * prices.of(model) for model, units in self._messages.values())
        return Decimal(repr(round(total, 6)))


def _units(given: int, output: int, cache_read: int, cache_write: int) -> float:
    return given + OUTPUT * output + CACHE_READ * cache_read + CACHE_WRITE * cache_write
