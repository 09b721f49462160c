from __future__ import annotations

import asyncio
import dataclasses
import itertools
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from client.transcripts.folder import Projects, assistant, chat, new_id, user
from quarterdeck import (
    InMemorySessionStore,
    SessionNotFound,
    SessionStore,
    SessionStoreError,
    SqliteSessionStore,
    delete_session_via_store,
    fold_session_summary,
    fork_session_via_store,
    get_session_info,
    get_session_info_from_store,
    get_session_messages,
    get_session_messages_from_store,
    get_subagent_messages,
    get_subagent_messages_from_store,
    import_session_to_store,
    list_sessions,
    list_sessions_from_store,
    list_subagents_from_store,
    project_key_for_directory,
    rename_session_via_store,
    tag_session_via_store,
)
from quarterdeck.client.transcript_stores.protocol import implements
from quarterdeck.testing import run_session_store_conformance

LIMIT_S = 60.0


class Opened:
    """Stores of a test, to be closed at its end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count()
        self._stores: list[SqliteSessionStore] = []

    def sqlite(self) -> SqliteSessionStore:
        self._stores.append(SqliteSessionStore(self._folder / f"store-{next(self._numbers)}.db"))
        return self._stores[-1]

    async def __aenter__(self) -> Opened:
        return self

    async def __aexit__(self, *error: Any) -> None:
        for store in self._stores:
            await store.close()


async def test_the_store_in_memory_does_what_stores_must() -> None:
    await run_session_store_conformance(InMemorySessionStore)


async def test_the_sqlite_store_does_what_stores_must(tmp_path: Path) -> None:
    async with Opened(tmp_path) as opened:
        await run_session_store_conformance(opened.sqlite)


class Minimal:
    """A store as small as can be, and no subclass of anything."""

    def __init__(self) -> None:
        self.kept: dict[str, list[Any]] = {}

    async def append(self, key: Any, entries: list[Any]) -> None:
        if entries:
            self.kept.setdefault(str(sorted(key.items())), []).extend(entries)

    async def load(self, key: Any) -> list[Any] | None:
        return self.kept.get(str(sorted(key.items())))


async def test_a_store_of_two_methods_is_one(projects: Projects, cwd: Path) -> None:
    await run_session_store_conformance(Minimal)  # type: ignore[arg-type]  # as the official protocol would have it
    store: Any = Minimal()
    session_id = projects.add(cwd, chat(1))
    projects.add_agent(cwd, session_id, "a1", chat(1))
    await import_session_to_store(session_id, store)
    assert len(await get_subagent_messages_from_store(store, session_id, "a1", str(cwd))) == 2
    await delete_session_via_store(store, session_id, str(cwd))  # keeps everything
    assert len(await get_session_messages_from_store(store, session_id, str(cwd))) == 2
    for ask in (list_sessions_from_store(store, str(cwd)), list_subagents_from_store(store, session_id, str(cwd))):
        with pytest.raises(ValueError, match=r"cannot be listed|cannot list subagents"):
            await ask


def test_a_method_inherited_from_the_protocol_is_no_method() -> None:
    class Half(SessionStore):
        async def list_sessions(self, project_key: str) -> list[Any]:
            return []

    assert implements(Half(), "list_sessions")
    assert not implements(Half(), "delete")
    assert not implements(Minimal(), "delete")


@pytest.mark.parametrize(
    ("breaks", "says"),
    [
        ("order", "in order"),
        ("none", "never written"),
        ("fields", "knows nothing of"),
        ("sub-agents", "list_subkeys"),
        ("cascade", "delete"),
        ("summary", "folded"),
        ("seconds", "milliseconds"),
    ],
)
async def test_the_checks_find_what_a_store_does_wrong(breaks: str, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        await run_session_store_conformance(lambda: Broken(breaks))


class Broken(InMemorySessionStore):
    def __init__(self, breaks: str) -> None:
        super().__init__()
        self.breaks = breaks

    async def append(self, key: Any, entries: list[Any]) -> None:
        await super().append(key, [{"type": "x"} for _ in entries] if self.breaks == "fields" and "deep" in str(entries)
                             else entries)  # fmt: skip

    async def load(self, key: Any) -> list[Any] | None:
        entries = await super().load(key)
        if self.breaks == "none":
            return entries or []
        return entries[::-1] if entries and self.breaks == "order" else entries

    async def list_subkeys(self, key: Any) -> list[str]:
        return [] if self.breaks == "sub-agents" else await super().list_subkeys(key)

    async def delete(self, key: Any) -> None:
        if self.breaks == "cascade" and not key.get("subpath"):
            key = {**key, "subpath": "subagents/agent-1"}
        await super().delete(key)

    async def list_session_summaries(self, project_key: str) -> list[Any]:
        found = await super().list_session_summaries(project_key)
        return [{**one, "data": {}} for one in found] if self.breaks == "summary" else found

    async def list_sessions(self, project_key: str) -> list[Any]:
        found = await super().list_sessions(project_key)
        return [{**one, "mtime": one["mtime"] // 1000} for one in found] if self.breaks == "seconds" else found


# The functions


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_session_in_a_store_reads_like_the_one_on_disk(
    projects: Projects, cwd: Path, tmp_path: Path, kind: str
) -> None:
    session_id = projects.add(
        cwd, [*chat(2), {"type": "ai-title", "aiTitle": "Tïtle", "sessionId": "S"}, "{torn", {"type": "odd", "x": [1]}]
    )
    projects.add_agent(cwd, session_id, "a1", chat(1), below="workflows/run", toolUseId="toolu_1")
    async with Opened(tmp_path) as opened:
        store = InMemorySessionStore() if kind == "memory" else opened.sqlite()
        await import_session_to_store(session_id, store)
        if kind == "sqlite":
            await import_session_to_store(session_id, store)  # twice does no harm
        place = str(cwd)
        assert await get_session_messages_from_store(store, session_id, place) == get_session_messages(session_id)
        assert await list_subagents_from_store(store, session_id, place) == ["a1"]
        from_store = await get_subagent_messages_from_store(store, session_id, "a1", place)
        assert from_store == get_subagent_messages(session_id, "a1")
        assert from_store[0].parent_tool_use_id == "toolu_1"
        [listed] = await list_sessions_from_store(store, place)
        [on_disk] = list_sessions(place)
        apart = {"last_modified": 0, "file_size": None}
        assert dataclasses.replace(listed, **apart) == dataclasses.replace(on_disk, **apart)
        info = await get_session_info_from_store(store, session_id, place)
        assert info is not None and on_disk == get_session_info(session_id)
        assert dataclasses.replace(info, **apart) == dataclasses.replace(on_disk, **apart)


async def test_sessions_in_a_store_are_renamed_tagged_forked_and_deleted(projects: Projects, cwd: Path) -> None:
    store, place = InMemorySessionStore(), str(cwd)
    session_id = projects.add(cwd, chat(2))
    await import_session_to_store(session_id, store)
    await rename_session_via_store(store, session_id, " New ", place)
    await tag_session_via_store(store, session_id, "blue", place)
    [info] = await list_sessions_from_store(store, place)
    assert (info.custom_title, info.tag, info.summary) == ("New", "blue", "New")
    fork = (await fork_session_via_store(store, session_id, place, chat(2)[1]["uuid"])).session_id
    messages = await get_session_messages_from_store(store, fork, place)
    assert [one.message for one in messages] == [record["message"] for record in chat(2)[:2]]
    assert [one.summary for one in await list_sessions_from_store(store, place)] == ["New (fork)", "New"]
    await delete_session_via_store(store, session_id, place)
    assert [one.session_id for one in await list_sessions_from_store(store, place)] == [fork]
    with pytest.raises(SessionNotFound):
        await fork_session_via_store(store, session_id, place)
    with pytest.raises(SessionNotFound):
        await import_session_to_store(new_id(), store)


async def test_a_listing_pages_and_loads_only_what_has_no_summary(cwd: Path) -> None:
    class Counting(InMemorySessionStore):
        loads = 0
        stale = False

        async def load(self, key: Any) -> list[Any] | None:
            self.loads += 1
            return await super().load(key)

        async def list_session_summaries(self, project_key: str) -> list[Any]:
            found = await super().list_session_summaries(project_key)
            return [{**one, "mtime": one["mtime"] - 1} for one in found] if self.stale else found

    store, key = Counting(), project_key_for_directory(cwd)
    ids = [new_id() for _ in range(30)]
    for number, session_id in enumerate(ids):
        await store.append({"project_key": key, "session_id": session_id}, [user(f"prompt {number}", new_id())])  # type: ignore[list-item]
    page = await list_sessions_from_store(store, str(cwd), limit=5, offset=2)
    assert [one.first_prompt for one in page] == [f"prompt {number}" for number in range(27, 22, -1)]
    assert store.loads == 0
    store.stale = True
    assert await list_sessions_from_store(store, str(cwd), limit=5, offset=2) == [
        dataclasses.replace(one, file_size=again.file_size)
        for one, again in zip(page, await list_sessions_from_store(store, str(cwd), 5, 2), strict=True)
    ]
    assert store.loads == 10


async def test_a_session_that_cannot_be_loaded_does_not_hide_the_others(cwd: Path) -> None:
    class Flaky(Minimal):
        async def list_sessions(self, project_key: str) -> list[Any]:
            return [{"session_id": "good", "mtime": 1}, {"session_id": "bad", "mtime": 2}]

        async def load(self, key: Any) -> list[Any] | None:
            if key["session_id"] == "bad":
                raise OSError("broken")
            return [user("hello", new_id())]

    store: Any = Flaky()
    assert [one.summary for one in await list_sessions_from_store(store, str(cwd))] == ["", "hello"]


def test_a_summary_is_folded_step_by_step_as_all_at_once() -> None:
    records: list[Any] = [
        {"type": "mode"},
        user("<command-name>/init</command-name>", new_id(1)),
        user("meta", new_id(2), isMeta=True),
        user("the question", new_id(3)),
        {"type": "tag", "tag": "x"},
        {"type": "tag", "tag": ""},
        assistant("said", new_id(4), new_id(3), gitBranch="other"),
        {"type": "last-prompt", "lastPrompt": "the last"},
    ]
    key: Any = {"project_key": "p", "session_id": "s"}
    whole = fold_session_summary(None, key, records)
    step = None
    for record in records:
        step = fold_session_summary(step, key, [record])
    assert step == whole == {
        "session_id": "s",
        "mtime": 0,
        "data": {
            "is_sidechain": False,
            "created_at": 1_793_614_272_345,
            "cwd": "/somewhere",
            "command_fallback": "/init",
            "first_prompt": "the question",
            "first_prompt_locked": True,
            "git_branch": "other",
            "last_prompt": "the last",
        },
    }  # fmt: skip


# SQLite


APPENDING = """
import asyncio, sys
from quarterdeck import SqliteSessionStore
async def main():
    async with SqliteSessionStore(sys.argv[1]) as store:
        key = {"project_key": "p", "session_id": "s"}
        for number in range(100):
            await store.append(key, [{"type": "x", "uuid": f"{sys.argv[2]}-{number}", "by": sys.argv[2], "n": number}])
asyncio.run(main())
"""


async def test_several_processes_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    programs = ([sys.executable, "-c", APPENDING, path, name] for name in ("a", "b", "c"))
    writers = [await asyncio.create_subprocess_exec(*program) for program in programs]
    async with asyncio.timeout(LIMIT_S):
        assert [await writer.wait() for writer in writers] == [0, 0, 0]
    async with SqliteSessionStore(path) as store:
        entries: Any = await store.load({"project_key": "p", "session_id": "s"})
        assert len(entries) == 300
        for name in ("a", "b", "c"):
            assert [one["n"] for one in entries if one["by"] == name] == list(range(100))
    assert path.stat().st_mode & 0o777 == 0o600


async def test_a_failing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"this is no database, and long enough to be sure of it " * 40)
    async with SqliteSessionStore(path) as store:
        with pytest.raises(SessionStoreError, match=r"store\.db failed"):
            await store.append({"project_key": "p", "session_id": "s"}, [{"type": "x"}])
    with pytest.raises(SessionStoreError, match="is closed"):
        await store.load({"project_key": "p", "session_id": "s"})
    async with SqliteSessionStore(tmp_path / "no" / "folder" / "x.db") as store:
        with pytest.raises(SessionStoreError, match="failed"):
            await store.list_sessions("p")


async def test_a_batch_is_stored_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key: Any = {"project_key": "p", "session_id": "s"}
    real: Callable[..., bool] = __import__("quarterdeck.client.transcript_stores.sqlite", fromlist=["_insert"])._insert

    def fail(database: Any, transcript: int, uuid: str | None, body: bytes) -> bool:
        if uuid == "bad":
            raise sqlite3.OperationalError("database or disk is full")
        return real(database, transcript, uuid, body)

    monkeypatch.setattr("quarterdeck.client.transcript_stores.sqlite._insert", fail)
    async with SqliteSessionStore(tmp_path / "store.db") as store:
        with pytest.raises(SessionStoreError, match="disk is full"):
            await store.append(key, [{"type": "x", "uuid": "good"}, {"type": "x", "uuid": "bad"}])
        assert await store.load(key) is None
        await store.append(key, [{"type": "x", "uuid": "good"}])
        assert await store.load(key) == [{"type": "x", "uuid": "good"}]
