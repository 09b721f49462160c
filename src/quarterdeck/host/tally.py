"""Metrics that a host counts while it runs. They aren't stored."""

from __future__ import annotations

from quarterdeck._histograms import LONG_S, Histogram


class Tally:
    """Processes and approvals."""

    def __init__(self) -> None:
        self.cli_starts = 0
        self.cli_crashes = 0
        """Processes that ended unexpectedly."""
        self.cli_ready = Histogram()
        """From the start of a process to its first answer."""
        self.approval_waits = Histogram(LONG_S)
        """From a request to its decision."""
