"""The official SDK, in a virtual environment of its own: it must not share its dependencies with ours."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from quarterdeck.testing.install import default_cache_dir

from ._table import say

PACKAGE = "claude-agent-sdk"
VERSION = "0.2.182"
INSTALL_LIMIT_S = 900.0
"""The wheel brings a CLI of 160 MB along; slow networks exist."""
ASK_LIMIT_S = 60.0

_ASK_VERSION = f"import importlib.metadata as m; print(m.version({PACKAGE!r}))"


def peer_python() -> Path:
    """The interpreter that has the official SDK; the environment is made on first use and kept in the cache."""
    tag = f"{sys.implementation.cache_tag}"
    target = default_cache_dir() / "peer" / f"{PACKAGE}-{VERSION}-{tag}"
    if _version_in(target) == VERSION:
        return _python(target)
    say(f"installing {PACKAGE} {VERSION} into {target} (about 160 MB, once)")
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", str(target)])
    _run([str(_python(target)), "-m", "pip", "install", "--quiet", f"{PACKAGE}=={VERSION}"])
    if _version_in(target) != VERSION:
        raise SystemExit(f"{PACKAGE} {VERSION} did not install into {target}; remove that folder and try again")
    return _python(target)


def _python(environment: Path) -> Path:
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _version_in(environment: Path) -> str | None:
    if not _python(environment).exists():
        return None
    asked = subprocess.run(
        [_python(environment), "-c", _ASK_VERSION], capture_output=True, text=True, timeout=ASK_LIMIT_S, check=False
    )
    return asked.stdout.strip() or None


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True, timeout=INSTALL_LIMIT_S)
    except (subprocess.SubprocessError, OSError) as error:
        raise SystemExit(
            f"the benchmark needs {PACKAGE} {VERSION} to compare with, and could not get it: {error}"
        ) from error
