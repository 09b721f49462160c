"""Packages from npm that the tests talk to: the official ACP library, installed once per machine into the cache."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from quarterdeck.testing.install import default_cache_dir

SDK_VERSION = "2.4.0"
INSTALL_LIMIT_S = 300.0
QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--silent")


def sdk_folder() -> Path | None:
    """The ACP library for TypeScript, with its schema; None where node or npm is missing."""
    folder = package("@agentclientprotocol/sdk", SDK_VERSION)
    return None if folder is None else folder / "node_modules/@agentclientprotocol/sdk"


def package(name: str, version: str) -> Path | None:
    """The folder that a package is installed in. Renamed into place, so what is there is complete."""
    place = default_cache_dir() / "peer"
    folder = place / f"{name.split('/')[-1]}-{version}"
    if shutil.which("node") is None or shutil.which("npm") is None:
        return None
    place.mkdir(parents=True, exist_ok=True)
    with (place / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            made = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=place))
            command = ["npm", "install", "--prefix", str(made), *QUIET, f"{name}@{version}"]
            done = subprocess.run(command, check=False, timeout=INSTALL_LIMIT_S, capture_output=True, env=os.environ)
            if done.returncode:
                shutil.rmtree(made)
                return None
            made.rename(folder)
    return folder
