"""Packages from npm that tests and benchmarks talk to, installed once per machine into the cache.

The ACP library for TypeScript, which publishes the protocol's schema, and ``claude-agent-acp``, the agent beside which
ours is measured. That one needs a newer node than many machines have, so it gets one from npm, too.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from quarterdeck.testing.install import default_cache_dir

SDK_VERSION = "2.4.0"
ANCHOR = "@agentclientprotocol/claude-agent-acp"
ANCHOR_VERSION = "0.99.1"
NODE_VERSION = "22.23.3"
INSTALL_LIMIT_S = 300.0
ASK_LIMIT_S = 30.0
QUIET = ("--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--no-save", "--silent")
_MACHINES = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def sdk_folder() -> Path | None:
    """The ACP library for TypeScript, with its schema; None where node or npm is missing."""
    folder = package("@agentclientprotocol/sdk", SDK_VERSION)
    return None if folder is None else folder / "node_modules/@agentclientprotocol/sdk"


def anchor_command() -> list[str] | None:
    """How ``claude-agent-acp`` is started; None where it cannot be had. ``CLAUDE_CODE_EXECUTABLE`` names its CLI."""
    node, folder = new_node(), package(ANCHOR, ANCHOR_VERSION)
    if node is None or folder is None:
        return None
    return [node, str(folder / "node_modules" / ANCHOR / "dist/index.js")]


def new_node() -> str | None:
    """A node that is new enough for the anchor: the machine's own, or one from npm."""
    own = shutil.which("node")
    if own is None:
        return None
    told = subprocess.run([own, "--version"], capture_output=True, text=True, timeout=ASK_LIMIT_S, check=False).stdout
    if int(told.removeprefix("v").split(".")[0] or 0) >= int(NODE_VERSION.split(".")[0]):
        return own
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return None
    name = f"node-{platform.system().lower()}-{machine}"
    folder = package(name, NODE_VERSION)
    return None if folder is None else str(folder / "node_modules" / name / "bin/node")


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
