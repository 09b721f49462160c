"""What a tool gave back, as text for people."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from quarterdeck.wire import (
    ContentBlock,
    McpToolResultBlock,
    ServerToolResultBlock,
    ToolResultBlock,
)

from .naming import AGENT_TOOLS

ResultBlock: TypeAlias = ToolResultBlock | ServerToolResultBlock | McpToolResultBlock

_NO_OUTPUT = "(Bash completed with no output)"
_REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_ERROR = re.compile(r"<tool_use_error>(.*)</tool_use_error>", re.DOTALL)


def output_of(block: ResultBlock) -> tuple[str, int]:
    """The text, and how many pictures there were."""
    content = block.content
    if content is None or isinstance(content, str):
        return content or "", 0
    if isinstance(content, dict):
        content = [content]
    texts = [text for part in content if (text := _part(part)) is not None]
    return "\n".join(texts), sum(part.get("type") == "image" for part in content)


def _part(part: ContentBlock | dict[str, Any]) -> str | None:
    match part:
        case {"type": "tool_reference", "tool_name": str(name)}:
            return name
        case {"type": "image"}:
            return None
        case {"type": "web_search_result", "title": str(title), "url": str(url)}:
            return f"{title} {url}"
        case {"type": str(kind), "error_code": str(code)}:
            return f"{kind}: {code}"
        case {"type": str(kind)}:
            text = part.get("text") or part.get("stdout") or part.get("content")
            return text if isinstance(text, str) else f"({kind})"
    return None


def for_people(tool: str, result: Any, text: str, *, failed: bool) -> str:
    """The output without what the CLI adds for the model: reminders, and remarks around a sub-agent's report."""
    if isinstance(result, dict) and not failed and tool == "Bash":
        stdout, stderr = result.get("stdout"), result.get("stderr")
        if isinstance(stdout, str) and isinstance(stderr, str) and "backgroundTaskId" not in result:
            return (f"{stdout}\n{stderr}" if stderr else stdout).strip("\n")
    elif tool in AGENT_TOOLS:
        match result:
            case {"status": "completed", "content": [*parts]}:
                texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
                return "\n".join(text for text in texts if not text.startswith("<tools-used-before-summary>"))
    if text == _NO_OUTPUT:
        return ""
    if "<system-reminder>" in text:
        text = _REMINDER.sub("", text)
    wrapped = _ERROR.search(text) if failed else None
    return wrapped[1] if wrapped is not None else text
