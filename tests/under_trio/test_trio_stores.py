"""Session stores and transcripts under trio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from client.transcripts.folder import Projects, assistant, chat, new_id, user
from quarterdeck import (
    InMemorySessionStore,
    SessionStore,
    SessionStoreError,
    SqliteSessionStore,
    delete_session_via_store,
    fork_session_via_store,
    get_session_info_from_store,
    get_session_messages_from_store,
    get_subagent_messages_from_store,
    import_session_to_store,
    list_sessions_from_store,
    list_subagents_from_store,
    project_key_for_directory,
    rename_session_via_store,
    tag_session_via_store,
)
from quarterdeck.client.transcript_stores.reading import LOADS_AT_ONCE
from quarterdeck.testing import run_session_store_conformance
from simulated import LIMIT_S

CWD = "/repo"
HERE = project_key_for_directory(CWD)


def run(main: Callable[[], Awaitable[Any]]) -> Any:
    async def bounded() -> Any:
        with trio.fail_after(LIMIT_S):
            return await main()

    return trio.run(bounded)


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Projects:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    return Projects(tmp_path)


class OfTrio(InMemorySessionStore):
    """A program's own store, at home under trio, without summaries. It knows how many loads were under way at once."""

    list_session_summaries = SessionStore.list_session_summaries
    loading = most = 0

    async def load(self, key: Any) -> Any:
        self.loading += 1
        self.most = max(self.most, self.loading)
        await trio.lowlevel.checkpoint()
        self.loading -= 1
        return await super().load(key)


@pytest.mark.parametrize("kind", ["memory", "sqlite", "trio"])
def test_every_function_on_stores_works_under_trio(kind: str, projects: Projects, tmp_path: Path) -> None:
    session_id = projects.add(CWD, chat())
    asked = new_id()
    projects.add_agent(CWD, session_id, "a1", [user("look", asked), assistant("seen", new_id(), asked)])

    async def main() -> None:
        store: Any = {
            "memory": InMemorySessionStore,
            "sqlite": lambda: SqliteSessionStore(tmp_path / "store.db"),
            "trio": OfTrio,
        }[kind]()
        try:
            await use(store, session_id)
        finally:
            if kind == "sqlite":
                await store.close()
                with pytest.raises(SessionStoreError, match="is closed"):
                    await store.load({"project_key": HERE, "session_id": session_id})

    run(main)


async def use(store: Any, session_id: str) -> None:
    await import_session_to_store(session_id, store, directory=CWD)
    await rename_session_via_store(store, session_id, "A title", CWD)
    await tag_session_via_store(store, session_id, "a-tag", CWD)
    fork = await fork_session_via_store(store, session_id, CWD, title="A copy")
    listed = {info.session_id: info for info in await list_sessions_from_store(store, CWD)}
    assert {key: info.summary for key, info in listed.items()} == {session_id: "A title", fork.session_id: "A copy"}
    info = await get_session_info_from_store(store, session_id, CWD)
    assert info is not None
    assert (info.custom_title, info.tag) == ("A title", "a-tag")
    assert [one.type for one in await get_session_messages_from_store(store, session_id, CWD)] == ["user", "assistant"]
    assert await list_subagents_from_store(store, session_id, CWD) == ["a1"]
    assert [one.type for one in await get_subagent_messages_from_store(store, session_id, "a1", CWD)] == [
        "user",
        "assistant",
    ]
    await delete_session_via_store(store, session_id, CWD)
    assert [one.session_id for one in await list_sessions_from_store(store, CWD)] == [fork.session_id]


def test_many_sessions_are_loaded_at_once_and_no_more_than_the_limit() -> None:
    async def main() -> None:
        store = OfTrio()
        expected = []
        for _ in range(3 * LOADS_AT_ONCE):
            expected.append(new_id())
            await store.append(
                {"project_key": HERE, "session_id": expected[-1]}, [user(f"I am {expected[-1]}", new_id())]
            )  # type: ignore[list-item]
        listed = await list_sessions_from_store(store, CWD)
        assert [info.session_id for info in listed] == expected[::-1]
        assert [info.first_prompt for info in listed] == [f"I am {session_id}" for session_id in expected[::-1]]
        assert 1 < store.most <= LOADS_AT_ONCE

    run(main)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_the_conformance_checks_run_under_trio(kind: str, tmp_path: Path) -> None:
    stores: list[Any] = []

    def make() -> SessionStore:
        stores.append(
            InMemorySessionStore() if kind == "memory" else SqliteSessionStore(tmp_path / f"{len(stores)}.db")
        )
        return stores[-1]

    async def main() -> None:
        await run_session_store_conformance(make)
        for store in stores:
            if isinstance(store, SqliteSessionStore):
                await store.close()

    run(main)


def test_a_write_that_trio_cancels_is_complete_or_was_never_begun(tmp_path: Path) -> None:
    key: Any = {"project_key": HERE, "session_id": new_id()}
    records: list[Any] = [user(f"number {number}", new_id()) for number in range(200)]

    async def main() -> None:
        async with SqliteSessionStore(tmp_path / "store.db") as store:
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(store.append, key, records)
                    await trio.lowlevel.checkpoint()
                    scope.cancel()
            assert await store.load(key) in (None, records)
            await store.append(key, records)
            assert await store.load(key) == records

    run(main)
