"""Explains decisions to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .command_rules import literal_part
from .decision import Decision
from .rules import AGENT_TOOLS, EDIT_TOOLS, READ_TOOLS, SHELL_TOOLS, Rule
from .shell_judge import CommandPart
from .suggest import narrow_rules

if TYPE_CHECKING:
    from .policy import Policy

MAX_NEAR = 5


@dataclass(frozen=True, slots=True)
class Near:
    """A rule that might have been meant for this, and why it did not decide."""

    rule: Rule
    why_not: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision and its reasons. ``would_allow``: the narrowest rules that would allow exactly this call."""

    tool: str
    tool_input: Mapping[str, Any]
    decision: Decision
    parts: tuple[CommandPart, ...] = ()
    near: tuple[Near, ...] = ()
    would_allow: tuple[Rule, ...] = ()

    def lines(self) -> list[str]:
        """The explanation as text, one thought per line."""
        decision = self.decision
        lines = [f"{decision.behavior}: {decision.explanation}"]
        if decision.rule is not None:
            lines.append(f"rule: {decision.rule} ({decision.rule.place})")
        if decision.risk.reasons:
            lines.append(f"risk: {decision.risk}")
        if len(self.parts) > 1:
            lines += [f"part: {part.verdict.behavior:5} {part.text!r}: {part.verdict.why}" for part in self.parts]
        lines += [f"near: {near.rule} ({near.rule.place}): {near.why_not}" for near in self.near]
        if self.would_allow:
            lines.append("would allow exactly this: " + ", ".join(str(rule) for rule in self.would_allow))
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())


def explain(policy: Policy, tool: str, tool_input: Mapping[str, Any]) -> Explanation:
    """The decision that ``policy.decide`` makes, with its reasons."""
    decision = policy.decide(tool, tool_input)
    _, parts, _ = policy.judge(tool, tool_input)
    offered = () if decision.behavior == "allow" else narrow_rules(policy, tool, tool_input)
    return Explanation(tool, tool_input, decision, tuple(parts), _near(policy, tool, decision, parts), offered)


def _near(policy: Policy, tool: str, decision: Decision, parts: Sequence[CommandPart]) -> tuple[Near, ...]:
    heads = {part.text.split(" ")[0] for part in parts}
    deciding = {decision.rule, *(part.verdict.rule for part in parts if part.verdict.behavior == "allow")}
    found: list[Near] = []
    for rule in policy.rules:
        if rule not in deciding and _same_family(rule, tool):
            why = _why_not(rule, tool, heads, decision)
            if why is not None:
                found.append(Near(rule, why))
        if len(found) == MAX_NEAR:
            break
    return tuple(found)


def _same_family(rule: Rule, tool: str) -> bool:
    families: tuple[Any, ...] = (READ_TOOLS, EDIT_TOOLS, AGENT_TOOLS, SHELL_TOOLS)
    if tool.startswith("mcp__"):
        return rule.tool.split("__")[:2] == tool.split("__")[:2]
    return rule.tool == tool or any(rule.tool in family and tool in family for family in families)


def _why_not(rule: Rule, tool: str, heads: set[str], decision: Decision) -> str | None:
    if tool in SHELL_TOOLS and rule.content is not None and literal_part(rule).split(" ")[0] not in heads:
        return None
    if rule.behavior == "allow" and decision.behavior != "allow":
        return "allows, but does not cover all of this"
    if rule.behavior != decision.behavior:
        return f"would {rule.behavior}, but does not match"
    return "does not match, or another rule came first"
