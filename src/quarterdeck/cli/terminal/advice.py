"""What the policy says about a call that a person is asked about: the risk, the reason, the rule that "always" adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quarterdeck.timeline.parts import PermissionSuggestion
from quarterdeck.wire.permissions import PermissionRuleValue, PermissionUpdate

if TYPE_CHECKING:  # a run that asks nothing does not wait for its import
    from quarterdeck.policy import Policy, Rule

DESTINATIONS = {"session": "session", "project": "localSettings", "user": "userSettings"}
"""Scope → where the CLI keeps the rule. For a project it is the person's own file: allow rules of the one that is
checked in count only in folders that were trusted (2.1.325)."""
_MODES = ("default", "acceptEdits", "plan", "auto")
"""In the others nothing is asked, or everything is refused: to judge what is asked the usual one is right."""
PLACES = {"session": "until it ends", "project": ".claude/settings.local.json", "user": "~/.claude/settings.json"}


@dataclass(frozen=True, slots=True)
class Advice:
    """``rules`` are what "always" would add: the narrowest that let exactly this call through; none if none can."""

    risk: str
    risk_reasons: tuple[str, ...]
    why: str
    rules: tuple[Rule, ...]


def advise(
    policy: Policy, tool: str, tool_input: Mapping[str, Any], suggestions: Sequence[PermissionSuggestion] = ()
) -> Advice:
    from quarterdeck.policy import narrow_rules

    try:
        decision = policy.decide(tool, tool_input)
        rules = narrow_rules(policy, tool, tool_input)
    except ImportError:  # shell commands need the extra quarterdeck[policy]
        return Advice("unknown", ("install quarterdeck[policy] to have commands judged",), "", _suggested(suggestions))
    return Advice(decision.risk.level, decision.risk.reasons, decision.explanation, rules)


def _suggested(suggestions: Sequence[PermissionSuggestion]) -> tuple[Rule, ...]:
    """The rules that the CLI itself would add, where we cannot find narrower ones."""
    from quarterdeck.policy import RuleError, parse_rule

    for suggestion in suggestions:
        try:
            return tuple(parse_rule(text, "allow", source="session") for text in suggestion.rules)
        except RuleError:
            continue
    return ()


def update_for(rules: Sequence[Rule], scope: str) -> PermissionUpdate:
    """What tells the CLI to remember these rules."""
    values = [PermissionRuleValue(tool_name=rule.tool, rule_content=rule.content) for rule in rules]
    return PermissionUpdate(type="addRules", rules=values, behavior="allow", destination=DESTINATIONS[scope])


class Rulebook:
    """The policy of one run: what the command line gave, the settings, and what was added on the way."""

    def __init__(self, given: Policy | None, *, cwd: str, mode: str | None) -> None:
        self._given = given
        self._cwd = cwd
        self._mode = mode
        self._added: list[Rule] = []

    @classmethod
    def load(
        cls, *, cwd: str, policy_file: str | None, allow: Sequence[str], deny: Sequence[str], mode: str | None
    ) -> Rulebook:
        """Raises ``PolicyError`` for what is no rule."""
        given = None
        if policy_file is not None or allow or deny:
            from quarterdeck.policy import Policy

            rules = list(Policy.from_rules(allow=allow, deny=deny, cwd=cwd, source="cliArg").rules)
            if policy_file is not None:
                rules += _rules_of(policy_file)
            given = Policy(rules, cwd=cwd)
        return cls(given, cwd=cwd, mode=mode)

    @cached_property
    def _whole(self) -> Policy:
        """With the settings, when first asked for. Settings with bad rules are the CLI's matter: they are left out."""
        from quarterdeck.policy import Policy, PolicyError

        extra = self._given.rules if self._given is not None else ()
        options: dict[str, Any] = {"mode": self._mode} if self._mode in _MODES else {}
        try:
            return Policy.from_settings(self._cwd, rules=extra, **options)
        except PolicyError:
            return Policy(extra, cwd=str(Path(self._cwd).absolute()), **options)

    @property
    def policy(self) -> Policy:
        whole = self._whole
        return whole.with_rules([*whole.rules, *self._added]) if self._added else whole

    @property
    def has_rules(self) -> bool:
        """Whether the command line gave any."""
        return self._given is not None

    def ruling(self, tool: str, tool_input: Mapping[str, Any]) -> tuple[str, str] | None:
        """What a rule of the command line says: the behaviour and why; None when no rule speaks."""
        if self._given is None:
            return None
        decision = self._given.decide(tool, tool_input)
        if decision.rule is None:
            return None
        return decision.behavior, f"By a rule of the command line: {decision.explanation}"

    def remember(self, rules: Sequence[Rule]) -> None:
        """From now on these hold, too."""
        self._added += rules
        if self._given is not None:
            self._given = self._given.with_rules([*self._given.rules, *rules])


def _rules_of(path: str) -> list[Rule]:
    from quarterdeck.policy.errors import BadRule, BadRulesError, BadSettingsError
    from quarterdeck.policy.settings import read_file

    bad: list[BadRule] = []
    file = read_file(path, "cliArg", bad)
    if bad:
        raise BadRulesError(bad)
    if file is None:
        raise BadSettingsError(path, None, "there is nothing in it, or it is not there")
    return file.rules
