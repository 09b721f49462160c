"""What people allowed, and for how long.

A grant is a rule with a scope, a term and a name. The clock is handed in; nothing here reads the time by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from .adapters import Callbacks, OnAsk
from .decision import Decision
from .errors import PolicyError
from .explain import Explanation, explain
from .rules import Rule, RuleError, parse_rule
from .suggest import narrow_rules

if TYPE_CHECKING:
    from .policy import Policy

Scope: TypeAlias = Literal["once", "session", "project", "user"]


class CannotRememberError(PolicyError):
    """No rule says exactly what was allowed; it can be allowed this time only."""


@dataclass(frozen=True, slots=True)
class Grant:
    """``rules`` are allowed together. ``expires_at`` is in the seconds of the clock; None means until revoked."""

    number: int
    rules: tuple[str, ...]
    scope: Scope
    granted_by: str
    granted_at: float
    expires_at: float | None = None
    for_request: str = ""


class Memory:
    """The grants in force. Give it the clock: ``Memory(clock=time.time)``."""

    def __init__(self, *, clock: Callable[[], float], grants: Iterable[Grant] = ()) -> None:
        self._clock = clock
        self._grants: dict[int, Grant] = {}
        for grant in grants:
            _check(grant.rules)
            self._grants[grant.number] = grant

    def grant(
        self,
        rules: Iterable[str],
        *,
        scope: Scope,
        granted_by: str,
        lasts_s: float | None = None,
        for_request: str = "",
    ) -> Grant:
        """Remember ``rules``. Raises ``CannotRememberError`` for a whole shell tool and for rules that are no rules."""
        texts = tuple(rules)
        _check(texts)
        now = self._clock()
        until = None if lasts_s is None else now + lasts_s
        made = Grant(max(self._grants, default=0) + 1, texts, scope, granted_by, now, until, for_request)
        self._grants[made.number] = made
        return made

    def grant_request(
        self,
        policy: Policy,
        tool_name: str,
        tool_input: Mapping[str, Any],
        *,
        scope: Scope,
        granted_by: str,
        lasts_s: float | None = None,
    ) -> Grant:
        """Remember the narrowest rules that let exactly this request through."""
        rules = narrow_rules(policy, tool_name, tool_input)
        if not rules:
            raise CannotRememberError(f"no rule says exactly this {tool_name} call; allow it this time only")
        shown = str(tool_input.get("command", "")) if tool_name == "Bash" else tool_name
        texts = [str(rule) for rule in rules]
        return self.grant(texts, scope=scope, granted_by=granted_by, lasts_s=lasts_s, for_request=shown)

    def grants(self) -> tuple[Grant, ...]:
        """Those in force now, oldest first. Expired ones are forgotten here."""
        now = self._clock()
        for grant in tuple(self._grants.values()):
            if grant.expires_at is not None and grant.expires_at <= now:
                self.revoke(grant.number)
        return tuple(self._grants.values())

    def revoke(self, number: int) -> Grant:
        """Take a grant back. Raises ``KeyError`` if there is none of this number."""
        return self._grants.pop(number)

    def rules(self, *, without: int | None = None) -> tuple[Rule, ...]:
        """All that is granted now, as rules of the session; one grant may be left out."""
        texts = dict.fromkeys(text for grant in self.grants() if grant.number != without for text in grant.rules)
        return tuple(parse_rule(text, "allow", source="session") for text in texts)

    def dump(self) -> bytes:
        """The grants that outlive the session, to be kept in a file."""
        return msgspec.json.encode([grant for grant in self.grants() if grant.scope in ("project", "user")])

    @classmethod
    def load(cls, data: bytes, *, clock: Callable[[], float]) -> Memory:
        """From what ``dump`` wrote. Raises ``CannotRememberError`` for a grant that would not be given today."""
        return cls(clock=clock, grants=msgspec.json.decode(data, type=list[Grant]))


def _check(rules: tuple[str, ...]) -> None:
    if not rules:
        raise CannotRememberError("a grant needs at least one rule")
    for text in rules:
        try:
            rule = parse_rule(text, "allow")
        except RuleError as problem:
            raise CannotRememberError(f"{text!r}: {problem}") from problem
        if rule.tool == "Bash" and rule.content is None:
            raise CannotRememberError("every shell command at once is not remembered; write it into your settings")


class RememberingPolicy(Callbacks):
    """A policy and a memory: decides as the policy does, with what was granted added to the allow rules."""

    def __init__(self, policy: Policy, memory: Memory, *, on_ask: OnAsk | None = None) -> None:
        self.base, self.memory = policy, memory
        self.on_ask = on_ask if on_ask is not None else policy.on_ask
        self._rules: tuple[Rule, ...] = ()
        self._policy = policy

    @property
    def policy(self) -> Policy:
        """The policy as it stands at this moment."""
        rules = self.memory.rules()
        if rules != self._rules:
            self._rules = rules
            self._policy = self.base.with_rules([*self.base.rules, *rules])
        return self._policy

    def decide(self, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        return self.policy.decide(tool_name, tool_input)

    def explain(self, tool_name: str, tool_input: Mapping[str, Any]) -> Explanation:
        return explain(self.policy, tool_name, tool_input)

    def used(self, tool_name: str, tool_input: Mapping[str, Any]) -> None:
        """A grant for one time is gone once a request went through that needed it."""
        for grant in self.memory.grants():
            if grant.scope == "once":
                others = self.base.with_rules([*self.base.rules, *self.memory.rules(without=grant.number)])
                if others.decide(tool_name, tool_input).behavior != "allow":
                    self.memory.revoke(grant.number)
