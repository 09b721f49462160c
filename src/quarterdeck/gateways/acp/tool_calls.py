"""How a tool call looks to an editor: its kind, title, files, contents and diffs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from quarterdeck.timeline.parts import FileDiff, Kept

from .schema import (
    ContentBlockText,
    ToolCallContent,
    ToolCallContentContent,
    ToolCallContentDiff,
    ToolCallLocation,
    ToolKind,
)

EDITOR_TERMINAL = "mcp__editor__terminal"
"""Our own tool for the editor's terminals."""
_KINDS: dict[ToolKind, str] = {
    "read": "Read NotebookRead ReadMcpResource",
    "edit": "Edit MultiEdit Write NotebookEdit",
    "execute": f"Bash BashOutput KillShell PowerShell Monitor {EDITOR_TERMINAL}",
    "search": "Glob Grep LS ToolSearch ListMcpResources",
    "fetch": "WebFetch WebSearch",
    "think": "Task Agent TodoWrite TaskCreate TaskUpdate TaskList TaskGet TaskOutput TaskStop Skill AskUserQuestion",
    "switch_mode": "EnterPlanMode ExitPlanMode",
}
KINDS: dict[str, ToolKind] = {tool: kind for kind, tools in _KINDS.items() for tool in tools.split()}
"""Tool → kind; tools not listed here are ``other``."""
SHOWN_AS_PLAN = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"})
"""Their calls would only repeat what the plan says."""
SHELLS = frozenset({"Bash", "PowerShell"})

_REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>", re.DOTALL)
"""What the CLI adds to a tool's output for the model; nobody else needs it."""


_FAILED_WITH = re.compile(r"Exit code (\d+)")
_ENDED_WITH = re.compile(r"exit code (\d+)\)?$")
_EXIT_MAY_MEAN_NO = re.compile(r"(?:^|[\s;&|(])(?:[efz]?grep|rg|find|diff|cmp|test|\[|git)\s")
"""Programs whose code 1 is a result: Claude Code (2.1.325) calls that a success and does not say which it was."""


def exit_code_of(status: str, command: str, output: str) -> int | None:
    """What a command ended with, where Claude Code says so: at the beginning of a failed one's output."""
    if status == "finished":
        return None if _EXIT_MAY_MEAN_NO.search(command) else 0
    found = _FAILED_WITH.match(output) if status == "failed" else None
    return None if found is None else int(found[1])


def exit_code_in(summary: str) -> int | None:
    """Of a command in the background, from what is said about its end."""
    found = _ENDED_WITH.search(summary)
    return None if found is None else int(found[1])


def kind_of(tool: str) -> ToolKind:
    return KINDS.get(tool, "other")


def title_of(tool: str, label: str, about: str, arguments: Mapping[str, Any], cwd: str) -> str:
    """One line. What a shell runs is shown as it is."""
    match tool, arguments:
        case (("Bash" | "PowerShell" | "mcp__editor__terminal"), {"command": str(command)}) if command.strip():
            return command
        case "Read", {"file_path": str(path)}:
            return f"Read {relative(path, cwd)}{_lines(arguments)}"
        case (("Edit" | "MultiEdit" | "Write"), {"file_path": str(path)}):
            return f"{tool} {relative(path, cwd)}"
        case "NotebookEdit", {"notebook_path": str(path)}:
            return f"Edit {relative(path, cwd)}"
        case (("Glob" | "Grep"), {"pattern": str(pattern)}):
            where = arguments.get("path")
            return f"{tool} {pattern}" + (f" in {relative(where, cwd)}" if isinstance(where, str) else "")
        case "WebFetch", {"url": str(url)}:
            return f"Fetch {url}"
        case "WebSearch", {"query": str(query)}:
            return f"Search the web for {query}"
        case (("Task" | "Agent"), _):
            return about or label
        case "ExitPlanMode", _:
            return "Ready to code?"
        case "AskUserQuestion", _:
            return about or "A question"
    return f"{label}: {about}" if about else label


def _lines(arguments: Mapping[str, Any]) -> str:
    first, count = arguments.get("offset"), arguments.get("limit")
    start = first if isinstance(first, int) and first > 0 else 1
    if isinstance(count, int) and count > 0:
        return f" (lines {start}–{start + count - 1})"
    return f" (from line {start})" if start > 1 else ""


def relative(path: str, cwd: str) -> str:
    """As a person in the session's folder would write it."""
    prefix = cwd.rstrip("/") + "/"
    return path.removeprefix(prefix) or path


def locations_of(arguments: Mapping[str, Any], diffs: Iterable[FileDiff], cwd: str) -> list[ToolCallLocation]:
    """The files that a call is about, absolute, with the line where there is one."""
    for diff in diffs:
        line = diff.hunks[0].new_start if diff.numbered and diff.hunks else None
        return [ToolCallLocation(path=_absolute(diff.path, cwd), line=line or None)]
    for key in ("file_path", "notebook_path", "path"):
        path = arguments.get(key)
        if isinstance(path, str) and path:
            line = arguments.get("offset")
            return [
                ToolCallLocation(path=_absolute(path, cwd), line=line if isinstance(line, int) and line > 0 else None)
            ]
    return []


def _absolute(path: str, cwd: str) -> str:
    return str(Path(cwd, path))


def diffs_of(diffs: Iterable[FileDiff], cwd: str) -> list[ToolCallContent]:
    """Each hunk is a separate diff: the old lines and the new ones."""
    drawn: list[ToolCallContent] = []
    for diff in diffs:
        for hunk in diff.hunks:
            old = [line[1:] for line in hunk.lines if line[:1] in " -"]
            new = [line[1:] for line in hunk.lines if line[:1] in " +"]
            is_new = diff.kind in ("create", "write") and not old
            drawn.append(
                ToolCallContentDiff(
                    path=_absolute(diff.path, cwd),
                    old_text=None if is_new else _joined(old),
                    new_text=_joined(new),
                )
            )
        if diff.left_out:
            drawn.append(text(f"… {diff.left_out:,} more lines of {relative(diff.path, cwd)}"))
    return drawn


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + ("\n" if lines else "")


def text(words: str) -> ToolCallContentContent:
    return ToolCallContentContent(content=ContentBlockText(text=words))


def output_of(output: Kept) -> str:
    """A tool's output, without the parts meant only for the model."""
    return _REMINDER.sub("", str(output))


def fenced(words: str, language: str = "") -> str:
    """As a Markdown code block that nothing in the text can end."""
    longest = max((len(run) for run in re.findall(r"`{3,}", words)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{words.rstrip()}\n{fence}"


def input_content(tool: str, arguments: Mapping[str, Any], diffs: list[FileDiff], cwd: str) -> list[ToolCallContent]:
    """What is known before the tool has run."""
    if diffs:
        return diffs_of(diffs, cwd)
    match tool, arguments:
        case (("Task" | "Agent" | "WebFetch"), {"prompt": str(prompt)}):
            return [text(prompt)]
        case (("Bash" | "PowerShell"), {"description": str(description)}):
            return [text(description)]
        case "ExitPlanMode", {"plan": str(plan)}:
            return [text(plan)]
    return []


def result_content(tool: str, output: Kept, diffs: list[FileDiff], failed: bool, cwd: str) -> list[ToolCallContent]:
    """The outcome. A diff says more than "the file was changed"; a failure says why."""
    if diffs and not failed:
        return diffs_of(diffs, cwd)
    words = output_of(output)
    if not words.strip():
        return []
    if tool in SHELLS:
        return [text(fenced(words, "console"))]
    markdown = tool in ("Task", "Agent", "WebFetch", "WebSearch", "ExitPlanMode", "AskUserQuestion", "Skill")
    return [text(words if markdown else fenced(words))]
