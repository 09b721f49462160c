"""What the tap costs: latency per message and throughput, against a direct pipe in the same run.

    python benchmarks/tap.py [--quick]

Each number is measured alternately with and without the tap, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from quarterdeck.testing.recording import load

ECHO = "import os\nwhile data := os.read(0, 65536): os.write(1, data)"
FLOOD = """
import os, sys
line = b'{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"text":"some words"}}}\\n'
block, size = line * (65536 // len(line)), int(sys.argv[1])
while size > 0:
    rest = block
    while rest: rest = rest[os.write(1, rest):]
    size -= len(block)
"""
ONE_LINE = (
    "import os, sys\nrest = memoryview(b'x' * int(sys.argv[1]) + b'\\n')\nwhile rest: rest = rest[os.write(1, rest):]"
)
TAP = "import sys; from quarterdeck.cli.tap import main; sys.exit(main(sys.argv[1:]))"
MESSAGE = b'{"type":"user","message":{"role":"user","content":"' + b"x" * 200 + b'"}}\n'
LIMIT_S = 120.0
TARGETS = {"added": 50.0, "throughput": 300.0, "start": 60.0}


class Bench:
    def __init__(self, folder: Path, *, quick: bool) -> None:
        self._folder = folder
        self._runs = 0
        self._messages = 300 if quick else 1500
        self._rounds = 3 if quick else 6
        self._megabytes = 32 if quick else 128

    def command(self, script: str, *arguments: str, tap: bool) -> list[str]:
        plain = [sys.executable, "-S", "-c", script, *arguments]
        self._runs += 1
        return [sys.executable, "-P", "-c", TAP, "--out", str(self.out), "--", *plain] if tap else plain

    @property
    def out(self) -> Path:
        """A recording of its own for each run: that of the run before may still be on its way to the disk."""
        return self._folder / f"{self._runs}.ndjson"

    def finish(self) -> None:
        """Until the recording of the run has its trailer, so that the next run has the machine for itself."""
        deadline = time.monotonic() + LIMIT_S
        while b'"end"' not in self.out.read_bytes()[-1000:]:
            assert time.monotonic() < deadline, "the recording is not finished"
            time.sleep(0.2)

    def round_trips(self, *, tap: bool) -> list[float]:
        """Microseconds from writing a message to having its echo."""
        with subprocess.Popen(
            self.command(ECHO, tap=tap), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            to, back = process.stdin.fileno(), process.stdout.fileno()
            times = []
            for _ in range(self._messages + 50):
                start = time.perf_counter_ns()
                os.write(to, MESSAGE)
                missing = len(MESSAGE)
                while missing:
                    missing -= len(os.read(back, 65536))
                times.append((time.perf_counter_ns() - start) / 1000)
            process.stdin.close()
            process.wait(LIMIT_S)
        return times[50:]

    def latency(self) -> tuple[list[float], list[float]]:
        direct: list[float] = []
        tapped: list[float] = []
        for _ in range(self._rounds):
            direct += self.round_trips(tap=False)
            tapped += self.round_trips(tap=True)
        return direct, tapped

    def flood(self, *, tap: bool) -> float:
        """Megabytes per second of stdout, from the first byte to the end-of-file."""
        size = self._megabytes * 1_000_000
        with subprocess.Popen(self.command(FLOOD, str(size), tap=tap), stdout=subprocess.PIPE, bufsize=0) as process:
            assert process.stdout is not None
            got = len(os.read(process.stdout.fileno(), 65536))
            start = time.perf_counter()
            while data := os.read(process.stdout.fileno(), 1 << 20):
                got += len(data)
            took = time.perf_counter() - start
            process.wait(LIMIT_S)
        assert got >= size
        if tap:
            self.finish()
            self.out.unlink()
        return got / took / 1e6

    def start(self, *, tap: bool) -> float:
        """Milliseconds from starting it to the first echo."""
        start = time.perf_counter()
        with subprocess.Popen(
            self.command(ECHO, tap=tap), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(MESSAGE)
            process.stdout.read(1)
            took = (time.perf_counter() - start) * 1000
            process.stdin.close()
            process.wait(LIMIT_S)
        return took

    def one_line(self) -> str:
        size = 64 * 1024 * 1024
        done = subprocess.run(self.command(ONE_LINE, str(size), tap=True), stdout=subprocess.PIPE, timeout=LIMIT_S)
        self.finish()
        same = load(self.out).stream("out") == done.stdout
        return "passes, recorded whole" if same and len(done.stdout) == size + 1 else "FAILS"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), quick=quick)
        direct, tapped = bench.latency()
        rates = [(bench.flood(tap=False), bench.flood(tap=True)) for _ in range(3)]
        starts = [(bench.start(tap=False), bench.start(tap=True)) for _ in range(7)]
        line = bench.one_line()
    plain_p50, tap_p50 = statistics.median(direct), statistics.median(tapped)
    plain_p99, tap_p99 = statistics.quantiles(direct, n=100)[98], statistics.quantiles(tapped, n=100)[98]
    plain_rate, tap_rate = (statistics.median(column) for column in zip(*rates, strict=True))
    plain_start, tap_start = (min(column) for column in zip(*starts, strict=True))  # a busy machine only adds
    added = (tap_p50 - plain_p50) / 2  # a round trip passes the tap twice
    rows = [
        ("", "direct", "tap", "difference", "target"),
        ("round trip p50", f"{plain_p50:.0f} µs", f"{tap_p50:.0f} µs", f"{added:.1f} µs per message", "≤ 50 µs"),
        (
            "round trip p99",
            f"{plain_p99:.0f} µs",
            f"{tap_p99:.0f} µs",
            f"{(tap_p99 - plain_p99) / 2:.1f} µs per message",
            "",
        ),
        ("throughput", f"{plain_rate:.0f} MB/s", f"{tap_rate:.0f} MB/s", f"{tap_rate / plain_rate:.0%}", "≥ 300 MB/s"),
        (
            "start, best of 7",
            f"{plain_start:.0f} ms",
            f"{tap_start:.0f} ms",
            f"{tap_start - plain_start:.0f} ms",
            "< 60 ms",
        ),
        ("a line of 64 MiB", "", line, "", "passes"),
    ]
    for row in rows:
        print("".join(cell.ljust(width) for cell, width in zip(row, (18, 12, 24, 24, 12), strict=True)).rstrip())
    met = added <= TARGETS["added"] and tap_rate >= TARGETS["throughput"] and line.startswith("passes")
    return 0 if met and tap_start - plain_start < TARGETS["start"] else 1


if __name__ == "__main__":
    sys.exit(main())
