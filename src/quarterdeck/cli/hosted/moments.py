"""Times and spans on the command line."""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime, timedelta

UNITS_S = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_TIME_OF_DAY = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")


def moment(text: str) -> datetime:
    """A date, a time, or a span back from now."""
    now = datetime.now(UTC)
    try:
        if (found := _SPAN.fullmatch(text)) is not None:
            return now - timedelta(seconds=float(found[1]) * UNITS_S[found[2]])
        parsed = datetime.fromisoformat(text)
        return (parsed if parsed.tzinfo else parsed.astimezone()).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(f"must be a date such as 2026-05-31, or e.g. 7d, not {text!r}") from None


def upcoming(text: str) -> datetime | None:
    """A date, a time of day (today, or tomorrow if it is over), a span from now, or ``now``: None."""
    now = datetime.now().astimezone()
    try:
        if text == "now":
            return None
        if (found := _SPAN.fullmatch(text)) is not None:
            return (now + timedelta(seconds=float(found[1]) * UNITS_S[found[2]])).astimezone(UTC)
        if (found := _TIME_OF_DAY.fullmatch(text)) is not None:
            at = now.replace(hour=int(found[1]), minute=int(found[2]), second=int(found[3] or 0), microsecond=0)
            return (at if at > now else at + timedelta(days=1)).astimezone(UTC)
        parsed = datetime.fromisoformat(text)
        return (parsed if parsed.tzinfo else parsed.astimezone()).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        wanted = "must be a time such as 22:00, 2026-05-31T08:00 or 2h, or now"
        raise argparse.ArgumentTypeError(f"{wanted}, not {text!r}") from None


def span(text: str) -> float:
    """Seconds."""
    found = _SPAN.fullmatch(text)
    if found is None or not float(found[1]):
        raise argparse.ArgumentTypeError(f"must be a duration such as 12h or 30d, not {text!r}")
    return float(found[1]) * UNITS_S[found[2]]


def count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"must be a number, not {text!r}")
    return int(text)
