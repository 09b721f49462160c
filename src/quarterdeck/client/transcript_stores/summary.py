"""What a list shows of a session in a store, kept up to date as its records come."""

from __future__ import annotations

from typing import Any, cast

from quarterdeck.client.transcripts.prompt import PromptFinder, prompt_texts
from quarterdeck.client.transcripts.summary import epoch_ms
from quarterdeck.client.transcripts.types import SDKSessionInfo

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
    """The summary of a session after some more records, for a store to keep beside them.

    ``prev`` is the summary so far and stays as it is. Not for keys with a ``subpath``. ``mtime`` is the store's to set.
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
    if data.get("first_prompt_locked") or entry.get("type") != "user":
        return
    if entry.get("isMeta") is True or entry.get("isCompactSummary") is True or _has_result(entry):
        return
    finder = PromptFinder()
    if finder.offer(prompt_texts(entry)):
        data["first_prompt"] = finder.prompt
        data["first_prompt_locked"] = True
    if finder.command and not data.get("command_fallback"):
        data["command_fallback"] = finder.command


def _has_result(entry: dict[str, Any]) -> bool:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else ()
    return any(isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks)


def info_of_summary(entry: SessionSummaryEntry, project: str | None) -> SDKSessionInfo | None:
    """None for a sub-agent's session and for one that has nothing to show."""
    data = entry["data"]
    prompt = data.get("first_prompt" if data.get("first_prompt_locked") else "command_fallback") or None
    title = data.get("custom_title") or data.get("ai_title") or None
    shown = title or data.get("last_prompt") or data.get("summary_hint") or prompt
    if data.get("is_sidechain") or not shown:
        return None
    return SDKSessionInfo(
        session_id=entry["session_id"],
        summary=shown,
        last_modified=entry["mtime"],
        custom_title=title,
        first_prompt=prompt,
        git_branch=data.get("git_branch") or None,
        cwd=data.get("cwd") or project or None,
        tag=data.get("tag") or None,
        created_at=data.get("created_at"),
    )
