"""The first ``make run`` after a clone: how soon it says something, how long it is silent, and how long it takes.

``python -m benchmarks.first_run`` prints the table (``--json`` for a program; ``--quick`` lets pip use its cache). A
clone of the last commit runs in a pipe and in a pseudo-terminal, each with an environment of its own. In a pipe the
demonstration answers itself, so the time is until its end; in a terminal, until it asks, and Esc then leaves it.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import NamedTuple

from ._arguments import parse
from ._table import Row, Section, say, show

ROOT = Path(__file__).parents[1]
FIRST_S, SILENT_S = 2.0, 5.0
LIMIT_S = 900.0
ROWS, COLUMNS = 40, 100
ASKED = b"Quit (q)"
"""The last line of a question."""
ESCAPE = b"\x1b"


class Seen(NamedTuple):
    first_s: float
    silent_s: float
    total_s: float


def first_run(folder: Path, *, terminal: bool, cached: bool) -> Seen:
    clone = folder / ("terminal" if terminal else "pipe")
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(clone)], check=True, timeout=LIMIT_S)
    env = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "MAKEFLAGS")}
    env |= {} if cached else {"PIP_NO_CACHE_DIR": "1"}
    reads, writes = pty.openpty() if terminal else os.pipe()
    if terminal:
        termios.tcsetwinsize(writes, (ROWS, COLUMNS))
    began = time.monotonic()
    process = subprocess.Popen(
        ["make", "run"],
        cwd=clone,
        env={**env, "TERM": "xterm-256color"},
        stdin=writes if terminal else subprocess.DEVNULL,
        stdout=writes,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=_own_terminal if terminal else None,
    )
    os.close(writes)
    try:
        seen = watched(reads, began, asked=terminal)
        if terminal:
            os.write(reads, ESCAPE)
            with contextlib.suppress(OSError):  # the last program has left the terminal
                while os.read(reads, 65_536):
                    pass
    finally:
        try:
            code = process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
        os.close(reads)
    if code:
        raise SystemExit(f"make run ended with {code}")
    return seen


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def watched(descriptor: int, began: float, *, asked: bool) -> Seen:
    """Read until a question is shown, or to the end."""
    at = [began]
    shown = b""
    while not asked or ASKED not in shown:
        left = began + LIMIT_S - time.monotonic()
        ready, _, _ = select.select([descriptor], [], [], max(left, 0))
        data = os.read(descriptor, 65_536) if ready else b""
        if not data and ready and not asked:
            break
        if not data:
            raise SystemExit(f"make run has ended early, or takes too long:\n{shown.decode(errors='replace')}")
        at.append(time.monotonic())
        shown += data
    gaps = [after - before for before, after in itertools.pairwise(at)]
    return Seen(at[1] - began, max(gaps), at[-1] - began)


def run(*, quick: bool) -> list[Section]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for terminal in (False, True):
            where = "in a terminal" if terminal else "in a pipe"
            say(f"make run {where}")
            seen = first_run(Path(folder), terminal=terminal, cached=quick)
            rows += [
                Row(f"first output, {where}", "s", [seen.first_s], most=FIRST_S),
                Row(f"longest silence, {where}", "s", [seen.silent_s], most=SILENT_S),
                Row(f"until it {'asks' if terminal else 'ends'}, {where}", "s", [seen.total_s]),
            ]
    return [Section("make run in a fresh clone", rows)]


def main() -> int:
    arguments = parse(__doc__)
    sections = run(quick=arguments.quick)
    show(sections, as_json=arguments.json)
    return 1 if any(row.met is False for section in sections for row in section.rows) else 0


if __name__ == "__main__":
    sys.exit(main())
