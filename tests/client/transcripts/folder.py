"""A projects folder for a test, written record by record."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from quarterdeck.client.transcripts.places import project_key_for_directory

Record = dict[str, Any]


def new_id(number: int = 0) -> str:
    return str(uuid.UUID(int=number, version=4)) if number else str(uuid.uuid4())


def user(text: Any, uuid: str, parent: str | None = None, **more: Any) -> Record:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "type": "user",
        "message": {"role": "user", "content": text},
        "uuid": uuid,
        "timestamp": "2026-11-02T10:11:12.345Z",
        "cwd": "/somewhere",
        "sessionId": "S",
        "gitBranch": "main",
        **more,
    }


def assistant(text: Any, uuid: str, parent: str | None, message_id: str = "msg", **more: Any) -> Record:
    content = [{"type": "text", "text": text}] if isinstance(text, str) else text
    message = {"role": "assistant", "id": message_id, "content": content}
    return {**user("", uuid, parent), "type": "assistant", "message": message, **more}


def call(tool_id: str) -> list[Record]:
    return [{"type": "tool_use", "id": tool_id, "name": "Bash", "input": {"command": "ls"}}]


def outcome(tool_id: str, text: str = "done") -> list[Record]:
    return [{"type": "tool_result", "tool_use_id": tool_id, "content": text}]


def chat(count: int = 1) -> list[Record]:
    """Prompts and answers in one branch."""
    records: list[Record] = []
    parent: str | None = None
    for number in range(count):
        asked, said = new_id(10_000 + number), new_id(20_000 + number)
        records += [user(f"question {number}", asked, parent), assistant(f"answer {number}", said, asked, f"m{number}")]
        parent = said
    return records


class Projects:
    """``<config>/projects``."""

    def __init__(self, config: Path) -> None:
        self.config = config
        self.root = config / "projects"
        self.root.mkdir(parents=True)

    def folder(self, cwd: str | Path) -> Path:
        return self.root / project_key_for_directory(cwd)

    def add(
        self,
        cwd: str | Path,
        records: Iterable[Record | str | bytes],
        *,
        session_id: str | None = None,
        mtime: float | None = None,
        spaced: bool = False,
    ) -> str:
        """A transcript; strings and bytes are lines as they are."""
        session_id = session_id or new_id()
        path = self.path(cwd, session_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        separators = (", ", ": ") if spaced else (",", ":")
        lines = [
            one if isinstance(one, bytes) else one.encode() if isinstance(one, str)
            else json.dumps({**one, **({"sessionId": session_id} if one.get("sessionId") == "S" else {})},
                            separators=separators, ensure_ascii=False).encode()
            for one in records
        ]  # fmt: skip
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        if mtime is not None:
            os.utime(path, (mtime, mtime))
        return session_id

    def path(self, cwd: str | Path, session_id: str) -> Path:
        return self.folder(cwd) / f"{session_id}.jsonl"

    def add_agent(
        self,
        cwd: str | Path,
        session_id: str,
        agent_id: str,
        records: Iterable[Record],
        *,
        below: str = "",
        **meta: Any,
    ) -> Path:
        folder = self.folder(cwd) / session_id / "subagents" / below
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"agent-{agent_id}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in records))
        if meta:
            path.with_name(f"agent-{agent_id}.meta.json").write_text(json.dumps(meta))
        return path
