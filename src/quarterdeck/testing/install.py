"""Installs an exact version of the Claude Code CLI, once per machine, for tests with the real CLI.

Each version has its own folder in a cache. It is installed in a temporary folder and renamed, so an existing folder is
always complete. A file lock keeps parallel test workers from installing the same version twice.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NEWEST = "2.1.325"
SUPPORTED = ("2.0.77", "2.1.17", "2.1.25", "2.1.52", NEWEST)

PACKAGE = "@anthropic-ai/claude-code"
INSTALL_LIMIT_S = 600.0
"""The newest package is about 350 MB; slow networks exist."""
LOCK_LIMIT_S = INSTALL_LIMIT_S + 60.0
"""Waiting for the lock means waiting for one other install."""
LOCK_POLL_S = 0.2
VERSION_LIMIT_S = 60.0


class InstallError(RuntimeError):
    """The CLI could not be installed; the message says what to do."""


@dataclass(frozen=True, slots=True)
class CliInstall:
    version: str
    argv: tuple[str, ...]
    """How to start it: the native executable, or ``node`` and the script (CLIs of 2.0 and early 2.1)."""


def default_cache_dir() -> Path:
    """``$QUARTERDECK_CACHE``, else ``~/.cache/quarterdeck``."""
    named = os.environ.get("QUARTERDECK_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "quarterdeck"


def is_installed(version: str = NEWEST, *, cache_dir: Path | None = None) -> bool:
    """Whether ``install_cli`` would find this version in the cache."""
    return _folder(version, cache_dir).exists()


def install_cli(version: str = NEWEST, *, cache_dir: Path | None = None) -> CliInstall:
    """The CLI of this version, installed with npm if it is not in the cache."""
    target = _folder(version, cache_dir)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(target.parent / f".{version}.lock"):
            if not target.exists():
                _fetch(version, target)
    return CliInstall(version, _argv(target))


def _folder(version: str, cache_dir: Path | None) -> Path:
    return (cache_dir or default_cache_dir()) / "claude-code" / version


def _fetch(version: str, target: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise InstallError(
            f"Claude Code {version} needs npm to be installed: install Node.js, or fill {target} by hand"
        )
    with tempfile.TemporaryDirectory(prefix=f".{version}-", dir=target.parent) as scratch:
        _run_npm(npm, version, Path(scratch))
        _check_version(version, _argv(Path(scratch)))
        # Renamed from inside the temporary folder, whose own removal then finds only an empty shell.
        whole = Path(scratch, "whole")
        whole.mkdir()
        Path(scratch, "node_modules").rename(whole / "node_modules")
        try:
            whole.rename(target)
        except OSError:
            if not target.exists():
                raise  # else another process was faster, and its copy is as good


def _run_npm(npm: str, version: str, folder: Path) -> None:
    # No install scripts: the native executable is in a separate package, and a test machine should not trust scripts.
    command = [npm, "install", "--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund", "--no-save"]
    try:
        done = subprocess.run(
            [*command, f"{PACKAGE}@{version}"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise InstallError(
            f"npm did not install Claude Code {version} within {INSTALL_LIMIT_S:.0f} s: check the network and try again"
        ) from error
    if done.returncode != 0:
        tail = done.stderr.strip()[-2_000:]
        raise InstallError(
            f"npm could not install Claude Code {version} (exit code {done.returncode}): check that the version exists "
            f"and that npm can reach its registry. It said:\n{tail}"
        )


def _check_version(version: str, argv: tuple[str, ...]) -> None:
    try:
        done = subprocess.run(
            [*argv, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=VERSION_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(f"the installed Claude Code {version} does not run on this machine: {error}") from error
    if not done.stdout.startswith(f"{version} "):
        raise InstallError(
            f"Claude Code {version} was requested, but --version printed {(done.stdout + done.stderr)[:500]!r}"
        )


def _argv(folder: Path) -> tuple[str, ...]:
    scope = folder / "node_modules" / "@anthropic-ai"
    name = "claude.exe" if sys.platform == "win32" else "claude"
    for native in sorted(scope.glob(f"claude-code-*/{name}")):
        return (str(native),)
    script = scope / "claude-code" / "cli.js"
    if not script.is_file():
        raise InstallError(f"{folder} does not contain a Claude Code CLI: remove it and try again")
    node = shutil.which("node")
    if node is None:
        raise InstallError(f"{script} needs Node.js: install it so that `node` is on the PATH")
    return (node, str(script))


@contextmanager
def locked(path: Path, limit_s: float = LOCK_LIMIT_S) -> Iterator[None]:
    """Hold the file lock; on Windows there is none and the final rename decides."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    deadline = time.monotonic() + limit_s
    with path.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() >= deadline:
                    raise InstallError(
                        f"another process has held {path} for {limit_s:.0f} s: wait for it, or end it and try again"
                    ) from error
                time.sleep(LOCK_POLL_S)
        yield  # closing the file gives the lock back
