"""A tool call written by a person: ``Bash(rm -rf build)``, ``Read(~/.ssh/id_rsa)``, or a shell command as it is."""

from __future__ import annotations

import re
from typing import Any

from .rules import AGENT_TOOLS, EDIT_TOOLS, READ_TOOLS

_FIRST_INPUT = {
    "Bash": "command",
    "Monitor": "command",
    **READ_TOOLS,
    **EDIT_TOOLS,
    "WebFetch": "url",
    "WebSearch": "query",
    "Skill": "skill",
    **dict.fromkeys(AGENT_TOOLS, "subagent_type"),
}
_WITH_CONTENT = re.compile(r"([A-Za-z]+)\((.*)\)\Z", re.DOTALL)
_ALONE = re.compile(r"(?:[A-Z][a-z][A-Za-z]*|mcp__[A-Za-z0-9_.-]+)\Z")


def parse_request(text: str) -> tuple[str, dict[str, Any]]:
    """Tool name and input. Anything not written as a tool call is a shell command."""
    with_content = _WITH_CONTENT.match(text)
    if with_content and with_content[1] in _FIRST_INPUT:
        tool = with_content[1]
        return tool, {_FIRST_INPUT[tool]: with_content[2]}
    if _ALONE.match(text):
        return text, {}
    return "Bash", {"command": text}


def show_request(tool: str, tool_input: dict[str, Any]) -> str:
    """The inverse."""
    key = _FIRST_INPUT.get(tool)
    content = tool_input.get(key) if key else None
    return tool if content is None else f"{tool}({content})"
