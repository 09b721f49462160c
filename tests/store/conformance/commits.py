"""What makes a commit one thing: fences, receipts, effects, refusals."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from quarterdeck.store import Commit
from quarterdeck.store.commits import (
    AddAudit,
    AddEffect,
    AddUsage,
    DeleteSession,
    FinishEffect,
    OpenApproval,
    PutSession,
    PutSetting,
)
from quarterdeck.store.errors import (
    ApprovalConflict,
    Fenced,
    InvalidCommit,
    KeyReused,
    LogExists,
    LogMoved,
    NoSuchApproval,
    NoSuchSession,
    StoreClosed,
)
from quarterdeck.store.queries import AuditQuery, Retention, SessionQuery
from quarterdeck.store.records import (
    AuditRecord,
    Effect,
)
from store.conformance.base import Conformance
from store.making import (
    add,
    approval,
    ask,
    bodies,
    decided,
    receipt,
    row,
    session,
    start,
    usage,
)

WEEK_S = 7 * 86_400.0
KEEP_ALL = Retention(row_age_s=None, row_bytes=None, audit_age_s=None)


class CommitConformance(Conformance):
    """What makes a commit one thing: fences, receipts, effects, refusals."""

    async def test_a_session_is_made_once(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            with pytest.raises(LogExists):
                await start(store)
            with pytest.raises(NoSuchSession):
                await add(store, "other", b"row")
            with pytest.raises(NoSuchSession):
                await store.commit(Commit(session="other", rows=[row()]))
            assert [head.session for head in await store.heads()] == ["s"]

    async def test_who_lost_a_session_cannot_write_to_it_any_more(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            assert await store.claim(["s"], owner="b") == {"s": 2}
            with pytest.raises(Fenced, match="belongs to b") as refused:
                await add(store, "s", b"late")
            assert (refused.value.current, refused.value.owner) == (2, "b")
            await add(store, "s", b"mine", fence=2)
            assert await bodies(store) == [b"mine"]
            with pytest.raises(Fenced):
                await add(store, "s", b"not yet", fence=3)

    async def test_a_claim_of_several_is_all_or_nothing(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "a")
            with pytest.raises(NoSuchSession):
                await store.claim(["a", "missing"], owner="b")
            head = await store.head("a")
            assert head is not None
            assert (head.fence, head.owner) == (1, "a")

    async def test_a_commit_is_refused_where_the_log_does_not_end_as_expected(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            await add(store, "s", b"one", after=0)
            with pytest.raises(LogMoved, match="ends at 1, not at 0"):
                await add(store, "s", b"again", after=0)
            results = await asyncio.gather(
                add(store, "s", b"two", after=1),
                add(store, "s", b"refused", after=1),
                add(store, "s", b"three", after=2),
                return_exceptions=True,
            )
            assert [type(one).__name__ for one in results] == ["Committed", "LogMoved", "Committed"]
            assert await bodies(store) == [b"one", b"two", b"three"]

    async def test_a_refused_commit_writes_nothing_at_all(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            await ask(store, "a1")
            await add(store, "s", changes=[decided("a1")])
            position = await store.position()
            with pytest.raises(ApprovalConflict):
                await add(
                    store,
                    "s",
                    b"row",
                    changes=[
                        PutSession(session("s", state="running")),
                        AddEffect("deliver", b""),
                        AddUsage(usage()),
                        AddAudit(AuditRecord(at=1.0, who="ann", operation="decide")),
                        PutSetting("name", b"value"),
                        OpenApproval(approval("a2", "s")),
                        decided("a1", "deny", "bob"),
                    ],
                    receipt=receipt(),
                )
            assert await bodies(store) == [b"ask"]
            assert (await store.session("s")) == session("s")
            assert await store.effects() == []
            assert (await store.audit(AuditQuery())).entries == []
            assert await store.usage(["day"]) == []
            assert await store.setting("name") is None
            assert await store.approval("a2") is None
            assert await store.receipt(receipt().scope, "k", now=1.0) is None
            assert await store.position() == position

    async def test_a_refusal_harms_no_commit_beside_it(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            results = await asyncio.gather(
                *(add(store, "s" if number % 3 else "missing", str(number).encode()) for number in range(30)),
                return_exceptions=True,
            )
            assert [isinstance(one, NoSuchSession) for one in results] == [number % 3 == 0 for number in range(30)]
            assert await bodies(store) == [str(number).encode() for number in range(30) if number % 3]

    async def test_a_repeat_with_the_same_key_returns_the_first_outcome(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            effect = [AddEffect("send", b"")]
            first = await add(store, "s", b"prompt", changes=effect, receipt=receipt(outcome=b"first"))
            again = await add(store, "s", b"prompt", changes=effect, receipt=receipt(outcome=b"second", at=5.0))
            assert (first.replayed, first.outcome) == (False, b"first")
            assert (again.replayed, again.outcome) == (True, b"first")
            assert (again.first_seq, again.last_seq, again.effects) == (first.first_seq, 1, first.effects)
            assert await bodies(store) == [b"prompt"]
            kept = await store.receipt(receipt().scope, "k", now=5.0)
            assert kept is not None
            assert (kept[0], kept[1].first_seq) == (receipt(outcome=b"first"), 1)

    async def test_racing_repeats_are_written_once(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            done = await asyncio.gather(*(add(store, "s", b"prompt", receipt=receipt()) for _ in range(50)))
            assert sum(not one.replayed for one in done) == 1
            assert {one.first_seq for one in done} == {1}

    async def test_the_same_key_with_another_request_is_refused(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            await add(store, "s", b"prompt", receipt=receipt())
            with pytest.raises(KeyReused, match="another request"):
                await add(store, "s", b"other", receipt=receipt(request=b"other"))
            await add(store, "s", b"other", receipt=receipt(request=b"other", scope="token/stop/s"))
            assert await bodies(store) == [b"prompt", b"other"]

    async def test_a_refused_write_leaves_its_key_free(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            with pytest.raises(Fenced):
                await add(store, "s", b"late", fence=9, receipt=receipt())
            assert not (await add(store, "s", b"now", receipt=receipt(request=b"other"))).replayed

    async def test_a_key_is_free_again_after_seven_days(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            await add(store, "s", b"one", receipt=receipt(at=0.0))
            assert (await add(store, "s", b"one", receipt=receipt(at=WEEK_S))).replayed
            assert await store.receipt(receipt().scope, "k", now=WEEK_S + 1) is None
            later = await add(store, "s", b"two", receipt=receipt(request=b"other", at=WEEK_S + 1))
            assert not later.replayed
            assert (await store.retain(KEEP_ALL, now=3 * WEEK_S)).receipts == 1

    async def test_effects_wait_until_they_are_finished(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "a")
            await start(store, "b")
            one = await add(store, "a", changes=[AddEffect("send", b"1"), AddEffect("stop", b"2")])
            two = await add(store, "b", changes=[AddEffect("send", b"3")])
            three = await store.commit(Commit(changes=[AddEffect("alert", b"4")]))
            first, second = one.effects
            assert await store.effects(session="a") == [
                Effect(first, "a", "send", b"1"),
                Effect(second, "a", "stop", b"2"),
            ]
            await add(store, "a", b"done", changes=[FinishEffect(first), FinishEffect(two.effects[0])])
            assert [effect.id for effect in await store.effects()] == [second, *two.effects, *three.effects]
            await add(store, "a", changes=[FinishEffect(first)])
            await store.commit(Commit(changes=[FinishEffect(three.effects[0])]))
            assert [effect.id for effect in await store.effects()] == [second, *two.effects]

    async def test_what_no_session_is_named_for_cannot_be_about_one(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            for commit in (
                Commit(rows=[row()]),
                Commit(changes=[PutSession(session("s"))]),
                Commit(changes=[DeleteSession()]),
                Commit(changes=[OpenApproval(approval("a", "s"))]),
            ):
                with pytest.raises(InvalidCommit, match="must name the session"):
                    await store.commit(commit)

    async def test_a_commit_of_one_session_cannot_touch_another(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s")
            await start(store, "other")
            await ask(store, "a1", "other")
            with pytest.raises(InvalidCommit):
                await add(store, "s", changes=[PutSession(session("other"))])
            with pytest.raises(InvalidCommit):
                await add(store, "s", changes=[OpenApproval(approval("a2", "other"))])
            with pytest.raises(NoSuchApproval):
                await add(store, "s", changes=[decided("a1")])

    async def test_text_that_a_database_cannot_keep_is_refused_by_name(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            with pytest.raises(InvalidCommit, match=r"SessionRecord.name contains a NUL character"):
                await add(store, "s", changes=[PutSession(session("s", name="a\0b"))])
            with pytest.raises(InvalidCommit, match=r"SessionRecord.tags contains a lone surrogate"):
                await add(store, "s", changes=[PutSession(session("s", tags=("\ud800",)))])
            with pytest.raises(InvalidCommit, match=r"NewRow.sender contains a NUL"):
                await add(store, "s", row(sender="\0"))
            with pytest.raises(InvalidCommit, match="64 bits"):
                await add(store, "s", changes=[AddUsage(usage(input_tokens=2**63))])
            with pytest.raises(InvalidCommit, match="not a finite number"):
                await add(store, "s", changes=[PutSession(session("s", active_at=float("nan")))])
            assert await bodies(store) == []

    async def test_a_caller_that_is_cancelled_leaves_the_store_whole(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            tasks = [asyncio.create_task(add(store, "s", str(number).encode())) for number in range(100)]
            await asyncio.sleep(0)
            for task in tasks[::2]:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await add(store, "s", b"last")
            found = await bodies(store)
            assert {str(number).encode() for number in range(1, 100, 2)} <= set(found)
            assert found[-1] == b"last"
            assert len(set(found)) == len(found)
            assert await store.check() == []

    async def test_what_was_handed_over_is_written_before_it_closes(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            pending = [asyncio.create_task(add(store, "s", str(number).encode())) for number in range(50)]
            await asyncio.sleep(0)
            await store.close()
            assert [done.first_seq for done in await asyncio.gather(*pending)] == list(range(1, 51))

    async def test_a_closed_store_says_so(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            await store.close()
            await store.close()
            with pytest.raises(StoreClosed):
                await add(store, "s", b"late")
            with pytest.raises(StoreClosed):
                await store.read("s")
            with pytest.raises(StoreClosed):
                await store.sessions(SessionQuery())
