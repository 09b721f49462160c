"""Times and money as faces show them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

_MICRO = Decimal("0.000001")
_MOST_USD = 1e15
"""More than anything costs, and with millionths it still has fewer digits than decimal arithmetic has by default."""
LONGEST_S = 100 * 365 * 86_400.0
"""What tokens and grants may last: a time beyond the year 9999 could be kept, but never shown again."""


def moment(seconds: float) -> datetime:
    """Seconds since 1970 as a time in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


def usd(amount: float) -> Decimal:
    """Dollars to the millionth; never more digits than the CLI means."""
    amount = min(max(-_MOST_USD, amount), _MOST_USD)
    return Decimal(repr(amount)).quantize(_MICRO).normalize() + 0
