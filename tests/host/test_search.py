"""Search: an index beside the log, which follows it and can be lost."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sqlite3
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from host.kit import LIMIT_S, Place, next_turn
from inside import in_memory, worked_on
from quarterdeck.host import Caller, Host, HostError
from quarterdeck.host.requests import AddEvent, OfSession, Search, UpdateSession, Wait
from quarterdeck.host.resources import Hit
from quarterdeck.host.tending import UNLOAD_S
from quarterdeck.store.queries import Retention
from quarterdeck.store.search import FILE, Indexed, SearchDocument, SearchIndex, match_of


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


async def found(
    host: Host, text: str, wanted: Callable[[list[Hit]], object] = bool, caller: Caller | None = None, **more: object
) -> list[Hit]:
    """The hits, once they are as wanted; bounded by the test."""
    while True:
        request = Search(q=text, **more)  # type: ignore[arg-type]
        hits = (await (host.search(request) if caller is None else host.search(request, caller))).hits
        if wanted(hits):
            return hits
        await asyncio.sleep(0.02)


async def idle(host: Host, session: str) -> None:
    await host.wait(Wait(session_id=session, timeout_s=LIMIT_S))


async def test_names_prompts_answers_tools_and_events_are_found_and_marked(place: Place) -> None:
    tool = {"tool": "Read", "input": {"file_path": str(place.cwd / "zebra.txt")}}
    place.claude.play([tool, "The giraffe is tall."])
    async with place.opened() as host:
        session = await place.created(host, "Where is the okapi?", name="savanna", tags=["walrus"])
        await idle(host, session.id)
        await host.add_event(AddEvent(session_id=session.id, type="ci", data={"job": "hippo tests"}))
        for word, kind in (
            ("savanna", "session"),
            ("walrus", "session"),
            ("okapi", "prompt"),
            ("GIRAFFE tal", "text"),
            ("zebra", "tool"),
            ("hippo", "event"),
        ):
            (hit,) = await found(host, word)
            assert (hit.session_id, hit.name, hit.kind) == (session.id, "savanna", kind)
            assert "\x02" in hit.excerpt
        assert "\x02giraffe\x03" in (await found(host, "giraffe"))[0].excerpt
        assert (await host.search(Search(q="giraffe okapi"))).hits == []
        await host.update_session(UpdateSession(session_id=session.id, name="tundra"))
        await found(host, "tundra")
        await found(host, "savanna", lambda hits: not hits)
        await host.delete_session(OfSession(session_id=session.id))
        await found(host, "tundra", lambda hits: not hits)
        assert (await host.search(Search(q="okapi"))).hits == []


async def test_filters_pages_and_folders_hold(place: Place) -> None:
    place.claude.play(*[["the same words"]] * 6)
    (place.cwd / "inside").mkdir()
    async with place.opened() as host:
        first = await place.created(host, "one")
        for _ in range(2):
            await idle(host, first.id)
            await next_turn(host, first.id)
        second = await place.created(host, "two", name="second")
        await idle(host, second.id)
        hits = await found(host, "same words", lambda hits: len(hits) == 4)
        assert {hit.session_id for hit in hits} == {first.id, second.id}
        assert {hit.session_id for hit in await found(host, "same", session=second.id)} == {second.id}
        page = await host.search(Search(q="same", limit=3))
        assert (len(page.hits), page.next_cursor) == (3, "3")
        rest = await host.search(Search(q="same", limit=3, cursor=page.next_cursor))
        assert (len(rest.hits), rest.next_cursor) == (1, None)
        assert {(hit.session_id, hit.seq) for hit in [*page.hits, *rest.hits]} == {
            (hit.session_id, hit.seq) for hit in hits
        }
        await host.stop(OfSession(session_id=second.id))
        await host.update_session(UpdateSession(session_id=second.id, archived=True))
        assert {hit.session_id for hit in await found(host, "same", archived=False)} == {first.id}
        assert await found(host, "same", lambda hits: not hits, cwd=str(place.cwd / "inside")) == []
        elsewhere = Caller(name="other", scope="read", folders=("/srv",))
        assert (await host.search(Search(q="same"), elsewhere)).hits == []
        here = Caller(name="here", scope="read", folders=(str(place.cwd),))
        assert len((await host.search(Search(q="same"), here)).hits) == 4


async def test_a_filtered_page_asks_the_index_twice_however_much_is_left_out(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for the ranking, once for the excerpts of what is shown."""
    asked: list[str] = []
    query = SearchIndex._asked

    def counted(index: SearchIndex, statement: str, *values: str | int) -> Any:
        asked.append(statement)
        return query(index, statement, *values)

    place.claude.play(["Nothing."])
    async with place.opened() as host:
        for name in ("other", "mine"):
            session = await place.created(host, name=name)
            await idle(host, session.id)
            await found(host, name)
            known = host._indexed[session.id]
            words = [SearchDocument(10 + row, "text", "okapi " * (2 if name == "other" else 1)) for row in range(1_000)]
            await host.index.add(session.id, known, words)
            await host.stop(OfSession(session_id=session.id))
            if name == "other":  # ranks first, and is left out
                await host.update_session(UpdateSession(session_id=session.id, archived=True))
        monkeypatch.setattr(SearchIndex, "_asked", counted)
        page = await host.search(Search(q="okapi", archived=False, limit=5))
        assert [(hit.name, hit.excerpt.strip()) for hit in page.hits] == [("mine", "\x02okapi\x03")] * 5
        assert ["snippet" in statement for statement in asked] == [False, True]
        assert page.next_cursor is not None
        rest = await host.search(Search(q="okapi", archived=False, limit=5, cursor=page.next_cursor))
        assert not {hit.seq for hit in rest.hits} & {hit.seq for hit in page.hits}
        asked.clear()
        nobody = Caller(name="other", scope="read", folders=("/srv",))
        nothing = await host.search(Search(q="okapi"), nobody)
        assert (nothing.hits, nothing.next_cursor, len(asked)) == ([], None, 1)
        asked.clear()
        assert len((await host.search(Search(q="okapi", limit=7))).hits) == 7
        assert len(asked) == 1


async def test_what_is_no_search_is_refused(place: Place) -> None:
    async with place.opened() as host:
        for bad in (Search(q=""), Search(q=" \0 "), Search(q="* ()"), Search(q="a", cursor="x")):
            with pytest.raises(HostError) as refused:
                await host.search(bad)
            assert refused.value.code == "invalid"
        with pytest.raises(HostError) as unknown:
            await host.search(Search(q="a", session="nobody"))
        assert unknown.value.code == "not_found"


@pytest.mark.parametrize(
    "text", ['"', "a OR b", "NOT a", "a*", "col:a", "^a", "NEAR(a b)", "a -b", "{x}:y", "é", "a\0b"]
)
async def test_no_word_is_an_operator(place: Place, text: str) -> None:
    assert match_of(text.split()).count('"') % 2 == 0
    async with place.opened() as host:
        try:
            assert (await host.search(Search(q=text))).hits == []
        except HostError as error:
            assert error.code == "invalid"


async def test_an_index_that_is_lost_damaged_or_behind_is_made_anew(place: Place) -> None:
    place.claude.play(["Albatross."])
    async with place.opened() as host:
        session = await place.created(host, "go")
        await idle(host, session.id)
        await found(host, "albatross")
    index = place.folder / FILE

    def remove() -> None:
        for path in place.folder.glob(f"{FILE}*"):
            path.unlink()

    def damage() -> None:
        remove()
        index.write_bytes(b"this is no database" * 1_000)

    def from_another_time() -> None:
        with contextlib.closing(sqlite3.connect(index)) as connection, connection:
            connection.execute("PRAGMA user_version = 99")

    def ahead() -> None:
        with contextlib.closing(sqlite3.connect(index)) as connection, connection:
            connection.execute("UPDATE sessions SET seq = 100000")
            connection.execute("DELETE FROM texts")

    for harm in (remove, damage, from_another_time, ahead):
        await asyncio.to_thread(harm)
        async with place.opened() as host:
            (hit,) = await found(host, "albatross")
            assert hit.session_id == session.id
    assert index.stat().st_mode & 0o077 == 0


async def test_rows_that_retention_took_are_not_found(place: Place) -> None:
    place.claude.play(*[["Pelican."]] * 2)
    async with place.opened(retention=Retention(row_age_s=0.0)) as host:
        session = await place.created(host, "flamingo")
        await idle(host, session.id)
        await found(host, "flamingo")
        log = in_memory(host)[session.id].log
        log._snapshot_seq, log._unkept_bytes = -1_000, 1 << 40  # as after many rows
        log._keep_snapshot()
        await log.settled()
        assert (await host.retain()).rows
        assert (await host.search(Search(q="flamingo"))).hits == []


async def test_a_host_without_an_index_says_so(place: Place) -> None:
    async with place.opened(index=False) as host:
        with pytest.raises(HostError) as refused:
            await host.search(Search(q="a"))
        assert refused.value.code == "unavailable"


async def test_a_session_that_leaves_memory_before_it_is_indexed_is_freed_and_found(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, may_index, is_held = SearchIndex.add, asyncio.Event(), asyncio.Event()

    async def held(index: SearchIndex, session: str, now: Indexed, documents: Sequence[SearchDocument]) -> None:
        is_held.set()
        await may_index.wait()
        await add(index, session, now, documents)

    monkeypatch.setattr(SearchIndex, "add", held)
    place.claude.play(["Albatross."])
    async with place.opened() as host:
        first, second = [await place.created(host, "go", name=name) for name in ("first", "second")]
        for session in (first, second):
            await idle(host, session.id)
            await host.stop(OfSession(session_id=session.id))
        await is_held.wait()
        kept = [weakref.ref(in_memory(host)[one.id]) for one in (first, second)]
        for session in (first, second):
            in_memory(host)[session.id].touched -= UNLOAD_S
        host.tend()
        while worked_on(host) or any(ref() is not None for ref in kept):
            await asyncio.sleep(0.01)
            gc.collect()
        assert (await host.search(Search(q="albatross"))).behind
        may_index.set()
        hits = await found(host, "albatross", lambda hits: len(hits) == 2)
        assert {hit.name for hit in hits} == {"first", "second"}
        while (await host.search(Search(q="albatross"))).behind:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        assert not set(in_memory(host)) & {first.id, second.id}


async def test_an_index_that_nobody_uses_gives_its_memory_back_and_goes_on(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    rested = 0
    rest = SearchIndex.rest

    async def counted(index: SearchIndex) -> None:
        nonlocal rested
        told: list[str] = []
        connections = [one for one in (index._writer, index._reader) if one is not None]
        for connection in connections:
            connection.set_trace_callback(told.append)
        await rest(index)
        assert told == ["PRAGMA shrink_memory"] * len(connections)
        rested += 1

    monkeypatch.setattr(SearchIndex, "rest", counted)
    monkeypatch.setattr("quarterdeck.host.searching.LOOK_S", 0.01)
    place.claude.play(["Pelican.", "Cormorant."])
    async with place.opened() as host:
        session = await place.created(host, "go")
        for word in ("pelican", "cormorant"):
            await found(host, word)
            before = rested
            while rested == before:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            await next_turn(host, session.id)
