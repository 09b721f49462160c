"""A served host for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hosted.kit import ServedHost, Shell


@pytest.fixture
def unserved(tmp_path: Path) -> Iterator[ServedHost]:
    """Not started yet: the test says first what its sessions play."""
    served = ServedHost(tmp_path)
    yield served
    served.close()


@pytest.fixture
def served(unserved: ServedHost, monkeypatch: pytest.MonkeyPatch) -> ServedHost:
    """Its sessions ask whether they may touch a file, and then say so. Commands find it by ``QUARTERDECK_HOST``."""
    unserved.claude.play(*[[TOUCH, "It is **done**."]] * 5)
    monkeypatch.setenv("QUARTERDECK_HOST", str(unserved.state))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("QUARTERDECK_TOKEN", raising=False)
    return unserved.start()


@pytest.fixture
def shell(served: ServedHost, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


TOUCH = {"tool": "Bash", "input": {"command": "touch made.txt", "description": "Make a file"}}
