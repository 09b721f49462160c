"""Search beside a bare FTS5 query, ingest with and without the index, and what parked sessions cost.

``python -m benchmarks.search`` prints the table (``--json`` for a program, ``--quick`` for a look, ``--only`` for some
of ``search``, ``ingest`` and ``parked``). All of it takes about ten minutes, half of them for the search. The
stand-in CLI plays; the index is in the current folder's file system.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import _lines
from ._arguments import Size, parse
from ._rounds import ROUNDS, Rounds, divided, each, scratch, thousands
from ._standin import Script, compiled
from ._table import Row, Section, say, show

ROWS = Size(full=1_000_000, quick=100_000)
SESSIONS = 20
INGEST_LINES = Size(full=2_000, quick=1_000)
"""Of each session."""
PARKED = Size(full=1_000, quick=100)
PARKED_ROUNDS = Size(full=2, quick=1)
"""Memory differs little from round to round, and each takes the best part of a minute."""
TURN_LINES = 12
SEARCH, INGEST, PARKED_KB = 1 / 3, 0.9, 20.0


class Bench(Rounds):
    """Search, part by part."""

    module = "benchmarks._children.search"

    def search(self) -> list[Row]:
        rows = ROWS.of(self.quick)
        with scratch() as folder:
            say(f"writing an index of {rows} rows")
            self.child("fill", folder=folder, count=rows)
            loads = ("search_bare", "search_host", "search_unseen")
            found = self.rounds({load: {"folder": folder} for load in loads})
        host, bare, unseen = found["search_host"], found["search_bare"], found["search_unseen"]
        if any(unseen["hits"]):
            raise SystemExit(f"a token without access found {unseen['hits']}")
        if host["hits"] != bare["hits"]:
            raise SystemExit(f"the host found {host['hits']}, the bare query {bare['hits']}")
        against = "bare FTS5 query"
        return [
            Row(
                f"search in {thousands(rows)} rows",
                "ms",
                [one * 1e3 for one in divided(host["wall_s"], host["queries"])],
                [one * 1e3 for one in divided(bare["wall_s"], bare["queries"])],
                target=SEARCH,
                against=against,
            ),
            Row("· CPU time per query", "µs", each(host, "queries"), each(bare, "queries"), against=against),
            Row(
                "… of which a token sees none",
                "ms",
                [one * 1e3 for one in divided(unseen["wall_s"], unseen["queries"])],
                [one * 1e3 for one in divided(bare["wall_s"], bare["queries"])],
                target=SEARCH,
                against=against,
            ),
        ]

    def ingest(self) -> list[Row]:
        count = INGEST_LINES.of(self.quick)
        env = self.script.says("conversation", _lines.conversation(count), count)
        setting = {"env": env, "sessions": SESSIONS}
        found = self.rounds({"ingest_plain": setting, "ingest_indexed": setting})
        indexed, plain = found["ingest_indexed"], found["ingest_plain"]
        return [
            Row(
                f"durable events of {SESSIONS} sessions, with the index",
                "rows/s",
                divided(indexed["rows"], indexed["wall_s"]),
                divided(plain["rows"], plain["wall_s"]),
                better="higher",
                target=INGEST,
                against="without",
            ),
            Row("· then, until the index is complete", "s", indexed["behind_s"]),
        ]

    def parked(self) -> list[Row]:
        env = self.script.says("turn", _lines.conversation(TURN_LINES), TURN_LINES)
        count = PARKED.of(self.quick)
        found = self.rounds({"parked": {"env": env, "sessions": count}}, PARKED_ROUNDS)["parked"]
        return [
            Row(f"memory per parked session, of {thousands(count)}", "KB", found["kb"], most=PARKED_KB),
            Row("· all of the host", "KB", found["host_kb"]),
        ]


NOTE = (
    "The bare query is the same statement on the same index, without a host. Ingest is that of the host's own "
    f"benchmark: {SESSIONS} sessions that flood, each with a subscriber, full sync; the index is written beside it and "
    f"rests while sessions write. {ROUNDS.full} rounds, of the parked sessions {PARKED_ROUNDS.full}."
)


def run(*, quick: bool, only: Sequence[str] = ()) -> list[Section]:
    with tempfile.TemporaryDirectory(prefix="quarterdeck-bench-") as folder:
        bench = Bench(cli=compiled(), script=Script(Path(folder)), quick=quick)
        parts = (bench.search, bench.ingest, bench.parked)
        rows = [row for part in parts if not only or part.__name__ in only for row in part()]
        return [Section("Search, its index, and parked sessions", rows, [NOTE])]


def main() -> int:
    arguments = parse(__doc__, names=True)
    sections = run(quick=arguments.quick, only=arguments.only)
    show(sections, as_json=arguments.json)
    return 0 if all(row.met is not False for section in sections for row in section.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
