"""What the client's tricks are worth: the same load with each of them and without it, in rounds by turns.

``python -m benchmarks.tricks`` prints the table (``--json`` for a program). A trick that makes the code harder to read
stays as long as a row here says that it matters.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from . import _lines
from ._arguments import Size, parse
from ._environments import own_python
from ._rounds import Figures, divided
from ._standin import Script, compiled
from ._table import Row, Section, say, show
from .client import (
    CLOCK_PER_S,
    ENDLESS,
    IDLE_SESSIONS,
    IN_FLIGHT,
    LIMIT_S,
    ONE_BY_ONE,
    PACE,
    PACED_S,
    QUIET_S,
    REQUESTS,
    SESSIONS,
)

CHILD = Path(__file__).parent / "_children" / "without.py"
ROUNDS = Size(full=20, quick=3)
NONE = "nothing"


class Trick(NamedTuple):
    """One of those in ``_children/without.py``, and where it shows."""

    without: str
    name: str
    load: str
    setting: dict[str, Any]
    figure: str
    per: str | None = None
    """Given for each of these, in microseconds; else the figure as it is."""
    unit: str = "µs"

    def values(self, figures: Figures) -> list[float]:
        values = figures[self.figure]
        return values if self.per is None else [one * 1e6 for one in divided(values, figures[self.per])]


def measure(trick: Trick, python: Path, rounds: int) -> Row:
    measured: dict[str, Figures] = {NONE: defaultdict(list), trick.without: defaultdict(list)}
    env = {**os.environ, "PYTHONPATH": str(CHILD.parent)}
    for number in range(rounds):
        for without, figures in measured.items():
            say(f"{trick.load}, round {number + 1} of {rounds}: without {without}")
            setting = json.dumps({"cli": str(compiled()), "started": time.monotonic(), **trick.setting})
            command = [str(python), "-P", str(CHILD), without, trick.load, setting]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True, env=env)
            for name, value in json.loads(done.stdout).items():
                figures[name].append(value)
    ours, others = trick.values(measured[NONE]), trick.values(measured[trick.without])
    return Row(trick.name, trick.unit, ours, others, against="without it")


def tricks(script: Script, *, quick: bool) -> list[Trick]:
    permission, many, few = _lines.permission_request(), REQUESTS.of(quick), ONE_BY_ONE.of(quick)
    paced = {"env": script.tells_the_time(PACE * PACED_S, per_second=PACE), "sessions": SESSIONS}
    quiet = {
        "env": script.tells_the_time(CLOCK_PER_S * QUIET_S.of(quick), per_second=CLOCK_PER_S),
        "flood_env": script.says("flood", _lines.text_deltas(), ENDLESS),
    }
    together = {"env": script.asks("together", permission, many, in_flight=IN_FLIGHT), "asks": many}
    alone = {"env": script.asks("permissions", permission, few, in_flight=1), "asks": few}
    hook = {"env": script.asks("hooks", _lines.hook_request(), few, in_flight=1), "asks": few}
    idle = {"env": script.says("nothing", (), 0), "sessions": IDLE_SESSIONS}
    pace = f"{SESSIONS} × {PACE} messages/s, CPU time per message"
    return [
        Trick("waking_at_once", f"waking at once: {pace}", "late", paced, "processor_s", "messages"),
        Trick("waking_at_once", "waking at once: a hook request alone, p50", "hooks", hook, "p50_us"),
        Trick(
            "one_epoll",
            "one epoll for all pipes: a quiet session beside a flooding one, p50 latency",
            *("quiet", quiet, "p50_us"),
        ),
        Trick("one_epoll", f"· its price: {pace}", "late", paced, "processor_s", "messages"),
        Trick(
            "serving_together",
            f"one task for requests that come together: {IN_FLIGHT} permissions, CPU time per request",
            *("permissions", together, "processor_s", "answers"),
        ),
        Trick(
            "the_task_that_stays",
            "a task that stays for the next request: a permission request alone, p50",
            *("permissions", alone, "p50_us"),
        ),
        Trick("latches", "Latch for asyncio.Event: memory per idle session", "idle", idle, "kb_per_session", unit="KB"),
    ]


def run(*, quick: bool) -> list[Section]:
    with tempfile.TemporaryDirectory(prefix="quarterdeck-bench-") as folder:
        python = own_python()
        rows = [measure(trick, python, ROUNDS.of(quick)) for trick in tricks(Script(Path(folder)), quick=quick)]
    return [Section("What tricks are worth", rows)]


def main() -> int:
    arguments = parse(__doc__)
    show(run(quick=arguments.quick), as_json=arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
