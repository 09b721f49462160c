"""Archived sessions, sessions of programs, and the CLI's notices: what the TypeScript SDK has besides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from client.transcripts.folder import Projects, assistant, chat, new_id, outcome, user
from compat.typescript import ask, package_folder
from looping import for_each
from quarterdeck import (
    InMemorySessionStore,
    SessionNotFound,
    TranscriptOutside,
    archive_session,
    delete_session,
    get_session_info,
    get_session_messages,
    get_session_messages_from_store,
    import_session_to_store,
    list_sessions,
    unarchive_session,
)

LONG_AGO, FUTURE = "2020-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"


def archived(cwd: Path) -> dict[str, bool | None]:
    listed = {info.session_id: info.archived for info in list_sessions(str(cwd))}
    assert listed == {info.session_id: info.archived for info in list_sessions(str(cwd), limit=100)}
    for session_id, mark in listed.items():
        info = get_session_info(session_id)
        assert info is not None
        assert info.archived is mark
    return listed


def test_an_archived_session_is_listed_with_its_mark_until_it_is_brought_back(projects: Projects, cwd: Path) -> None:
    put_away, other = (projects.add(cwd, [user("hello", new_id(), timestamp=LONG_AGO)]) for _ in range(2))
    before = projects.path(cwd, put_away).read_bytes()
    archive_session(put_away, str(cwd))
    assert archived(cwd) == {put_away: True, other: None}
    archive_session(put_away)
    unarchive_session(put_away)
    assert archived(cwd) == {put_away: False, other: None}
    assert projects.path(cwd, put_away).read_bytes() == before


def test_the_mark_is_a_private_file_beside_the_transcript_that_goes_with_it(projects: Projects, cwd: Path) -> None:
    session_id = projects.add(cwd, chat())
    archive_session(session_id)
    mark = projects.folder(cwd) / session_id / "archived.json"
    said = json.loads(mark.read_text())
    assert (said["archived"], said["by"], sorted(said)) == (True, "sdk", ["archived", "at", "by"])
    assert [path.name for path in mark.parent.iterdir()] == ["archived.json"]
    assert mark.stat().st_mode & 0o777 == 0o600
    delete_session(session_id)
    assert not mark.parent.exists()


LATER: dict[str, tuple[dict[str, Any], bool]] = {
    "a prompt": (user("go on", "u"), False),
    "a picture": (user([{"type": "image", "source": {}}], "u"), False),
    "a command": (user("<command-message>x</command-message>", "u"), False),
    "a prompt of a person": (user("go on", "u", origin={"kind": "human"}), False),
    "a queued prompt": (
        {**user("", "u"), "type": "attachment", "attachment": {"type": "queued_command", "prompt": "and then"}},
        False,
    ),
    "a tool's result": (user(outcome("t"), "u"), True),
    "a note of the CLI": (user("note", "u", isMeta=True), True),
    "a summary": (user("summary", "u", isCompactSummary=True), True),
    "a prompt of a task": (user("go on", "u", origin={"kind": "task-notification"}), True),
    "a scheduled prompt": (user("go on", "u", scheduledTaskId="t"), True),
    "an answer": (assistant("done", "a", None), True),
}


@for_each("name", LATER)
def test_only_a_prompt_brings_a_session_back(name: str, projects: Projects, cwd: Path) -> None:
    record, stays = LATER[name]
    session_id = projects.add(cwd, [user("hello", new_id(), timestamp=LONG_AGO), {**record, "timestamp": FUTURE}])
    archive_session(session_id)
    assert archived(cwd)[session_id] is stays


@for_each("mark", ["", "{", "[]", '{"archived": 1, "at": "2026-01-01T00:00:00Z"}', '{"archived": true}', "x" * 5000])
def test_a_file_that_is_no_mark_is_none(mark: str, projects: Projects, cwd: Path) -> None:
    session_id = projects.add(cwd, chat())
    archive_session(session_id)
    (projects.folder(cwd) / session_id / "archived.json").write_text(mark)
    assert archived(cwd)[session_id] is None


def test_what_is_no_session_cannot_be_archived(projects: Projects, cwd: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be a UUID"):
        archive_session("../x")
    with pytest.raises(SessionNotFound):
        unarchive_session(new_id())
    session_id = projects.add(cwd, chat())
    (tmp_path / "elsewhere").mkdir()
    (projects.folder(cwd) / session_id).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TranscriptOutside):
        archive_session(session_id)
    assert list((tmp_path / "elsewhere").iterdir()) == []


PROGRAMMATIC = {
    "terminal": ({"entrypoint": "cli"}, False),
    "unknown": ({}, False),
    "a program": ({"entrypoint": "sdk-py"}, True),
    "a print run": ({"entrypoint": "sdk-cli"}, True),
    "a daemon": ({"sessionKind": "daemon"}, True),
    "a worker": ({"sessionKind": "daemon-worker", "entrypoint": "cli"}, True),
}


def test_sessions_of_programs_can_be_left_out(projects: Projects, cwd: Path) -> None:
    added = {name: projects.add(cwd, [user("x", new_id(), **more)]) for name, (more, _) in PROGRAMMATIC.items()}
    of_people = {added[name] for name, (_, programmatic) in PROGRAMMATIC.items() if not programmatic}
    assert {info.session_id for info in list_sessions(str(cwd))} == set(added.values())
    for limit in (None, 100):
        listed = list_sessions(str(cwd), limit, include_programmatic=False)
        assert {info.session_id for info in listed} == of_people


def with_notices() -> list[dict[str, Any]]:
    first, notice, second, last = (new_id() for _ in range(4))
    boundary = {**user("", notice, first), "type": "system", "subtype": "compact_boundary", "content": "Compacted"}
    del boundary["message"]
    hidden = {**boundary, "uuid": second, "parentUuid": notice, "isMeta": True}
    return [user("hello", first), boundary, hidden, assistant("yes", last, second)]


async def test_notices_of_the_cli_are_read_when_they_are_asked_for(projects: Projects, cwd: Path) -> None:
    session_id = projects.add(cwd, with_notices())
    store = InMemorySessionStore()
    await import_session_to_store(session_id, store, directory=str(cwd))
    for wanted, kinds in ((False, ["user", "assistant"]), (True, ["user", "system", "assistant"])):
        read = get_session_messages(session_id, include_system_messages=wanted)
        assert [message.type for message in read] == kinds
        stored = await get_session_messages_from_store(store, session_id, str(cwd), include_system_messages=wanted)
        assert stored == read
    assert get_session_messages(session_id, include_system_messages=True)[1].message["subtype"] == "compact_boundary"


def test_the_typescript_sdk_sees_the_same_sessions_marks_and_messages(
    projects: Projects, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = package_folder()
    if folder is None:
        pytest.skip("node or the TypeScript SDK is missing; QUARTERDECK_INSTALL_PEER=1 installs it")
    mine = projects.config.rename(cwd.parent / ".claude")  # where it looks without CLAUDE_CONFIG_DIR
    projects.config, projects.root = mine, mine / "projects"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(mine))
    for more, _ in PROGRAMMATIC.values():
        projects.add(cwd, [user("x", new_id(), timestamp=LONG_AGO, **more)])
    marked = [
        projects.add(cwd, [user("hello", new_id(), timestamp=LONG_AGO), {**record, "timestamp": FUTURE}])
        for record, _ in LATER.values()
    ]
    for session_id in marked:
        archive_session(session_id)
    told = projects.add(cwd, with_notices())
    theirs_to_mark = projects.add(cwd, [user("hello", new_id(), timestamp=LONG_AGO)])
    calls = [
        ["archiveSession", theirs_to_mark],
        ["listSessions", {"dir": str(cwd)}],
        ["listSessions", {"dir": str(cwd), "includeProgrammatic": False}],
        ["getSessionMessages", told, {"includeSystemMessages": True}],
    ]
    _, everything, of_people, said = ask(folder, calls, cwd.parent)
    assert {one["sessionId"]: one.get("archived") for one in everything} == archived(cwd)
    listed = list_sessions(str(cwd), include_programmatic=False)
    assert {one["sessionId"] for one in of_people} == {info.session_id for info in listed}
    read = get_session_messages(told, include_system_messages=True)
    assert [(one["type"], one["uuid"]) for one in said] == [(message.type, message.uuid) for message in read]
