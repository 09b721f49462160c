"""The real CLI mirrors into a store, and goes on from it on another machine."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client.real_cli import Place, place
from quarterdeck import (
    ClaudeAgentOptions,
    InMemorySessionStore,
    SqliteSessionStore,
    connect,
    get_session_messages,
    get_session_messages_from_store,
    list_sessions,
    list_sessions_from_store,
)

pytestmark = pytest.mark.real

LIMIT_S = 90.0


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    with place(tmp_path) as stage:
        yield stage


def left_behind() -> list[str]:
    return [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("quarterdeck-resume-")]  # noqa: PTH208


def on_another_machine(stage: Place, folder: Path, **more: Any) -> ClaudeAgentOptions:
    """The same folder and model, and a home that knows nothing."""
    home = folder / "home of another"
    home.mkdir()
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"env":{"FROM_SETTINGS":"yes"}}')
    options = stage.options(**more)
    return dataclasses.replace(options, env={**options.env, "HOME": str(home)})


async def test_a_session_is_mirrored_as_it_is_on_disk(stage: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    store, cwd = InMemorySessionStore(), str(stage.cwd)
    async with asyncio.timeout(LIMIT_S), connect(stage.options(session_store=store)) as session:
        for prompt in ("one", "two"):
            stage.model.reply(f"echo of {prompt}")
            assert not (await session.prompt(prompt)).is_error
            assert session.session_id is not None
            stored = await get_session_messages_from_store(store, session.session_id, cwd)
            assert prompt in str(stored)
    assert list(session.mirror_errors) == []
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(stage.home / ".claude"))
    assert await get_session_messages_from_store(store, session.session_id, cwd) == get_session_messages(
        session.session_id
    )
    [listed], [on_disk] = await list_sessions_from_store(store, cwd), list_sessions(cwd)
    assert (listed.session_id, listed.first_prompt) == (on_disk.session_id, on_disk.first_prompt)


@pytest.mark.parametrize("way", ["resume", "continue"])
async def test_a_session_goes_on_from_its_store_on_another_machine(stage: Place, tmp_path: Path, way: str) -> None:
    cwd, before = str(stage.cwd), left_behind()
    async with asyncio.timeout(LIMIT_S), SqliteSessionStore(tmp_path / "store.db") as store:
        async with connect(stage.options(session_store=store)) as first:
            stage.model.reply("noted")
            await first.prompt("the word is heron")
            session_id = first.session_id
        assert session_id is not None
        goes_on: dict[str, Any] = {"resume": session_id} if way == "resume" else {"continue_conversation": True}
        options = on_another_machine(stage, tmp_path, session_store=store, **goes_on)
        async with connect(options) as second:
            assert len(left_behind()) == len(before) + 1
            stage.model.reply("heron")
            assert not (await second.prompt("what is the word?")).is_error
            assert second.session_id == session_id
            assert list(second.mirror_errors) == []
        assert b"the word is heron" in stage.model.conversation[-1].body
        assert left_behind() == before
        messages = await get_session_messages_from_store(store, session_id, cwd)
        assert [one.type for one in messages] == ["user", "assistant"] * 2
        assert not list((tmp_path / "home of another" / ".claude").glob("projects/**/*.jsonl"))


async def test_the_loss_of_the_store_does_not_stop_the_cli(stage: Place) -> None:
    class Gone(InMemorySessionStore):
        async def append(self, key: Any, entries: list[Any]) -> None:
            raise ConnectionError("the store is away")

    async with asyncio.timeout(LIMIT_S), connect(stage.options(session_store=Gone())) as session:
        stage.model.reply("still here")
        result = await session.prompt("are you there?")
        assert (result.is_error, result.result) == (False, "still here")
        assert "the store is away" in session.mirror_errors[0].error
