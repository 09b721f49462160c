"""Runs one import statement in this fresh process; prints wall-clock time, CPU time and memory.

Run as ``python imports.py "import x"``.
"""

from __future__ import annotations

import json
import sys
import time


def resident_kb() -> float:
    with open("/proc/self/status") as status:  # noqa: PTH123  # pathlib would be part of what is measured
        return next(float(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def main() -> None:
    wall, used = time.perf_counter(), time.process_time()
    exec(sys.argv[1], {})  # noqa: S102  # the statement is ours, and is what is measured
    used, wall = time.process_time() - used, time.perf_counter() - wall
    print(json.dumps({"wall_s": wall, "processor_s": used, "resident_kb": resident_kb()}))


if __name__ == "__main__":
    main()
