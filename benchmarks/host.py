"""The host beside bare programs that do one of its jobs each: ratios, in rounds by turns, each in a process of its own.

``python -m benchmarks.host`` prints the tables (``--json`` for a program, ``--quick`` for a look). The stand-in CLI
plays. Bare are the store with nothing before it, the client with nothing behind it, and a list that everyone reads. The
database is in the current folder's file system, since a temporary folder may be in memory, where a sync costs nothing.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import _lines
from ._arguments import Size, parse
from ._rounds import ROUNDS, Figures, Rounds, divided, each, ms, scratch, thousands
from ._standin import Script, compiled
from ._table import Row, Section, say, show

SESSIONS = 20
PACE = 250
PACED_S = Size(full=4, quick=2)
DURABLE_LINES = Size(full=2_000, quick=1_000)
"""Of each session."""
SUBSCRIBERS = 100
PIECES = Size(full=3_000, quick=2_000)
LONG, SHORT = Size(full=100_000, quick=20_000), 1_000
LINES_PER_TURN = 480
OPENINGS = 5
IDLE_SESSIONS = Size(full=100, quick=40)
TURN_LINES = 12
MANY, FEW = 200, 10
DURABLE, PREVIEWS, LATENCY, OPENING, REPLAY = 0.4, 0.5, 1.0, 0.5, 0.5
KEEPER_SHARE, IDLE_KB, INTERRUPT_MS = 0.25, 150.0, 5.0
RESTART = 1 / 3
FLOOR = "· the floor: keeper, store and a list, in place of the host"


class Bench(Rounds):
    """The host, part by part."""

    module = "benchmarks._children.host"

    def durable(self) -> list[Row]:
        count = DURABLE_LINES.of(self.quick)
        env = self.script.says("conversation", _lines.conversation(count), count)
        shared = {"sessions": SESSIONS, "count": count}
        found = self.rounds(
            {
                "durable_store": {"lines": env["STANDIN_FILE"], **shared},
                "durable_floor": {"env": env, **shared},
                "durable_host": {"env": env, **shared},
            }
        )
        host, store, floor = (found[load] for load in ("durable_host", "durable_store", "durable_floor"))
        against = "bare store"
        return [
            Row(
                f"durable events of {SESSIONS} sessions, full sync",
                "rows/s",
                divided(host["rows"], host["wall_s"]),
                divided(store["rows"], store["wall_s"]),
                better="higher",
                target=DURABLE,
                against=against,
            ),
            Row("· CPU time per row", "µs", each(host, "rows"), each(store, "rows"), against=against),
            Row(
                FLOOR,
                "rows/s",
                divided(floor["rows"], floor["wall_s"]),
                divided(store["rows"], store["wall_s"]),
                better="higher",
                against=against,
            ),
            Row(f"{FLOOR}: CPU time per row", "µs", each(floor, "rows"), each(store, "rows"), against=against),
            _keeper_share("· keeper's CPU time, as a share of the host's", host),
        ]

    def previews(self) -> list[Row]:
        count = PIECES.of(self.quick)
        lines = _lines.streamed_message(count)
        setting = {
            "env": self.script.says("message", lines, len(lines)),
            "subscribers": SUBSCRIBERS,
            "count": count,
        }
        found = self.rounds({"previews_bare": setting, "previews_host": setting})
        host, bare = found["previews_host"], found["previews_bare"]
        against = "bare fan-out"
        return [
            Row(
                f"previews to {SUBSCRIBERS} subscribers",
                "deliveries/s",
                divided(host["deliveries"], host["wall_s"]),
                divided(bare["deliveries"], bare["wall_s"]),
                better="higher",
                target=PREVIEWS,
                against=against,
            ),
            Row(
                "· CPU time per delivery",
                "µs",
                each(host, "deliveries"),
                each(bare, "deliveries"),
                against=against,
            ),
        ]

    def latency(self) -> list[Row]:
        count = PACE * PACED_S.of(self.quick)
        env = self.script.tells_the_time(count, per_second=PACE, line=_lines.timed_answer())
        paced = {"sessions": SESSIONS, "per_second": PACE, "count": count, "lines": env["STANDIN_FILE"]}
        talking = {"sessions": SESSIONS, "env": env}
        loads = {"late_client": talking, "late_store": paced, "late_floor": talking, "late_host": talking}
        found = self.rounds({**loads, "interrupts": talking})
        host, client, commit, floor, interrupts = (
            found[load] for load in ("late_host", "late_client", "late_store", "late_floor", "interrupts")
        )
        pairs = zip(client["p50_us"], commit["p50_us"], strict=True)
        allowed, against = ms([2 * read + written for read, written in pairs]), "2 × bare client + one commit"
        load = f"{SESSIONS} × {PACE} lines/s"
        return [
            Row(
                f"CLI line to subscriber, {load}: p50",
                "ms",
                ms(host["p50_us"]),
                allowed,
                target=LATENCY,
                against=against,
            ),
            Row("· p99", "ms", ms(host["p99_us"])),
            Row("· bare client: p50", "ms", ms(client["p50_us"])),
            Row("· a commit of the bare store at that pace: p50", "ms", ms(commit["p50_us"])),
            Row(
                "· CPU time per line",
                "µs",
                each(host, "messages"),
                each(client, "messages"),
                against="bare client",
            ),
            Row(f"{FLOOR}: p50", "ms", ms(floor["p50_us"]), allowed, against=against),
            Row(f"{FLOOR}: p99", "ms", ms(floor["p99_us"])),
            Row(
                f"{FLOOR}: CPU time per line",
                "µs",
                each(floor, "messages"),
                each(client, "messages"),
                against="bare client",
            ),
            _keeper_share("· keeper's CPU time, as a share of the host's", host),
            Row(
                f"interrupt asked to read by the CLI, {load}: p99",
                "ms",
                ms(interrupts["p99_us"]),
                [2 * one + INTERRUPT_MS for one in ms(commit["p99_us"])],
                target=LATENCY,
                against=f"2 × a commit's p99 + {INTERRUPT_MS:.0f} ms",
            ),
            Row("· p50", "ms", ms(interrupts["p50_us"])),
        ]

    def long_sessions(self) -> list[Row]:
        long = LONG.of(self.quick)
        env = self.script.says("long", _lines.conversation(long), LINES_PER_TURN)
        with scratch() as folder:
            say(f"writing a session of {long} rows")
            ids = self.child("fill", folder=folder, env=env, rows=[long, SHORT])["ids"]
            setting = {"folder": folder, "ids": ids}
            found = self.rounds(
                {"opening": {**setting, "count": OPENINGS}, "replay_bare": setting, "replay_host": setting}
            )
        opening, host, bare = (found[load] for load in ("opening", "replay_host", "replay_bare"))
        return [
            Row(
                f"opening a session of {thousands(long)} rows at its end",
                "ms",
                [one * 1e3 for one in opening["wall_s_0"]],
                [one * 1e3 for one in opening["wall_s_1"]],
                target=OPENING,
                against=f"{thousands(SHORT)} rows",
            ),
            Row(
                "· CPU time",
                "ms",
                [one * 1e3 for one in opening["processor_s_0"]],
                [one * 1e3 for one in opening["processor_s_1"]],
                against=f"{thousands(SHORT)} rows",
            ),
            Row(
                "replaying all of it",
                "rows/s",
                divided(host["rows"], host["wall_s"]),
                divided(bare["rows"], bare["wall_s"]),
                better="higher",
                target=REPLAY,
                against="bare read and fold",
            ),
            Row("· CPU time per row", "µs", each(host, "rows"), each(bare, "rows"), against="bare read and fold"),
        ]

    def many_sessions(self) -> list[Row]:
        env = self.script.says("turn", _lines.conversation(TURN_LINES), TURN_LINES)
        idle = self.rounds({"idle": {"env": env, "sessions": IDLE_SESSIONS.of(self.quick)}})["idle"]
        restarts: dict[int, Figures] = {}
        with self._populated(env, MANY) as many, self._populated(env, FEW) as few:
            for number in range(ROUNDS.of(self.quick)):
                for count, setting in ((FEW, few), (MANY, many)):
                    say(f"restart with {count} sessions, round {number + 1} of {ROUNDS.of(self.quick)}")
                    for name, value in self.child("restart", **setting).items():
                        restarts.setdefault(count, defaultdict(list))[name].append(value)
        both = [each + own for each, own in zip(idle["kb"], idle["keeper_kb"], strict=True)]
        return [
            Row("memory per idle session, host and keeper", "KB", both, most=IDLE_KB),
            Row("· host alone", "KB", idle["kb"]),
            *(
                Row(
                    f"{what} with {MANY} sessions",
                    "ms",
                    [one * 1e3 for one in restarts[MANY][figure]],
                    [one * 1e3 for one in restarts[FEW][figure]],
                    target=target,
                    against=f"{FEW} sessions",
                )
                for what, figure, target in (
                    ("restart", "start_s", RESTART),
                    ("· of it, opening the host", "wall_s", None),
                    ("· opening the host, CPU time", "processor_s", None),
                )
            ),
        ]

    @contextmanager
    def _populated(self, env: dict[str, str], count: int) -> Iterator[dict[str, Any]]:
        """A state folder with so many sessions, whose processes its keeper has."""
        with scratch() as folder:
            say(f"starting {count} sessions")
            ids = self.child("populate", folder=folder, env=env, sessions=count)["ids"]
            try:
                yield {"folder": folder, "env": env, "ids": ids}
            finally:
                self.child("leave", folder=folder)


def _keeper_share(name: str, figures: Figures) -> Row:
    share = divided(figures["keeper_s"], figures["processor_s"])
    return Row(name, "%", [one * 100 for one in share], most=KEEPER_SHARE * 100)


NOTE = (
    "A bare program does a single job: the store takes the same rows in commits of a hundred, or as they arrive; the "
    "client reads the same process; the fan-out is a list of messages that every subscriber reads. The floor is what "
    "durability alone takes: lines come from a keeper, are committed, and then go to a list; none is decoded. CPU time "
    f"is the host process's, including its threads but not the keeper. There are {ROUNDS.full} rounds."
)


def run(*, quick: bool) -> list[Section]:
    with tempfile.TemporaryDirectory(prefix="quarterdeck-bench-") as folder:
        bench = Bench(cli=compiled(), script=Script(Path(folder)), quick=quick)
        parts = (bench.durable, bench.previews, bench.latency, bench.long_sessions, bench.many_sessions)
        return [Section("The host beside bare programs", [row for part in parts for row in part()], [NOTE])]


def main() -> int:
    arguments = parse(__doc__)
    sections = run(quick=arguments.quick)
    show(sections, as_json=arguments.json)
    return 0 if all(row.met is not False for section in sections for row in section.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
