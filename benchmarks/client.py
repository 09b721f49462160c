"""The client, from the pipe to the program's own loop: ours against the official SDK, each in a process of its own.

``python -m benchmarks.client`` prints the table (``--json`` for a program). Both SDKs drive the same stand-in CLI,
written in C, with the same program but for its import. Processor time is that of the host process alone.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from . import _lines
from ._arguments import Size, parse
from ._environments import own_python, peer_python
from ._standin import Script, compiled
from ._table import OURS, PEER, Row, Section, say, show

CHILD = Path(__file__).parent / "_children" / "client.py"
LIMIT_S = 60.0
ROUNDS = Size(full=5, quick=2)
MORE_ROUNDS = Size(full=10, quick=3)
"""For what takes a second or two, and so is easily hit as a whole by what else the machine does."""
DELTAS = Size(full=200_000, quick=40_000)
MIXED = Size(full=100_000, quick=20_000)
SESSIONS = 20
PACE = 250
PACED_S = Size(full=5, quick=2)
IN_FLIGHT = 100
REQUESTS = Size(full=20_000, quick=5_000)
CALLS = Size(full=1_000, quick=300)
IDLE_SESSIONS = Size(full=50, quick=20)
CLOCK_PER_S = 100
CLOCK_S = Size(full=5, quick=2)
ENDLESS = 1_000_000_000

Figures = dict[str, list[float]]


class Bench:
    """Runs loads on either side in turns and keeps what they measured."""

    def __init__(self, *, cli: Path, script: Script, quick: bool) -> None:
        self._cli = cli
        self._script = script
        self._quick = quick
        self._sides = {OURS: (own_python(), "quarterdeck"), PEER: (peer_python(), "claude_agent_sdk")}

    def measure(
        self, load: str, env: dict[str, str], *, number_of_rounds: Size = ROUNDS, **setting: Any
    ) -> dict[str, Figures]:
        figures: dict[str, Figures] = {side: defaultdict(list) for side in self._sides}
        rounds = number_of_rounds.of(self._quick)
        for number in range(rounds):
            for side in self._sides:
                say(f"{load}, round {number + 1} of {rounds}: {side}")
                for name, value in self._child(side, load, {"cli": str(self._cli), "env": env, **setting}).items():
                    figures[side][name].append(value)
        return figures

    def _child(self, side: str, load: str, setting: dict[str, Any]) -> dict[str, float]:
        python, package = self._sides[side]
        setting["started"] = time.monotonic()
        command = [str(python), "-P", str(CHILD), package, load, json.dumps(setting)]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True)
        except subprocess.SubprocessError as error:
            raise SystemExit(f"{side} did not get through {load!r}: {error}") from error
        told: dict[str, float] = json.loads(done.stdout)
        return told

    # Each load as rows

    def streams(self) -> list[Row]:
        deltas = self._script.says("deltas", _lines.text_deltas(), DELTAS.of(self._quick))
        turn = _lines.mixed_turn()[1:]  # the stand-in says init itself
        mixed = self._script.says("mixed", turn, MIXED.of(self._quick))
        return [
            self._per_message("streaming deltas, text read", self.measure("deltas", deltas), 10.0),
            self._per_message("a turn as it is, text read", self.measure("mixed", mixed), 7.0),
        ]

    def _per_message(self, name: str, figures: dict[str, Figures], target: float) -> Row:
        each = {side: _quotient(one, "processor_s", "messages", 1e6) for side, one in figures.items()}
        return Row(f"{name}: processor time per message", "µs", each[OURS], each[PEER], target=target)

    def pace(self) -> list[Row]:
        count = PACE * PACED_S.of(self._quick)
        env = self._script.says("paced", _lines.text_deltas(), count, per_second=PACE)
        figures = self.measure("paced", env, sessions=SESSIONS)
        share = {side: _quotient(one, "processor_s", "wall_s", 100.0) for side, one in figures.items()}
        return [
            Row(f"{SESSIONS} sessions × {PACE} messages/s: share of a core", "%", share[OURS], share[PEER], target=3.5)
        ]

    def requests(self) -> list[Row]:
        count, calls = REQUESTS.of(self._quick), CALLS.of(self._quick)
        *handshake, call = _lines.mcp_requests()
        script = self._script
        rows = []
        for name, load, line, number, flight, first, target in (
            ("permission requests", "permissions", _lines.permission_request(), count, IN_FLIGHT, (), 6.0),
            ("hook requests", "hooks", _lines.hook_request(), count, IN_FLIGHT, (), 6.0),
            ("MCP tool calls", "tools", call, calls, IN_FLIGHT, tuple(handshake), 12.0),
            ("MCP tool calls", "tools", call, calls, 1, tuple(handshake), 12.0),
        ):
            env = script.asks(load, line, number, in_flight=flight, first=first)
            figures = self.measure(load, env, number_of_rounds=MORE_ROUNDS, asks=number)
            rate = {side: _quotient(one, "answers", "wall_s", 1.0) for side, one in figures.items()}
            how = f"{flight} in flight" if flight > 1 else "one at a time"
            rows.append(Row(f"{name}, {how}", "/s", rate[OURS], rate[PEER], better="higher", target=target))
        return rows

    def memory(self) -> list[Row]:
        figures = self.measure("idle", self._script.says("nothing", (), 0), sessions=IDLE_SESSIONS.of(self._quick))
        ours, peer = figures[OURS], figures[PEER]
        return [
            Row("memory per idle session", "KB", ours["kb_per_session"], peer["kb_per_session"], target=5.0),
            Row("memory after import", "KB", ours["base_kb"], peer["base_kb"], target=2.0),
        ]

    def start(self) -> list[Row]:
        figures = self.measure("first", self._script.says("nothing", (), 0), number_of_rounds=MORE_ROUNDS)
        ours, peer = ([second * 1e3 for second in figures[side]["start_s"]] for side in (OURS, PEER))
        return [Row("process start to first message", "ms", ours, peer, target=6.0)]

    def fairness(self) -> list[Row]:
        calm = self._script.tells_the_time(CLOCK_PER_S * CLOCK_S.of(self._quick), per_second=CLOCK_PER_S)
        flood = self._script.says("deltas", _lines.text_deltas(), ENDLESS)
        figures = self.measure("quiet", calm, flood_env=flood)
        rows = []
        for name, key, target in (("p50", "p50_us", 1.0), ("p99", "p99_us", None)):
            ours, peer = figures[OURS][key], figures[PEER][key]
            title = f"a quiet session beside a flooding one: {name} latency"
            rows.append(Row(title, "µs", ours, peer, target=target, pick="median"))
        return rows


def _quotient(figures: Figures, above: str, below: str, scale: float) -> list[float]:
    return [one / other * scale for one, other in zip(figures[above], figures[below], strict=True)]


NOTE = (
    "The stand-in answers `initialize`, then floods, keeps a pace, or keeps requests in flight; it is never what is "
    "waited for. Processor time is that of the host process (user and system), from the prompt to the result. The "
    'program reads `message.event["delta"]["text"]` on both sides. Rates are by the clock. Best of the rounds, '
    "latencies their median; ± is how far the worst round was off."
)


def run(*, quick: bool) -> list[Section]:
    with tempfile.TemporaryDirectory(prefix="quarterdeck-bench-") as folder:
        bench = Bench(cli=compiled(), script=Script(Path(folder)), quick=quick)
        parts = (bench.streams, bench.pace, bench.requests, bench.memory, bench.start, bench.fairness)
        rows = [row for part in parts for row in part()]
    return [Section("The client on a stand-in CLI", rows, [NOTE])]


if __name__ == "__main__":
    arguments = parse(__doc__)
    show(run(quick=arguments.quick), as_json=arguments.json)
