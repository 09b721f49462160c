"""The client, from the pipe to the program's own loop: ours against the official SDK, each in a process of its own.

``python -m benchmarks.client`` prints the tables (``--json`` for a program). Both SDKs drive the same stand-in CLI,
written in C, with the same program but for its import. CPU time is that of the host process alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, Literal

from . import _lines
from ._arguments import Size, parse
from ._environments import own_python, peer_python
from ._standin import Script, compiled
from ._table import OURS, PEER, BothWays, Row, Section, say, show

CHILD = Path(__file__).parent / "_children" / "client.py"
LIMIT_S = 60.0
ROUNDS = Size(full=20, quick=3)
"""Short ones: what else the machine does then falls on both sides of a round, or spoils a round of many."""
FEW_ROUNDS = Size(full=5, quick=1)
"""For memory, which hardly varies, and for closing, which takes the official SDK five seconds."""
DELTAS = Size(full=100_000, quick=40_000)
MIXED = Size(full=50_000, quick=20_000)
CROWD = 50
CROWD_DELTAS = Size(full=1_000, quick=500)
SESSIONS = 20
PACE = 250
IN_FLIGHT = 100
REQUESTS = Size(full=20_000, quick=5_000)
ONE_BY_ONE = Size(full=1_000, quick=500)
CALLS = Size(full=300, quick=200)
IDLE_SESSIONS = 20
CLOCK_PER_S = 200
PACED_S = 1
QUIET_S = Size(full=2, quick=1)
ENDLESS = 1_000_000_000
NOT_ABOVE_P50, NOT_ABOVE_P99 = 1 / 1.1, 1 / 1.5
"""A latency is not above the official SDK's if it is within what two runs of the same program differ by."""
CLOSE_S = 0.5
WITH_EXTRAS = "quarterdeck[all]"
BARE = "bare"
FLOOR = "· the floor: msgspec and asyncio alone, in place of quarterdeck"

Figures = dict[str, list[float]]
Measured = dict[str, Figures]
"""Side → figure → one value per round."""


class Bench:
    """Runs loads on either side in turns and keeps what they measured."""

    def __init__(self, *, cli: Path, script: Script, quick: bool) -> None:
        self._cli = cli
        self._script = script
        self._quick = quick
        self._sides = {OURS: (own_python(), "quarterdeck"), PEER: (peer_python(), "claude_agent_sdk")}

    def measure(
        self, load: str, env: dict[str, str], *, rounds: Size = ROUNDS, floor: bool = False, **setting: Any
    ) -> Measured:
        """``floor``: of the bare program as well."""
        sides = [*self._sides, *([BARE] if floor else ())]
        measured: Measured = {side: defaultdict(list) for side in sides}
        number_of_rounds = rounds.of(self._quick)
        for number in range(number_of_rounds):
            for side in sides:
                say(f"{load}, round {number + 1} of {number_of_rounds}: {side}")
                for name, value in self._child(side, load, {"cli": str(self._cli), "env": env, **setting}).items():
                    measured[side][name].append(value)
        return measured

    def _child(self, side: str, load: str, setting: dict[str, Any]) -> dict[str, float]:
        python, package = (self._sides[OURS][0], BARE) if side == BARE else self._sides[side]
        env = {**os.environ, "PYTHONPATH": str(CHILD.parent)} if side == BARE else None
        setting["started"] = time.monotonic()
        command = [str(python), "-P", str(CHILD), package, load, json.dumps(setting)]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True, env=env)
        except subprocess.SubprocessError as error:
            raise SystemExit(f"{side} did not get through {load!r}: {error}") from error
        told: dict[str, float] = json.loads(done.stdout)
        return told

    # Each load as rows

    def streams(self) -> list[BothWays]:
        deltas = self._script.says("deltas", _lines.text_deltas(), DELTAS.of(self._quick))
        turn = _lines.mixed_turn()[1:]  # the stand-in says init itself
        mixed = self._script.says("mixed", turn, MIXED.of(self._quick))
        crowd = self._script.says("crowd", _lines.text_deltas(), CROWD_DELTAS.of(self._quick))
        rows = []
        for name, load, env, setting, clock, processor in (
            ("streaming deltas, text read", "deltas", deltas, {}, 13.0, 13.0),
            ("a realistic turn, text read", "mixed", mixed, {}, 8.0, 8.0),
            (f"{CROWD} sessions that flood", "crowd", crowd, {"sessions": CROWD}, 10.0, None),
        ):
            figures = self.measure(load, env, floor=True, **setting)
            rows.append(_per_message(name, figures, clock=clock, processor=processor))
            rows.append(_per_message(FLOOR, _floor_of(figures)))
        return rows

    def latencies(self) -> list[BothWays]:
        """At a model's pace, and beside a flood."""
        script, quick = self._script, self._quick
        paced = script.tells_the_time(PACE * PACED_S, per_second=PACE)
        calm = script.tells_the_time(CLOCK_PER_S * QUIET_S.of(quick), per_second=CLOCK_PER_S)
        flood = script.says("flood", _lines.text_deltas(), ENDLESS)
        rows = []
        for name, figures, share in (
            (f"{SESSIONS} sessions × {PACE} messages/s", self.measure("late", paced, sessions=SESSIONS), 2.5),
            ("a quiet session beside a flooding one", self.measure("quiet", calm, flood_env=flood), None),
        ):
            processor = _row(figures, "µs", "processor_s", per="messages", scale=1e6, target=share)
            for percentile, target in (("p50", NOT_ABOVE_P50), ("p99", NOT_ABOVE_P99)):
                clock = _row(figures, "µs", f"{percentile}_us", target=target)
                rows.append(BothWays(f"{name}: {percentile} latency; time per message", clock, processor))
        return rows

    def requests(self) -> list[BothWays]:
        count, calls = REQUESTS.of(self._quick), CALLS.of(self._quick)
        *handshake, call = _lines.mcp_requests()
        rows = []
        for name, load, line, number, first, target in (
            ("permission requests", "permissions", _lines.permission_request(), count, (), 8.0),
            ("hook requests", "hooks", _lines.hook_request(), count, (), 8.0),
            ("MCP tool calls", "tools", call, calls, tuple(handshake), 12.0),
        ):
            env = self._script.asks(load, line, number, in_flight=IN_FLIGHT, first=first)
            figures = self.measure(load, env, asks=number, floor=load != "tools")
            clock = _row(figures, "/s", "answers", per="wall_s", better="higher", target=target)
            rows.append(BothWays(f"{name}, {IN_FLIGHT} in flight", clock, _each(figures)))
            if load != "tools":
                floor = _floor_of(figures)
                clock = _row(floor, "/s", "answers", per="wall_s", better="higher")
                rows.append(BothWays(FLOOR, clock, _each(floor)))
        for name, load, line, number, first, target in (
            ("permission requests", "permissions", _lines.permission_request(), ONE_BY_ONE.of(self._quick), (), 1.4),
            ("hook requests", "hooks", _lines.hook_request(), ONE_BY_ONE.of(self._quick), (), 1.4),
            ("MCP tool calls", "tools", call, calls, tuple(handshake), 12.0),
        ):
            env = self._script.asks(load, line, number, in_flight=1, first=first)
            figures = self.measure(load, env, asks=number)
            clock = _row(figures, "µs", "p50_us", target=target)
            rows.append(BothWays(f"{name}, one at a time: p50; time per request", clock, _each(figures)))
        return rows

    def start(self) -> list[BothWays]:
        """Ours twice: with its one dependency, and where everything that it can use is installed."""
        nothing = self._script.says("nothing", (), 0)
        self._sides = {WITH_EXTRAS: (own_python(extras=True), "quarterdeck"), **self._sides}
        figures = self.measure("first", nothing, floor=True)
        rows = []
        for side, name, target in (
            (OURS, "process start to first message", 8.0),
            (WITH_EXTRAS, "process start to first message, installed with [all]", 8.0),
            (BARE, FLOOR, None),
        ):
            pair = {OURS: figures[side], PEER: figures[PEER]}
            clock = _row(pair, "ms", "start_s", scale=1e3, target=target)
            rows.append(BothWays(name, clock, _row(pair, "ms", "processor_s", scale=1e3)))
        del self._sides[WITH_EXTRAS]
        return rows

    def closing(self) -> list[BothWays]:
        flood = self._script.says("flood", _lines.text_deltas(), ENDLESS)
        figures = self.measure("backlog", flood, rounds=FEW_ROUNDS)
        clock = _row(figures, "s", "close_s", most=CLOSE_S)
        return [BothWays("closing with an unread backlog", clock, _row(figures, "s", "processor_s"))]

    def memory(self) -> list[Row]:
        figures = self.measure("idle", self._script.says("nothing", (), 0), rounds=FEW_ROUNDS, sessions=IDLE_SESSIONS)
        return [
            _row(figures, "KB", "kb_per_session", name="memory per idle session", target=5.0),
            _row(figures, "KB", "base_kb", name="memory after import", target=2.0),
        ]


def _row(
    measured: Measured,
    unit: str,
    figure: str,
    *,
    per: str | None = None,
    scale: float = 1.0,
    name: str = "",
    better: Literal["lower", "higher"] = "lower",
    target: float | None = None,
    most: float | None = None,
) -> Row:
    """One figure of both sides, divided by another if wanted."""

    def values(side: str) -> list[float]:
        below = measured[side][per] if per else [1.0] * len(measured[side][figure])
        return [value / other * scale for value, other in zip(measured[side][figure], below, strict=True)]

    return Row(name, unit, values(OURS), values(PEER), better=better, target=target, most=most)


def _floor_of(measured: Measured) -> Measured:
    return {OURS: measured[BARE], PEER: measured[PEER]}


def _per_message(
    name: str, figures: Measured, *, clock: float | None = None, processor: float | None = None
) -> BothWays:
    by_clock = _row(figures, "µs", "wall_s", per="messages", scale=1e6, target=clock)
    return BothWays(name, by_clock, _row(figures, "µs", "processor_s", per="messages", scale=1e6, target=processor))


def _each(figures: Measured) -> Row:
    return _row(figures, "µs", "processor_s", per="answers", scale=1e6)


NOTE = (
    "The stand-in answers `initialize`, then sends output as fast as it can, at a fixed pace, or keeps requests in "
    "flight; it is never the bottleneck. CPU time is the host process's (user and system), from the prompt "
    "to the result. Times are per message or per request unless a rate is given. Sessions at a pace speak at moments "
    "spread evenly over the time between two messages of one session. The program reads "
    f'`message.event["delta"]["text"]` on both sides. There are {ROUNDS.full} rounds ({FEW_ROUNDS.full} for '
    "closing and memory); each runs Quarterdeck and the official SDK one after the other. The table shows medians; "
    "“better by” is the median ratio of all rounds, with its interquartile range in brackets. Latency targets "
    "allow 1.1 times the official SDK's p50 and 1.5 times its p99. The floor is a program of 150 lines "
    "(`benchmarks/_children/bare.py`) that handles these loads and nothing else: no record of lines, no bounds, no "
    "checks, no typed requests, no process supervision."
)


def run(*, quick: bool) -> list[Section]:
    with tempfile.TemporaryDirectory(prefix="quarterdeck-bench-") as folder:
        bench = Bench(cli=compiled(), script=Script(Path(folder)), quick=quick)
        parts = (bench.streams, bench.latencies, bench.requests, bench.start, bench.closing)
        rows = [row for part in parts for row in part()]
        memory = bench.memory()
    return [Section("The client on a stand-in CLI", rows, [NOTE]), Section("Memory", memory)]


if __name__ == "__main__":
    arguments = parse(__doc__)
    show(run(quick=arguments.quick), as_json=arguments.json)
