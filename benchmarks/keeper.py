"""What the keeper costs: the same sessions over it and with a process of one's own, in turns, in one run.

``python -m benchmarks.keeper`` prints the tables (``--json`` for a program). The stand-in CLI plays; the client reads.
The CPU time of the keeper is its own, beside that of the host.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from quarterdeck import ClaudeAgentOptions, PermissionResultAllow, ResultMessage, Session, StreamEvent
from quarterdeck.keeper import KeeperClient
from quarterdeck.transport import ByteTransport, ChildCommand, ProcessTransport

from . import _lines
from ._arguments import Size, parse
from ._standin import Script, compiled
from ._table import Row, Section, say, show

DIRECT = "own process"
ROUNDS = Size(full=5, quick=2)
BULK = Size(full=200_000, quick=40_000)
CLOCK_PER_S = 200
CLOCK_S = Size(full=5, quick=2)
ASKS = Size(full=2_000, quick=500)
SESSIONS = 50
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Used(NamedTuple):
    """What one load took."""

    host_s: float
    keeper_s: float
    wall_s: float


class Bench:
    """Runs each load with a process of its own and over the keeper."""

    def __init__(self, cli: Path, script: Script, client: KeeperClient, *, quick: bool) -> None:
        self._cli = cli
        self._script = script
        self._client = client
        self._quick = quick
        self._number = 0

    @asynccontextmanager
    async def session(self, env: dict[str, str], *, kept: bool) -> AsyncIterator[Session]:
        command = ChildCommand([str(self._cli)], cwd="/", env={**os.environ, **env})
        self._number += 1
        transport: ByteTransport
        transport = self._client.start(f"s{self._number}", command) if kept else ProcessTransport(command)

        async def allow(*_: object) -> PermissionResultAllow:
            return PermissionResultAllow()

        async with Session(ClaudeAgentOptions(can_use_tool=allow), transport=transport) as session:
            yield session

    async def bulk(self, *, kept: bool) -> Used:
        env = self._script.says("deltas", _lines.text_deltas(), BULK.of(self._quick))
        async with self.session(env, kept=kept) as session:
            gc.collect()
            wall, host, keeper = time.perf_counter(), self._host_s(), self._keeper_s()
            async for message in session.prompt("go"):
                if isinstance(message, StreamEvent):
                    message.event["delta"]["text"]
            return Used(self._host_s() - host, self._keeper_s() - keeper, time.perf_counter() - wall)

    async def delta_us(self, *, kept: bool) -> float:
        """The median from the stand-in's write to the program's loop."""
        env = self._script.tells_the_time(CLOCK_PER_S * CLOCK_S.of(self._quick), per_second=CLOCK_PER_S)
        async with self.session(env, kept=kept) as session:
            delays = [
                time.clock_gettime_ns(time.CLOCK_MONOTONIC) - int(message.event["delta"]["text"])
                async for message in session.prompt("go")
                if isinstance(message, StreamEvent)
            ]
        return statistics.median(delays) / 1e3

    async def permission_us(self, *, kept: bool) -> float:
        """The median from the stand-in's request to its answer, one at a time."""
        env = self._script.asks("one", _lines.permission_request(), ASKS.of(self._quick), in_flight=1)
        async with self.session(env, kept=kept) as session:
            result = await session.prompt("go")
            assert isinstance(result, ResultMessage)
            answers, errors, median_ns = map(int, (result.result or "").split())
            assert (answers, errors) == (ASKS.of(self._quick), 0)
            return median_ns / 1e3

    async def memory_mb(self) -> tuple[float, float]:
        """With one session and with many, all idle."""
        env = self._script.says("nothing", (), 0)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.session(env, kept=True))
            one = self._keeper_mb()
            for _ in range(SESSIONS - 1):
                await stack.enter_async_context(self.session(env, kept=True))
            return one, self._keeper_mb()

    def _host_s(self) -> float:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime

    def _keeper_s(self) -> float:
        fields = Path(f"/proc/{self._client.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def _keeper_mb(self) -> float:
        return int(Path(f"/proc/{self._client.pid}/statm").read_text().split()[1]) * PAGE / 1e6


async def measure(*, quick: bool) -> list[Section]:
    rounds = ROUNDS.of(quick)
    with tempfile.TemporaryDirectory() as folder:
        async with await KeeperClient.open(f"{folder}/state") as client:
            bench = Bench(compiled(), Script(Path(folder)), client, quick=quick)
            one, many = await bench.memory_mb()
            bulk: dict[bool, list[Used]] = {False: [], True: []}
            deltas: dict[bool, list[float]] = {False: [], True: []}
            asks: dict[bool, list[float]] = {False: [], True: []}
            for number in range(rounds):
                say(f"round {number + 1} of {rounds}")
                for kept in (False, True):
                    bulk[kept].append(await bench.bulk(kept=kept))
                    deltas[kept].append(await bench.delta_us(kept=kept))
                    asks[kept].append(await bench.permission_us(kept=kept))
            await client.stop()
    return [_time(bulk, deltas, asks, BULK.of(quick)), _memory(one, many)]


def _time(
    bulk: dict[bool, list[Used]], deltas: dict[bool, list[float]], asks: dict[bool, list[float]], count: int
) -> Section:
    def per_message(kept: bool, seconds: Callable[[Used], float]) -> list[float]:
        return [seconds(used) / count * 1e6 for used in bulk[kept]]

    together, host, wall = (
        (lambda used: used.host_s + used.keeper_s),
        (lambda used: used.host_s),
        (lambda used: used.wall_s),
    )
    rows = [
        Row("a delta, written to read: p50", "µs", deltas[True], deltas[False], against=DIRECT),
        Row("a permission, asked to answered: p50", "µs", asks[True], asks[False], against=DIRECT),
        Row(
            "bulk, per message: host and keeper",
            "µs",
            per_message(True, together),
            per_message(False, host),
            against=DIRECT,
        ),
        Row("bulk, per message: host alone", "µs", per_message(True, host), per_message(False, host), against=DIRECT),
        Row("bulk, per message: keeper alone", "µs", per_message(True, lambda used: used.keeper_s)),
        Row(
            "bulk, per message: wall-clock time",
            "µs",
            per_message(True, wall),
            per_message(False, wall),
            against=DIRECT,
        ),
    ]
    added = [statistics.median(each[True]) - statistics.median(each[False]) for each in (deltas, asks)]
    return Section(
        "What a keeper adds", rows, [f"Added: {added[0]:.0f} µs per delta, {added[1]:.0f} µs per permission."]
    )


def _memory(one: float, many: float) -> Section:
    rows = [Row("with one session", "MB", [one]), Row(f"with {SESSIONS} sessions", "MB", [many])]
    return Section("Memory of a keeper", rows)


def main() -> None:
    arguments = parse(__doc__)
    show(asyncio.run(measure(quick=arguments.quick)), as_json=arguments.json)


if __name__ == "__main__":
    main()
