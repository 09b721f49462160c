"""Writes the simulator as an executable file that any SDK can run as its ``claude``."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from quarterdeck.testing.launcher import write_launcher
from quarterdeck.testing.simulated import APART_VARIABLE

from .process import SCENARIO_VARIABLE


def executable(*, scenario: Path | str | None = None, folder: Path | str | None = None) -> Path:
    """Create a launcher script to use as ``cli_path`` or ``pathToClaudeCodeExecutable``.

    ``scenario``: what it plays when neither ``--scenario`` nor the environment says otherwise. ``folder``: where to put
    it; by default a per-user temporary folder, always the same, and its sessions are kept
    apart from those of Claude Code (``quarterdeck sessions --agent sim`` lists them).
    """
    home = Path(folder) if folder is not None else _own_folder(scenario)
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    chosen = {} if scenario is None else {SCENARIO_VARIABLE: str(Path(scenario).resolve())}
    if folder is None:
        chosen[APART_VARIABLE] = "1"
    return write_launcher(home / "claude", "quarterdeck.testing.sim.process", [], exports=chosen)


def _own_folder(scenario: Path | str | None) -> Path:
    import hashlib

    key = f"{sys.executable}\0{__file__}\0{Path(scenario).resolve() if scenario else ''}"
    digest = hashlib.blake2b(key.encode(), digest_size=6).hexdigest()
    return Path(tempfile.gettempdir()) / f"quarterdeck-sim-{os.getuid()}-{digest}"
