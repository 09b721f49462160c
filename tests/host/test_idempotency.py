"""A write with a key happens once, whatever becomes of the host between the effect and the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from host.kit import ASKS, Place, all_frames, frames_until, pending, states_of
from quarterdeck.host import Caller, Host, HostError
from quarterdeck.host.requests import (
    ApprovalFilter,
    CreateToken,
    Decide,
    DecideMany,
    Decision,
    Nothing,
    OfGrant,
    OfSession,
    OfToken,
    Remember,
    Settings,
)
from quarterdeck.store import Commit, Committed, EventStore
from quarterdeck.store.records import ApprovalRecord

ALLOW = Decision(decision="allow")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


class DiedError(Exception):
    """The host dies here."""


class Death:
    """The host dies after its next commit with a receipt."""

    def __init__(self, store: EventStore) -> None:
        self._store, self._commit = store, store.commit
        store.commit = self.commit  # type: ignore[method-assign]

    async def commit(self, commit: Commit) -> Committed:
        done = await self._commit(commit)
        if commit.receipt is not None:
            self._store.commit = self._commit  # type: ignore[method-assign]
            raise DiedError
        return done


async def cut(host: Host, operation: str, request: Any, key: str) -> None:
    """Ask for it, and let nobody hear the answer."""
    Death(host.store)
    with pytest.raises(DiedError):
        await getattr(host, operation)(request, key=key)


async def test_a_decision_whose_answer_was_lost_is_not_made_again(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        request = Decide(approval_id=approval.id, decision=ALLOW)
        first = await host.decide(request, key="k")
        again = await host.decide(request, key="k")
        assert (again.id, again.state, again.decision) == (first.id, "decided", first.decision)
        with pytest.raises(HostError) as other:
            await host.decide(Decide(approval_id=approval.id, decision=Decision(decision="deny")), key="k")
        assert other.value.code == "conflict"
        with pytest.raises(HostError) as somebody:
            await host.decide(request, Caller(name="somebody else"), key="k")
        assert somebody.value.code == "already_decided"
        assert states_of(await frames_until(host, session.id, "idle")).count("decided") == 1


async def test_a_batch_that_was_cut_short_is_finished_by_its_repeat(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        sessions = [await place.created(host) for _ in range(3)]
        for session in sessions:
            await pending(host, session.id)
        request = DecideMany(filter=ApprovalFilter(kind="permission"), decision=ALLOW)
        decided: list[str] = []
        decide_one = host._decide

        async def die(record: ApprovalRecord, *details: Any, **more: Any) -> Any:
            if len(decided) == 2:
                raise DiedError
            decided.append(record.id)
            return await decide_one(record, *details, **more)

        with monkeypatch.context() as dying:
            dying.setattr(host, "_decide", die)
            with pytest.raises(DiedError):
                await host.decide_many(request, key="k")
        done = await host.decide_many(request, key="k")
        assert {one.session_id for one in done.approvals} == {session.id for session in sessions}
        again = await host.decide_many(request, key="k")
        assert [one.id for one in again.approvals] == [one.id for one in done.approvals]
        for session in sessions:
            assert states_of(await all_frames(host, session.id)).count("decided") == 1


async def test_settings_tokens_and_grants_are_changed_once(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        budgets, other = Settings(settings={"day_usd": "5"}), Settings(settings={"day_usd": "7"})
        await cut(host, "set_budgets", budgets, "k")
        await host.set_budgets(other)
        assert (await host.set_budgets(budgets, key="k")).details["day_usd"] == "5"
        assert (await host.get_budgets(Nothing())).details["day_usd"] == "7"

        alerts = Settings(settings={"alerts": [{"on": ["crashed"], "command": ["/bin/true"]}]})
        await cut(host, "set_alerts", alerts, "k")
        await host.set_alerts(Settings(settings={"alerts": []}))
        assert (await host.set_alerts(alerts, key="k")).details["alerts"]
        assert (await host.get_alerts(Nothing())).details["alerts"] == []

        wanted = CreateToken(name="phone", scope="approve")
        await cut(host, "create_token", wanted, "k")
        token = await host.create_token(wanted, key="k")
        assert token.secret is None
        assert [one.id for one in (await host.list_tokens(Nothing())).tokens] == [token.id]
        await cut(host, "revoke_token", OfToken(token_id=token.id), "k")
        revoked = await host.revoke_token(OfToken(token_id=token.id), key="k")
        assert revoked.revoked_at is not None

        await place.created(host)
        (approval,) = await pending(host)
        remember = Remember(rule="Bash(touch made.txt)", scope="session")
        await host.decide(Decide(approval_id=approval.id, decision=Decision(decision="allow", remember=remember)))
        (grant,) = (await host.list_grants(Nothing())).grants
        await cut(host, "revoke_grant", OfGrant(grant_id=grant.id), "k")
        assert (await host.revoke_grant(OfGrant(grant_id=grant.id), key="k")).revoked_at is not None


async def test_a_session_whose_deletion_was_not_heard_of_is_deleted(place: Place) -> None:
    place.claude.play(["Hello."])
    async with place.opened() as host:
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
        await host.delete_session(OfSession(session_id=session.id), key="k")
        await host.delete_session(OfSession(session_id=session.id), key="k")
        with pytest.raises(HostError) as gone:
            await host.delete_session(OfSession(session_id=session.id), key="another")
        assert gone.value.code == "not_found"
