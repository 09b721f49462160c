"""The official SDK, in its own virtual environment: we don't share its dependencies."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from quarterdeck.testing.install import default_cache_dir, locked

PACKAGE = "claude-agent-sdk"
VERSION = "0.2.182"
INSTALL_LIMIT_S = 900.0
"""The wheel contains a CLI of 160 MB, and networks can be slow."""
ASK_LIMIT_S = 60.0


def environment_dir() -> Path:
    return default_cache_dir() / "peer" / f"{PACKAGE}-{VERSION}-trio-{sys.implementation.cache_tag}"


@cache
def peer_python() -> Path | None:
    """The interpreter that has the official SDK, or None if it is not installed.

    ``QUARTERDECK_INSTALL_PEER=1`` installs it: 160 MB that most runs don't need.
    """
    if os.environ.get("QUARTERDECK_INSTALL_PEER") == "1":
        return installed_peer()
    return _python() if _is_complete() else None


def installed_peer() -> Path:
    """The interpreter that has the official SDK, which is installed if necessary: by one process at a time."""
    folder = environment_dir()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_name(f".{folder.name}.lock"), INSTALL_LIMIT_S):
        if not _is_complete():
            wanted = [f"{PACKAGE}=={VERSION}", "trio"]  # it runs under trio too, and some programs do
            for command in (
                [sys.executable, "-m", "venv", "--clear", folder],
                [_python(), "-m", "pip", "install", "--quiet", *wanted],
            ):
                subprocess.run(command, check=True, timeout=INSTALL_LIMIT_S, stdout=subprocess.DEVNULL)
    return _python()


def _python() -> Path:
    return environment_dir() / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _is_complete() -> bool:
    return any(environment_dir().glob("**/claude_agent_sdk-*.dist-info/RECORD"))


def describe_peer(python: Path) -> str:
    """What ``describe.py`` says about the installed official package."""
    script = Path(__file__).with_name("describe.py")
    done = subprocess.run(
        [python, script, "claude_agent_sdk"], capture_output=True, text=True, timeout=ASK_LIMIT_S, check=True
    )
    return done.stdout
