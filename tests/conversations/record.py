"""Record the conversations again: ``python tests/conversations/record.py [--version V] [--only NAME …]``."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path
from signal import Signals

sys.path.insert(0, str(Path(__file__).parents[1]))

from conversations import ROOT, save
from conversations.driver import Run
from conversations.scenarios import SCENARIOS, Scenario
from conversations.stage import BASE, Stage
from quarterdeck.testing.install import NEWEST, SUPPORTED, CliInstall, install_cli

GZIP_FROM_BYTES = 128 * 1024
MACHINE_FACTS = (f"{Path.home()}/", str(ROOT.parents[1]), f'"{os.uname().nodename}"')
"""Where and by whom it was recorded: a recording that has one of these is not saved."""


def main() -> int:
    options = _options()
    wanted = [s for s in SCENARIOS.values() if not options.only or any(word in s.name for word in options.only)]
    failed: list[str] = []
    for version in options.version or SUPPORTED:
        install = install_cli(version, cache_dir=BASE / "cache")
        here = [scenario for scenario in wanted if scenario.runs_on(version)]
        failed += [f"{version}/{scenario.name}" for scenario in here if not _record(scenario, install)]
    print(f"{len(failed)} failed: {failed}" if failed else "all recorded")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", action="append", choices=SUPPORTED, help=f"default: all; the newest is {NEWEST}")
    parser.add_argument("--only", action="append", help="record only scenarios whose name contains this")
    return parser.parse_args()


def _record(scenario: Scenario, install: CliInstall) -> bool:
    started = time.monotonic()
    stage = Stage(scenario.name, install)
    try:
        with stage:
            scenario.play(stage)
        saved = [_save(name, run, install.version) for name, run in stage.runs]
    except Exception:  # noqa: BLE001 - one broken scenario must not hide the others; it is reported and fails the run
        print(f"FAILED  {install.version}/{scenario.name}\n{traceback.format_exc()}", flush=True)
        return False
    finally:
        shutil.rmtree(stage.folder, ignore_errors=True)
    took = time.monotonic() - started
    print(f"{took:5.1f} s  {install.version}/{scenario.name}  {', '.join(saved)}", flush=True)
    return True


def _save(name: str, run: Run, version: str) -> str:
    code = run.exit_code
    header = {
        "cli": version,
        "scenario": name,
        "argv": ["claude", *run.flags],
        "env": run.extra_env,
        "exit_code": code if code is not None and code >= 0 else None,
        "signal": Signals(-code).name if code is not None and code < 0 else None,
        "stderr": "\n".join(map(_shortened, run.stderr.split("\n"))),
    }
    # The kernel's name is the one machine fact that the CLI writes by itself (into mirrored transcripts).
    kernel = os.uname().release.encode()
    entries = [replace(entry, line=entry.line.replace(kernel, b"6.1.0")) for entry in run.entries]
    text = b"\n".join(entry.line for entry in entries) + run.stderr.encode()
    text = text.replace(b"/$bunfs/root/", b"")  # a place inside the executable, not on the machine
    for word in MACHINE_FACTS:
        if word.encode() in text:
            raise ValueError(f"{name} holds {word!r}, a fact of this machine")
    path = save(ROOT / version / f"{name}.ndjson", header, entries, gzip_from_bytes=GZIP_FROM_BYTES)
    return f"{path.name} {path.stat().st_size:,}"


def _shortened(line: str) -> str:
    """A stack trace quotes the CLI's own program in very long lines, which are not ours to keep."""
    limit = 300
    return line if len(line) <= limit else f"{line[:60]}… ({len(line)} characters)"


if __name__ == "__main__":
    sys.exit(main())
