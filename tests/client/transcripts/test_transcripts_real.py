"""Sessions that the real CLI has written: read, changed, forked, and resumed by it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.real_cli import Place, place
from client.transcripts.official import Call, official_answers, our_answers
from compat.peer import peer_python
from quarterdeck import (
    connect,
    delete_session,
    fork_session,
    get_session_info,
    get_session_messages,
    iter_session_records,
    list_sessions,
    rename_session,
    resume_session,
    search_sessions,
    tag_session,
)
from quarterdeck.testing.install import NEWEST, SUPPORTED

pytestmark = pytest.mark.real

LIMIT_S = 90.0


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    with place(tmp_path) as stage:
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(stage.home / ".claude"))
        yield stage


async def record(stage: Place, *prompts: str) -> str:
    """A session with these prompts; its id."""
    async with asyncio.timeout(LIMIT_S), connect(stage.options()) as session:
        for prompt in prompts:
            stage.model.reply(f"echo of {prompt}")
            assert not (await session.prompt(prompt)).is_error
        assert session.session_id is not None
        return session.session_id


def said(session_id: str) -> list[str]:
    texts: list[str] = []
    for message in get_session_messages(session_id):
        content = message.message["content"]
        texts.append(content if isinstance(content, str) else "".join(block.get("text", "") for block in content))
    return texts


async def test_a_recorded_session_is_listed_read_renamed_tagged_and_deleted(stage: Place) -> None:
    session_id = await record(stage, "first question", "second question")
    [info] = list_sessions(str(stage.cwd))
    assert (info.session_id, info.first_prompt, info.cwd) == (session_id, "first question", str(stage.cwd))
    assert said(session_id) == [
        *("first question", "echo of first question"),
        *("second question", "echo of second question"),
    ]
    rename_session(session_id, "Named")
    tag_session(session_id, "blue")
    changed = get_session_info(session_id, str(stage.cwd))
    assert changed is not None
    assert (changed.custom_title, changed.tag) == ("Named", "blue")
    assert [hit.type for hit in search_sessions("second QUESTION", str(stage.cwd))] == ["user", "assistant"]
    kinds = {one["type"] for one in iter_session_records(session_id)}
    assert {"user", "assistant", "custom-title", "tag"} < kinds
    delete_session(session_id)
    assert list_sessions(str(stage.cwd)) == []


async def test_the_cli_goes_on_with_a_fork_and_the_session_stays_as_it_was(stage: Place) -> None:
    session_id = await record(stage, "kept", "left out")
    cut = get_session_messages(session_id)[1].uuid
    fork = fork_session(session_id, str(stage.cwd), up_to_message_id=cut).session_id
    assert said(fork) == ["kept", "echo of kept"]
    async with asyncio.timeout(LIMIT_S), resume_session(fork, stage.options()) as session:
        stage.model.reply("went on")
        assert not (await session.prompt("another way")).is_error
        assert session.session_id == fork
    asked = stage.model.conversation[-1].body
    assert b"echo of kept" in asked
    assert b"left out" not in asked
    assert said(fork) == ["kept", "echo of kept", "another way", "went on"]
    assert len(said(session_id)) == 4


async def test_a_title_given_while_the_cli_runs_is_kept(stage: Place) -> None:
    async with asyncio.timeout(LIMIT_S), connect(stage.options()) as session:
        stage.model.reply("one")
        await session.prompt("first")
        assert session.session_id is not None
        rename_session(session.session_id, "Given meanwhile")
        stage.model.reply("two")
        await session.prompt("second")
    info = get_session_info(session.session_id)
    assert info is not None
    assert info.custom_title == "Given meanwhile"
    assert len(said(session.session_id)) == 4


@pytest.mark.skipif(peer_python() is None, reason="the official SDK is not installed; QUARTERDECK_INSTALL_PEER=1")
@pytest.mark.parametrize("version", [SUPPORTED[0], NEWEST])
async def test_what_any_cli_has_recorded_reads_as_with_the_official_sdk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    with place(tmp_path, version) as stage:
        config = stage.home / ".claude"
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
        session_id = await record(stage, "one", "/cost", "two ü\nlines")
        fork = fork_session(session_id).session_id
        cwd = str(stage.cwd)
        calls: list[Call] = [("list_sessions", cwd), ("list_sessions",), ("list_subagents", session_id)]
        for one in (session_id, fork):
            calls += [("get_session_info", one, cwd), ("get_session_messages", one, cwd)]
        assert our_answers(calls) == official_answers(calls, config)
        assert len(get_session_messages(session_id)) >= 4
