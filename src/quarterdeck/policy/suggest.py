"""The narrowest rule that would allow exactly one request, and what the CLI's own suggestions really say.

A rule is offered only after it was tried: with it the policy must allow the request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quarterdeck.wire.permissions import PermissionUpdate

from . import programs
from .command_rules import literal_part
from .commands import Unit, make_unit
from .file_words import file_operands
from .rules import (
    AGENT_TOOLS,
    EDIT_TOOLS,
    READ_TOOLS,
    SHELL_TOOLS,
    Rule,
    RuleError,
    Source,
    escape_content,
    parse_rule,
)
from .shell import read_script
from .urls import hosts_of

if TYPE_CHECKING:
    from .policy import Policy


def narrow_rules(policy: Policy, tool: str, tool_input: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The narrowest allow rules that would allow this request and almost nothing else; empty if no rule can.

    A rule for a folder also covers everything below it; a shell tool or an agent has no rule for a single call.
    """
    rules = rules_for_call(policy, tool, tool_input)
    if any(rule.content is None and not rule.tool.startswith("mcp__") for rule in rules):
        return ()
    return () if any(_may_be_folder(policy, rule) for rule in rules) else rules


def rules_for_call(policy: Policy, tool: str, tool_input: Mapping[str, Any]) -> tuple[Rule, ...]:
    """Allow rules that let this request through, some of which may allow others too."""
    rules = _parsed(_candidates(policy, tool, tool_input), source="session")
    if not rules or not _would_allow(policy, rules, tool, tool_input):
        return ()
    return rules


def _may_be_folder(policy: Policy, rule: Rule) -> bool:
    if rule.content is None or rule.tool not in ("Read", "Edit"):
        return False
    return policy.places.is_folder(re.sub(r"\\(.)", r"\1", rule.content[1:]))


def _parsed(texts: Iterable[str], *, source: Source) -> tuple[Rule, ...]:
    try:
        return tuple(parse_rule(text, "allow", source=source) for text in dict.fromkeys(texts))
    except RuleError:
        return ()


def _would_allow(policy: Policy, rules: Iterable[Rule], tool: str, tool_input: Mapping[str, Any]) -> bool:
    return policy.with_rules([*policy.rules, *rules]).decide(tool, tool_input).behavior == "allow"


def _candidates(policy: Policy, tool: str, tool_input: Mapping[str, Any]) -> list[str]:
    if tool in SHELL_TOOLS:
        return _for_command(policy, str(tool_input.get("command", "")))
    if tool in EDIT_TOOLS or tool in READ_TOOLS:
        path = tool_input.get(EDIT_TOOLS.get(tool) or READ_TOOLS[tool])
        family = "Edit" if tool in EDIT_TOOLS else "Read"
        return [_for_path(policy, family, path)] if isinstance(path, str) and path else []
    if tool == "WebFetch":
        host, _ = hosts_of(str(tool_input.get("url", "")))
        return [f"WebFetch(domain:{host})"] if host else []
    if tool == "Skill":
        return [f"Skill({escape_content(str(tool_input.get('skill', '')))})"]
    if tool in AGENT_TOOLS and isinstance(tool_input.get("subagent_type"), str):
        return [f"Task({escape_content(tool_input['subagent_type'])})"]
    return [tool]


def _for_command(policy: Policy, command: str) -> list[str]:
    """One rule for each part that is not allowed yet, in the part's own words."""
    script = read_script(command)
    found: list[str] = []
    for unit in map(make_unit, script.commands):
        text = unit.texts[-1][0] if unit.texts else ""
        if "*" in text or (text and policy.decide("Bash", {"command": text}).behavior == "allow"):
            continue  # a rule cannot say a literal *
        if text:
            found.append(f"Bash({escape_content(text)})")
            found += _for_operands(policy, unit)
    for redirect in script.redirects:
        if redirect.writes is not None and redirect.target.value not in (None, "", "/dev/null"):
            family = "Edit" if redirect.writes else "Read"
            if policy.paths.judge_path(redirect.target.hint, edit=redirect.writes).behavior != "allow":
                found.append(_for_path(policy, family, redirect.target.hint))
    return found


def _for_operands(policy: Policy, unit: Unit) -> list[str]:
    """Rules for the files outside the working folders that a file command is given."""
    program = unit.argv[0].rpartition("/")[2]
    edit = program in programs.FILE_CHANGERS
    if not edit and program not in programs.FILE_READERS:
        return []
    outside = [name for name in file_operands(unit.argv) if policy.paths.out_of_reach(name, edit=edit)]
    return [_for_path(policy, "Edit" if edit else "Read", name) for name in outside]


def _for_path(policy: Policy, family: str, path: str) -> str:
    absolute = policy.places.absolute(path)
    literal = "".join("\\" + char if char in "*?[]\\!" else char for char in absolute)
    return f"{family}(/{escape_content(literal)})"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One of the CLI's ``permission_suggestions``: what it would do, in plain words, and whether it is
    narrow enough."""

    update: PermissionUpdate
    says: str
    narrow: bool


def judge_suggestions(
    policy: Policy, tool: str, tool_input: Mapping[str, Any], suggestions: Iterable[PermissionUpdate]
) -> tuple[Suggestion, ...]:
    """Each suggestion with its judgement."""
    return tuple(
        Suggestion(update, _says(update), _is_narrow(policy, tool, tool_input, update)) for update in suggestions
    )


def _says(update: PermissionUpdate) -> str:
    where = f" ({update.destination})" if update.destination else ""
    if update.type in ("addRules", "replaceRules", "removeRules"):
        rules = ", ".join(_rule_text(rule.tool_name, rule.rule_content) for rule in update.rules or ())
        verb = {"addRules": "from now on", "replaceRules": "instead of the present rules", "removeRules": "no longer"}
        return f"{update.behavior} {rules} {verb[update.type]}{where}"
    if update.type == "setMode":
        return f"switch the whole session to {update.mode}{where}"
    folders = ", ".join(update.directories or ())
    return f"{'add' if update.type == 'addDirectories' else 'remove'} the working folders {folders}{where}"


def _rule_text(tool: str, content: str | None) -> str:
    return tool if content is None else f"{tool}({escape_content(content)})"


def _is_narrow(policy: Policy, tool: str, tool_input: Mapping[str, Any], update: PermissionUpdate) -> bool:
    if update.type != "addRules" or update.behavior != "allow" or not update.rules:
        return False
    texts = [_rule_text(rule.tool_name, rule.rule_content) for rule in update.rules]
    rules = _parsed(texts, source="session")
    if len(rules) != len(set(texts)) or not all(_says_enough(rule, tool_input) for rule in rules):
        return False
    return _would_allow(policy, rules, tool, tool_input)


def _says_enough(rule: Rule, tool_input: Mapping[str, Any]) -> bool:
    """Never a whole tool (an MCP tool named in full is one thing); of a command at least two words, or all of it."""
    if rule.content is None:
        return rule.tool.startswith("mcp__") and rule.tool.count("__") >= 2 and not rule.tool.endswith("*")
    if rule.tool in READ_TOOLS or rule.tool in EDIT_TOOLS:
        return not rule.content.rstrip("/").endswith("**") or rule.content.count("/") > 2
    literal = literal_part(rule)
    return rule.tool != "Bash" or " " in literal or literal == str(tool_input.get("command", "")).strip()
