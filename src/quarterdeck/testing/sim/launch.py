"""The simulator as a file that any SDK takes for its ``claude``."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path

_NAME = "claude"
_START = (
    "import sys; sys.path.append(sys.argv.pop(1)); "
    "from quarterdeck.testing.sim.process import main; sys.exit(main(sys.argv[1:]))"
)
"""Finds this package also where it is not installed, without an environment variable that tool servers would inherit;
with ``-P``, so that no file of the working directory is taken for a module."""


def executable(*, scenario: Path | str | None = None, folder: Path | str | None = None) -> Path:
    """A launcher script, to be given as ``cli_path`` or ``pathToClaudeCodeExecutable``.

    ``scenario``: what it plays when neither ``--scenario`` nor the environment says otherwise. ``folder``: where to put
    it; by default a folder of this user's own in the temporary directory, the same each time.
    """
    home = Path(folder) if folder is not None else _own_folder(scenario)
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = home / _NAME
    lines = ["#!/bin/sh", "# Starts quarterdeck's simulator; made by quarterdeck.testing.sim.executable()."]
    if scenario is not None:
        chosen = shlex.quote(str(Path(scenario).resolve()))
        lines.append(f': "${{QUARTERDECK_SIM_SCENARIO:={chosen}}}"; export QUARTERDECK_SIM_SCENARIO')
    python, source = shlex.quote(sys.executable), shlex.quote(str(Path(__file__).parents[3]))
    lines.append(f'exec {python} -P -c {shlex.quote(_START)} {source} "$@"')
    _write(path, "\n".join(lines) + "\n")
    return path


def _own_folder(scenario: Path | str | None) -> Path:
    import hashlib

    key = f"{sys.executable}\0{__file__}\0{Path(scenario).resolve() if scenario else ''}"
    digest = hashlib.blake2b(key.encode(), digest_size=6).hexdigest()
    return Path(tempfile.gettempdir()) / f"quarterdeck-sim-{os.getuid()}-{digest}"


def _write(path: Path, text: str) -> None:
    """Whole or not at all: another process may be starting it."""
    if path.is_file() and path.read_text() == text and os.access(path, os.X_OK):
        return
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(text)
    Path(file.name).chmod(0o755)
    Path(file.name).replace(path)
