"""The official SDK, in a virtual environment of its own: its dependencies are none of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from quarterdeck.testing.install import default_cache_dir

PACKAGE = "claude-agent-sdk"
VERSION = "0.2.182"
INSTALL_LIMIT_S = 900.0
"""The wheel brings a CLI of 160 MB along; slow networks exist."""
ASK_LIMIT_S = 60.0


def environment_dir() -> Path:
    return default_cache_dir() / "peer" / f"{PACKAGE}-{VERSION}-trio-{sys.implementation.cache_tag}"


@cache
def peer_python() -> Path | None:
    """The interpreter that has the official SDK; None when there is none on this machine.

    ``QUARTERDECK_INSTALL_PEER=1`` makes the environment where it is missing: 160 MB that most runs can do without.
    """
    python = environment_dir() / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        if os.environ.get("QUARTERDECK_INSTALL_PEER") != "1":
            return None
        _install(python)
    return python


def _install(python: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", environment_dir()], check=True, timeout=INSTALL_LIMIT_S)
    wanted = [f"{PACKAGE}=={VERSION}", "trio"]  # it runs under trio too, and some programs do
    subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True, timeout=INSTALL_LIMIT_S)


def describe_peer(python: Path) -> str:
    """What ``describe.py`` says about the installed official package."""
    script = Path(__file__).with_name("describe.py")
    done = subprocess.run(
        [python, script, "claude_agent_sdk"], capture_output=True, text=True, timeout=ASK_LIMIT_S, check=True
    )
    return done.stdout
