"""The writer of one log: in order and once, whatever the store answers and when."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from quarterdeck.host import log_writer
from quarterdeck.host.log_writer import LogWriter
from quarterdeck.store import Commit, Committed, MemoryStore
from quarterdeck.store.commits import PutSession, PutSetting
from quarterdeck.store.errors import Fenced, StorageFull, StoreClosed, StoreError
from quarterdeck.store.records import NewRow, SessionRecord

SESSION = "one"
RECORD = SessionRecord(id=SESSION, state="idle", cwd="/", created_at=1.0, active_at=1.0)
LIMIT_S = 30
FULL = StorageFull("There is no room.")


class Store(MemoryStore):
    """Writes and answers when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.handed_over: deque[tuple[Commit, Callable[[Committed | StoreError], None]]] = deque()
        self._came = asyncio.Event()

    def submit(self, commit: Commit, answered: Callable[[Committed | StoreError], None]) -> None:
        self.handed_over.append((commit, answered))
        self._came.set()

    async def has_some(self) -> None:
        """Wait until something is handed over."""
        async with asyncio.timeout(LIMIT_S):
            while not self.handed_over:
                self._came.clear()
                await self._came.wait()

    async def write(self, error: StoreError | None = None) -> None:
        """The next one; with an error, it is not written."""
        commit, answered = self.handed_over.popleft()
        outcome: Committed | StoreError
        try:
            outcome = error or await self.commit(commit)
        except StoreError as refusal:
            outcome = refusal
        answered(outcome)
        for _ in range(3):  # for those who wait for it
            await asyncio.sleep(0)

    async def write_all(self) -> None:
        while self.handed_over:
            await self.write()

    async def lines(self) -> list[str]:
        return [row.body.decode() for row in (await self.read(SESSION)).rows]


def row(text: str) -> NewRow:
    return NewRow(at=1.0, kind="received", origin="agent", body=text.encode())


async def a_writer(**more: Any) -> tuple[Store, LogWriter]:
    """With a first row, so that it knows where the log ends."""
    store = Store()
    await store.commit(Commit(session=SESSION, changes=[PutSession(RECORD)]))
    writer = LogWriter(store, SESSION, 1, **more)
    writer.write([row("first")])
    await store.write()
    return store, writer


def rows_of(store: Store) -> list[list[str]]:
    return [[one.body.decode() for one in commit.rows] for commit, _ in store.handed_over]


async def test_what_comes_while_one_is_written_is_in_the_next_transaction_and_the_rest_is_joined() -> None:
    store, writer = await a_writer()
    shown: list[tuple[int, int]] = []
    for text in ("a", "b", "c", "d"):
        writer.write([row(text)], written=lambda done: shown.append((done.first_seq, done.last_seq)))
    assert rows_of(store) == [["a"], ["b"]]
    await store.write()
    assert rows_of(store) == [["b"], ["c", "d"]]
    await store.write_all()
    assert shown == [(2, 2), (3, 3), (4, 4), (5, 5)]
    assert await store.lines() == ["first", "a", "b", "c", "d"]
    assert writer.idle


async def test_until_it_knows_where_the_log_ends_one_is_handed_over_at_a_time() -> None:
    store = Store()
    await store.commit(Commit(session=SESSION, changes=[PutSession(RECORD)]))
    writer = LogWriter(store, SESSION, 1)
    writer.write([row("a")])
    writer.write([row("b")])
    assert rows_of(store) == [["a"]]
    await store.write_all()
    assert await store.lines() == ["a", "b"]


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_writer, "RETRY_S", 0.0)


@pytest.mark.usefixtures("no_pause")
async def test_after_a_full_disk_everything_is_written_in_its_order_and_once() -> None:
    told: list[StoreError | None] = []
    store, writer = await a_writer(stalled=told.append)
    done = [writer.write([row(text)]) for text in ("a", "b", "c")]
    await store.write(FULL)
    assert told == [], "what was to follow it has not come back"
    await store.write()
    assert told == [FULL]
    assert not any(one.done() for one in done)
    await store.has_some()
    assert rows_of(store) == [["a", "b", "c"]]
    await store.write_all()
    assert told == [FULL, None]
    assert [(await one).first_seq for one in done] == [2, 3, 4]
    assert await store.lines() == ["first", "a", "b", "c"]


async def test_what_follows_a_commit_without_rows_waits_for_it() -> None:
    store, writer = await a_writer()
    writer.write(changes=[PutSetting("name", b"old")])
    writer.write([row("a")], [PutSetting("name", b"new")])
    assert rows_of(store) == [[]], "nothing says that it is refused if the first is"
    await store.write_all()
    assert await store.setting("name") == b"new"


async def test_rows_of_somebody_else_between_two_commits_change_nothing_but_the_numbers() -> None:
    store, writer = await a_writer()
    done = [writer.write([row(text)]) for text in ("a", "b")]
    await store.write()
    await store.commit(Commit(session=SESSION, fence=1, rows=[row("somebody else's")]))
    await store.write_all()
    assert [(await one).first_seq for one in done] == [2, 4]
    assert await store.lines() == ["first", "a", "somebody else's", "b"]


async def test_nothing_follows_what_was_refused() -> None:
    told: list[StoreError | None] = []
    store, writer = await a_writer(stalled=told.append)
    done = [writer.write([row(text)]) for text in ("a", "b", "c")]
    await store.claim([SESSION], owner="another host")
    await store.write_all()
    for one in (*done, writer.write([row("d")])):
        with pytest.raises(Fenced):
            await one
    assert [type(error) for error in told] == [Fenced]
    assert await store.lines() == ["first"]
    assert writer.idle


async def test_a_refused_decision_harms_no_row_before_or_after_it() -> None:
    store, writer = await a_writer()
    before = writer.write([row("a")])
    decision = writer.write([row("decided")], alone=True)
    after = writer.write([row("b")])
    await store.write()
    assert rows_of(store) == [["decided"]], "nothing is behind it that would have to come back"
    await store.write(FULL)
    with pytest.raises(StorageFull):
        await decision
    await store.write_all()
    assert [(await one).first_seq for one in (before, after)] == [2, 3]


async def test_whoever_waits_for_everything_so_far_does_not_wait_for_what_comes_later() -> None:
    store, writer = await a_writer()
    writer.write([row("a")])
    waiting = asyncio.ensure_future(writer.settled())
    await asyncio.sleep(0)
    writer.write([row("b")])
    await store.write()
    assert waiting.done()
    assert not writer.idle
    await store.write_all()


@pytest.mark.usefixtures("no_pause")
async def test_who_waits_is_told_when_nothing_can_be_written_and_who_drains_goes_on_waiting() -> None:
    store, writer = await a_writer()
    writer.write([row("a")])
    settling, draining = asyncio.ensure_future(writer.settled()), asyncio.ensure_future(writer.drained())
    await asyncio.sleep(0)
    await store.write(FULL)
    assert (settling.done(), draining.done()) == (True, False)
    await store.has_some()
    await store.write_all()
    async with asyncio.timeout(LIMIT_S):
        await draining


async def test_previews_are_shown_after_the_rows_before_them_and_before_those_behind() -> None:
    store, writer = await a_writer()
    shown: list[str] = []
    writer.write([row("a")], written=lambda _: shown.append("a"))
    writer.write(written=lambda _: shown.append("preview"))
    writer.write([row("b")], written=lambda _: shown.append("b"))
    assert shown == []
    await store.write()
    assert shown == ["a", "preview"]
    await store.write_all()
    assert shown == ["a", "preview", "b"]


async def test_a_reader_that_fails_keeps_nothing_behind_it_from_being_written_and_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store, writer = await a_writer()
    shown: list[str] = []

    def fail(_: Committed) -> None:
        raise RuntimeError("a mistake in whoever is shown it")

    done = [writer.write([row("a")], written=fail), writer.write(written=fail)]
    done += [writer.write([row(text)], written=lambda _, text=text: shown.append(text)) for text in ("b", "c", "d")]
    assert rows_of(store) == [["a"], ["b"]]
    await store.write()
    assert rows_of(store) == [["b"], ["c", "d"]], "what waited is handed over"
    await store.write_all()
    assert shown == ["b", "c", "d"]
    assert [one.result().first_seq for one in done] == [2, 0, 3, 4, 5]
    assert writer.idle
    assert caplog.text.count("RuntimeError: a mistake") == 2


async def test_a_reader_that_fails_in_the_middle_of_a_commit_keeps_the_rest_of_it_from_nobody() -> None:
    store, writer = await a_writer()
    shown: list[tuple[str, int]] = []

    def show(text: str) -> Callable[[Committed], None]:
        def written(done: Committed) -> None:
            shown.append((text, done.first_seq))
            if text == "c":
                raise RuntimeError(text)

        return written

    done = [writer.write([row(text)], written=show(text)) for text in ("a", "b", "c", "d", "e")]
    await store.write_all()
    assert shown == [("a", 2), ("b", 3), ("c", 4), ("d", 5), ("e", 6)]
    assert all(one.done() for one in done)


@pytest.mark.usefixtures("no_pause")
async def test_whoever_fails_to_hear_that_writing_works_again_delays_no_row() -> None:
    def fail(_: StoreError | None) -> None:
        raise RuntimeError("a mistake")

    store, writer = await a_writer(stalled=fail)
    done = [writer.write([row(text)]) for text in ("a", "b")]
    await store.write(FULL)
    await store.write()
    await store.has_some()
    await store.write_all()
    assert [one.result().first_seq for one in done] == [2, 3]


async def test_what_cannot_be_written_in_time_fails_when_the_writer_is_closed() -> None:
    store, writer = await a_writer()
    done = [writer.write([row(text)]) for text in ("a", "b", "c")]
    await writer.close(timeout_s=0.01)
    for one in done:
        with pytest.raises(StoreClosed):
            await one
    await store.write_all()  # the store may answer later
    assert writer.idle
