"""The HTTP gateway beside a bare server and framework: ratios, in rounds by turns, server and clients in processes.

``python -m benchmarks.http`` prints the tables (``--json`` for a program, ``--quick`` for a look). The stand-in CLI
plays. Bare are uvicorn, with the protocol classes that the gateway's own extend, and starlette with one route.
"""

# ruff: noqa: A005  # it is benchmarks.http

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from . import _lines
from ._arguments import Size, parse
from ._rounds import ROUNDS, Rounds, divided, each, ms, scratch, thousands
from ._standin import Script, compiled
from ._table import Row, Section, show
from .host import LINES_PER_TURN, PACE, SESSIONS

CLIENTS = 100
PIECES = Size(full=3_000, quick=2_000)
PACED_S = Size(full=4, quick=2)
ECHOES = Size(full=5_000, quick=2_000)
LONG = Size(full=100_000, quick=20_000)
ASKING = 20
"""Clients that ask at once."""
REQUESTS = Size(full=10_000, quick=3_000)
PAGE = 100
"""Frames of one answer."""
IDLE_CLIENTS = Size(full=300, quick=200)
FIRST_PIECES = Size(full=10, quick=5)
"""Of each session."""
FIRST_SESSIONS = 5
DELIVERIES, LATENCY, MEMORY, READS, REPLAY = 0.5, 1.0, 1 / 1.3, 0.6, 0.5
BETTER_THAN_BETCODE = 20.0
BETCODE_LINES, BETCODE_EVENTS, BETCODE_FIRST_MS = 1_000.0, 5_000.0, 60.0
"""What betcode set itself: lines per second in, events per second out, milliseconds to the first token."""
FASTER_THAN_BETCODE = 5.0


class Bench(Rounds):
    """The gateway, part by part."""

    module = "benchmarks._children.gateway"

    def deliveries(self) -> list[Row]:
        count = PIECES.of(self.quick)
        lines = _lines.streamed_message(count)
        env = self.script.says("message", lines, len(lines))
        setting = {"env": env, "subscribers": CLIENTS, "count": count}
        loads = ("websockets_bare", "websockets_ours", "events_bare", "events_ours")
        found = self.rounds(dict.fromkeys(loads, setting))
        rows: list[Row] = []
        for kind, what in (("websockets", "WebSocket"), ("events", "SSE")):
            ours, bare = found[f"{kind}_ours"], found[f"{kind}_bare"]
            rows += [
                Row(
                    f"pieces of text to {CLIENTS} {what} clients",
                    "deliveries/s",
                    divided(ours["deliveries"], ours["wall_s"]),
                    divided(bare["deliveries"], bare["wall_s"]),
                    better="higher",
                    target=DELIVERIES,
                    against="bare server",
                ),
                Row(
                    "· CPU time per delivery",
                    "µs",
                    each(ours, "deliveries"),
                    each(bare, "deliveries"),
                    against="bare server",
                ),
            ]
        out = found["websockets_ours"]
        return [
            *rows,
            Row(
                "events out over WebSockets",
                "events/s",
                divided(out["deliveries"], out["wall_s"]),
                [BETCODE_EVENTS] * len(out["wall_s"]),
                better="higher",
                target=BETTER_THAN_BETCODE,
                against="betcode's target",
            ),
        ]

    def latency(self) -> list[Row]:
        count = PACE * PACED_S.of(self.quick)
        env = self.script.tells_the_time(count, per_second=PACE, line=_lines.timed_answer())
        talking = {"sessions": SESSIONS, "env": env}
        echoes = {"count": ECHOES.of(self.quick), "per_second": SESSIONS * PACE}
        found = self.rounds({"late_host": talking, "late_websocket": talking, "echo_bare": echoes})
        ours, inside, echo = (found[load]["p50_us"] for load in ("late_websocket", "late_host", "echo_bare"))
        return [
            Row(
                f"CLI line to WebSocket client, {SESSIONS} × {PACE} lines/s: p50",
                "ms",
                ms(ours),
                ms([1.5 * one + other for one, other in zip(inside, echo, strict=True)]),
                target=LATENCY,
                against="1.5 × in-process subscriber + bare echo",
            ),
            Row("· p99", "ms", ms(found["late_websocket"]["p99_us"])),
            Row("· in-process subscriber: p50", "ms", ms(inside)),
            Row("· bare echo: p50", "ms", ms(echo)),
        ]

    def first_pieces(self) -> list[Row]:
        lines = _lines.streamed_message(20)
        env = self.script.says("short", lines, len(lines))
        found = self.rounds(
            {"first_piece": {"env": env, "sessions": FIRST_SESSIONS, "count": FIRST_PIECES.of(self.quick)}}
        )
        took = ms(found["first_piece"]["p50_us"])
        return [
            Row(
                "prompt over WebSocket to the first piece of text there: p50",
                "ms",
                took,
                [BETCODE_FIRST_MS] * len(took),
                target=FASTER_THAN_BETCODE,
                against="betcode's target",
            )
        ]

    def lines_in(self) -> list[Row]:
        turn = _lines.mixed_turn()
        env = self.script.says("turn", turn, len(turn))
        found = self.rounds({"lines_in": {"env": env, "sessions": SESSIONS, "count": len(turn)}})["lines_in"]
        return [
            Row(
                f"lines of {SESSIONS} sessions in, as they are in turns, to a WebSocket client",
                "lines/s",
                divided(found["lines"], found["wall_s"]),
                [BETCODE_LINES] * len(found["wall_s"]),
                better="higher",
                target=BETTER_THAN_BETCODE,
                against="betcode's target",
            )
        ]

    def clients(self) -> list[Row]:
        idle = {"subscribers": IDLE_CLIENTS.of(self.quick)}
        asking = {"subscribers": ASKING, "count": REQUESTS.of(self.quick)}
        turn = _lines.conversation(12)
        env = self.script.says("few", turn, 12)
        found = self.rounds(
            {
                "idle_bare": idle,
                "idle_ours": {"env": env, **idle},
                "requests_bare": asking,
                "requests_ours": {"env": env, **asking},
                "frames_bare": {"rows": [PAGE], **asking},
                "frames_ours": {"env": env, "rows": [PAGE], **asking},
            }
        )
        pages, bare_pages = found["frames_ours"], found["frames_bare"]
        ours, bare = found["requests_ours"], found["requests_bare"]
        return [
            Row(
                "memory per idle WebSocket client",
                "KB",
                found["idle_ours"]["kb"],
                found["idle_bare"]["kb"],
                target=MEMORY,
                against="bare server",
            ),
            Row(
                f"GET of a session by {ASKING} clients",
                "requests/s",
                divided(ours["requests"], ours["wall_s"]),
                divided(bare["requests"], bare["wall_s"]),
                better="higher",
                target=READS,
                against="bare framework",
            ),
            Row(
                "· CPU time per request",
                "µs",
                each(ours, "requests"),
                each(bare, "requests"),
                against="bare framework",
            ),
            Row(
                f"GET of {PAGE} frames by {ASKING} clients, from the store",
                "requests/s",
                divided(pages["requests"], pages["wall_s"]),
                divided(bare_pages["requests"], bare_pages["wall_s"]),
                better="higher",
                against="bare framework, from memory",
            ),
        ]

    def replay(self) -> list[Row]:
        long = LONG.of(self.quick)
        env = self.script.says("long", _lines.conversation(long), LINES_PER_TURN)
        with scratch() as folder:
            ids = self.child("fill", folder=folder, env=env, rows=[long])["ids"]
            setting = {"folder": folder, "ids": ids}
            found = self.rounds({"replay_host": setting, "replay_websocket": setting})
        ours, inside = found["replay_websocket"], found["replay_host"]
        return [
            Row(
                f"replay of {thousands(long)} frames over a WebSocket",
                "frames/s",
                divided(ours["rows"], ours["wall_s"]),
                divided(inside["rows"], inside["wall_s"]),
                better="higher",
                target=REPLAY,
                against="in-process replay",
            )
        ]


NOTE = (
    "Clients run in their own process, which counts messages and parses them only to measure time. The bare server "
    "is uvicorn on uvloop, with the protocol classes that the gateway's own extend; it sends each client everything "
    "since its last message. Frames are encoded once, and their joined text is shared by clients that get the same. "
    "The bare framework is starlette with one route, which encodes what it has in memory at each request. There are "
    f"{ROUNDS.full} rounds."
)


def run(*, quick: bool) -> list[Section]:
    with tempfile.TemporaryDirectory(prefix="quarterdeck-bench-") as folder:
        bench = Bench(cli=compiled(), script=Script(Path(folder)), quick=quick)
        parts = (bench.deliveries, bench.latency, bench.first_pieces, bench.lines_in, bench.clients, bench.replay)
        return [Section("HTTP beside a bare server", [row for part in parts for row in part()], [NOTE])]


def main() -> int:
    arguments = parse(__doc__)
    sections = run(quick=arguments.quick)
    show(sections, as_json=arguments.json)
    return 0 if all(row.met is not False for section in sections for row in section.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
