"""The first thing a person asked in a session: what a list shows when there is no title."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

LONGEST = 200

raw_decode = json.JSONDecoder().raw_decode
"""What ``json.loads`` does in twice the time."""

_COMMAND = re.compile(r"<command-name>(.*?)</command-name>")
_MADE_BY_A_PROGRAM = ("<local-command-stdout>", "<session-start-hook>", "<tick>", "<goal>")
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]*\]")
_MARKED_AS_NO_PROMPT = (b'"isMeta":true', b'"isCompactSummary":true', b'"isMeta": true', b'"isCompactSummary": true')
_EDITOR_NOTES = ("ide_opened_file", "ide_selection")


class PromptFinder:
    """Takes the texts of user records, in order, until one of them is a prompt.

    A slash command is none, but its name stands in if nothing better comes.
    """

    __slots__ = ("command", "prompt")

    def __init__(self) -> None:
        self.prompt: str | None = None
        self.command: str | None = None

    @property
    def best(self) -> str | None:
        return self.prompt or self.command or None

    def offer(self, texts: Iterable[str]) -> bool:
        """True once the prompt is found."""
        for text in texts:
            line = text.replace("\n", " ").strip()
            command = _COMMAND.search(line) if "<" in line else None
            if command:
                self.command = self.command or command.group(1)
            elif line and not _is_made_up(line):
                self.prompt = line if len(line) <= LONGEST else line[:LONGEST].rstrip() + "…"
                return True
        return False

    def take(self, record: dict[str, Any]) -> bool:
        """``offer`` the texts of a record, unless it is none of a person's. True once the prompt is found."""
        if record.get("type") != "user" or record.get("isMeta") is True or record.get("isCompactSummary") is True:
            return False
        return not _has_result(record) and self.offer(prompt_texts(record))

    def find(self, head: bytes) -> str | None:
        """In the first piece of a transcript; whole lines only."""
        mark = _next_mark(head, 0)
        while mark >= 0:
            start, end = head.rfind(b"\n", 0, mark) + 1, head.find(b"\n", mark)
            line = head[start:] if end < 0 else head[start:end]
            if not _is_no_prompt(line):
                record = _decode(line)
                if isinstance(record, dict) and self.take(record):
                    break
            mark = -1 if end < 0 else _next_mark(head, end + 1)
        return self.best


def _next_mark(head: bytes, at: int) -> int:
    mark = head.find(b'"type":"user"', at)
    other = head.find(b'"type": "user"', at, None if mark < 0 else mark)
    return mark if other < 0 else other


def _is_no_prompt(line: bytes) -> bool:
    if line.rfind(b'"tool_result"') >= 0:  # takes half the time of ``in``
        return True
    return line.rfind(b"true") >= 0 and any(mark in line for mark in _MARKED_AS_NO_PROMPT)


def _decode(line: bytes) -> Any:
    text = line.decode("utf-8", "replace").strip()
    try:
        value, end = raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if end == len(text) else None


def prompt_texts(record: dict[str, Any]) -> list[str]:
    """The texts of a record's message."""
    content = _content(record)
    if isinstance(content, str):
        return [content]
    texts = (block.get("text") for block in _blocks(content) if block.get("type") == "text")
    return [text for text in texts if isinstance(text, str)]


def _has_result(record: dict[str, Any]) -> bool:
    return any(block.get("type") == "tool_result" for block in _blocks(_content(record)))


def _content(record: dict[str, Any]) -> Any:
    message = record.get("message")
    return message.get("content") if isinstance(message, dict) else None


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _is_made_up(line: str) -> bool:
    """Written by the CLI, a hook or an editor in the person's name."""
    if not line.startswith(("<", "[")):
        return False
    if line.startswith(_MADE_BY_A_PROGRAM) or _INTERRUPTED.match(line):
        return True
    return any(line.startswith(f"<{note}>") and line.endswith(f"</{note}>") for note in _EDITOR_NOTES)
