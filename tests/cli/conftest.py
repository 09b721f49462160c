"""A home of its own for each test, and transcripts as the CLI writes them."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.client.transcripts import project_key_for_directory

Block = dict[str, Any]
WriteSession = Callable[..., str]

_TELLING = ("CLAUDE_CONFIG_DIR", "CLAUDE_BIN", "CLAUDE_CODE_PATH", "CLAUDE_CODE_EXECUTABLE", "NO_COLOR", "FORCE_COLOR")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A fresh HOME; the working directory is ``project`` in it, 100 columns wide."""
    folder = tmp_path / "home"
    (folder / "project").mkdir(parents=True)
    for name in _TELLING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(folder / "project")
    yield folder


@pytest.fixture
def write_session(home: Path) -> WriteSession:
    """Writes a transcript: each content is said in turn, by the user if it is a str or holds a result."""

    def write(
        *contents: str | list[Block], session_id: str | None = None, title: str | None = None, **extra: Any
    ) -> str:
        chosen = session_id or str(uuid.uuid4())
        folder = extra.get("folder", home / "project")
        place = home / ".claude" / "projects" / project_key_for_directory(folder)
        place.mkdir(parents=True, exist_ok=True)
        records = list(_records(contents, chosen, str(folder)))
        if title is not None:
            records.append({"type": "custom-title", "customTitle": title, "sessionId": chosen})
        file = place / f"{chosen}.jsonl"
        file.write_text("".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records))
        if "age_s" in extra:
            changed = file.stat().st_mtime - extra["age_s"]
            os.utime(file, (changed, changed))
        return chosen

    return write


def _records(contents: tuple[str | list[Block], ...], session_id: str, cwd: str) -> Iterator[dict[str, Any]]:
    parent = None
    for number, content in enumerate(contents):
        by_user = isinstance(content, str) or any(block["type"] == "tool_result" for block in content)
        kind = "user" if by_user else "assistant"
        own = str(uuid.uuid5(uuid.UUID(session_id), str(number)))
        yield {
            "parentUuid": parent,
            "isSidechain": False,
            "type": kind,
            "message": {"role": kind, "content": content},
            "uuid": own,
            "timestamp": f"2026-01-01T10:00:{number % 60:02}.000Z",
            "cwd": cwd,
            "sessionId": session_id,
            "version": "2.1.325",
            "gitBranch": "main",
        }
        parent = own
