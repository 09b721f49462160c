"""Tokens, scopes and folders: who may do what is checked for every operation in one place."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from host.kit import ASKS, Clock, Place, decide, frames_until, pending
from looping import for_each
from quarterdeck.host import Caller, Host, HostError
from quarterdeck.host.operations import OPERATIONS, Operation
from quarterdeck.host.requests import (
    ApprovalFilter,
    CreateSession,
    CreateToken,
    Decide,
    DecideMany,
    Decision,
    ListApprovals,
    ListAudit,
    ListSessions,
    Nothing,
    OfApproval,
    OfSession,
    OfToken,
)

SCOPES = ("read", "approve", "operate", "admin")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


async def test_a_secret_is_shown_once_and_stored_as_a_digest(place: Place) -> None:
    async with place.opened() as host:
        token = await host.create_token(CreateToken(name="ann", scope="approve"))
        assert token.secret is not None
        assert len(token.secret) > 40
        (listed,) = (await host.list_tokens(Nothing())).tokens
        assert listed.secret is None
        assert token.secret.encode() not in b"".join(
            path.read_bytes() for path in place.folder.rglob("*") if path.is_file()
        )
        caller = await host.authenticate(token.secret, via="http")
        assert (caller.name, caller.scope, caller.via, caller.token_id) == ("ann", "approve", "http", token.id)
        assert not caller.may_bypass
        (used,) = (await host.list_tokens(Nothing())).tokens
        assert used.last_used_at is not None


async def test_a_token_that_is_wrong_revoked_or_expired_is_refused_in_the_same_words(place: Place) -> None:
    clock = Clock()
    async with place.opened(clock=clock) as host:
        short = await host.create_token(CreateToken(name="short", scope="read", expires_s=60))
        gone = await host.create_token(CreateToken(name="gone", scope="read"))
        assert short.secret is not None
        assert gone.secret is not None
        await host.authenticate(short.secret)
        await host.revoke_token(OfToken(token_id=gone.id))
        clock.now += 61
        said = set()
        for secret in (short.secret, gone.secret, "qd_made_up", "", gone.secret[:-1]):
            with pytest.raises(HostError) as refused:
                await host.authenticate(secret)
            said.add((refused.value.code, str(refused.value)))
        assert len(said) == 1
        assert said.pop()[0] == "unauthenticated"


async def test_a_token_that_is_revoked_while_it_is_used_stays_revoked(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place.opened() as host:
        token = await host.create_token(CreateToken(name="ann", scope="operate"))
        read = host.store.token

        async def read_before_it_is_revoked(digest: bytes) -> Any:
            monkeypatch.setattr(host.store, "token", read)
            record = await read(digest)
            await host.revoke_token(OfToken(token_id=token.id))
            return record

        monkeypatch.setattr(host.store, "token", read_before_it_is_revoked)
        with pytest.raises(HostError, match="not valid"):
            await host.authenticate(str(token.secret))
        (listed,) = (await host.list_tokens(Nothing())).tokens
        assert listed.revoked_at is not None


async def test_tokens_survive_a_restart(place: Place) -> None:
    async with place.host() as host:
        token = await host.create_token(CreateToken(name="ann", scope="operate", may_bypass=True))
        assert token.secret is not None
    async with place.host() as host:
        assert (await host.authenticate(token.secret)).may_bypass


@pytest.mark.parametrize(
    "bad",
    [
        {"name": " ", "scope": "read"},
        {"name": "x", "scope": "read", "expires_s": 0},
        {"name": "x", "scope": "read", "expires_s": 1e17},
    ],
    ids=["name", "expiry", "for ever and a day"],
)
async def test_a_token_that_makes_no_sense_is_refused(place: Place, bad: dict[str, Any]) -> None:
    async with place.opened() as host:
        with pytest.raises(HostError) as refused:
            await host.create_token(CreateToken(**bad))
        assert refused.value.code == "invalid"


async def test_nobody_hands_out_more_than_they_have(place: Place) -> None:
    ann = Caller(name="ann", scope="admin", may_bypass=False)
    limited = Caller(name="bob", scope="admin", folders=("/srv",))
    async with place.opened() as host:
        with pytest.raises(HostError, match="bypass"):
            await host.create_token(CreateToken(name="x", scope="read", may_bypass=True), ann)
        with pytest.raises(HostError, match="limited to certain folders"):
            await host.create_token(CreateToken(name="x", scope="read"), limited)


BUILT = [operation for operation in OPERATIONS.values() if hasattr(Host, operation.name)]


@for_each("operation", BUILT, ids=lambda operation: operation.name)
async def test_every_operation_refuses_a_caller_without_its_scope(place: Place, operation: Operation) -> None:
    async with place.opened() as host:
        rank = SCOPES.index(operation.scope)
        for scope in SCOPES[:rank]:
            called = getattr(host, operation.name)(_example(operation), Caller(name="ann", scope=scope))
            with pytest.raises(HostError) as refused:
                await (anext(called) if inspect.isasyncgen(called) else called)
            assert (refused.value.code, refused.value.details["needed"]) == ("forbidden", operation.scope)


def _example(operation: Operation) -> Any:
    for value in ("x", "allow", "admin", {}, b"", 1, {"decision": "allow"}):
        fields = {field.name: value for field in msgspec.structs.fields(operation.takes) if field.required}
        try:
            return operation.takes(**fields)
        except TypeError:
            continue
    raise AssertionError(operation.name)


async def test_bypassing_permissions_needs_the_flag(place: Place) -> None:
    async with place.opened() as host:
        ann = Caller(name="ann", scope="operate", may_bypass=False)
        with pytest.raises(HostError, match="bypassPermissions") as refused:
            await host.create_session(CreateSession(cwd=str(place.cwd), permission_mode="bypassPermissions"), ann)
        assert refused.value.code == "forbidden"
        decision = Decision(decision="allow", mode="bypassPermissions")
        with pytest.raises(HostError, match="bypassPermissions"):
            await host.decide(Decide(approval_id="x", decision=decision), ann)


async def test_folders_limit_what_a_token_sees_and_does(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    inside, outside = place.cwd / "inside", place.cwd / "outside"
    inside.mkdir()
    outside.mkdir()
    async with place.opened() as host:
        token = await host.create_token(CreateToken(name="ann", scope="operate", folders=[str(inside)]))
        assert token.secret is not None
        ann = await host.authenticate(token.secret)
        mine = await host.create_session(CreateSession(cwd=str(inside), prompt="go"), ann)
        other = await host.create_session(CreateSession(cwd=str(outside), prompt="go"))
        (my_approval,), (other_approval,) = await pending(host, mine.id), await pending(host, other.id)
        assert [one.id for one in (await host.list_sessions(ListSessions(), ann)).sessions] == [mine.id]
        assert [one.id for one in (await host.list_approvals(ListApprovals(), ann)).approvals] == [my_approval.id]
        batch = DecideMany(filter=ApprovalFilter(tool="Bash"), decision=Decision(decision="deny"), dry_run=True)
        assert [one.id for one in (await host.decide_many(batch, ann)).approvals] == [my_approval.id]
        for refused_call, code in (
            (host.get_session(OfSession(session_id=other.id), ann), "not_found"),
            (host.get_session(OfSession(session_id="nope"), ann), "not_found"),
            (host.get_approval(OfApproval(approval_id=other_approval.id), ann), "not_found"),
            (host.get_approval(OfApproval(approval_id="nope"), ann), "not_found"),
            (host.stop(OfSession(session_id=other.id), ann), "not_found"),
            (host.create_session(CreateSession(cwd=str(outside)), ann), "folder_not_allowed"),
            (host.create_session(CreateSession(cwd=str(inside / ".." / "outside")), ann), "folder_not_allowed"),
            (host.list_audit(ListAudit(), ann), "forbidden"),
        ):
            with pytest.raises(HostError) as refused:
                await refused_call
            assert refused.value.code == code
        await decide(host, my_approval)
        await decide(host, other_approval)
        await frames_until(host, mine.id, "idle")


async def test_the_audit_says_who_changed_what(place: Place) -> None:
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        ann = Caller(name="ann", via="grpc", scope="admin")
        await host.stop(OfSession(session_id=session.id), ann)
        token = await host.create_token(CreateToken(name="bob", scope="read"), ann)
        entries = (await host.list_audit(ListAudit(who="ann"))).audit
        assert [(entry.operation, entry.via) for entry in entries] == [("create_token", "grpc"), ("stop", "grpc")]
        assert entries[0].details == {"name": "bob", "scope": "read"}
        assert token.secret not in repr(entries)
        about = (await host.list_audit(ListAudit(session=session.id))).audit
        assert [entry.operation for entry in about] == ["stop", "create_session"]


@pytest.mark.parametrize("lifetime_s", [0.0, -1.0, math.nan, math.inf, 1e308])
async def test_a_lifetime_that_is_none_is_refused(place: Place, lifetime_s: float) -> None:
    async with place.opened() as host:
        with pytest.raises(HostError) as refused:
            await host.create_token(CreateToken(name="short", scope="read", expires_s=lifetime_s))
        assert (refused.value.code, refused.value.details["field"]) == ("invalid", "expires_s")
