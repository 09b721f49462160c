"""What goes, and what never does."""

from __future__ import annotations

from pathlib import Path

from quarterdeck.store import Commit, EventStore
from quarterdeck.store.commits import (
    AddAudit,
    OpenApproval,
    PutSession,
    PutSnapshot,
)
from quarterdeck.store.queries import AuditQuery, Retention
from quarterdeck.store.records import (
    AuditRecord,
    Snapshot,
)
from store.conformance.base import Conformance
from store.making import (
    add,
    approval,
    decided,
    everything,
    moved,
    row,
    session,
    start,
)


class RetentionConformance(Conformance):
    """What goes, and what never does."""

    async def log(self, store: EventStore, rows: int, *, snapshot: int) -> None:
        await start(store, "s", *(row(bytes(10), at=float(number)) for number in range(1, rows + 1)))
        await add(store, "s", changes=[PutSnapshot(snapshot, b"snapshot")])

    async def first(self, store: EventStore) -> int:
        head = await store.head("s")
        assert head is not None
        assert [one.seq for one in await everything(store, after=head.first_seq - 1)] == list(
            range(head.first_seq, head.last_seq + 1)
        )
        assert await store.check() == []
        return head.first_seq

    async def test_rows_that_are_too_old_go_and_the_cursor_before_them_is_a_gap(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await self.log(store, 10, snapshot=9)
            done = await store.retain(Retention(row_age_s=100.0), now=105.5)
            assert (done.rows, await self.first(store)) == (5, 6)
            page = await store.read("s", after=4)
            assert (page.gap, page.rows, page.head.first_seq, page.head.size_bytes) == (True, [], 6, 50)
            assert not (await store.read("s", after=5)).gap
            assert (await add(store, "s", b"next")).first_seq == 11

    async def test_rows_beyond_the_size_go_oldest_first(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await self.log(store, 10, snapshot=9)
            await store.retain(Retention(row_age_s=None, row_bytes=35), now=0.0)
            assert await self.first(store) == 8

    async def test_rows_that_no_snapshot_covers_stay(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await self.log(store, 10, snapshot=4)
            await store.retain(Retention(row_age_s=0.0, row_bytes=0), now=1e9)
            assert await self.first(store) == 5
            assert await store.snapshot("s") == Snapshot("s", 4, b"snapshot")
            await start(store, "t", row(at=0.0))
            await store.retain(Retention(row_age_s=0.0, row_bytes=0), now=1e9)
            assert len(await everything(store, "t")) == 1

    async def test_what_is_open_stays_until_it_is_finished(self, tmp_path: Path) -> None:
        all_of_it = Retention(row_age_s=0.0, row_bytes=0)
        async with self.open(tmp_path) as store:
            await self.log(store, 10, snapshot=9)
            await add(
                store, "s", changes=[OpenApproval(approval("a1", "s", seq=3)), PutSession(session("s", open_seq=6))]
            )
            await store.retain(all_of_it, now=1e9)
            assert await self.first(store) == 3
            await add(store, "s", changes=[decided("a1")])
            await store.retain(all_of_it, now=1e9)
            assert await self.first(store) == 3
            await add(store, "s", changes=[moved("a1", "delivered")])
            await store.retain(all_of_it, now=1e9)
            assert await self.first(store) == 6
            await add(store, "s", changes=[PutSession(session("s"))])
            await store.retain(all_of_it, now=1e9)
            assert await self.first(store) == 10

    async def test_a_clock_that_was_set_back_makes_nothing_go_early(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s", row(at=500.0), row(at=5.0), row(at=6.0), row(at=600.0))
            await add(store, "s", changes=[PutSnapshot(4, b"")])
            await store.retain(Retention(row_age_s=100.0), now=200.0)
            assert await self.first(store) == 1
            await store.retain(Retention(row_age_s=100.0), now=650.0)
            assert await self.first(store) == 4

    async def test_a_long_log_goes_as_well_as_a_short_one(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await self.log(store, 7_001, snapshot=7_000)
            done = await store.retain(Retention(row_age_s=0.0), now=1e9)
            assert (done.rows, await self.first(store)) == (7_000, 7_001)

    async def test_the_host_wide_stream_is_cut_and_says_so(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            for number in range(6):
                await start(store, f"{number}")
            done = await store.retain(Retention(change_count=2), now=0.0)
            assert (done.changes, await store.position()) == (4, 6)
            assert (await store.changes(after=3)).gap
            page = await store.changes(after=4)
            assert ([change.pos for change in page.changes], page.gap) == ([5, 6], False)
            await store.retain(Retention(change_count=0), now=0.0)
            assert (await store.changes(after=5)).gap
            assert not (await store.changes(after=6)).gap
            assert (await start(store, "next")).pos == 7

    async def test_the_audit_ages(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            entries = [AuditRecord(at=at, who="ann", operation="stop") for at in (1.0, 2.0, 3.0)]
            await store.commit(Commit(changes=[AddAudit(entry) for entry in entries]))
            assert (await store.retain(Retention(audit_age_s=10.0), now=12.5)).audit == 2
            assert [entry.at for entry in (await store.audit(AuditQuery())).entries] == [3.0]
