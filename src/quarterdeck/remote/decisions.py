"""Converts a callback's answer for Claude Code to a decision for the host."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.host.requests import Decision, Remember
from quarterdeck.host.resources import Approval, ApprovalKind, GrantScope

logger = logging.getLogger("quarterdeck.remote")

_SCOPES: Mapping[str, GrantScope] = {"userSettings": "user", "projectSettings": "project", "localSettings": "project"}
"""Where a rule is stored; any other destination means this session only."""


def has_callback(options: ClaudeAgentOptions, kind: ApprovalKind) -> bool:
    """Whether the program decides this kind of request. If not, a person does."""
    match kind:
        case "permission":
            return options.can_use_tool is not None
        case "questions":
            return options.on_question is not None or options.can_use_tool is not None
        case "plan_review":
            return options.on_plan is not None or options.can_use_tool is not None
        case "elicitation":
            return options.on_elicitation is not None
        case "dialog":
            return options.on_user_dialog is not None


def decision_of(approval: Approval, answer: Mapping[str, Any]) -> Decision:
    """Convert the answer that would be sent to Claude Code."""
    if approval.kind == "elicitation":
        if answer.get("action") != "accept":
            return Decision(decision="deny")
        return Decision(decision="allow", answers=answer.get("content") or {})
    if approval.kind == "dialog":
        if answer.get("behavior") != "completed":
            return Decision(decision="deny")
        result = answer.get("result")
        return Decision(decision="allow", answers=result if isinstance(result, dict) else {"result": result})
    if answer.get("behavior") != "allow":
        return _denied(approval, answer)
    changed = answer.get("updatedInput")
    if approval.kind == "questions":
        return Decision(decision="allow", answers=(changed or {}).get("answers") or {})
    changed = None if changed == approval.input else changed
    mode, remember = _updates(answer.get("updatedPermissions") or ())
    if approval.kind == "plan_review":
        return Decision(decision="allow", plan="approve", mode=mode, updated_input=changed)
    return Decision(decision="allow", updated_input=changed, mode=mode, remember=remember)


def _denied(approval: Approval, answer: Mapping[str, Any]) -> Decision:
    message, interrupt = answer.get("message") or None, bool(answer.get("interrupt"))
    if approval.kind == "plan_review":
        return Decision(decision="deny", plan="reject" if interrupt else "revise", message=message, interrupt=interrupt)
    return Decision(decision="deny", message=message, interrupt=interrupt)


def _updates(updates: Any) -> tuple[str | None, Remember | None]:
    """A host accepts a new mode and one rule with a decision; people make other updates there."""
    mode: str | None = None
    remember: Remember | None = None
    for update in updates:
        kind, rules = update.get("type"), update.get("rules") or ()
        if kind == "setMode":
            mode = update.get("mode")
        elif kind == "addRules" and update.get("behavior") == "allow" and rules and remember is None:
            remember = Remember(rule=_rule(rules[0]), scope=_SCOPES.get(str(update.get("destination")), "session"))
            if len(rules) > 1:
                logger.warning(
                    "The host remembers only one rule per decision: %s is kept, the others are not", remember.rule
                )
        else:
            logger.warning("The host does not support this permission update in a decision: %s", update)
    return mode, remember


def _rule(rule: Mapping[str, Any]) -> str:
    content = rule.get("ruleContent")
    return str(rule["toolName"]) if content is None else f"{rule['toolName']}({content})"
