"""Names for people: of a tool, of what a call is about, of a permission rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quarterdeck.wire import PermissionUpdate

from .limits import first_line
from .parts import PermissionSuggestion

AGENT_TOOLS = frozenset({"Task", "Agent"})

_ABOUT = {
    "Agent": "description",
    "AskUserQuestion": "questions",
    "Bash": "command",
    "BashOutput": "bash_id",
    "Edit": "file_path",
    "Glob": "pattern",
    "Grep": "pattern",
    "KillShell": "shell_id",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
    "Read": "file_path",
    "Skill": "skill",
    "SlashCommand": "command",
    "Task": "description",
    "TaskCreate": "subject",
    "TaskGet": "taskId",
    "TaskOutput": "task_id",
    "TaskStop": "task_id",
    "TaskUpdate": "taskId",
    "ToolSearch": "query",
    "WebFetch": "url",
    "WebSearch": "query",
    "Write": "file_path",
}
"""Tool → the part of its input that best describes a call."""


def about(tool: str, arguments: Mapping[str, Any]) -> str:
    """What a call is about, in one line."""
    value = subject(tool, arguments)
    if value is None:
        value = next((item for item in arguments.values() if isinstance(item, str)), "")
    return first_line(value)


def subject(tool: str, arguments: Mapping[str, Any]) -> str | None:
    """The part of the input that best describes a call; None for an unknown tool."""
    value = arguments.get(_ABOUT.get(tool, ""))
    if tool == "AskUserQuestion" and isinstance(value, list) and value and isinstance(value[0], dict):
        value = value[0].get("question")
    if tool == "TodoWrite" and isinstance(todos := arguments.get("todos"), list):
        return f"{len(todos)} to do"
    return value if isinstance(value, str) else None


def label(tool: str) -> str:
    """The tool's name for people: ``mcp__tables__book`` is ``tables: book``."""
    if not tool.startswith("mcp__"):
        return tool
    server, _, name = tool.removeprefix("mcp__").partition("__")
    return f"{server}: {name}" if name else server


def rule_text(tool: str, content: str | None) -> str:
    """The rule as written in the settings."""
    return f"{tool}({content})" if content else tool


def rules_of(update: PermissionUpdate) -> list[str]:
    return [rule_text(rule.tool_name, rule.rule_content) for rule in update.rules or ()]


def suggestions(updates: Sequence[PermissionUpdate] | None) -> list[PermissionSuggestion]:
    """The CLI's suggestions for “always allow”."""
    return [
        PermissionSuggestion(
            text=_text(update), destination=update.destination, update=update.to_dict(), rules=rules_of(update)
        )
        for update in updates or ()
    ]


def _text(update: PermissionUpdate) -> str:
    match update.type:
        case "addRules" | "replaceRules" | "removeRules":
            word = {"addRules": update.behavior or "allow", "replaceRules": "only", "removeRules": "no longer"}
            return f"{word[update.type]} {', '.join(rules_of(update))}"
        case "setMode":
            return f"mode {update.mode}"
        case "addDirectories":
            return f"add {', '.join(update.directories or ())}"
        case "removeDirectories":
            return f"remove {', '.join(update.directories or ())}"
        case other:
            return other
