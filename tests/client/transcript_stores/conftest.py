from __future__ import annotations

from pathlib import Path

import pytest

from client.transcripts.folder import Projects


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Projects:
    """An empty projects folder of this machine."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    return Projects(tmp_path / "config")


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    return folder
