"""What it costs to import the package: ours against the official SDK, each time in a fresh process.

``python -m benchmarks.imports`` prints the table (``--json`` for a program).
"""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from pathlib import Path

from ._arguments import Size, parse
from ._environments import own_python, peer_python
from ._table import Row, Section, say, show

CHILD = Path(__file__).parent / "_children" / "imports.py"
LIMIT_S = 60.0
ROUNDS = Size(full=20, quick=5)
IMPORT_FACTOR = 15.0

BARE = "import {package}"
NAMES = "from {package} import query, ClaudeAgentOptions, ClaudeSDKClient"

Samples = dict[tuple[str, str], dict[str, list[float]]]
"""(package, statement) → figure → one value per round."""


def measure(rounds: int) -> Samples:
    """In turns; the first round writes the compiled files and is not counted."""
    pythons = {"quarterdeck": own_python(), "claude_agent_sdk": peer_python()}
    samples: Samples = defaultdict(lambda: defaultdict(list))
    for number in range(rounds + 1):
        say(f"importing, round {number} of {rounds}")
        for package, python in pythons.items():
            for statement in (BARE, NAMES):
                figures = _child(python, statement.format(package=package))
                for name, value in figures.items() if number else ():
                    samples[package, statement][name].append(value)
    return samples


def _child(python: Path, statement: str) -> dict[str, float]:
    command = [str(python), "-P", str(CHILD), statement]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def run(*, quick: bool) -> list[Section]:
    samples = measure(ROUNDS.of(quick))
    rows = []
    for statement, target in ((BARE, IMPORT_FACTOR), (NAMES, None)):
        ours, peer = samples["quarterdeck", statement], samples["claude_agent_sdk", statement]
        shown = f"`{statement.format(package='…')}`"
        for what, figure, unit, scale in (
            ("CPU time", "processor_s", "ms", 1e3),
            ("wall-clock time", "wall_s", "ms", 1e3),
            ("memory of the process", "resident_kb", "KB", 1.0),
        ):
            mine, theirs = ([value * scale for value in side[figure]] for side in (ours, peer))
            goal = target if figure == "processor_s" else None
            rows.append(Row(f"{shown}: {what}", unit, mine, theirs, target=goal))
    return [Section("Import", rows, [NOTE])]


NOTE = (
    "Names are imported when they are first used, so the bare import says little by itself: the second statement is "
    "what a program begins with. Compiled files are in place."
)

if __name__ == "__main__":
    arguments = parse(__doc__)
    show(run(quick=arguments.quick), as_json=arguments.json)
