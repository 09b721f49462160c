"""Limits that every gateway has: per token, and against guessing tokens."""

from __future__ import annotations

import msgspec


class AccessSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Rate and stream limits."""

    streams_per_token: int = 200
    requests_per_s: float = 200.0
    """Per token; bursts of up to four times as many are fine."""

    # Streams
    outbox_bytes: int = 256 * 1024
    """What may wait for one client. A subscription that finds it full waits, and reads the log later."""
    stalled_s: float = 60.0
    """A client that reads nothing for this long is considered gone."""
    drain_s: float = 10.0
    """What is being answered when the gateway stops has this long."""

    # Failed attempts
    attempts: int = 5
    """Failures of one client within a minute that cost it nothing."""
    slowest_s: float = 4.0
    delayed: int = 64
    """Answers that are held back at once; beyond that they are refused at once."""
