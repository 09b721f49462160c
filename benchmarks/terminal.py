"""Does the drawing keep up? ``quarterdeck run`` in a pseudo-terminal, with a CLI that says 10,000 pieces per second.

``python -m benchmarks.terminal`` prints the table (``--json`` for a program). The reader at the other end of the
terminal only drains it. CPU time is that of the drawing process alone; lag is from the CLI's write of a piece to
its first appearance in what the terminal is sent.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections import defaultdict
from pathlib import Path

from ._arguments import Size, parse
from ._table import Row, Section, say, show

FLOOD = Path(__file__).parent / "_children" / "flood.py"
PER_SECOND = 10_000
PACED = Size(full=100_000, quick=20_000)
FASTEST = Size(full=200_000, quick=40_000)
ROUNDS = Size(full=3, quick=1)
COLUMNS, ROWS = 100, 40
LIMIT_S = 120.0
FRAME = b"\x1b[?2026h"
CLEARED = (b"\x1b[2J", b"\x1b[H", b"\x1b[?1049h")
"""What makes a terminal flicker: nothing of it may be sent."""
_SEQUENCES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]")
_CLOCK = re.compile("⟦([0-9]+)⟧".encode())
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Watched:
    """One run, read to its end."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            command, env=env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        self.lags_ms: list[float] = []
        self.frames = self.size = self.cleared = 0
        self.wall_s = self.processor_s = 0.0
        self.seen = b""

    def watch(self) -> None:
        seen: set[bytes] = set()
        deadline, tail = time.monotonic() + LIMIT_S, b""
        began: tuple[float, float] | None = None
        while data := self._read(deadline):
            now = time.monotonic()
            self.frames += data.count(FRAME)
            self.cleared += sum(data.count(one) for one in CLEARED)
            self.size += len(data)
            tail = (tail + data)[-65_536 - 4_096 :]
            for stamp in _CLOCK.findall(_SEQUENCES.sub(b"", tail)):
                if stamp not in seen:
                    seen.add(stamp)
                    self.lags_ms.append(now * 1000 - int(stamp) / 1000)
            if began is None and seen:
                began = now, self._processor_s()
                self.frames = self.size = 0
            if b"END" in tail and began is not None and not self.wall_s:
                self.wall_s, self.processor_s = now - began[0], self._processor_s() - began[1]
                self.seen = tail
        code = self._process.wait(LIMIT_S)
        os.close(self._master)
        if code or not self.wall_s:
            raise SystemExit(
                f"quarterdeck run did not get through (exit code {code}):\n{tail.decode(errors='replace')}"
            )

    def _read(self, deadline: float) -> bytes:
        ready, _, _ = select.select([self._master], [], [], max(deadline - time.monotonic(), 0))
        try:
            return os.read(self._master, 65_536) if ready else b""
        except OSError:  # the other end is closed
            return b""

    def _processor_s(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def measure(folder: Path, *, count: int, per_second: int, rounds: int) -> dict[str, list[float]]:
    launcher = folder / "claude"
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "{FLOOD}" "$@"\n')
    launcher.chmod(0o755)
    flood = {"FLOOD_DELTAS": str(count), "FLOOD_PACE": str(per_second), "FLOOD_CLOCK": "500"}
    env = os.environ | flood | {"HOME": str(folder), "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "quarterdeck", "run", "--agent", str(launcher), "--cwd", str(folder), "go"]
    figures: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds):
        say(f"{count:,} pieces, {f'{per_second:,} per second' if per_second else 'unpaced'}, round {number + 1}")
        run = Watched(command, env)
        run.watch()
        lags = sorted(run.lags_ms)
        figures["share"].append(run.processor_s / run.wall_s * 100)
        figures["frames"].append(run.frames / run.wall_s)
        figures["lag"].append(lags[len(lags) // 2])
        figures["lag99"].append(lags[int(len(lags) * 0.99)])
        figures["last"].append(run.lags_ms[-1])
        figures["size"].append(run.size / count)
        figures["cleared"].append(float(run.cleared))
        figures["rate"].append(count / run.wall_s)
    return figures


def run(*, quick: bool) -> list[Section]:
    with tempfile.TemporaryDirectory() as name:
        folder, rounds = Path(name), ROUNDS.of(quick)
        paced = measure(folder, count=PACED.of(quick), per_second=PER_SECOND, rounds=rounds)
        fastest = measure(folder, count=FASTEST.of(quick), per_second=0, rounds=rounds)
    rows = [
        Row("pieces drawn per second", "/s", paced["rate"], better="higher"),
        Row("share of one processor", "%", paced["share"]),
        Row("frames per second", "/s", paced["frames"], better="higher"),
        Row("lag, median", "ms", paced["lag"]),
        Row("lag, 99th percentile", "ms", paced["lag99"]),
        Row("lag of the last piece", "ms", paced["last"]),
        Row("bytes written per piece", "B", paced["size"]),
        Row("times the screen was cleared", "", paced["cleared"]),
        Row("unpaced: pieces drawn per second", "/s", fastest["rate"], better="higher"),
    ]
    notes = [
        f"{PER_SECOND:,} pieces of 7 characters per second, Markdown with lists and code, {COLUMNS} columns.",
        "A frame is one write; at most 30 are drawn per second, whatever comes in between.",
    ]
    return [Section("Drawing in the terminal", rows, notes)]


if __name__ == "__main__":
    arguments = parse(__doc__)
    show(run(quick=arguments.quick), as_json=arguments.json)
