"""Settings of a keeper, given when it starts."""

from __future__ import annotations

from typing import NamedTuple

from .spool import SEGMENT_BYTES

SPOOL_LIMIT_BYTES = 256 * 1024 * 1024
"""Unacknowledged at most: four of the longest lines that a client takes."""


class KeeperSettings(NamedTuple):
    linger_s: float = 60.0
    """Without sessions and without a host, it leaves after this time."""
    look_s: float = 10.0
    """Between looks whether its folder is still there."""
    spool_limit_bytes: int = SPOOL_LIMIT_BYTES
    """Of each session; beyond it the process is not read until the host has acknowledged something."""
    segment_bytes: int = SEGMENT_BYTES
    """Of each file of a spool."""
