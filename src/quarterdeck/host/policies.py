"""A session's policy: the strictest of the host's, the settings files' and its own rules, plus grants.

Every layer can deny a call or require a person. Only the host's allow rules and grants can allow one: the CLI has
already applied the settings' allow rules before it asks.
"""

from __future__ import annotations

import copy
import functools
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgspec

from quarterdeck.policy import BadRulesError, Explanation, Policy, PolicyError
from quarterdeck.policy.rules import Behavior, Rule
from quarterdeck.policy.settings import IN_THE_FOLDER, load

from .errors import HostError
from .events import PolicyDecided
from .grants import Grants

logger = logging.getLogger("quarterdeck.host")

UNATTENDED_S = 15 * 60.0
"""How long an approval waits while nobody who may decide it is connected."""

FOR_PEOPLE = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Questions and plans, which no rule answers."""

_Granted: TypeAlias = tuple[str, tuple[str, ...]]
"""A grant's id and its rules."""

_OWN_COMMANDS = ("approve", "deny", "answer", "token")
"""Our commands with which an agent could approve its own calls."""


class PolicyVerdict(msgspec.Struct, frozen=True):
    """The policy's decision on a call, and the reason."""

    behavior: Behavior
    reason: str
    rule: str | None = None
    grant_id: str | None = None
    risk: str | None = None


class OwnPolicy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """``CreateSession.policy``. It has no ``allow``: a session's own policy can only restrict."""

    deny: list[str] = []
    ask: list[str] = []
    unattended_s: float | Literal["never"] = UNATTENDED_S
    """Deny approvals after this time if nobody who may decide them is connected."""


def own_policy(given: Mapping[str, Any] | None) -> OwnPolicy:
    """Parse a session's policy. Raises ``HostError`` if it is invalid or would allow more."""
    if given is not None and "allow" in given:
        raise HostError(
            "invalid", "A session's policy can only restrict: it cannot have allow rules.", field="policy.allow"
        )
    if not given:
        return OwnPolicy()
    try:
        own = msgspec.convert(dict(given), OwnPolicy)
        Policy.from_rules(deny=own.deny, ask=own.ask)
    except (msgspec.ValidationError, BadRulesError) as error:
        raise HostError("invalid", f"This policy is not valid: {error}", field="policy") from error
    if own.unattended_s != "never" and own.unattended_s <= 0:
        raise HostError("invalid", 'unattended_s must be a number of seconds, or "never".', field="policy.unattended_s")
    return own


_UNREADABLE: Final = PolicyVerdict("ask", "No rule allows it, and what exactly it runs is known only when it runs.")
"""Shown instead of a built-in rule that is unrelated to the call."""


class SessionPolicy:
    """Judges the calls of one session, or of a hypothetical session in a folder."""

    def __init__(
        self,
        cwd: str,
        *,
        state_folder: Path,
        grants: Grants,
        host: Policy | None = None,
        own: OwnPolicy | None = None,
        session: str | None = None,
        env: Mapping[str, str] | None = None,
        folders_above: Sequence[str] = (),
    ) -> None:
        """``env`` is the session's: its ``HOME`` and ``CLAUDE_CONFIG_DIR`` locate the settings files.
        ``folders_above``: the rules in the settings files of these folders apply, too."""
        env = env or {}
        home = env.get("HOME") or None
        own = own or OwnPolicy()
        self.session = session
        self.unattended_s = None if own.unattended_s == "never" else float(own.unattended_s)
        self.problem: str | None = None
        """Why the settings couldn't be read. Until they can, a person must allow every call."""
        self._protected = (str(state_folder), "quarterdeck")
        self._grants = grants
        self._allow_rules: tuple[Rule, ...] = ()
        self.layers: dict[str, Policy] = {"built-in": _built_in(state_folder, cwd, home)}
        if host is not None:
            self.layers["host"] = Policy(host.rules, cwd=cwd, home=home, mode=host.mode)
            self._allow_rules = tuple(rule for rule in host.rules if rule.behavior == "allow")
        try:
            config = env.get("CLAUDE_CONFIG_DIR")
            self.layers["settings"] = Policy.from_settings(cwd, home=home, config=config, mode="default")
            for folder in folders_above:
                self.layers[f"settings of {folder}"] = _settings_of(folder, cwd, home, config)
        except PolicyError as error:
            self.problem = str(error)
        self.bare = _without_rules(cwd, home)
        self.layers["session"] = self.bare
        if own.deny or own.ask:
            self.layers["session"] = Policy.from_rules(deny=own.deny, ask=own.ask, cwd=cwd, home=home)

    @property
    def cwd(self) -> str:
        return self.bare.places.cwd

    def trying(self, rule: Rule) -> SessionPolicy:
        """Return this policy plus one rule."""
        tried = copy.copy(self)
        if rule.behavior == "allow":
            tried._allow_rules = (*self._allow_rules, rule)
        else:
            tried.layers = {**self.layers, "new": self.bare.with_rules([rule])}
        return tried

    def judge(self, tool: str, tool_input: Mapping[str, Any], *, needs_person: bool = False) -> PolicyVerdict:
        """Decide a call that the CLI asks about. If the policy fails, denies."""
        try:
            against = self._against(tool, tool_input)
            if against is not None:
                return against
            allowed = None if needs_person or self.problem is not None else self._allowed(tool, tool_input)
            return allowed or PolicyVerdict(
                "ask", self.problem or "No rule applies.", risk=self._risk(tool, tool_input)
            )
        except Exception as error:
            logger.exception("The policy failed for a call of %s", tool)
            return _failed(error)

    def restrain(self, tool: str, tool_input: Mapping[str, Any]) -> PolicyVerdict | None:
        """Restrict a call that the CLI hasn't asked about; None if there is no objection. Never allows."""
        if tool in FOR_PEOPLE:
            return None  # the CLI asks about these itself
        try:
            return self._against(tool, tool_input)
        except Exception as error:
            logger.exception("The policy failed for a call of %s", tool)
            return _failed(error)

    def _against(self, tool: str, tool_input: Mapping[str, Any]) -> PolicyVerdict | None:
        found: PolicyVerdict | None = None
        for name, policy in self.layers.items():
            if not (policy.refuses or policy.mode == "dontAsk"):
                continue
            said = policy.restrain(tool, tool_input)
            if said.behavior == "allow" or (said.behavior == "ask" and found not in (None, _UNREADABLE)):
                continue
            if (
                said.behavior == "ask"
                and name == "built-in"
                and said.rule is not None
                and not self._about_host(tool_input)
            ):
                found = _UNREADABLE  # built-in rules only deny: we couldn't rule this one out
                continue
            found = PolicyVerdict(
                said.behavior, f"{said.explanation} ({name})", None if said.rule is None else str(said.rule)
            )
            if said.behavior == "deny":
                return found
        return None if found is None else msgspec.structs.replace(found, risk=self._risk(tool, tool_input))

    def _about_host(self, tool_input: Mapping[str, Any]) -> bool:
        """Whether a call names something that the built-in rules protect."""
        return any(word in str(value) for value in tool_input.values() for word in self._protected)

    def _allowed(self, tool: str, tool_input: Mapping[str, Any]) -> PolicyVerdict | None:
        """Allow a call by a rule of the host or by grants, only if it depends on them: the CLI asked for a reason."""
        if self.bare.decide(tool, tool_input).behavior == "allow":
            return None
        said = self.bare.with_rules(self._allow_rules).decide(tool, tool_input)
        if said.behavior == "allow":
            return PolicyVerdict("allow", said.explanation, None if said.rule is None else str(said.rule))
        granted = self._grants.for_call(tool, tool_input, session=self.session, cwd=self.cwd)
        if not granted or not self._allows([rules for _, rules in granted], tool, tool_input):
            return None
        grant_id, rules = next((one for one in granted if self._needs(one, granted, tool, tool_input)), granted[0])
        return PolicyVerdict("allow", f"{', '.join(rules)} was granted.", ", ".join(rules), grant_id)

    def _needs(self, one: _Granted, granted: Sequence[_Granted], tool: str, tool_input: Mapping[str, Any]) -> bool:
        return not self._allows([rules for grant_id, rules in granted if grant_id != one[0]], tool, tool_input)

    def _allows(self, granted: Sequence[tuple[str, ...]], tool: str, tool_input: Mapping[str, Any]) -> bool:
        texts = dict.fromkeys(text for rules in granted for text in rules)
        rules = Policy.from_rules(allow=texts, cwd=self.cwd).rules
        return self.bare.with_rules([*self._allow_rules, *rules]).decide(tool, tool_input).behavior == "allow"

    def _risk(self, tool: str, tool_input: Mapping[str, Any]) -> str | None:
        risk = self.bare.decide(tool, tool_input).risk
        return None if risk.level == "none" else str(risk)

    # For people

    def rules(self) -> list[dict[str, str]]:
        """All rules in force, with their source."""
        listed = [
            {"layer": name, "behavior": rule.behavior, "rule": str(rule), "place": rule.place}
            for name, policy in self.layers.items()
            for rule in policy.rules
        ]
        listed += [
            {"layer": "grant", "behavior": "allow", "rule": record.rule, "place": record.id}
            for record in self._grants.in_force(self.session, self.cwd)
        ]
        return listed

    def explain(self, tool: str, tool_input: Mapping[str, Any]) -> Explanation:
        """Explain how all layers judge a call, part by part."""
        rules = [rule for policy in self.layers.values() for rule in policy.rules]
        return self.bare.with_rules(rules).explain(tool, tool_input)


def _settings_of(folder: str, cwd: str, home: str | None, config: str | None) -> Policy:
    """The rules of another folder's own settings files, for a session in ``cwd``."""
    loaded = load(folder, home=home, config=config)
    rules = [rule for rule in loaded.rules if rule.source in IN_THE_FOLDER]
    return Policy(rules, cwd=cwd, home=home, roots=loaded.roots, notes=loaded.notes)


@functools.lru_cache(maxsize=64)
def _built_in(state_folder: Path, cwd: str, home: str | None) -> Policy:
    """Shared by all sessions of a folder: building one per session would dominate restarts."""
    return Policy.from_rules(deny=built_in_denies(state_folder), cwd=cwd, home=home)


@functools.lru_cache(maxsize=64)
def _without_rules(cwd: str, home: str | None) -> Policy:
    return Policy((), cwd=cwd, home=home)


def built_in_denies(state_folder: Path) -> list[str]:
    """Deny rules that keep an agent, which runs as our user, from reading the token or approving itself."""
    folders = {str(state_folder.absolute()), str(state_folder.resolve())}
    paths = [f"{family}(/{_literal(folder)}/**)" for folder in sorted(folders) for family in ("Read", "Edit")]
    programs = ("quarterdeck", "python -m quarterdeck", "python3 -m quarterdeck")
    return [*paths, *(f"Bash({program} {command}:*)" for program in programs for command in _OWN_COMMANDS)]


def decided(
    at: float,
    verdict: PolicyVerdict,
    tool: str,
    tool_use_id: str,
    *,
    asked_in: Literal["can_use_tool", "PreToolUse"] = "can_use_tool",
) -> PolicyDecided:
    """The row that records a decision."""
    return PolicyDecided(
        at, tool_use_id, tool, verdict.behavior, verdict.reason, verdict.rule, verdict.grant_id, asked_in
    )


def verdict_of(event: PolicyDecided) -> PolicyVerdict:
    """Read the decision from its row."""
    return PolicyVerdict(event.decision, event.reason, event.rule, event.grant_id)


def _literal(path: str) -> str:
    return "".join("\\" + char if char in "*?[]\\!()" else char for char in path)


def _failed(error: Exception) -> PolicyVerdict:
    return PolicyVerdict("deny", f"The policy failed, so this is denied: {type(error).__name__}: {error}"[:500])
