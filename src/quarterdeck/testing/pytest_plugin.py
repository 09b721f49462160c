"""Fixtures for pytest, available once Quarterdeck is installed: a ``claude`` to test against, without a model.

``fake_claude``   the simulator; script it with ``fake_claude.play([...])``
``model_server``  a scripted Messages API on loopback
``real_claude``   the real CLI talking to ``model_server``; skipped where it cannot be installed, an error in CI
``cassette``      ``cassette("name")``: recorded once with the real CLI, then replayed
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .kit import Cassette, FakeClaude, RealClaude
    from .model import ModelServer

VERSION_VARIABLE = "QUARTERDECK_CLI_VERSION"
"""Which version of the real CLI to use; the newest known one by default."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("quarterdeck")
    group.addoption(
        "--cassettes",
        choices=["once", "replay", "record"],
        default="once",
        help="conversations with the real CLI: record what is missing (once), never record (replay), record all again",
    )


@pytest.fixture
def fake_claude(tmp_path: Path) -> FakeClaude:
    """The simulator: a claude without a model."""
    from .kit import FakeClaude

    return FakeClaude(tmp_path / "fake-claude")


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A scripted model."""
    from .model import ModelServer

    with ModelServer() as server:
        yield server


@pytest.fixture
def real_claude(tmp_path: Path, model_server: ModelServer) -> RealClaude:
    """The real CLI, on a scripted model."""
    from .kit import RealClaude

    return RealClaude(_installed(), tmp_path / "real-claude", model_server)


@pytest.fixture
def cassette(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Cassette]:
    """Creates cassettes: files in ``cassettes/`` beside the test."""
    from .kit import Cassette

    mode = request.config.getoption("--cassettes")

    def make(name: str) -> Cassette:
        file = request.path.parent / "cassettes" / f"{name}.ndjson"
        needs_cli = mode == "record" or (mode == "once" and not file.exists())
        cli = request.getfixturevalue("real_claude") if needs_cli else None
        return Cassette(file, tmp_path / f"cassette-{name}", mode=mode, cli=cli)

    return make


def _installed() -> list[str]:
    from .install import NEWEST, InstallError, install_cli

    try:
        return list(install_cli(os.environ.get(VERSION_VARIABLE, NEWEST)).argv)
    except InstallError as error:
        if os.environ.get("CI"):
            pytest.fail(f"the real CLI is required in CI: {error}")
        pytest.skip(f"the real CLI is not available: {error}")
