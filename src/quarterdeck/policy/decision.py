"""What is decided, and why."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypeVar

import msgspec

from .rules import Behavior, Rule

RiskLevel: TypeAlias = Literal["none", "low", "medium", "high"]
RISK_LEVELS: tuple[RiskLevel, ...] = ("none", "low", "medium", "high")


class Risk(msgspec.Struct, frozen=True):
    """The risk of a request, whether it is allowed or not."""

    level: RiskLevel = "none"
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.level}: {', '.join(self.reasons)}" if self.reasons else self.level


NO_RISK = Risk()


class Decision(msgspec.Struct, frozen=True):
    """The answer to one request.

    ``rule`` is the rule that decided, or None. ``source`` says who decided: the rule's source, ``mode``, ``default``
    (no rule matched), ``safety`` (rules don't apply here) or ``limit`` (too large to judge).
    """

    behavior: Behavior
    rule: Rule | None = None
    source: str = "default"
    explanation: str = ""
    risk: Risk = NO_RISK


class Verdict(msgspec.Struct, frozen=True):
    """A decision about one part, before it has a risk."""

    behavior: Behavior
    why: str
    rule: Rule | None = None
    source: str = "default"

    @classmethod
    def by(cls, rule: Rule, why: str) -> Verdict:
        return cls(rule.behavior, why, rule, rule.source)


Judged = TypeVar("Judged", Verdict, Decision)


def strictest(verdicts: list[Judged]) -> Judged:
    """Deny beats ask beats allow. Of several asks, the one that no rule could answer is reported."""
    if len(verdicts) == 1:
        return verdicts[0]
    return min(verdicts, key=lambda verdict: (_ORDER[verdict.behavior], verdict.source != "safety"))


_ORDER = {"deny": 0, "ask": 1, "allow": 2}
