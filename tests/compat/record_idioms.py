"""Write down what the official SDK makes of the programs in ``idioms``.

    PYTHONPATH=tests python -m compat.record_idioms PYTHON [MODULE | MODULE.NAME …]

``PYTHON`` is an interpreter that has ``claude-agent-sdk`` and ``trio``. Without names, all programs are recorded.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from compat.idiom_running import RECORDED, Worker, programs, recorded


def main(python: str, wanted: list[str]) -> None:
    said: dict[str, dict[str, list[str]]] = {}
    with tempfile.TemporaryDirectory() as folder, Worker(python, "claude_agent_sdk", Path(folder)) as worker:
        for module, name, script in programs():
            path = RECORDED / f"{module}.json"
            of_module = said.setdefault(module, {})
            if not wanted or module in wanted or f"{module}.{name}" in wanted:
                of_module[name] = worker.run(module, name, script)
                print(module, name, len(of_module[name]), file=sys.stderr)
            elif path.exists() and name in recorded(module):
                of_module[name] = recorded(module)[name]
    RECORDED.mkdir(exist_ok=True)
    for module, lines in said.items():
        if lines:
            (RECORDED / f"{module}.json").write_text(json.dumps(lines, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
