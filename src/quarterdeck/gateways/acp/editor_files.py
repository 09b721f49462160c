"""The editor's files: Claude reads unsaved changes, and Claude's changes go through the editor.

Claude Code's own tools stay, with their rules, prompts, hooks and checkpoints. Hooks after them do the rest: a ``Read``
of a file with unsaved changes gets the editor's text, and the editor gets the result of an ``Edit`` or ``Write`` for
review. If the editor does not answer in time, the file stays as it is on disk.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from quarterdeck.client.options_types import HookMatcher
from quarterdeck.client.tools.decorator import SdkMcpTool, tool

from . import schema
from .jsonrpc import RpcError
from .peer import Peer, decoded

EDITOR_LIMIT_S = 10.0
"""For one file. An editor answers in milliseconds; one that is busy must not hold up the turn."""
TEXT_LIMIT_BYTES = 10 * 1024 * 1024
EDITS = "Edit|MultiEdit|Write|NotebookEdit"
UNSAVED = (
    "The editor has unsaved changes in this file: this is the editor's text, not the one on disk. "
    "Call mcp__editor__save before you edit the file."
)


class EditorFiles:
    """The files of one session as its editor has them."""

    def __init__(self, peer: Peer, session_id: str, *, cwd: str, offered: schema.FileSystemCapabilities) -> None:
        self._peer = peer
        self.session_id = session_id
        self._cwd = cwd
        self._reads, self._writes = offered.read_text_file is True, offered.write_text_file is True

    def hooks(self) -> list[HookMatcher]:
        """For ``PostToolUse``. One that fails changes nothing."""
        made = []
        if self._reads:
            made.append(HookMatcher(matcher="Read", hooks=[self._after_read], on_failure="continue"))
        if self._writes:
            made.append(HookMatcher(matcher=EDITS, hooks=[self._after_edit], on_failure="continue"))
        return made

    def tools(self) -> list[SdkMcpTool[Any]]:
        """``save`` needs both: it writes what it has read."""
        if not (self._reads and self._writes):
            return []

        @tool("save", "Save the editor's unsaved changes in a file, so that it can be edited.", {"file_path": str})
        async def save(given: dict[str, Any]) -> dict[str, Any]:
            path = self._absolute(given["file_path"])
            text = await self._buffer(path)
            if text is None or not await self._give(path, text):
                return {"content": [{"type": "text", "text": f"The editor could not save {path}."}], "is_error": True}
            return {"content": [{"type": "text", "text": f"Saved {path}."}]}

        return [save]

    # Hooks

    async def _after_read(self, given: Any, tool_use_id: str | None, context: Any) -> Any:
        told = given.get("tool_response")
        if given.get("tool_name") != "Read":  # a session of a host may have been made by another editor
            return {}
        if not isinstance(told, dict) or told.get("type") not in ("text", "file_unchanged"):
            return {}  # an image, a notebook, a PDF: no editor has a buffer of those
        asked = given.get("tool_input") or {}
        path = self._absolute(asked.get("file_path", ""))
        text = await self._buffer(path)
        if text is None or text == await asyncio.to_thread(_on_disk, path):
            return {}
        changed = {
            "hookEventName": "PostToolUse",
            "updatedToolOutput": {"type": "text", "file": _excerpt(asked.get("file_path", path), text, asked)},
            "additionalContext": UNSAVED,
        }
        return {"hookSpecificOutput": changed}

    async def _after_edit(self, given: Any, tool_use_id: str | None, context: Any) -> Any:
        asked, told = given.get("tool_input") or {}, given.get("tool_response")
        if given.get("tool_name") not in EDITS.split("|"):
            return {}
        path = self._absolute(asked.get("file_path") or asked.get("notebook_path") or "")
        text = await asyncio.to_thread(_on_disk, path)
        if text is None:
            return {}
        if self._reads:
            shown = await self._buffer(path)
            before = told.get("originalFile") if isinstance(told, dict) else None
            if shown is None or shown == text:  # the editor already has it
                return {}
            if shown != before and (before or shown):
                merged = _applied(shown, asked)  # the person has typed meanwhile: keep both, or leave it to the editor
                if merged is None:
                    return {}
                text = merged
        await self._give(path, text)
        return {}

    # The editor

    async def _buffer(self, path: str) -> str | None:
        """The text that the editor shows; None where it has none, or does not say."""
        wanted = schema.ReadTextFileRequest(session_id=self.session_id, path=path)
        try:
            async with asyncio.timeout(EDITOR_LIMIT_S):
                answer = await self._peer.call("fs/read_text_file", wanted)
            return decoded(answer, schema.ReadTextFileResponse).content
        except (RpcError, TimeoutError):
            return None

    async def _give(self, path: str, text: str) -> bool:
        wanted = schema.WriteTextFileRequest(session_id=self.session_id, path=path, content=text)
        try:
            async with asyncio.timeout(EDITOR_LIMIT_S):
                await self._peer.call("fs/write_text_file", wanted)
        except (RpcError, TimeoutError):
            return False
        return True

    def _absolute(self, path: str) -> str:
        return os.path.normpath(Path(self._cwd, path))


def _on_disk(path: str) -> str | None:
    """None for what is no text, or too large to be sent to an editor."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(TEXT_LIMIT_BYTES + 1)
    except OSError:
        return None
    if len(data) > TEXT_LIMIT_BYTES:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _excerpt(path: str, text: str, asked: dict[str, Any]) -> dict[str, Any]:
    """The lines that were asked for, in the shape of ``Read``'s result (2.1.325)."""
    lines = text.split("\n")
    offset, limit = asked.get("offset"), asked.get("limit")
    first = offset if isinstance(offset, int) and offset > 0 else 1
    count = limit if isinstance(limit, int) and limit > 0 else len(lines)
    part = lines[first - 1 : first - 1 + count]
    return {
        "filePath": path,
        "content": "\n".join(part),
        "numLines": len(part),
        "startLine": first,
        "totalLines": len(lines),
    }


def _applied(text: str, asked: dict[str, Any]) -> str | None:
    """The same edit in another text; None where it does not fit."""
    match asked:
        case {"old_string": str(old), "new_string": str(new)} if old and old in text:
            if asked.get("replace_all") is True:
                return text.replace(old, new)
            return text.replace(old, new) if text.count(old) == 1 else None
    return None
