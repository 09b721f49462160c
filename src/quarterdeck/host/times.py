"""Times and money as APIs return them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

_MICRO = Decimal("0.000001")
_MOST_USD = 1e15
"""More than anything costs, and with millionths it still has fewer digits than decimal arithmetic has by default."""
LONGEST_S = 100 * 365 * 86_400.0
"""Limit on the lifetime of tokens and grants: a time after the year 9999 could be stored, but not shown."""


def moment(seconds: float) -> datetime:
    """Convert seconds since 1970 to a UTC time."""
    return datetime.fromtimestamp(seconds, UTC)


def usd(amount: float) -> Decimal:
    """Round dollars to the millionth, the precision of the CLI."""
    amount = min(max(-_MOST_USD, amount), _MOST_USD)
    return Decimal(repr(amount)).quantize(_MICRO).normalize() + 0
