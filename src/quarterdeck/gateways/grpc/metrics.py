"""What the gateway has counted, for Prometheus: calls, how long they take, streams and what waits for their clients."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from quarterdeck._histograms import Histogram
from quarterdeck.gateways.common.exposition import histograms, labelled, metric

from .line import Line


class Meter:
    """Counts what the gateway does."""

    def __init__(self, failed_attempts: Callable[[], int]) -> None:
        self.under_way = 0
        """Calls, with streams."""
        self._failed_attempts = failed_attempts
        self._calls: Counter[tuple[str, str]] = Counter()
        self._latencies: defaultdict[str, Histogram] = defaultdict(Histogram)
        self._streams: dict[int, tuple[str, Line]] = {}

    def answered(self, method: str, code: str, took_s: float | None) -> None:
        """A call has ended; one that streams takes as long as its client likes."""
        self._calls[method, code] += 1
        if took_s is not None:
            self._latencies[method].observe(took_s)

    def opened(self, method: str, line: Line) -> None:
        self._streams[id(line)] = (method, line)

    def closed(self, line: Line) -> None:
        del self._streams[id(line)]

    def lines(self) -> Iterator[str]:
        yield from metric("gauge", "quarterdeck_grpc_calls_in_progress", "Calls in progress.", self.under_way)
        streams = Counter(method for method, _ in self._streams.values())
        yield from labelled(
            "gauge",
            "quarterdeck_grpc_streams",
            "Open streams, by method.",
            {(("method", method),): count for method, count in sorted(streams.items())},
        )
        waiting = max((line.waiting_bytes for _, line in self._streams.values()), default=0)
        yield from metric("gauge", "quarterdeck_grpc_stream_lag_bytes", "Data waiting for the slowest client.", waiting)
        yield from labelled(
            "counter",
            "quarterdeck_grpc_calls_total",
            "Calls that have ended, by method and status.",
            {(("method", method), ("code", code)): count for (method, code), count in sorted(self._calls.items())},
        )
        yield from histograms(
            "quarterdeck_grpc_call_duration_seconds",
            "Response time of calls, without streams.",
            {(("method", method),): one for method, one in sorted(self._latencies.items())},
        )
        yield from metric(
            "counter",
            "quarterdeck_grpc_failed_attempts_total",
            "Calls with no token or a wrong one.",
            self._failed_attempts(),
        )
