"""Rows, heads, pages, snapshots."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from quarterdeck.store.commits import (
    PutSnapshot,
    RenewEpoch,
)
from quarterdeck.store.errors import (
    InvalidCommit,
    NoSuchSession,
)
from quarterdeck.store.records import (
    LogHead,
    Row,
    Snapshot,
)
from store.conformance.base import Conformance
from store.making import (
    add,
    ask,
    bodies,
    decided,
    everything,
    moved,
    row,
    start,
)


class LogConformance(Conformance):
    """Rows, heads, pages, snapshots."""

    async def test_a_row_is_read_as_it_was_written(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            sent = {"kind": "sent", "origin": "user", "generation": 2, "input_number": 7, "sender": "ann"}
            await add(store, "s", row(b"\0\xff any bytes \n", at=2.5, **sent), row("", spool_end=99, generation=3))
            assert await everything(store) == [
                Row("s", 1, 2.5, "sent", "user", 2, 0, 7, "ann", b"\0\xff any bytes \n"),
                Row("s", 2, 1.0, "received", "agent", 3, 99, 0, "", b""),
            ]

    async def test_rows_are_numbered_from_one_without_gaps_in_each_session(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            first = await start(store, "a", row("a1"), row("a2"))
            await start(store, "b")
            second = await add(store, "b", b"b1")
            third = await add(store, "a", b"a3")
            assert (first.first_seq, first.last_seq) == (1, 2)
            assert (second.first_seq, second.last_seq) == (1, 1)
            assert (third.first_seq, third.last_seq) == (3, 3)
            assert [(one.seq, one.body) for one in await everything(store, "a")] == [(1, b"a1"), (2, b"a2"), (3, b"a3")]

    async def test_rows_are_counted_as_they_are_written(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "a", row("a1"), row("a2"))
            before = store.rows_written
            await add(store, "a", b"a3", b"a4", b"a5")
            with pytest.raises(NoSuchSession):
                await add(store, "nobody", b"x")
            await add(store, "a", changes=[PutSnapshot(1, b"snapshot")])
            assert (before, store.rows_written) == (2, 5)

    async def test_a_commit_without_rows_has_no_numbers(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            done = await start(store)
            assert (done.first_seq, done.last_seq, done.replayed) == (0, 0, False)

    async def test_order_is_by_number_although_the_clock_was_set_back(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s", row("first", at=1000.0))
            await add(store, "s", row("second", at=5.0))
            assert await bodies(store) == [b"first", b"second"]

    async def test_commits_of_tasks_that_do_not_wait_are_written_in_the_order_of_their_calls(
        self, tmp_path: Path
    ) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            done = await asyncio.gather(*(add(store, "s", str(number).encode()) for number in range(300)))
            assert [one.first_seq for one in done] == list(range(1, 301))
            assert await bodies(store) == [str(number).encode() for number in range(300)]

    async def test_the_head_says_where_the_log_stands(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            await add(store, "s", row("abc", generation=1, spool_end=10), row("d", generation=1, input_number=4))
            head = await store.head("s")
            assert head == LogHead(
                session="s",
                epoch=head.epoch if head else "",
                fence=1,
                owner="a",
                last_seq=2,
                size_bytes=4,
                generation=1,
                spool_end=10,
                input_number=4,
            )
            assert await store.heads() == [head]
            assert await store.head("other") is None

    async def test_a_new_process_starts_its_numbers_anew_and_a_late_line_of_the_old_one_changes_nothing(
        self, tmp_path: Path
    ) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s", row(generation=1, spool_end=500, input_number=9), row(generation=2, spool_end=20))
            await add(store, "s", row(generation=1, spool_end=700), row(kind="event", origin="host"))
            head = await store.head("s")
            assert head is not None
            assert (head.generation, head.spool_end, head.input_number) == (2, 20, 0)

    async def test_pages_follow_each_other(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s", *(row(f"{number}") for number in range(10)))
            page = await store.read("s", after=3, limit_rows=4)
            assert [one.seq for one in page.rows] == [4, 5, 6, 7]
            assert (page.head.last_seq, page.gap) == (10, False)
            assert [one.seq for one in (await store.read("s", after=7, limit_rows=4)).rows] == [8, 9, 10]
            assert (await store.read("s", after=10)).rows == []

    async def test_a_page_ends_when_it_is_large_and_has_at_least_one_row(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s", *(row(bytes(1000)) for _ in range(10)))
            assert len((await store.read("s", limit_bytes=2500)).rows) == 3
            assert len((await store.read("s", limit_bytes=1)).rows) == 1

    async def test_a_cursor_beyond_the_end_is_a_gap(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s", row())
            page = await store.read("s", after=2)
            assert (page.gap, page.rows, page.head.last_seq) == (True, [], 1)
            assert (await store.read("s", after=-1)).gap

    async def test_reading_a_session_that_is_not_there_says_so(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            with pytest.raises(NoSuchSession, match="no session s"):
                await store.read("s")

    async def test_each_log_has_an_epoch_of_its_own(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "a")
            await start(store, "b")
            epochs = {head.epoch for head in await store.heads()}
            await add(store, "a", b"row", changes=[RenewEpoch()])
            renewed = {head.epoch for head in await store.heads()}
            assert len(epochs) == len(renewed) == 2
            assert len(epochs & renewed) == 1
            assert await bodies(store, "a") == [b"row"]

    async def test_the_newest_snapshot_is_found_and_the_newest_before_a_row(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s", *[row()] * 10)
            assert await store.snapshot("s") is None
            await add(store, "s", changes=[PutSnapshot(4, b"four")])
            await add(store, "s", b"eleven", changes=[PutSnapshot(11, b"\0eleven")])
            assert await store.snapshot("s") == Snapshot("s", 11, b"\0eleven")
            assert await store.snapshot("s", at_most=10) == Snapshot("s", 4, b"four")
            assert await store.snapshot("s", at_most=3) is None
            head = await store.head("s")
            assert head is not None
            assert head.snapshot_seq == 11

    async def test_all_that_it_takes_to_go_on_with_a_session_is_read_at_once(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "other", row())
            await ask(store, "not-ours", "other")
            await start(store, "s", row("one"), row("two"), aliases=("alias",))
            for name in ("pending", "decided", "delivered", "applied", "stranded"):
                await ask(store, name)
            for name in ("decided", "delivered", "applied"):
                await add(store, "s", changes=[decided(name)])
            for name in ("delivered", "applied"):
                await add(store, "s", changes=[moved(name, "delivered")])
            await add(store, "s", changes=[moved("applied", "applied"), moved("stranded", "stranded")])
            found = await store.load("s")
            assert found is not None
            assert (found.record, found.head) == (await store.session("s"), await store.head("s"))
            assert (found.snapshot, found.rows) == (None, await everything(store))
            assert [one.id for one in found.unfinished] == ["pending", "decided", "delivered"]
            assert [one.id for one in found.stranded] == ["stranded"]
            await add(store, "s", b"last", changes=[PutSnapshot(7, b"seven")])
            found = await store.load("s")
            assert found is not None
            assert found.snapshot == Snapshot("s", 7, b"seven")
            assert [one.body for one in found.rows] == [b"last"]
            assert await store.load("nobody") is None

    async def test_a_snapshot_of_rows_that_are_not_there_is_refused(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s", row())
            for seq in (0, 3):
                with pytest.raises(InvalidCommit, match="snapshot at row"):
                    await add(store, "s", b"two", changes=[PutSnapshot(seq, b"")])
            assert len(await bodies(store)) == 1

    async def test_old_snapshots_become_sparse(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s", *[row()] * 200)
            for seq in range(1, 201):
                await add(store, "s", changes=[PutSnapshot(seq, str(seq).encode())])
            kept = []
            seq = 200
            while found := await store.snapshot("s", at_most=seq):
                kept.append(found.seq)
                seq = found.seq - 1
            assert kept[:4] == [200, 199, 198, 197]
            assert len(kept) <= 16
            assert kept[-1] == 1

    async def test_another_version_of_the_fold_drops_snapshots_and_renews_epochs(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            assert await store.use_fold("1")
            await start(store, "s", row())
            await add(store, "s", changes=[PutSnapshot(1, b"one")])
            before = await store.head("s")
            assert not await store.use_fold("1")
            assert await store.head("s") == before
            assert await store.use_fold("2")
            after = await store.head("s")
            assert before is not None
            assert after is not None
            assert (after.snapshot_seq, after.last_seq, after.epoch == before.epoch) == (0, 1, False)
            assert await store.snapshot("s") is None
