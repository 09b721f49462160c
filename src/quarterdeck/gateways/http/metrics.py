"""What the gateway and its host have counted, as Prometheus reads it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from quarterdeck._histograms import Histogram
from quarterdeck.gateways.common.calling import call
from quarterdeck.gateways.common.exposition import Labels, histograms, labelled, metric
from quarterdeck.gateways.common.outbox import Outbox
from quarterdeck.host import Caller, Host
from quarterdeck.host.operations import OPERATIONS
from quarterdeck.host.requests import GetUsage

from .responses import HttpAnswer

if TYPE_CHECKING:
    from .app import Gateway

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

HOST_METRICS: dict[str, tuple[str, str, str]] = {
    "processes": ("gauge", "quarterdeck_processes", "Running Claude Code processes."),
    "approvals_pending": ("gauge", "quarterdeck_approvals_pending", "Approvals that are pending."),
    "approval_oldest_s": (
        "gauge",
        "quarterdeck_approval_oldest_pending_seconds",
        "Age of the oldest pending approval; 0 if there is none.",
    ),
    "prompts_waiting": ("gauge", "quarterdeck_prompts_waiting", "Queued prompts in all sessions."),
    "log_rows_total": ("counter", "quarterdeck_log_rows_total", "Rows written to the logs since the host opened."),
    "log_bytes": ("gauge", "quarterdeck_log_bytes", "Size of all logs."),
    "store_bytes": ("gauge", "quarterdeck_store_bytes", "Size of the store's files."),
    "commits_waiting": ("gauge", "quarterdeck_store_commits_waiting", "Commits not written yet."),
    "cli_starts": ("counter", "quarterdeck_cli_starts_total", "Claude Code processes started."),
    "cli_crashes": ("counter", "quarterdeck_cli_crashes_total", "Processes that ended unexpectedly."),
    "host_position": ("counter", "quarterdeck_changes_total", "Changes of sessions and approvals."),
    "uptime_s": ("gauge", "quarterdeck_uptime_seconds", "Seconds since the host opened."),
}
"""What the host counts → type, name by Prometheus' conventions, help."""


class OtherMeter(Protocol):
    """What another gateway counts."""

    def lines(self) -> Iterator[str]: ...


class Meter:
    """Counts what the gateway does."""

    def __init__(self) -> None:
        self.under_way = 0
        self.connections = 0
        self.refused_connections = 0
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._latencies: defaultdict[tuple[str, str], Histogram] = defaultdict(Histogram)
        self._told = 0
        self._streams: dict[int, tuple[str, Outbox]] = {}

    def answered(self, method: str, route: str, status: int, took_s: float) -> None:
        """A request to a known route; others share one name, or anyone could create new ones."""
        method = "" if route == "none" else method
        self._requests[method, route, status] += 1
        self._latencies[method, route].observe(took_s)

    def told(self, count: int) -> None:
        """Items of a stream sent to one client."""
        self._told += count

    def opened(self, kind: str, outbox: Outbox) -> None:
        self._streams[id(outbox)] = (kind, outbox)

    def closed(self, outbox: Outbox) -> None:
        del self._streams[id(outbox)]

    def waiting_bytes(self) -> list[int]:
        """What waits for the client of each stream."""
        return [outbox.waiting_bytes for _, outbox in self._streams.values()]

    def lines(self) -> Iterator[str]:
        yield from metric("gauge", "quarterdeck_http_requests_in_progress", "Requests in progress.", self.under_way)
        yield from metric("gauge", "quarterdeck_http_connections", "Open connections.", self.connections)
        yield from metric(
            "counter",
            "quarterdeck_http_refused_connections_total",
            "Connections refused because there were too many.",
            self.refused_connections,
        )
        yield from metric(
            "counter", "quarterdeck_stream_items_total", "Frames and other items sent to clients.", self._told
        )
        streams = Counter(kind for kind, _ in self._streams.values())
        yield from labelled(
            "gauge",
            "quarterdeck_streams",
            "Open streams.",
            {(("kind", kind),): streams[kind] for kind in ("sse", "websocket")},
        )
        waiting = self.waiting_bytes()
        yield from metric(
            "gauge", "quarterdeck_stream_lag_bytes", "Data waiting for the slowest client.", max(waiting, default=0)
        )
        yield from labelled(
            "counter",
            "quarterdeck_http_requests_total",
            "Requests, by route and status.",
            {
                (("method", method), ("route", route), ("status", str(status))): count
                for (method, route, status), count in self._requests.items()
            },
        )
        yield from histograms(
            "quarterdeck_http_request_duration_seconds",
            "Response time of requests, without streams.",
            {
                (("method", method), ("route", route)): one
                for (method, route), one in sorted(self._latencies.items(), key=lambda one: one[0])
            },
        )


async def shown(gateway: Gateway, caller: Caller) -> HttpAnswer:
    """Everything, for one scrape."""
    operation = OPERATIONS["get_metrics"]
    details: dict[str, Any] = (await call(gateway.host, operation, operation.takes(), caller)).result.details
    lines = [
        *labelled(
            "gauge",
            "quarterdeck_sessions",
            "Sessions, by state.",
            {(("state", state),): count for state, count in sorted(details.get("sessions", {}).items())},
        )
    ]
    for name, (kind, public, about) in HOST_METRICS.items():
        if name in details:
            lines += metric(kind, public, about, details[name])
    lines += _durations(gateway.host)
    lines += await _usage(gateway.host, caller)
    lines += gateway.meter.lines()
    for other in gateway.other_meters:
        lines += other.lines()
    lines += metric(
        "counter",
        "quarterdeck_http_failed_attempts_total",
        "Requests with no token or a wrong one.",
        gateway.authentication.refused,
    )
    return HttpAnswer("".join(f"{line}\n" for line in lines).encode(), 200, MEDIA_TYPE)


def _durations(host: Host) -> Iterator[str]:
    tally, commits = host.tally, host.store.commit_times
    waits = "Time from a request to its decision."
    yield from histograms("quarterdeck_approval_wait_seconds", waits, {(): tally.approval_waits})
    ready = "Time from the start of a Claude Code process until it is ready."
    yield from histograms("quarterdeck_cli_ready_seconds", ready, {(): tally.cli_ready})
    if commits is not None:
        yield from histograms("quarterdeck_store_commit_seconds", "Duration of a transaction.", {(): commits})


async def _usage(host: Host, caller: Caller) -> list[str]:
    """Of all time, as the store has it."""
    if caller.folders:  # it may not see what all sessions used
        return []
    operation = OPERATIONS["get_usage"]
    rows = (await call(host, operation, GetUsage(by=["model"]), caller)).result.usage
    tokens: dict[Labels, float] = {
        (("model", row.by["model"]), ("kind", kind)): getattr(row.tokens, kind)
        for row in rows
        for kind in row.tokens.__struct_fields__
    }
    cost: dict[Labels, float] = {(("model", row.by["model"]),): float(row.cost_usd) for row in rows}
    return [
        *labelled("counter", "quarterdeck_tokens_total", "Tokens, by model and kind.", tokens),
        *labelled("counter", "quarterdeck_cost_usd_total", "Cost of sessions, by model.", cost),
    ]
