"""Times and money as faces show them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

_MICRO = Decimal("0.000001")
LONGEST_S = 100 * 365 * 86_400.0
"""What tokens and grants may last: a time beyond the year 9999 could be kept, but never shown again."""


def moment(seconds: float) -> datetime:
    """Seconds since 1970 as a time in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


def usd(amount: float) -> Decimal:
    """Dollars to the millionth; never more digits than the CLI means."""
    return Decimal(repr(amount)).quantize(_MICRO).normalize() + 0
