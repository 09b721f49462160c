"""What ``quarterdeck --help`` costs, in CPU time: someone waits for it.

``python -m benchmarks.help`` prints the number and fails when the limit is broken.
"""

from __future__ import annotations

import resource
import subprocess
import sys

LIMIT_MS = 150.0
ROUNDS = 7


def help_ms() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "quarterdeck", "--help"], stdout=subprocess.DEVNULL, check=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def main() -> int:
    best = min(help_ms() for _ in range(ROUNDS))
    print(f"quarterdeck --help   {best:6.1f} ms   (limit {LIMIT_MS:.0f})")
    return 0 if best <= LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
