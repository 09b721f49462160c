from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path

import pytest

from client.transcripts.folder import Projects, assistant, call, chat, new_id, outcome, user
from quarterdeck import (
    SDKSessionInfo,
    SessionMessage,
    get_session_info,
    get_session_messages,
    get_subagent_messages,
    iter_session_messages,
    iter_session_records,
    list_sessions,
    list_subagents,
    project_key_for_directory,
)
from quarterdeck.client.transcripts import listing


def test_a_list_shows_what_is_known_of_each_session_the_newest_first(projects: Projects, cwd: Path) -> None:
    old = projects.add(cwd, chat(1), mtime=1_790_000_000)
    new = projects.add(
        cwd,
        [
            *chat(1),
            {"type": "custom-title", "customTitle": "My \\ title", "sessionId": "S"},
            {"type": "tag", "tag": "blue", "sessionId": "S"},
        ],
        mtime=1_790_000_001.5,
    )
    assert list_sessions(str(cwd)) == [
        SDKSessionInfo(
            session_id=new,
            summary="My \\ title",
            last_modified=1_790_000_001_500,
            file_size=projects.path(cwd, new).stat().st_size,
            custom_title="My \\ title",
            first_prompt="question 0",
            git_branch="main",
            cwd="/somewhere",
            tag="blue",
            created_at=1_793_614_272_345,
        ),
        SDKSessionInfo(
            session_id=old,
            summary="question 0",
            last_modified=1_790_000_000_000,
            file_size=projects.path(cwd, old).stat().st_size,
            first_prompt="question 0",
            git_branch="main",
            cwd="/somewhere",
            created_at=1_793_614_272_345,
        ),
    ]


def test_a_page_opens_only_the_transcripts_it_needs(
    projects: Projects, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [projects.add(cwd, chat(1), mtime=1_790_000_000 - number) for number in range(20)]
    opened: list[int] = []
    real = listing.windows
    monkeypatch.setattr(listing, "windows", lambda file, size: opened.append(size) or real(file, size))
    assert [one.session_id for one in list_sessions(limit=3, offset=2)] == ids[2:5]
    assert len(opened) == 5


def test_a_key_deep_inside_a_tool_result_is_no_title(projects: Projects, cwd: Path) -> None:
    result = {"stdout": "x" * 3000, "page": {"customTitle": "of a page"}}
    session_id = projects.add(cwd, [*chat(1), user(outcome("t"), new_id(5), None, toolUseResult=result)])
    info = get_session_info(session_id)
    assert info is not None
    assert info.custom_title is None


def test_the_config_folder_is_the_one_of_the_environment(
    projects: Projects, cwd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = projects.add(cwd, chat(1))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert list_sessions() == []
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".claude").symlink_to(projects.config)
    assert [one.session_id for one in list_sessions()] == [session_id]


def test_a_long_path_is_found_by_whatever_hash_the_cli_used(projects: Projects, tmp_path: Path) -> None:
    long = tmp_path / ("deep-" * 20) / ("er-" * 40)
    key = project_key_for_directory(long)
    assert len(key) > 200
    session_id = projects.add(long, chat(1))
    projects.folder(long).rename(projects.root / f"{key[:200]}-otherhash")
    assert [one.session_id for one in list_sessions(str(long))] == [session_id]


def test_a_conversation_is_read_along_its_last_branch(projects: Projects, cwd: Path) -> None:
    first = chat(1)
    session_id = projects.add(cwd, [*first, user("dropped", new_id(1), first[-1]["uuid"]),
                                    user("kept", new_id(2), first[-1]["uuid"])])  # fmt: skip
    assert [one.message["content"] for one in get_session_messages(session_id) if one.type == "user"] == [
        "question 0",
        "kept",
    ]
    last = get_session_messages(session_id)[-1]
    assert last == SessionMessage("user", new_id(2), session_id, {"role": "user", "content": "kept"})


def test_parallel_tool_calls_are_read_whole(projects: Projects, cwd: Path) -> None:
    ask, one, two, got_one, got_two, end = (new_id(number) for number in range(1, 7))
    session_id = projects.add(
        cwd,
        [
            user("both", ask),
            assistant(call("t1"), one, ask),
            assistant(call("t2"), two, one),
            user(outcome("t1"), got_one, one),
            user(outcome("t2"), got_two, two),
            assistant("done", end, got_one, "m2"),
        ],
    )
    assert [message.uuid for message in get_session_messages(session_id)] == [ask, one, two, got_two, got_one, end]


def test_every_record_is_there_as_it_was_written(projects: Projects, cwd: Path) -> None:
    odd = {"type": "from-the-future", "payload": {"x": [1, None, "ü"]}}
    session_id = projects.add(cwd, [odd, *chat(1), "{torn"])
    records = list(iter_session_records(session_id))
    assert records[0] == odd
    assert [record["type"] for record in records] == ["from-the-future", "user", "assistant"]


def test_a_file_that_is_being_written_is_read_up_to_its_torn_line(projects: Projects, cwd: Path) -> None:
    session_id = projects.add(cwd, chat(2))
    path = projects.path(cwd, session_id)
    whole = path.read_bytes()
    for cut in range(len(whole) - 300, len(whole)):
        path.write_bytes(whole[:cut])
        assert len(get_session_messages(session_id)) in (3, 4)
        assert get_session_info(session_id) is not None


def test_records_added_while_reading_are_left_for_the_next_time(projects: Projects, cwd: Path) -> None:
    session_id = projects.add(cwd, chat(3))
    seen = []
    for record in iter_session_records(session_id):
        seen.append(record)
        with projects.path(cwd, session_id).open("a") as file:
            file.write(json.dumps(record) + "\n")
    assert len(seen) == 6


def test_a_large_transcript_is_streamed(projects: Projects, cwd: Path) -> None:
    """64 MB in a few megabytes of memory: neither the file nor its contents are ever held as a whole."""
    session_id = new_id()
    path = projects.path(cwd, session_id)
    path.parent.mkdir(parents=True)
    ballast = json.dumps({"type": "api-request", "params": "x" * 1_000_000}).encode() + b"\n"
    with path.open("wb") as file:
        for record in chat(64):
            file.write(json.dumps(record).encode() + b"\n" + (ballast if record["type"] == "user" else b""))
    tracemalloc.start()
    try:
        count = sum(1 for _ in iter_session_messages(session_id))
        assert get_session_info(session_id) is not None
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (count, path.stat().st_size > 64_000_000) == (128, True)
    assert peak < 10_000_000


def test_lines_are_the_same_however_the_chunks_fall(
    projects: Projects, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = projects.add(cwd, ["", *chat(3), "", "   "])
    whole = [one.uuid for one in get_session_messages(session_id)]
    for size in (1, 2, 7, 100, 1000):
        monkeypatch.setattr("quarterdeck.client.transcripts.lines.CHUNK_BYTES", size)
        assert [one.uuid for one in get_session_messages(session_id)] == whole


def test_a_line_beyond_all_measure_is_passed_over(
    projects: Projects, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quarterdeck.client.transcripts.lines.LONGEST_LINE_BYTES", 2000)
    monkeypatch.setattr("quarterdeck.client.transcripts.lines.CHUNK_BYTES", 700)
    session_id = projects.add(cwd, [{"type": "huge", "x": "y" * 9000}, *chat(2), {"type": "huge", "x": "y" * 9000}])
    assert [record["type"] for record in iter_session_records(session_id)] == ["user", "assistant"] * 2


def test_sub_agents_know_what_started_them(projects: Projects, cwd: Path) -> None:
    session_id = projects.add(cwd, chat(1))
    projects.add_agent(cwd, session_id, "a1", chat(1), below="workflows/run", toolUseId="toolu_1", parentAgentId="b")
    assert list_subagents(session_id, str(cwd)) == ["a1"]
    messages = get_subagent_messages(session_id, "a1")
    assert [(one.type, one.parent_tool_use_id, one.parent_agent_id) for one in messages] == [
        ("user", "toolu_1", "b"),
        ("assistant", "toolu_1", "b"),
    ]


def test_what_is_no_session_is_none(projects: Projects, cwd: Path) -> None:
    folder = projects.folder(cwd)
    folder.mkdir()
    (folder / "notes.jsonl").write_text("{}")
    (folder / f"{new_id()}.jsonl").touch()
    (folder / f"{new_id()}.jsonl").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / f"{new_id(3)}.jsonl")  # would wait for a writer for ever
        assert get_session_info(new_id(3)) is None
        assert get_session_messages(new_id(3)) == []
    assert list_sessions() == []
    assert get_session_info("../../etc/passwd") is None
    assert get_session_messages("../../etc/passwd") == []
    assert list_subagents("x") == []
