"""What a test needs from the machine. Where it is missing, the test is skipped with the reason; in CI it fails.

So a test never passes in CI by not running: CI has the CLI, npm, a browser, and all shells.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest
from benchmarks._npm import package

from quarterdeck.testing.install import NEWEST, CliInstall, InstallError, install_cli


def missing(reason: str) -> NoReturn:
    """End the test."""
    if in_ci():
        pytest.fail(f"{reason}; in CI it must be there")
    pytest.skip(reason)


def in_ci() -> bool:
    return bool(os.environ.get("CI"))


def program(name: str) -> pytest.MarkDecorator:
    """Marks tests that run a program of that name. In CI they always run."""
    return pytest.mark.skipif(not in_ci() and shutil.which(name) is None, reason=f"{name} is not installed")


def real_cli(version: str = NEWEST) -> CliInstall:
    """Claude Code of that version, installed if necessary."""
    try:
        return install_cli(version)
    except InstallError as error:
        missing(f"no Claude Code {version} here: {error}")


def from_npm(name: str, version: str) -> Path:
    """The folder that the package is installed in; itself, it is in ``node_modules`` there."""
    folder = package(name, version)
    if folder is None:
        missing(f"node or npm is missing, or cannot fetch {name}")
    return folder
