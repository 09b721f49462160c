"""What the policy says about a call: the risk, the reason, and the rule that "always" would add."""

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
    from quarterdeck.wire import PermissionUpdateDestination

DESTINATIONS: dict[str, PermissionUpdateDestination] = {
    "session": "session",
    "project": "localSettings",
    "user": "userSettings",
}
"""Scope → where the CLI saves the rule. For a project that is the user's own file: allow rules in the checked-in file
only apply in trusted folders (2.1.325)."""
_MODES = ("default", "acceptEdits", "plan", "auto")
"""In other modes nothing is asked, or everything is denied; there we judge by the default mode."""
PLACES = {"session": "until it ends", "project": ".claude/settings.local.json", "user": "~/.claude/settings.json"}
SIMULATOR_SETTINGS = "~/.claude-simulator/settings.json"


@dataclass(frozen=True, slots=True)
class Advice:
    """``rules`` are what "always" would add: the narrowest that allow exactly this call, if there are any."""

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
        return Advice("unknown", ("install quarterdeck[policy] to assess commands",), "", _suggested(suggestions))
    return Advice(decision.risk.level, decision.risk.reasons, decision.explanation, rules)


def _suggested(suggestions: Sequence[PermissionSuggestion]) -> tuple[Rule, ...]:
    """The rules that the CLI suggests, for when we cannot find narrower ones."""
    from quarterdeck.policy import RuleError, parse_rule

    for suggestion in suggestions:
        try:
            return tuple(parse_rule(text, "allow", source="session") for text in suggestion.rules)
        except RuleError:
            continue
    return ()


def update_for(rules: Sequence[Rule], scope: str) -> PermissionUpdate:
    """Makes the CLI save these rules."""
    values = [PermissionRuleValue(tool_name=rule.tool, rule_content=rule.content) for rule in rules]
    return PermissionUpdate(type="addRules", rules=values, behavior="allow", destination=DESTINATIONS[scope])


class SessionRules:
    """The rules of one session: from the command line, from settings, and added during the session."""

    def __init__(self, given: Policy | None, *, cwd: str, mode: str | None) -> None:
        self._given = given
        self._cwd = cwd
        self._mode = mode
        self._added: list[Rule] = []

    @classmethod
    def load(
        cls, *, cwd: str, policy_file: str | None, allow: Sequence[str], deny: Sequence[str], mode: str | None
    ) -> SessionRules:
        """Raises ``PolicyError`` for an invalid rule."""
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
        """With the settings, loaded on first use. Settings with invalid rules are ignored: the CLI reports them."""
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
        """Whether there are rules on the command line."""
        return self._given is not None

    def narrowing(self) -> dict[str, list[str]]:
        """What the command line denies or has asked about, for a host. What it allows is decided here."""
        rules = () if self._given is None else self._given.rules
        listed = {word: [str(rule) for rule in rules if rule.behavior == word] for word in ("deny", "ask")}
        return {word: texts for word, texts in listed.items() if texts}

    def ruling(self, tool: str, tool_input: Mapping[str, Any]) -> tuple[str, str] | None:
        """What the command line's rules decide: the behaviour and why; None if no rule matches."""
        if self._given is None:
            return None
        decision = self._given.decide(tool, tool_input)
        if decision.rule is None:
            return None
        return decision.behavior, f"Rule on the command line: {decision.explanation}"

    def remember(self, rules: Sequence[Rule]) -> None:
        """Apply these rules from now on."""
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
        raise BadSettingsError(path, None, "No such file, or it is empty.")
    return file.rules
