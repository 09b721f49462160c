"""How long things take: counts by upper bound, as Prometheus keeps them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

SHORT_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""For what a program waits for."""
LONG_S = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 86_400.0)
"""For what waits for a person."""


class Histogram:
    """One thread observes; any may look."""

    def __init__(self, bounds: Sequence[float] = SHORT_S) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self.sum += value

    @property
    def count(self) -> int:
        return sum(self._counts)

    def buckets(self) -> Iterator[tuple[float, int]]:
        """Each bound, and how many were at most that; the last bound is infinite."""
        total = 0
        for bound, count in zip((*self._bounds, float("inf")), self._counts, strict=True):
            total += count
            yield bound, total
