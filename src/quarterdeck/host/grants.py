"""Grants: decisions that people asked to remember, in force until they expire or are revoked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from quarterdeck.policy import CannotRememberError, Memory, Policy
from quarterdeck.policy.memory import call_key
from quarterdeck.policy.suggest import rules_for_call
from quarterdeck.store import EventStore
from quarterdeck.store.records import GrantRecord

from .errors import HostError
from .requests import Remember
from .resources import Grant, GrantScope
from .times import LONGEST_S, moment


class GrantBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """``rules`` apply together; with ``call``, only to that exact call (``policy.memory.call_key``)."""

    rules: tuple[str, ...]
    call: str | None = None


class Grants:
    """All grants of a host, as stored."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._records: dict[str, GrantRecord] = {}

    async def load(self, store: EventStore) -> None:
        self._records = {record.id: record for record in await store.grants()}

    def put(self, record: GrantRecord) -> None:
        """Add or replace a grant. Call this once the record is committed."""
        self._records[record.id] = record

    def get(self, grant_id: str) -> GrantRecord:
        record = self._records.get(grant_id)
        if record is None:
            raise HostError("not_found", f"There is no grant {grant_id}.", hint="List the grants to see their ids.")
        return record

    def all(self) -> list[GrantRecord]:
        return sorted(self._records.values(), key=lambda record: (record.created_at, record.id))

    def in_force(self, session: str | None, cwd: str) -> list[GrantRecord]:
        """The grants that currently apply to this session, or to a new session in this folder."""
        now = self._clock()
        return [
            record
            for record in self.all()
            if record.revoked_at is None
            and (record.expires_at is None or record.expires_at > now)
            and _concerns(record, session, cwd)
        ]

    def for_call(
        self, tool: str, tool_input: Mapping[str, Any], *, session: str | None, cwd: str
    ) -> list[tuple[str, tuple[str, ...]]]:
        """The grants that may apply to this call, each with its rules."""
        key = call_key(tool, tool_input)
        bodies = [(record.id, grant_body(record)) for record in self.in_force(session, cwd)]
        return [(grant_id, body.rules) for grant_id, body in bodies if body.call in (None, key)]


def new_grant(
    grant_id: str,
    remember: Remember,
    call: tuple[str, Mapping[str, Any]],
    *,
    policy: Policy,
    session: str,
    by: str,
    now: float,
) -> GrantRecord:
    """Create a grant for a call being allowed. Raises ``HostError`` for a rule that doesn't cover the call.

    If the rule alone isn't enough, e.g. for ``ls /etc``, which also reads a folder outside, the grant is for this exact
    call only.
    """
    tool, tool_input = call
    if remember.lasts_s is not None and remember.lasts_s <= 0:
        raise HostError("invalid", "The rule's lifetime must be longer than 0.", field="remember.lasts_s")
    if remember.lasts_s is not None and remember.lasts_s > LONGEST_S:
        raise HostError(
            "invalid", "A rule's lifetime can be at most a hundred years, or unlimited.", field="remember.lasts_s"
        )
    body = GrantBody((remember.rule,))
    try:
        Memory(clock=lambda: now).grant(body.rules, scope=remember.scope, granted_by=by)
        if not covers(policy, body.rules, tool, tool_input):
            rules = tuple(str(rule) for rule in rules_for_call(policy, tool, tool_input))
            if remember.rule not in rules:
                raise CannotRememberError(f"{remember.rule!r} does not cover this call")
            body = GrantBody(rules, call_key(tool, tool_input))
    except CannotRememberError as error:
        raise HostError("invalid", f"This cannot be remembered: {error}.", field="remember.rule") from error
    return GrantRecord(
        id=grant_id,
        rule=remember.rule,
        scope=remember.scope,
        created_at=now,
        by=by,
        session=session if remember.scope == "session" else None,
        cwd=policy.places.cwd if remember.scope == "project" else None,
        expires_at=None if remember.lasts_s is None else now + remember.lasts_s,
        body=msgspec.json.encode(body),
    )


def covers(policy: Policy, rules: tuple[str, ...], tool: str, tool_input: Mapping[str, Any]) -> bool:
    """Whether the call is allowed with these rules, and isn't without them."""
    allowing = Policy.from_rules(allow=rules, cwd=policy.places.cwd, home=policy.places.home)
    bare = policy.with_rules(())
    return allowing.decide(tool, tool_input).behavior == "allow" and bare.decide(tool, tool_input).behavior != "allow"


def grant_body(record: GrantRecord) -> GrantBody:
    return msgspec.json.decode(record.body, type=GrantBody)


def grant_view(record: GrantRecord) -> Grant:
    return Grant(
        id=record.id,
        rule=record.rule,
        scope=_scope(record.scope),
        created_at=moment(record.created_at),
        by=record.by,
        session_id=record.session,
        cwd=record.cwd,
        expires_at=None if record.expires_at is None else moment(record.expires_at),
        revoked_at=None if record.revoked_at is None else moment(record.revoked_at),
    )


def _scope(word: str) -> GrantScope:
    scope: GrantScope = msgspec.convert(word, GrantScope)
    return scope


def _concerns(record: GrantRecord, session: str | None, cwd: str) -> bool:
    match record.scope:
        case "session":
            return record.session == session
        case "project":
            return record.cwd == cwd
    return True
