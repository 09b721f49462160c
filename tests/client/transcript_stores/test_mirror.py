"""A session with a store: mirrored to it, never held up by it, resumed from it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from client.fake import session_and_cli, until
from client.transcripts.folder import Projects, chat, new_id, user
from quarterdeck import (
    ClaudeAgentOptions,
    InMemorySessionStore,
    MirrorErrorMessage,
    ResultMessage,
    SessionStoreError,
    SqliteSessionStore,
    TranscriptMirrorMessage,
    project_key_for_directory,
)
from quarterdeck.client.transcript_stores import mirror as mirroring
from quarterdeck.client.transcript_stores.mirror import TranscriptMirror, key_of_file
from quarterdeck.client.transcript_stores.resume import is_safe_subpath, options_from_store

LIMIT_S = 60.0

SESSION = new_id(77)


def frame(projects: Projects, *records: Any, below: str = "") -> dict[str, Any]:
    path = projects.root / "-repo" / (f"{SESSION}/{below}.jsonl" if below else f"{SESSION}.jsonl")
    return {"type": "transcript_mirror", "filePath": str(path), "entries": list(records)}


def key(subpath: str | None = None) -> Any:
    named = {"project_key": "-repo", "session_id": SESSION}
    return {**named, "subpath": subpath} if subpath else named


def record(number: int) -> dict[str, Any]:
    return {"type": "user", "uuid": f"u{number}"}


async def test_mirrored_records_are_in_the_store_when_the_result_is_seen(projects: Projects) -> None:
    store = InMemorySessionStore()
    async with session_and_cli(ClaudeAgentOptions(session_store=store)) as (session, cli):
        play = asyncio.create_task(
            cli.turn(frame(projects, record(1)), frame(projects, record(2), record(3)),
                     frame(projects, {"type": "x"}, below="subagents/agent-a1"))
        )  # fmt: skip
        messages = []
        async for message in session.prompt("hi"):
            messages.append(message)
            if isinstance(message, ResultMessage):
                assert store.get_entries(key()) == [record(1), record(2), record(3)]
                assert store.get_entries(key("subagents/agent-a1")) == [{"type": "x"}]
        await play
        assert not any(isinstance(message, TranscriptMirrorMessage) for message in messages)
        cli.say(frame(projects, record(4)))
    assert store.get_entries(key())[-1] == record(4)  # what comes last is not lost on closing
    assert list(session.mirror_errors) == []


async def test_mirror_frames_are_not_shown_without_a_store_either(projects: Projects) -> None:
    async with session_and_cli() as (session, cli):
        play = asyncio.create_task(cli.turn(frame(projects, record(1))))
        kinds = [type(message).__name__ async for message in session.prompt("hi")]
        await play
        assert kinds == ["InitMessage", "ResultMessage"]


async def test_an_eager_store_gets_records_during_the_turn(projects: Projects) -> None:
    store = InMemorySessionStore()
    options = ClaudeAgentOptions(session_store=store, session_store_flush="eager")
    async with session_and_cli(options) as (_, cli):
        cli.say(frame(projects, record(1)))
        await until(lambda: store.get_entries(key()))


class Failing(InMemorySessionStore):
    def __init__(self, failures: int) -> None:
        super().__init__()
        self.failures = failures
        self.calls = 0

    async def append(self, key: Any, entries: list[Any]) -> None:
        self.calls += 1
        if self.calls <= self.failures:
            raise ConnectionError("the store is away")
        await super().append(key, entries)


async def test_a_failing_store_is_tried_again(projects: Projects, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirroring, "PAUSES_S", (0.0, 0.0))
    store = Failing(2)
    async with session_and_cli(ClaudeAgentOptions(session_store=store)) as (session, cli):
        play = asyncio.create_task(cli.turn(frame(projects, record(1))))
        await session.prompt("hi")
        await play
        assert (store.calls, store.get_entries(key()), list(session.mirror_errors)) == (3, [record(1)], [])


async def test_the_loss_of_a_store_is_told_and_does_not_stop_the_turn(
    projects: Projects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirroring, "PAUSES_S", (0.0, 0.0))
    store = Failing(3)
    async with session_and_cli(ClaudeAgentOptions(session_store=store)) as (session, cli):
        play = asyncio.create_task(cli.turn(frame(projects, record(1))))
        seen = [message async for message in session.prompt("one")]
        await play
        told = seen[-2]
        assert isinstance(told, MirrorErrorMessage), "the failure comes before the result, which is the last"
        assert isinstance(seen[-1], ResultMessage)
        assert not seen[-1].is_error
        assert list(session.mirror_errors) == [told]
        assert (told.key, told.error, told.session_id) == (key(), "the store is away", SESSION)
        play = asyncio.create_task(cli.turn(frame(projects, record(2))))
        assert not any(
            isinstance(message, MirrorErrorMessage) for message in [one async for one in session.prompt("two")]
        )
        await play
        assert store.get_entries(key()) == [record(2)]


class Hanging(InMemorySessionStore):
    async def append(self, key: Any, entries: list[Any]) -> None:
        await asyncio.Event().wait()


async def test_a_store_that_never_answers_is_waited_for_once(projects: Projects) -> None:
    errors: list[str] = []
    mirror = TranscriptMirror(
        Hanging(), str(projects.root), on_error=lambda _, error: errors.append(error), append_s=0.01, close_s=0.01
    )
    message = mirror_message(frame(projects, record(1)))
    mirror.take(message)
    await mirror.flush()
    assert errors == ["append() took longer than 0.01 s"]
    mirror.take(message)
    await asyncio.wait_for(mirror.flush(), 0.001 + 5)  # at once: it did not answer before
    await mirror.close()
    assert len(errors) >= 2


async def test_a_flush_does_not_wait_for_what_came_after_it_began(projects: Projects) -> None:
    slow = Gated()
    mirror = TranscriptMirror(slow, str(projects.root), on_error=lambda *_: None, eager=True)
    mirror.take(mirror_message(frame(projects, record(1))))
    flush = asyncio.create_task(mirror.flush())
    await slow.asked.get()
    mirror.take(mirror_message(frame(projects, record(2))))
    slow.open.release()
    async with asyncio.timeout(LIMIT_S):
        await flush
    assert slow.get_entries(key()) == [record(1)]
    slow.open.release()
    await mirror.close()
    assert slow.get_entries(key()) == [record(1), record(2)]


class Gated(InMemorySessionStore):
    """Stores a batch whenever the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: asyncio.Queue[None] = asyncio.Queue()
        self.open = asyncio.Semaphore(0)

    async def append(self, key: Any, entries: list[Any]) -> None:
        self.asked.put_nowait(None)
        await self.open.acquire()
        await super().append(key, entries)


async def test_what_waits_for_a_store_is_bounded(projects: Projects, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirroring, "HELD_BYTES", 1000)
    errors: list[str] = []
    store = InMemorySessionStore()
    mirror = TranscriptMirror(store, str(projects.root), on_error=lambda _, error: errors.append(error))
    for number in range(20):
        mirror.take(mirror_message(frame(projects, record(number))))
    await mirror.close()
    kept = len(store.get_entries(key()))
    assert 0 < kept < 20
    assert len(errors) == 20 - kept


async def test_closing_a_mirror_stores_the_rest_although_the_caller_is_cancelled(projects: Projects) -> None:
    gate = asyncio.Event()

    class Slow(InMemorySessionStore):
        async def append(self, key: Any, entries: list[Any]) -> None:
            await gate.wait()
            await super().append(key, entries)

    store = Slow()
    mirror = TranscriptMirror(store, str(projects.root), on_error=lambda *_: None)
    mirror.take(mirror_message(frame(projects, record(1))))
    closing = asyncio.create_task(mirror.close())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.sleep(0)
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert store.get_entries(key()) == [record(1)]


async def test_a_reader_that_gives_up_while_the_store_is_slow_loses_no_message(projects: Projects) -> None:
    gate = asyncio.Event()

    class Slow(InMemorySessionStore):
        async def append(self, key: Any, entries: list[Any]) -> None:
            await gate.wait()
            await super().append(key, entries)

    store = Slow()
    async with session_and_cli(ClaudeAgentOptions(session_store=store)) as (session, cli):
        await session.send("hi")
        await cli.turn(frame(projects, record(1)))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                async for _ in session.messages():
                    pass
        gate.set()
        kinds = []
        while not kinds or kinds[-1] != "ResultMessage":
            kinds.append(type(await session.next_message()).__name__)
        assert kinds == ["InitMessage", "ResultMessage"]
    assert store.get_entries(key()) == [record(1)]


def mirror_message(line: dict[str, Any]) -> TranscriptMirrorMessage:
    return TranscriptMirrorMessage(file_path=line["filePath"], entries=line["entries"])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"/c/projects/-p/{SESSION}.jsonl", ("-p", SESSION, None)),
        (f"/c/projects/-p/{SESSION}/subagents/agent-a.jsonl", ("-p", SESSION, "subagents/agent-a")),
        (f"/c/projects/-p/{SESSION}/subagents/w/r/agent-a.jsonl", ("-p", SESSION, "subagents/w/r/agent-a")),
        (f"/elsewhere/projects/-p/{SESSION}.jsonl", ("-p", SESSION, None)),
        ("/c/projects/-p", None),
        ("/c/projects/-p/notes.txt", None),
        ("/tmp/x.jsonl", None),
    ],
)  # fmt: skip
def test_a_transcript_is_known_by_its_path(path: str, expected: tuple[str, str, str | None] | None) -> None:
    found = key_of_file(path, "/c/projects")
    assert (found and (found["project_key"], found["session_id"], found.get("subpath"))) == expected


async def test_a_frame_from_nowhere_is_told(projects: Projects) -> None:
    store = InMemorySessionStore()
    async with session_and_cli(ClaudeAgentOptions(session_store=store)) as (session, cli):
        play = asyncio.create_task(
            cli.turn({"type": "transcript_mirror", "filePath": "/x.jsonl", "entries": [record(1)]})
        )
        await session.prompt("hi")
        await play
        assert [(one.key, "not a transcript" in one.error) for one in session.mirror_errors] == [(None, True)]


# Resuming


async def stored(cwd: Path, *, session_id: str = SESSION) -> InMemorySessionStore:
    store = InMemorySessionStore()
    place: Any = {"project_key": project_key_for_directory(cwd), "session_id": session_id}
    await store.append(place, chat(2))  # type: ignore[arg-type]
    agent = {**place, "subpath": "subagents/agent-a1"}
    await store.append(agent, [*chat(1), {"type": "agent_metadata", "toolUseId": "t"}])  # type: ignore[list-item]
    return store


async def test_a_stored_session_is_written_to_a_folder_of_its_own(projects: Projects, cwd: Path) -> None:
    own = {
        "settings.json": b'\xef\xbb\xbf{"model":"x","enabledPlugins":{"a":1},"env":{"CLAUDE_CONFIG_DIR":"/y","A":"1"}}',
        ".credentials.json": b'{"claudeAiOauth":{"accessToken":"a","refreshToken":"r"}}',
        ".claude.json": b"{}",
    }
    for name, data in own.items():
        (projects.config / name).write_bytes(data)
    options = ClaudeAgentOptions(session_store=await stored(cwd), resume=SESSION, cwd=cwd)
    changed, home = await options_from_store(options)
    assert home is not None
    try:
        assert (changed.resume, changed.env["CLAUDE_CONFIG_DIR"]) == (SESSION, str(home.path))
        folder = home.path / "projects" / project_key_for_directory(cwd)
        lines = (folder / f"{SESSION}.jsonl").read_bytes().splitlines()
        assert [json.loads(line) for line in lines] == chat(2)
        agent = folder / SESSION / "subagents" / "agent-a1.jsonl"
        assert len(agent.read_bytes().splitlines()) == 2
        assert json.loads(agent.with_name("agent-a1.meta.json").read_bytes()) == {"toolUseId": "t"}
        assert json.loads((home.path / "settings.json").read_bytes()) == {"model": "x", "env": {"A": "1"}}
        login = json.loads((home.path / ".credentials.json").read_bytes())
        assert login == {"claudeAiOauth": {"accessToken": "a"}}
        modes = {path.stat().st_mode & 0o777 for path in home.path.rglob("*") if path.is_file()}
        assert (home.path.stat().st_mode & 0o777, modes) == (0o700, {0o600})
    finally:
        home.remove()
    assert not home.path.exists()
    assert {name: (projects.config / name).read_bytes() for name in own} == own


async def test_continuing_takes_the_newest_conversation_of_the_folder(projects: Projects, cwd: Path) -> None:
    store = await stored(cwd)
    side: Any = {"project_key": project_key_for_directory(cwd), "session_id": new_id(78)}
    await store.append(side, [user("sub", new_id(1), isSidechain=True)])  # type: ignore[list-item]
    options = ClaudeAgentOptions(session_store=store, continue_conversation=True, cwd=cwd)
    changed, home = await options_from_store(options)
    assert home is not None
    home.remove()
    assert (changed.resume, changed.continue_conversation) == (SESSION, False)


@pytest.mark.parametrize("resume", [new_id(79), "a title", "../../etc"])
async def test_what_the_store_does_not_have_is_left_to_the_cli(projects: Projects, cwd: Path, resume: str) -> None:
    options = ClaudeAgentOptions(session_store=await stored(cwd), resume=resume, cwd=cwd)
    assert await options_from_store(options) == (options, None)


async def test_a_store_that_fails_or_hangs_at_a_resume_is_an_error(projects: Projects, cwd: Path) -> None:
    class Broken(InMemorySessionStore):
        async def load(self, key: Any) -> Any:
            raise ConnectionError("no route")

    class Stuck(InMemorySessionStore):
        async def load(self, key: Any) -> Any:
            await asyncio.Event().wait()

    for store, says in ((Broken(), "no route"), (Stuck(), "load_timeout_ms")):
        options = ClaudeAgentOptions(session_store=store, resume=SESSION, cwd=cwd, load_timeout_ms=20)
        with pytest.raises(SessionStoreError, match=says) as caught:
            await options_from_store(options)
        assert isinstance(caught.value, RuntimeError)


@pytest.mark.parametrize(
    "path", ["", "/etc/x", "../x", "a/../../x", "a//b", "C:x", "\\\\host\\x", "a\\..\\b", "a\0b", "."]
)
def test_a_path_from_a_store_cannot_lead_out(path: str) -> None:
    assert not is_safe_subpath(path)
    assert is_safe_subpath("subagents/workflows/run-1/agent-a")


async def test_an_unsafe_sub_agent_is_left_out_and_the_rest_resumed(projects: Projects, cwd: Path) -> None:
    store = await stored(cwd)
    evil: Any = {"project_key": project_key_for_directory(cwd), "session_id": SESSION, "subpath": "../../../../evil"}
    await store.append(evil, [{"type": "x"}])
    _, home = await options_from_store(ClaudeAgentOptions(session_store=store, resume=SESSION, cwd=cwd))
    assert home is not None
    written = {path.name for path in home.path.rglob("*.jsonl")}
    home.remove()
    assert written == {f"{SESSION}.jsonl", "agent-a1.jsonl"}


async def test_records_survive_the_way_through_a_store_as_they_are(
    tmp_path: Path, cwd: Path, projects: Projects
) -> None:
    odd = {"type": "from-the-future", "text": "half \ud83d", "number": 2**60, "list": [None, 1.5]}
    async with SqliteSessionStore(tmp_path / "s.db") as store:
        place: Any = {"project_key": project_key_for_directory(cwd), "session_id": SESSION}
        await store.append(place, [odd])  # type: ignore[list-item]
        _, home = await options_from_store(ClaudeAgentOptions(session_store=store, resume=SESSION, cwd=cwd))
    assert home is not None
    [file] = home.path.rglob(f"{SESSION}.jsonl")
    assert file.read_bytes() == json.dumps(odd, separators=(",", ":")).encode() + b"\n"
    home.remove()
