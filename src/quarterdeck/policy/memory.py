"""What was allowed, and for how long. A grant is a set of rules with a scope, an expiry and a grantor. A grant for one
call applies to that exact call only: ``Read(//etc)``, which ``ls /etc`` needs, would otherwise allow reading everything
below. The clock is passed in; nothing here reads the time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from .adapters import OnAsk, PolicyCallbacks
from .decision import Decision
from .errors import PolicyError
from .explain import Explanation, explain
from .rules import AGENT_TOOLS, Rule, RuleError, parse_rule
from .suggest import rules_for_call

if TYPE_CHECKING:
    from .policy import Policy

Scope: TypeAlias = Literal["once", "session", "project", "user"]


class CannotRememberError(PolicyError):
    """No rule describes exactly this call; it can only be allowed once."""


@dataclass(frozen=True, slots=True)
class Grant:
    """``rules`` are allowed together. ``expires_at`` is in the seconds of the clock; None means until revoked.

    ``call`` is the one call they are for, as ``call_key`` writes it; None for every call that they match.
    """

    number: int
    rules: tuple[str, ...]
    scope: Scope
    granted_by: str
    granted_at: float
    expires_at: float | None = None
    for_request: str = ""
    call: str | None = None


_OF_NO_EFFECT = {"Bash": frozenset({"description", "timeout"})}
"""What may differ between two calls that do the same."""


def call_key(tool_name: str, tool_input: Mapping[str, Any]) -> str:
    """Equal for calls that do the same, and only for those."""
    without = _OF_NO_EFFECT.get(tool_name, frozenset())
    said = {key: value for key, value in tool_input.items() if key not in without}
    return f"{tool_name} {json.dumps(said, sort_keys=True, ensure_ascii=True)}"


class Memory:
    """The grants in force. Give it the clock: ``Memory(clock=time.time)``."""

    def __init__(self, *, clock: Callable[[], float], grants: Iterable[Grant] = ()) -> None:
        self._clock = clock
        self._grants: dict[int, Grant] = {}
        for grant in grants:
            _check(grant.rules, grant.call)
            self._grants[grant.number] = grant

    def grant(
        self,
        rules: Iterable[str],
        *,
        scope: Scope,
        granted_by: str,
        lasts_s: float | None = None,
        for_request: str = "",
        call: str | None = None,
    ) -> Grant:
        """Remember ``rules``. Raises ``CannotRememberError`` for a whole shell tool and for invalid rules."""
        texts = tuple(rules)
        _check(texts, call)
        now = self._clock()
        until = None if lasts_s is None else now + lasts_s
        made = Grant(max(self._grants, default=0) + 1, texts, scope, granted_by, now, until, for_request, call)
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
        """Remember that this exact call is allowed. It applies to no other call, however similar."""
        rules = rules_for_call(policy, tool_name, tool_input)
        if not rules:
            raise CannotRememberError(f"no rule can describe exactly this {tool_name} call; allow it only once")
        shown = str(tool_input.get("command", "")) if tool_name == "Bash" else tool_name
        texts, key = [str(rule) for rule in rules], call_key(tool_name, tool_input)
        return self.grant(texts, scope=scope, granted_by=granted_by, lasts_s=lasts_s, for_request=shown, call=key)

    def grants(self) -> tuple[Grant, ...]:
        """Those in force now, oldest first. Expired ones are forgotten here."""
        now = self._clock()
        for grant in tuple(self._grants.values()):
            if grant.expires_at is not None and grant.expires_at <= now:
                self.revoke(grant.number)
        return tuple(self._grants.values())

    def revoke(self, number: int) -> Grant:
        """Revoke a grant. Raises ``KeyError`` if it does not exist."""
        return self._grants.pop(number)

    def rules(self, *, call: str | None = None, without: int | None = None) -> tuple[Rule, ...]:
        """The rules granted now to calls in general and to ``call``, as session rules; one may be excluded."""
        said = [grant for grant in self.grants() if grant.call in (None, call) and grant.number != without]
        texts = dict.fromkeys(text for grant in said for text in grant.rules)
        return tuple(parse_rule(text, "allow", source="session") for text in texts)

    def dump(self) -> bytes:
        """The grants that outlive the session, to be kept in a file."""
        return msgspec.json.encode([grant for grant in self.grants() if grant.scope in ("project", "user")])

    @classmethod
    def load(cls, data: bytes, *, clock: Callable[[], float]) -> Memory:
        """From what ``dump`` wrote. Raises ``CannotRememberError`` for a grant that is no longer valid."""
        return cls(clock=clock, grants=msgspec.json.decode(data, type=list[Grant]))


def _check(rules: tuple[str, ...], call: str | None) -> None:
    if not rules:
        raise CannotRememberError("a grant needs at least one rule")
    for text in rules:
        try:
            rule = parse_rule(text, "allow")
        except RuleError as problem:
            raise CannotRememberError(f"{text!r}: {problem}") from problem
        if call is None and rule.tool in _ACTING_TOOLS and rule.content is None:
            raise CannotRememberError(f"a rule for all of {rule.tool} cannot be remembered; add it to your settings")


_ACTING_TOOLS = frozenset({"Bash", "Monitor", "PowerShell", *AGENT_TOOLS})
"""Of these no grant covers the whole tool. It would cover every command."""


class RememberingPolicy(PolicyCallbacks):
    """A policy and a memory: decides like the policy, with the grants added to its allow rules."""

    def __init__(self, policy: Policy, memory: Memory, *, on_ask: OnAsk | None = None) -> None:
        self.base, self.memory = policy, memory
        self.on_ask = on_ask if on_ask is not None else policy.on_ask
        self._rules: tuple[Rule, ...] = ()
        self._policy = policy

    @property
    def policy(self) -> Policy:
        """The current policy, for calls without a grant of their own."""
        return self._with(self.memory.rules())

    def _with(self, rules: tuple[Rule, ...]) -> Policy:
        if rules != self._rules:
            self._rules = rules
            self._policy = self.base.with_rules([*self.base.rules, *rules])
        return self._policy

    def _for_call(self, tool_name: str, tool_input: Mapping[str, Any]) -> Policy:
        return self._with(self.memory.rules(call=call_key(tool_name, tool_input)))

    def decide(self, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        return self._for_call(tool_name, tool_input).decide(tool_name, tool_input)

    def decide_while(self, mode: object, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        return self._for_call(tool_name, tool_input).decide_while(mode, tool_name, tool_input)

    def restrain(self, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        return self._for_call(tool_name, tool_input).restrain(tool_name, tool_input)

    @property
    def refuses(self) -> bool:
        return self.base.refuses

    @property
    def lets_through(self) -> bool:
        return self.base.lets_through

    def explain(self, tool_name: str, tool_input: Mapping[str, Any]) -> Explanation:
        return explain(self._for_call(tool_name, tool_input), tool_name, tool_input)

    def used(self, tool_name: str, tool_input: Mapping[str, Any]) -> None:
        """A one-time grant is gone once a request that needed it went through."""
        key = call_key(tool_name, tool_input)
        for grant in self.memory.grants():
            if grant.scope == "once" and grant.call in (None, key):
                rules = self.memory.rules(call=key, without=grant.number)
                others = self.base.with_rules([*self.base.rules, *rules])
                if others.decide(tool_name, tool_input).behavior != "allow":
                    self.memory.revoke(grant.number)
