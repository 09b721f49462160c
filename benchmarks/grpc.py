"""The gRPC gateway beside the bare library: ratios, in rounds by turns, servers and clients in different processes.

``python -m benchmarks.grpc`` prints the table (``--json`` for a program, ``--quick`` for a look). The bare stream sends
the same events in the same groups, built beforehand; ours come through the fan-out of a session, as what a CLI says
does, and are written as they come.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from typing import Any

from ._arguments import Size, parse
from ._rounds import LIMIT_S, ROUNDS, Figures, divided
from ._table import Row, Section, say, show

EVENTS = Size(full=400_000, quick=100_000)
CALLS = Size(full=8_000, quick=2_000)
PIECES = Size(full=1_000, quick=300)
EVERY_S = 0.001
LATENCY_ROUNDS = Size(full=10, quick=2)
WATCH, UNARY, LATENCY = 0.5, 0.6, 1.0
LEAST_US = 1.0
"""A difference of two medians may be below zero."""
NOTE = (
    "The bare library alone takes longer from process to process than our whole WebSocket gateway, so each gateway is "
    "compared by what it adds to the library it stands on. For that, all four serve in one process, 25 pieces of text "
    "at a time by turns."
)


def child(module: str, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", f"benchmarks._children.{module}", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def rounds(loads: dict[str, dict[str, Any]], *, quick: bool) -> dict[str, Figures]:
    measured: dict[str, Figures] = {load: defaultdict(list) for load in loads}
    for number in range(ROUNDS.of(quick)):
        for load, setting in loads.items():
            say(f"{load}, round {number + 1} of {ROUNDS.of(quick)}")
            for name, value in child("grpc_loads", load, json.dumps(setting)).items():
                measured[load][name].append(value)
    return measured


def latencies(*, quick: bool) -> Figures:
    """The median of each server in each round, in µs."""
    measured: Figures = defaultdict(list)
    for number in range(LATENCY_ROUNDS.of(quick)):
        say(f"latency, round {number + 1} of {LATENCY_ROUNDS.of(quick)}")
        for name, value in child("grpc_latency", json.dumps({"count": PIECES.of(quick), "every_s": EVERY_S})).items():
            measured[name].append(value)
    return measured


def run(*, quick: bool) -> list[Section]:
    watch, calls = {"count": EVENTS.of(quick)}, {"count": CALLS.of(quick)}
    found = rounds(
        {
            "watch_bare": watch,
            "watch_ours": watch,
            "watch_gateway": watch,
            "unary_bare": calls,
            "unary_ours": calls,
        },
        quick=quick,
    )
    late_us = latencies(quick=quick)

    def rate(load: str, what: str) -> list[float]:
        return divided(found[load][what], found[load]["wall_s"])

    def added(side: str) -> list[float]:
        pairs = zip(late_us[side], late_us[f"{side}_bare"], strict=True)
        return [max(ours - bare, LEAST_US) for ours, bare in pairs]

    against = "bare grpc.aio"
    rows = [
        Row(
            "events of a watch to one client, 20 at a time",
            "events/s",
            rate("watch_ours", "events"),
            rate("watch_bare", "events"),
            better="higher",
            target=WATCH,
            against=against,
        ),
        Row(
            "· the gateway alone, without the session's fan-out",
            "events/s",
            rate("watch_gateway", "events"),
            rate("watch_bare", "events"),
            better="higher",
            against=against,
        ),
        Row(
            "unary calls, 16 at once",
            "calls/s",
            rate("unary_ours", "calls"),
            rate("unary_bare", "calls"),
            better="higher",
            target=UNARY,
            against=against,
        ),
        Row(
            "latency that the gateway adds to its bare library's, p50",
            "µs",
            added("grpc"),
            added("websocket"),
            target=LATENCY,
            against="our WebSocket, to its bare server",
        ),
        Row(
            "· from the host to the client in all, p50",
            "µs",
            late_us["grpc"],
            late_us["grpc_bare"],
            against=against,
        ),
        Row(
            "· the same over a WebSocket, p50",
            "µs",
            late_us["websocket"],
            late_us["websocket_bare"],
            against="bare server",
        ),
    ]
    return [Section("gRPC", rows, [NOTE])]


def main() -> int:
    arguments = parse(__doc__)
    sections = run(quick=arguments.quick)
    show(sections, as_json=arguments.json)
    return 0 if all(row.met is not False for section in sections for row in section.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
