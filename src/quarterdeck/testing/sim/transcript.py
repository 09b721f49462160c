"""Sessions on disk, in the CLI's layout: one JSONL file per session, records chained by ``parentUuid``.

Only what tools read is written: prompts, answers, tool results, titles, compactions. The real CLI also stores
attachments, request shapes and more; a reader must pass over types it does not know either way.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import facts
from .state import SimulatedSession

Record = dict[str, Any]


class NotResumableError(Exception):
    """The session to continue does not exist, or the new one already does; the message is the CLI's own."""

    def __init__(self, message: str, *, says_result: bool) -> None:
        super().__init__(message)
        self.says_result = says_result
        """Whether the CLI also writes a result (it does not for an id in use)."""


class SimulatedTranscript:
    def __init__(
        self,
        session: SimulatedSession,
        *,
        now: Callable[[], str],
        new_id: Callable[[], str],
        mirror: Callable[[Record], None],
    ) -> None:
        self._session = session
        self._now = now
        self._new_id = new_id
        self._mirror = mirror
        self._kept = "--no-session-persistence" not in session.flags
        self._mirrored = "--session-mirror" in session.flags
        self._leaf: str | None = None
        self.records: list[Record] = []
        """The conversation, oldest first: the resumed part and everything since."""

    # Starting

    def open(self) -> None:
        """Find the session that the flags name and continue it; raises ``NotResumableError``."""
        flags = self._session.flags
        given, resumed = flags.get("--session-id"), flags.get("--resume")
        if "--continue" in flags and resumed is None:
            resumed = self._newest()
        if resumed:
            self._resume(resumed, fork="--fork-session" in flags, new_session=given)
        elif given:
            self._session.id = given
            if self._session.transcript_path.exists():
                raise NotResumableError(f"Error: Session ID {given} is already in use.", says_result=False)

    def _newest(self) -> str | None:
        files = list(self._session.project_dir.glob("*.jsonl"))
        return max(files, key=lambda path: path.stat().st_mtime).stem if files else None

    def _resume(self, session_id: str, *, fork: bool, new_session: str | None) -> None:
        path = self._find(session_id)
        if path is None:
            raise NotResumableError(f"No conversation found with session ID: {session_id}", says_result=True)
        self._session.id = session_id
        self._session.stored_in = path.parent if path.parent != self._session.project_dir else None
        records = read_records(path)
        at = self._session.flags.get("--resume-session-at")
        leaf = at or next((str(record["uuid"]) for record in reversed(records) if "uuid" in record), None)
        if at and all(record.get("uuid") != at for record in records):
            raise NotResumableError(f"No message found with message.uuid of: {at}", says_result=True)
        self._leaf = leaf
        self.records = branch(records, leaf)
        for record in records:
            if record.get("type") == "custom-title":
                self._session.title = record.get("customTitle")
        if fork:
            self._session.stored_in = None
            self._session.id = new_session or self._new_id()
            for record in self.records:
                self._write(record | {"sessionId": self._session.id})

    def _find(self, session_id: str) -> Path | None:
        """Here first, then in any other folder, as the CLI does (2.1.325)."""
        here = self._session.project_dir
        others = sorted(here.parent.iterdir()) if here.parent.is_dir() else []
        places = (folder / f"{session_id}.jsonl" for folder in [here, *others])
        return next((path for path in places if path.is_file()), None)

    # Writing

    def add(self, kind: str, *, uuid: str | None = None, sidechain: str | None = None, **fields: Any) -> Record:
        """A link of the chain. ``sidechain``: the id of the sub-agent whose own file it belongs to."""
        record = {
            "parentUuid": self._leaf,
            "isSidechain": sidechain is not None,
            "type": kind,
            **fields,
            "uuid": uuid or self._new_id(),
            "timestamp": self._now(),
            "userType": "external",
            "entrypoint": self._session.env.get("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"),
            "cwd": str(self._session.cwd),
            "sessionId": self._session.id,
            "version": facts.VERSION,
            "gitBranch": "HEAD",
        }
        if sidechain is not None:
            self._write(record | {"agentId": sidechain}, self._sidechain(sidechain))
            return record
        self._leaf = record["uuid"]
        self.records.append(record)
        self._write(record)
        return record

    def note(self, kind: str, **fields: Any) -> None:
        """A fact about the session outside the chain; the last one counts."""
        self._write({"type": kind, **fields, "sessionId": self._session.id})

    def describe_sidechain(self, agent_id: str, **meta: Any) -> None:
        if self._kept:
            path = self._sidechain(agent_id).with_suffix(".meta.json")
            _make_folder(path.parent)
            path.write_text(json.dumps(meta))

    def start_over(self) -> None:
        """After ``/clear``: an empty conversation in a new file."""
        self._leaf = None
        self.records = []

    def rewind(self, uuid: str) -> tuple[str | None, str | None]:
        """Drop a prompt and everything after it; returns the uuid before it, and its text. ``(None, None)``: no such
        prompt."""
        for index, record in enumerate(self.records):
            if record["uuid"] == uuid and record["type"] == "user":
                self.records = self.records[:index]
                self._leaf = record["parentUuid"]
                before = [item["uuid"] for item in self.records if item["type"] == "assistant"]
                return (before[-1] if before else ""), text_of(record["message"]["content"])
        return None, None

    def _sidechain(self, agent_id: str) -> Path:
        return self._session.transcript_path.with_suffix("") / "subagents" / f"agent-{agent_id}.jsonl"

    def _write(self, record: Record, path: Path | None = None) -> None:
        path = path or self._session.transcript_path
        if self._mirrored:
            self._mirror({"type": "transcript_mirror", "filePath": str(path), "entries": [record]})
        if not self._kept:
            return
        _make_folder(path.parent)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def read_records(path: Path) -> list[Record]:
    """Every record; invalid lines (a torn end, say) are skipped, as in the CLI."""
    records = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records


def branch(records: list[Record], leaf: str | None) -> list[Record]:
    """The chain that ends at ``leaf``, oldest first: a file can hold several."""
    by_uuid = {record["uuid"]: record for record in records if "uuid" in record}
    chain: list[Record] = []
    while leaf is not None and leaf in by_uuid and len(chain) <= len(by_uuid):
        chain.append(by_uuid[leaf])
        leaf = by_uuid[leaf].get("parentUuid")
    return chain[::-1]


def text_of(content: Any) -> str:
    """The text of a message's content, whether string or blocks."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        str(part.get("text", "")) for part in parts if isinstance(part, dict) and part.get("type") == "text"
    )


def _make_folder(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
