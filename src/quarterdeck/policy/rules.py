"""Rules as Claude Code writes them: ``Tool`` or ``Tool(content)``.

``parse_rule`` accepts only what has a meaning here that is at most as wide as in the CLI. Everything else raises
``RuleError`` with the reason; the caller adds file and line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .wildcards import compile_segments

Behavior: TypeAlias = Literal["allow", "deny", "ask"]
Source: TypeAlias = Literal[
    "policySettings", "cliArg", "session", "flagSettings", "localSettings", "projectSettings", "userSettings"
]
PRECEDENCE: tuple[Source, ...] = (
    "policySettings",
    "cliArg",
    "session",
    "flagSettings",
    "localSettings",
    "projectSettings",
    "userSettings",
)
"""The CLI's names of its sources, strongest first. It decides which of two equal rules is named, never the outcome:
deny beats ask beats allow whatever the source."""

READ_TOOLS = {"Read": "file_path", "NotebookRead": "notebook_path", "Glob": "path", "Grep": "path", "LS": "path"}
EDIT_TOOLS = {"Edit": "file_path", "Write": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
"""Tool → the input that names its path. CLI 2.1.325: ``Edit(…)`` with a path speaks for all edit tools, bare ``Edit``
for the tool ``Edit`` alone; the same for ``Read``."""
SHELL_TOOLS = frozenset({"Bash", "Monitor"})
"""Tools with a ``command``; the rules for it are ``Bash(…)`` for both, as in CLI 2.1.325."""
AGENT_TOOLS = frozenset({"Task", "Agent"})

_TOOL = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
_MCP = re.compile(r"mcp__[A-Za-z0-9_.-]+\Z")
_HOST = re.compile(r"(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPED = re.compile(r"\\([()\\])")


class RuleError(ValueError):
    """Why a rule is refused."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule that was understood."""

    text: str
    tool: str
    content: str | None
    behavior: Behavior
    source: Source = "session"
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        return self.text

    @property
    def place(self) -> str:
        """Where a person finds it."""
        if self.file is None:
            return self.source
        return self.file if self.line is None else f"{self.file}:{self.line}"


def parse_rule(
    text: str, behavior: Behavior, *, source: Source = "session", file: str | None = None, line: int | None = None
) -> Rule:
    """The rule ``text`` says, or ``RuleError``."""
    if not isinstance(text, str):
        raise RuleError("a rule must be a string")
    tool, content = _split(text)
    _check_tool(tool, content, behavior)
    if content is not None:
        content = _checked_content(tool, content, behavior)
    return Rule(text, tool, content, behavior, source, file, line)


def _split(text: str) -> tuple[str, str | None]:
    if not text or text != text.strip():
        raise RuleError("empty, or surrounded by spaces")
    if _CONTROL.search(text):
        raise RuleError("control characters and line ends are not allowed in a rule")
    head, bracket, rest = text.partition("(")
    if not bracket:
        if ")" in head:
            raise RuleError("a ) without its (")
        return head, None
    if not rest.endswith(")"):
        raise RuleError("the ( is not closed at the end of the rule")
    content = rest[:-1]
    if not _balanced(content):
        raise RuleError(r"parentheses inside do not pair; write \( and \) for single ones")
    return head, _ESCAPED.sub(r"\1", content)


def _balanced(content: str) -> bool:
    depth, escaped = 0, False
    for char in content:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


def _check_tool(tool: str, content: str | None, behavior: Behavior) -> None:
    if tool.startswith("mcp__"):
        _check_mcp(tool, content, behavior)
        return
    if not _TOOL.match(tool):
        raise RuleError(f"{tool!r} is not the name of a tool")
    if tool[0].islower():
        raise RuleError(f"tools are written {tool[0].upper() + tool[1:]!r}, with a capital; this would match nothing")
    if content is not None and tool not in _CONTENT:
        raise RuleError(f"{tool} does not support parentheses; write {tool} alone")


def _check_mcp(tool: str, content: str | None, behavior: Behavior) -> None:
    if content is not None:
        raise RuleError("rules for MCP tools take no parentheses")
    name = tool.removesuffix("__*")
    if not _MCP.match(name) or name in ("mcp__", "mcp___"):
        raise RuleError("write mcp__server, mcp__server__* or mcp__server__tool")


def _checked_content(tool: str, content: str, behavior: Behavior) -> str | None:
    if not content.strip():
        raise RuleError(f"empty parentheses; write {tool} alone for the whole tool")
    if content != content.strip():
        raise RuleError("a leading or trailing space inside the parentheses matches nothing")
    return _CONTENT[tool](tool, content, behavior)


def _command(tool: str, content: str, behavior: Behavior) -> str | None:
    if content == "*":
        return None
    body = content.removesuffix(":*")
    if ":*" in body:
        raise RuleError(":* is allowed only at the end")
    if not body.strip():
        raise RuleError(f"nothing before :*; write {tool} alone for every command")
    if body != content and "*" in body:
        raise RuleError("* and :* in one rule: the CLI reads the * literally, so the rule would match nothing")
    if "\\*" in body:
        raise RuleError("a * cannot be escaped")
    if body.lstrip("*").strip() == "":
        raise RuleError(f"only wildcards; write {tool} alone for every command")
    return content


def _path(tool: str, content: str, behavior: Behavior) -> str:
    if tool not in ("Read", "Edit") and behavior == "allow":
        family = "Read" if tool in READ_TOOLS else "Edit"
        raise RuleError(f"the CLI never matches a path under {tool}(…); write {family}({content})")
    if not content.strip("/."):
        raise RuleError("names no file; write ** for everything below the working folder")
    if content.startswith("!"):
        raise RuleError("a negated pattern matches nothing; write a deny rule")
    if ".." in content.split("/"):
        raise RuleError(".. in a pattern matches nothing; write //absolute/path")
    if content.startswith("~") and content != "~" and not content.startswith("~/"):
        raise RuleError("only ~/ is supported, not the home of another user")
    if content.count("[") != content.count("]") or content.endswith("\\"):
        raise RuleError("the pattern is incomplete")
    try:
        compile_segments(content)
    except re.error as error:
        raise RuleError(f"the pattern cannot be read: {error}") from None
    if "{" in content or "}" in content:
        raise RuleError("braces are not expanded; write one rule for each")
    return content


def _domain(tool: str, content: str, behavior: Behavior) -> str:
    if not content.startswith("domain:"):
        raise RuleError("write WebFetch(domain:example.com)")
    host = content.removeprefix("domain:").lower().rstrip(".")
    if not _HOST.match(host):
        raise RuleError(f"{host!r} is not a host name; a wildcard is allowed only at the start: *.example.com")
    return host


def _name(tool: str, content: str, behavior: Behavior) -> str:
    if "*" in content.removesuffix(":*"):
        raise RuleError("only name or name:* is supported here")
    return content


_CONTENT = {
    "Bash": _command,
    **dict.fromkeys((*READ_TOOLS, *EDIT_TOOLS), _path),
    "WebFetch": _domain,
    **dict.fromkeys((*AGENT_TOOLS, "Skill"), _name),
}


def escape_content(content: str) -> str:
    """``content`` as written between the parentheses of a rule."""
    return re.sub(r"([()\\])", r"\\\1", content)
