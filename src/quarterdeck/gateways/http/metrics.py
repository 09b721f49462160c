"""What the gateway and its host have counted, as Prometheus reads it."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from quarterdeck.gateways.common.calling import call
from quarterdeck.gateways.common.outbox import Outbox
from quarterdeck.host import Caller
from quarterdeck.host.operations import OPERATIONS

from .responses import Answer

if TYPE_CHECKING:
    from .app import Gateway

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

HOST_METRICS: dict[str, tuple[str, str, str]] = {
    "processes": ("gauge", "quarterdeck_processes", "Claude Code processes that run."),
    "approvals_pending": ("gauge", "quarterdeck_approvals_pending", "Approvals that wait for a decision."),
    "prompts_waiting": ("gauge", "quarterdeck_prompts_waiting", "Prompts that wait in all sessions."),
    "log_rows_total": ("counter", "quarterdeck_log_rows_total", "Rows of all logs."),
    "log_bytes": ("gauge", "quarterdeck_log_bytes", "Size of all logs."),
    "host_position": ("counter", "quarterdeck_changes_total", "Changes of sessions and approvals."),
    "uptime_s": ("gauge", "quarterdeck_uptime_seconds", "Seconds since the host opened."),
}
"""What the host counts → type, name by Prometheus' conventions, help."""


class Meter:
    """Counts what the gateway does."""

    def __init__(self) -> None:
        self.under_way = 0
        self.connections = 0
        self.refused_connections = 0
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._buckets: Counter[tuple[str, str, float]] = Counter()
        self._told = 0
        self._streams: dict[int, tuple[str, Outbox]] = {}

    def answered(self, method: str, route: str, status: int, took_s: float) -> None:
        """A request to a route of the table; others share a name, or anybody could make up new ones."""
        method = "" if route == "none" else method
        self._requests[method, route, status] += 1
        self._seconds[method, route] += took_s
        bound = next((bound for bound in BOUNDS_S if took_s <= bound), float("inf"))
        self._buckets[method, route, bound] += 1

    def told(self) -> None:
        """One item of a stream went to one client."""
        self._told += 1

    @contextlib.contextmanager
    def stream(self, kind: str, outbox: Outbox) -> Iterator[None]:
        self._streams[id(outbox)] = (kind, outbox)
        try:
            yield
        finally:
            del self._streams[id(outbox)]

    def lines(self) -> Iterator[str]:
        yield from _metric("gauge", "quarterdeck_http_requests_in_progress", "Requests under way.", self.under_way)
        yield from _metric("gauge", "quarterdeck_http_connections", "Open connections.", self.connections)
        yield from _metric(
            "counter",
            "quarterdeck_http_refused_connections_total",
            "Connections refused because there were too many.",
            self.refused_connections,
        )
        yield from _metric(
            "counter", "quarterdeck_stream_items_total", "Frames and other items told to clients.", self._told
        )
        streams = Counter(kind for kind, _ in self._streams.values())
        yield from _labelled(
            "gauge",
            "quarterdeck_streams",
            "Open streams.",
            {(("kind", kind),): streams[kind] for kind in ("sse", "websocket")},
        )
        waiting = [outbox.waiting_bytes for _, outbox in self._streams.values()]
        yield from _metric(
            "gauge", "quarterdeck_stream_lag_bytes", "What waits for the slowest client.", max(waiting, default=0)
        )
        yield from _labelled(
            "counter",
            "quarterdeck_http_requests_total",
            "Requests, by route and status.",
            {
                (("method", method), ("route", route), ("status", str(status))): count
                for (method, route, status), count in self._requests.items()
            },
        )
        yield from self._latencies()

    def _latencies(self) -> Iterator[str]:
        name = "quarterdeck_http_request_duration_seconds"
        yield from _head("histogram", name, "Time until a request was answered; streams do not count.")
        for (method, route), seconds in sorted(self._seconds.items()):
            labels, count = (("method", method), ("route", route)), 0
            for bound in (*BOUNDS_S, float("inf")):
                count += self._buckets[method, route, bound]
                shown = "+Inf" if bound == float("inf") else f"{bound:g}"
                yield f"{name}_bucket{_labels((*labels, ('le', shown)))} {count}"
            yield f"{name}_sum{_labels(labels)} {seconds:.6f}"
            yield f"{name}_count{_labels(labels)} {count}"


async def shown(gateway: Gateway, caller: Caller) -> Answer:
    """Everything, for one scrape."""
    operation = OPERATIONS["get_metrics"]
    details: dict[str, Any] = (await call(gateway.host, operation, operation.takes(), caller)).result.details
    lines = [
        *_labelled(
            "gauge",
            "quarterdeck_sessions",
            "Sessions, by state.",
            {(("state", state),): count for state, count in sorted(details.get("sessions", {}).items())},
        )
    ]
    for name, (kind, public, about) in HOST_METRICS.items():
        if name in details:
            lines += _metric(kind, public, about, details[name])
    lines += gateway.meter.lines()
    lines += _metric(
        "counter",
        "quarterdeck_http_failed_attempts_total",
        "Requests with no token or a wrong one.",
        gateway.authentication.refused,
    )
    return Answer("".join(f"{line}\n" for line in lines).encode(), 200, MEDIA_TYPE)


def _head(kind: str, name: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def _metric(kind: str, name: str, about: str, value: float) -> Iterator[str]:
    yield from _labelled(kind, name, about, {(): value})


def _labelled(kind: str, name: str, about: str, values: dict[tuple[tuple[str, str], ...], float]) -> Iterator[str]:
    yield from _head(kind, name, about)
    for labels, value in values.items():
        yield f"{name}{_labels(labels)} {value}"


def _labels(labels: tuple[tuple[str, str], ...]) -> str:
    def quoted(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    return "{" + ",".join(f'{name}="{quoted(value)}"' for name, value in labels) + "}" if labels else ""
