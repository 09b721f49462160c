"""Settings of a keeper, fixed when it starts."""

from __future__ import annotations

from typing import NamedTuple

from .spool import SEGMENT_BYTES

SPOOL_LIMIT_BYTES = 256 * 1024 * 1024
"""Limit on unacknowledged output: four times a client's longest line."""


class KeeperSettings(NamedTuple):
    linger_s: float = 60.0
    """Without sessions and a host, it exits after this time."""
    look_s: float = 10.0
    """Between checks that its folder still exists."""
    spool_limit_bytes: int = SPOOL_LIMIT_BYTES
    """Per session; above it, the process isn't read until the host acknowledges output."""
    segment_bytes: int = SEGMENT_BYTES
    """Size of each spool file."""
