"""Answers what the CLI asks: by rules of the command line, by asking the user, or with no if there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from quarterdeck.client.interaction import Approve, Reject, Revise
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.options_types import HookMatcher
from quarterdeck.timeline.items import Elicitation, Permission, PlanReview, Questions
from quarterdeck.timeline.naming import about, label
from quarterdeck.timeline.parts import Choice, Question
from quarterdeck.wire.permissions import PermissionResult, PermissionResultAllow, PermissionResultDeny

from .advice import SessionRules, advise
from .text import one_line

NO_USER = "There is no user at the terminal to allow this."
Say = Callable[[str, str], None]
Find = Callable[[str | None], Any]
"""The request with this id from the timeline; None if it is not there (yet)."""


class Answerer(Protocol):
    """Answers what no rule decides."""

    async def permission(self, asked: Permission, *, note: str = "") -> PermissionResult: ...

    async def questions(self, asked: Questions) -> dict[str, Any] | None: ...

    async def plan(self, asked: PlanReview) -> Approve | Revise | Reject: ...

    async def elicitation(self, asked: Elicitation) -> dict[str, Any]: ...


class UnattendedAnswerer:
    """For runs without a user: denies, and prints which rule would have allowed it."""

    def __init__(self, rules: SessionRules, say: Say) -> None:
        self._rules = rules
        self._say = say

    async def permission(self, asked: Permission, *, note: str = "") -> PermissionResult:
        rules = advise(self._rules.policy, asked.tool_name, asked.input, asked.suggestions).rules
        how = " ".join(f"--allow '{rule}'" for rule in rules) or "add a rule for it to a --policy file"
        what = one_line(f"{asked.tool_name} {asked.about}", 100)
        self._say("red", f"denied (no one to ask): {what}. To allow it: {how}")
        return PermissionResultDeny(message=NO_USER)

    async def questions(self, asked: Questions) -> dict[str, Any] | None:
        for question in asked.questions:
            self._say("yellow", f"skipped (no one to ask): {one_line(question.text, 100)}")
        return None

    async def plan(self, asked: PlanReview) -> Approve | Revise | Reject:
        self._say("yellow", "plan rejected (no one to ask)")
        return Reject("There is no user at the terminal to review the plan.")

    async def elicitation(self, asked: Elicitation) -> dict[str, Any]:
        self._say("yellow", f"declined (no one to ask): {one_line(asked.message, 100)}")
        return {"action": "decline"}


class SessionCallbacks:
    """The callbacks that a session calls."""

    def __init__(self, rules: SessionRules, answerer: Answerer, find: Find) -> None:
        self._rules = rules
        self._answerer = answerer
        self._find = find

    def install(self, options: ClaudeAgentOptions) -> None:
        options.can_use_tool = self.can_use_tool
        options.on_question = self._on_question
        options.on_plan = self._on_plan
        options.on_elicitation = self._on_elicitation
        if self._rules.has_rules:
            options.hooks = {"PreToolUse": [HookMatcher(hooks=[self._hook])]}

    async def can_use_tool(self, tool: str, tool_input: dict[str, Any], context: Any) -> PermissionResult:
        ruling = self._rules.ruling(tool, tool_input)
        if ruling is not None and ruling[0] == "allow":
            return PermissionResultAllow()
        if ruling is not None and ruling[0] == "deny":
            return PermissionResultDeny(message=ruling[1])
        asked = self._find(context.request_id)
        if not isinstance(asked, Permission):
            asked = Permission(
                id=context.request_id or "",
                tool_name=tool,
                label=label(tool),
                about=about(tool, tool_input),
                input=tool_input,
            )
        return await self._answerer.permission(asked, note=ruling[1] if ruling is not None else "")

    async def _hook(self, event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        """Command-line rules also apply where the CLI's settings would allow the call."""
        ruling = self._rules.ruling(event["tool_name"], event.get("tool_input") or {})
        if ruling is None:
            return {}
        verdict = {"permissionDecision": ruling[0], "permissionDecisionReason": ruling[1]}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **verdict}}

    async def _on_question(self, asked: Any, context: Any) -> Any:
        found = self._find(context.request_id)
        if not isinstance(found, Questions):
            questions = [
                Question(
                    text=one.question,
                    header=one.header,
                    choices=[Choice(option.label, option.description) for option in one.options],
                    several=bool(one.multi_select),
                )
                for one in asked.questions
            ]
            found = Questions(id=context.request_id or "", questions=questions)
        return await self._answerer.questions(found)

    async def _on_plan(self, plan: Any, context: Any) -> Any:
        found = self._find(context.request_id)
        if not isinstance(found, PlanReview):
            found = PlanReview(id=context.request_id or "", plan=plan.text, path=plan.file_path)
        return await self._answerer.plan(found)

    async def _on_elicitation(self, request: Any, signal: Any) -> dict[str, Any]:
        asked = Elicitation(
            id=request.elicitation_id or "",
            server=request.mcp_server_name,
            message=request.message,
            url=request.url,
            form=request.requested_schema,
        )
        return await self._answerer.elicitation(asked)
