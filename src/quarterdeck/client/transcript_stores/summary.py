"""The summary that a store keeps of a session, updated with every batch of records."""

from __future__ import annotations

from typing import Any, cast

from quarterdeck.client.transcripts.prompt import PromptFinder
from quarterdeck.client.transcripts.summary import epoch_ms

from .protocol import SessionKey, SessionStoreEntry, SessionSummaryEntry

_LAST_ONE_COUNTS = {
    "customTitle": "custom_title",
    "aiTitle": "ai_title",
    "lastPrompt": "last_prompt",
    "summary": "summary_hint",
    "gitBranch": "git_branch",
}


def fold_session_summary(
    prev: SessionSummaryEntry | None, key: SessionKey, entries: list[SessionStoreEntry]
) -> SessionSummaryEntry:
    """The summary of a session after more records, for a store to keep with them.

    ``prev``, the summary so far, is not changed. Not for keys with a ``subpath``. The store sets ``mtime``.
    """
    data: dict[str, Any] = dict(prev["data"]) if prev is not None else {}
    for entry in entries:
        _fold(data, cast("dict[str, Any]", entry))
    if prev is None:
        return {"session_id": key["session_id"], "mtime": 0, "data": data}
    return {"session_id": prev["session_id"], "mtime": prev["mtime"], "data": data}


def _fold(data: dict[str, Any], entry: dict[str, Any]) -> None:
    data.setdefault("is_sidechain", entry.get("isSidechain") is True)
    if "created_at" not in data and (created := epoch_ms(entry.get("timestamp"))) is not None:
        data["created_at"] = created
    cwd = entry.get("cwd")
    if isinstance(cwd, str) and cwd:
        data.setdefault("cwd", cwd)
    _fold_prompt(data, entry)
    for theirs, ours in _LAST_ONE_COUNTS.items():
        value = entry.get(theirs)
        if isinstance(value, str):
            data[ours] = value
    if entry.get("type") == "tag":
        tag = entry.get("tag")
        if isinstance(tag, str) and tag:
            data["tag"] = tag
        else:
            data.pop("tag", None)


def _fold_prompt(data: dict[str, Any], entry: dict[str, Any]) -> None:
    if data.get("first_prompt_locked"):
        return
    finder = PromptFinder()
    if finder.take(entry):
        data["first_prompt"] = finder.prompt
        data["first_prompt_locked"] = True
    if finder.command and not data.get("command_fallback"):
        data["command_fallback"] = finder.command


class FoldedFacts:
    """The facts that a folded summary shows."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def is_sidechain(self) -> bool:
        return bool(self._data.get("is_sidechain"))

    def title(self) -> str | None:
        return self._first_of("custom_title", "ai_title")

    def topic(self) -> str | None:
        return self._first_of("last_prompt", "summary_hint")

    def prompt(self) -> str | None:
        return self._first_of("first_prompt" if self._data.get("first_prompt_locked") else "command_fallback")

    def branch(self) -> str | None:
        return self._first_of("git_branch")

    def cwd(self) -> str | None:
        return self._first_of("cwd")

    def tag(self) -> str | None:
        return self._first_of("tag")

    def created_at(self) -> int | None:
        return self._data.get("created_at")

    def _first_of(self, *keys: str) -> str | None:
        return next((self._data[key] for key in keys if self._data.get(key)), None)
