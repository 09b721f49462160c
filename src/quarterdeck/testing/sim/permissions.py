"""May this tool run? Rules, modes, and what the host is asked when neither knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from . import facts
from .saved_rules import BEHAVIORS, save_rules, saved_rules
from .state import SimulatedSession

PERSONAL_TOOLS = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""They are questions to a person: asked in every mode, also under bypassPermissions (2.1.325)."""
FREE_TOOLS = frozenset(
    [
        "Task",
        "Agent",
        "TodoWrite",
        "StructuredOutput",
        "ToolSearch",
        "ListAgents",
        "CronList",
        "EnterPlanMode",
        "TaskStop",
        "Skill",
        "Glob",
        "Grep",
    ]
)
EDIT_TOOLS = frozenset({"Write", "Edit", "NotebookEdit"})
READ_ONLY_COMMANDS = frozenset(
    ["ls", "cat", "echo", "pwd", "head", "tail", "tr", "wc", "sleep", "true", "false", "date", "whoami", "grep"]
)
EDIT_COMMANDS = frozenset({"touch", "mkdir"})


class PermissionRule(msgspec.Struct, frozen=True):
    """``Bash(touch:*)`` as behaviour, tool and content."""

    behavior: str
    tool: str
    content: str | None = None
    source: str = "session"

    @classmethod
    def parse(cls, text: str, *, behavior: str, source: str) -> PermissionRule:
        tool, bracket, content = text.partition("(")
        return cls(behavior, tool, content.removesuffix(")") if bracket else None, source)

    def __str__(self) -> str:
        return self.tool if self.content is None else f"{self.tool}({self.content})"

    def covers(self, tool: str, value: str) -> bool:
        of_server = tool.startswith(f"{self.tool}__") and self.tool.startswith("mcp__")
        of_path = self.tool == "Edit" and tool in EDIT_TOOLS and self.content is not None
        if self.tool != tool and not of_server and not of_path:
            return False
        if self.content in (None, "", "*"):
            return True
        content = str(self.content)
        if content.startswith("//"):  # an absolute path, as rules write it
            content = content[1:]
            value = value if value.startswith("/") else ""
        for ending in (":*", " *", "/**"):
            if content.endswith(ending):
                return value.startswith(
                    content.removesuffix(ending).removeprefix("/") if ending == "/**" else content.removesuffix(ending)
                )
        return value == content


class PermissionDecision(msgspec.Struct, frozen=True):
    behavior: str
    """``allow``, ``deny`` or ``ask``."""
    reason_type: str | None = None
    reason: str = ""
    blocked_path: str | None = None


class Permissions:
    def __init__(self, session: SimulatedSession) -> None:
        self._session = session
        flags = session.flags
        self.rules = [
            PermissionRule.parse(text, behavior="allow", source="cliArg") for text in flags.names("--allowedTools")
        ]
        self.rules += [
            PermissionRule.parse(text, behavior="deny", source="cliArg") for text in flags.names("--disallowedTools")
        ]
        for settings in flags.objects("--settings"):
            self._add_settings(settings.get("permissions"))
        self.rules += [
            PermissionRule.parse(text, behavior=behavior, source=source)
            for behavior, text, source in saved_rules(session)
        ]

    def _add_settings(self, permissions: Any) -> None:
        if isinstance(permissions, dict):
            for behavior in BEHAVIORS:
                texts = permissions.get(behavior, [])
                self.rules += [
                    PermissionRule.parse(str(text), behavior=behavior, source="flagSettings") for text in texts
                ]

    def removed_tools(self) -> set[str]:
        """Tools that are denied as a whole are not offered at all."""
        return {rule.tool for rule in self.rules if rule.behavior == "deny" and rule.content is None}

    def decide(self, tool: str, tool_input: dict[str, Any]) -> PermissionDecision:
        value = subject(tool, tool_input)
        for behavior in ("deny", "ask", "allow"):
            for rule in self.rules:
                if rule.behavior == behavior and rule.covers(tool, value) and tool not in PERSONAL_TOOLS:
                    return PermissionDecision(behavior, "subcommandResults" if rule.content else "rule", f"rule {rule}")
        if tool in PERSONAL_TOOLS:
            return PermissionDecision("ask")
        if self._session.mode in ("bypassPermissions", "auto"):
            return PermissionDecision("allow", "mode")
        if tool in FREE_TOOLS:
            return PermissionDecision("allow")
        return self._by_kind(tool, tool_input, value)

    def _by_kind(self, tool: str, tool_input: dict[str, Any], value: str) -> PermissionDecision:
        session = self._session
        accepts = session.mode == "acceptEdits"
        if tool == "Bash":
            return self._command(value, accepts=accepts)
        if tool == "Read" or tool in EDIT_TOOLS:
            path = session.resolve(value)
            if path.is_relative_to(session.config_dir / "plans") and session.mode == "plan":
                return PermissionDecision("allow", "other")
            if session.inside(path):
                free = tool == "Read" or accepts
                return PermissionDecision("allow", "mode") if free else PermissionDecision("ask")
            return PermissionDecision("ask", "workingDir", "Path is outside allowed working directories", str(path))
        return PermissionDecision("ask")

    def _command(self, command: str, *, accepts: bool) -> PermissionDecision:
        words = [part.split() for part in _parts(command)]
        names = {part[0] for part in words if part}
        writes = ">" in command
        if names <= READ_ONLY_COMMANDS and not writes:
            return PermissionDecision("allow", "subcommandResults")
        if accepts and names <= READ_ONLY_COMMANDS | EDIT_COMMANDS:
            return PermissionDecision("allow", "mode")
        target = next((part[-1] for part in words if len(part) > 1 and (part[0] in EDIT_COMMANDS or writes)), None)
        if target is None:
            return PermissionDecision("ask", "other", "This command requires approval")
        return PermissionDecision("ask", blocked_path=str(self._session.resolve(target)))

    def suggestions(self, tool: str, tool_input: dict[str, Any], decision: PermissionDecision) -> list[dict[str, Any]]:
        """What a person could allow for good, as the CLI proposes it."""
        if tool in PERSONAL_TOOLS or decision.reason_type == "hook":
            return []
        value = subject(tool, tool_input)
        accept = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
        if tool in EDIT_TOOLS:
            return [accept]
        rule: dict[str, Any] = {"toolName": tool}
        if tool == "Bash":
            rule["ruleContent"] = value if len(value.split()) < 2 or "." in value else f"{value} *"
        elif tool == "Read":
            rule["ruleContent"] = f"/{Path(decision.blocked_path or value).parent}/**"
        where = "session" if tool == "Read" else "localSettings"
        found: list[dict[str, Any]] = [{"type": "addRules", "rules": [rule], "behavior": "allow", "destination": where}]
        if tool == "Bash" and decision.blocked_path:
            folder = str(Path(decision.blocked_path).parent)
            found += [{"type": "addDirectories", "directories": [folder], "destination": "session"}, accept]
        return found

    def apply(self, updates: Any) -> str | None:
        """Take ``updatedPermissions`` over; the new mode, if they set one. Nonsense is passed over (2.1.325)."""
        mode = None
        for update in updates if isinstance(updates, list) else []:
            if not isinstance(update, dict):
                continue
            match update.get("type"):
                case "setMode" if update.get("mode") in facts.MODES:
                    mode = str(update["mode"])
                case "addRules" | "replaceRules":
                    self._add_rules(update)
                case "removeRules":
                    gone = {(rule.get("toolName"), rule.get("ruleContent")) for rule in update.get("rules", [])}
                    self.rules = [rule for rule in self.rules if (rule.tool, rule.content) not in gone]
                case "addDirectories":
                    self._session.directories += [self._session.resolve(path) for path in update.get("directories", [])]
        return mode

    def _add_rules(self, update: dict[str, Any]) -> None:
        source = str(update.get("destination", "session"))
        added = [
            PermissionRule(
                str(update.get("behavior", "allow")), str(rule.get("toolName")), rule.get("ruleContent"), source
            )
            for rule in update.get("rules", [])
        ]
        self.rules += added
        save_rules(self._session, source, added)

    def listing(self) -> dict[str, Any]:
        rules = [
            {"behavior": rule.behavior, "source": rule.source, "rule": str(rule), "editability": rule.source}
            for rule in self.rules
        ]
        folders = [{"path": str(path), "source": "session"} for path in self._session.directories]
        cwd = str(self._session.cwd)
        return {"rules": rules, "workspaceDirectories": folders, "originalCwd": cwd, "managedOnly": False}


def subject(tool: str, tool_input: dict[str, Any]) -> str:
    """What a rule's content is compared with: the command, or the path."""
    key = "command" if tool == "Bash" else "notebook_path" if tool == "NotebookEdit" else "file_path"
    return str(tool_input.get(key, ""))


def _parts(command: str) -> list[str]:
    for mark in ("&&", "||", "|"):
        command = command.replace(mark, ";")
    return [part.strip() for part in command.split(";") if part.strip()]
