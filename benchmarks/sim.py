"""How soon the simulator is there: from starting the process to its answer of ``initialize``.

``python -m benchmarks.sim`` prints the table (``--json`` for a program). A bare interpreter, which does nothing but
end, takes turns with it: so much of the time is Python's own, and no work of ours.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from quarterdeck.testing.sim import executable

from ._arguments import Size, parse
from ._table import say

ROUNDS = Size(full=25, quick=7)
LIMIT_S = 30.0
TARGET_MS = 150.0
FLAGS = ("--output-format", "stream-json", "--verbose", "--input-format", "stream-json")
GREETING = b'{"type":"control_request","request_id":"1","request":{"subtype":"initialize","hooks":null}}\n'
COMMAND = "import sys; from quarterdeck.cli import main; sys.exit(main())"
Times = dict[str, list[float]]


def greeted_ms(argv: list[str], environment: dict[str, str]) -> float:
    """Milliseconds until the whole line of its answer is here."""
    started = time.perf_counter()
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(GREETING)
        process.stdin.flush()
        answer = process.stdout.readline()
        took_ms = (time.perf_counter() - started) * 1000
        process.stdin.close()
        process.wait(LIMIT_S)
    if json.loads(answer)["response"]["subtype"] != "success":
        raise SystemExit(f"no answer to initialize: {answer[:200]!r}")
    return took_ms


def ended_ms(argv: list[str], environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(argv, env=environment, timeout=LIMIT_S, check=True)
    return (time.perf_counter() - started) * 1000


def measure(folder: Path, rounds: int) -> Times:
    """In turns; the first round writes the compiled files and is not counted."""
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"]}
    launcher = executable(folder=folder / "bin")
    kinds = {
        "quarterdeck sim": (greeted_ms, [sys.executable, "-P", "-c", COMMAND, "sim", *FLAGS]),
        "as cli_path": (greeted_ms, [str(launcher), *FLAGS]),
        "a bare python": (ended_ms, [sys.executable, "-P", "-c", "pass"]),
    }
    times: Times = {name: [] for name in kinds}
    for number in range(rounds + 1):
        say(f"starting, round {number} of {rounds}")
        for name, (taken_ms, argv) in kinds.items():
            took_ms = taken_ms(argv, environment)
            if number:
                times[name].append(took_ms)
    return times


def main() -> int:
    arguments = parse(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        times = measure(Path(folder), ROUNDS.of(arguments.quick))
    best = {name: min(samples) for name, samples in times.items()}  # a busy machine only adds
    met = best["quarterdeck sim"] < TARGET_MS
    if arguments.json:
        print(json.dumps({"ms": times, "target_ms": TARGET_MS, "met": met}, indent=2))
        return 0 if met else 1
    rows = [("start to initialize answered", "best", "median", "target")]
    for name, samples in times.items():
        goal = f"< {TARGET_MS:.0f} ms" if name == "quarterdeck sim" else ""
        rows.append((name, f"{best[name]:.0f} ms", f"{statistics.median(samples):.0f} ms", goal))
    for row in rows:
        print("".join(cell.ljust(width) for cell, width in zip(row, (32, 12, 12, 12), strict=True)).rstrip())
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
