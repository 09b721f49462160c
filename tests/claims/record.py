"""Record the conversations of ``scenarios.py`` again: ``python tests/claims/record.py [NAME …]``."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from signal import Signals

sys.path.insert(0, str(Path(__file__).parents[1]))

from claims.scenarios import CLAIMS
from conversations import save
from conversations.driver import Run
from conversations.stage import BASE, Stage
from quarterdeck.testing.install import SUPPORTED, CliInstall, install_cli

RECORDINGS = Path(__file__).parent / "recordings"
GZIP_FROM_BYTES = 1 << 20
STDERR_LINES = 5
"""Enough for an error; a log for debugging is not kept."""


def main(names: list[str]) -> None:
    for version in SUPPORTED:
        install = install_cli(version, cache_dir=BASE / "cache")
        for name in names or CLAIMS:
            _record(name, install)


def _record(name: str, install: CliInstall) -> None:
    stage = Stage(f"claim_{name}", install)
    with stage:
        CLAIMS[name](stage)
    for recorded, run in stage.runs:
        _save(recorded.removeprefix("claim_"), run, install.version)
    shutil.rmtree(stage.folder)


def _save(name: str, run: Run, version: str) -> None:
    code = run.exit_code
    assert code is not None
    header = {
        "cli": version,
        "scenario": name,
        "argv": ["claude", *run.flags],
        "env": run.extra_env,
        "exit_code": code if code >= 0 else None,
        "signal": Signals(-code).name if code < 0 else None,
        "stderr": "\n".join(line[:200] for line in run.stderr.split("\n")[:STDERR_LINES]),
    }
    path = save(RECORDINGS / version / f"{name}.ndjson", header, run.entries, gzip_from_bytes=GZIP_FROM_BYTES)
    print(path.relative_to(RECORDINGS), path.stat().st_size)


if __name__ == "__main__":
    main(sys.argv[1:])
