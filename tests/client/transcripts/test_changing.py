from __future__ import annotations

import ctypes
import errno
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from client.transcripts.folder import Projects, chat, new_id, user
from quarterdeck import (
    NotATranscript,
    SessionExists,
    SessionNotFound,
    TranscriptOutside,
    TranscriptUnwritable,
    delete_session,
    export_session,
    fork_session,
    get_session_info,
    get_session_messages,
    import_session,
    iter_session_records,
    list_sessions,
    rename_session,
    search_sessions,
    tag_session,
)

LIMIT_S = 60.0


def test_a_title_and_a_tag_are_appended_and_the_last_one_counts(projects: Projects, cwd: Path) -> None:
    session_id = projects.add(cwd, chat(1))
    before = projects.path(cwd, session_id).read_bytes()
    rename_session(session_id, " first ")
    rename_session(session_id, "second ü", str(cwd))
    tag_session(session_id, "a\u200bb")
    info = get_session_info(session_id)
    assert info is not None
    assert (info.custom_title, info.tag) == ("second ü", "ab")
    tag_session(session_id, None)
    info = get_session_info(session_id)
    assert info is not None
    assert info.tag is None
    assert projects.path(cwd, session_id).read_bytes().startswith(before)


@pytest.mark.parametrize(
    ("change", "arguments"),
    [
        (rename_session, ("no uuid", "x")),
        (rename_session, (new_id(), "  ")),
        (tag_session, (new_id(), "\u200b")),
        (delete_session, ("../x",)),
        (fork_session, ("x",)),
        (fork_session, (new_id(), None, "x")),
        (export_session, ("x", "y")),
    ],
)
def test_what_makes_no_sense_is_refused(projects: Projects, change: Any, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="must be"):
        change(*arguments)


def test_a_session_that_is_not_there_is_said_to_be_so(projects: Projects, cwd: Path) -> None:
    nobody = new_id()
    for change in (lambda: rename_session(nobody, "x"), lambda: delete_session(nobody, str(cwd)),
                   lambda: fork_session(nobody), lambda: export_session(nobody, io.BytesIO())):  # fmt: skip
        with pytest.raises(SessionNotFound, match=nobody) as caught:
            change()
        assert isinstance(caught.value, FileNotFoundError)


def test_a_torn_last_line_stays_a_line_of_its_own(projects: Projects, cwd: Path) -> None:
    """Else the title would be lost with it."""
    session_id = projects.add(cwd, chat(1))
    path = projects.path(cwd, session_id)
    torn = path.read_bytes() + b'{"type":"user","mess'
    path.write_bytes(torn)
    rename_session(session_id, "still read")
    assert path.read_bytes().startswith(torn + b"\n")
    info = get_session_info(session_id)
    assert info is not None
    assert info.custom_title == "still read"


def test_deleting_takes_the_sub_agents_along(projects: Projects, cwd: Path) -> None:
    session_id, other = projects.add(cwd, chat(1)), projects.add(cwd, chat(1))
    projects.add_agent(cwd, session_id, "a1", chat(1))
    delete_session(session_id)
    assert sorted(path.name for path in projects.folder(cwd).iterdir()) == [f"{other}.jsonl"]


def test_a_fork_goes_its_own_way(projects: Projects, cwd: Path) -> None:
    records = chat(3)
    session_id = projects.add(cwd, records)
    before = projects.path(cwd, session_id).read_bytes()
    fork = fork_session(session_id, str(cwd), records[3]["uuid"], title="Other way").session_id
    assert projects.path(cwd, session_id).read_bytes() == before
    copied = get_session_messages(fork)
    assert [one.message for one in copied] == [record["message"] for record in records[:4]]
    assert {one.uuid for one in copied}.isdisjoint(record["uuid"] for record in records)
    assert {one.session_id for one in copied} == {fork}
    info = get_session_info(fork)
    assert info is not None
    assert info.custom_title == "Other way"
    assert projects.path(cwd, fork).stat().st_mode & 0o777 == 0o600
    assert next(iter_session_records(fork))["forkedFrom"] == {
        "sessionId": session_id,
        "messageUuid": records[0]["uuid"],
    }


def test_a_fork_keeps_lines_that_have_line_separators_in_them(projects: Projects, cwd: Path) -> None:
    """U+2028 stands unescaped in what JavaScript writes. (The official SDK loses such records.)"""
    session_id = projects.add(cwd, [user("one\u2028two", new_id(1))])
    fork = fork_session(session_id).session_id
    assert get_session_messages(fork)[0].message["content"] == "one\u2028two"


def test_a_session_without_messages_cannot_be_forked(projects: Projects, cwd: Path) -> None:
    session_id = projects.add(cwd, [{"type": "mode", "mode": "x"}])
    with pytest.raises(ValueError, match="no messages to fork"):
        fork_session(session_id)
    assert len(list(projects.folder(cwd).iterdir())) == 1


# Search, export, import


def test_a_search_finds_what_was_said_and_where(projects: Projects, cwd: Path) -> None:
    asked = user('look for the "Schlüssel" here', new_id(1))
    session_id = projects.add(cwd, [asked, *chat(1)])
    agent = projects.add_agent(cwd, session_id, "a1", [user("der SCHLÜSSEL der Dinge", new_id(2))])
    projects.add(cwd, chat(2))
    hits = list(search_sessions("schlüssel", str(cwd)))
    assert [(hit.session_id, hit.uuid, hit.path) for hit in hits] == [
        (session_id, new_id(1), str(projects.path(cwd, session_id))),
        (session_id, new_id(2), str(agent)),
    ]
    assert hits[0].excerpt == 'look for the "Schlüssel" here'
    assert [hit.uuid for hit in search_sessions('"Schlüssel"', case_sensitive=True)] == [new_id(1)]
    assert list(search_sessions("sessionId")) == []
    assert len(list(search_sessions("question", limit=2))) == 2


def test_an_exported_session_is_the_same_session_elsewhere(
    projects: Projects, cwd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = projects.add(cwd, [{"type": "from-the-future", "x": 1}, *chat(2)])
    file = tmp_path / "out.ndjson"
    export_session(session_id, file, format="ndjson")
    assert file.read_bytes() == projects.path(cwd, session_id).read_bytes()
    with pytest.raises(FileExistsError):
        export_session(session_id, file, format="ndjson")
    with pytest.raises(SessionExists):
        import_session(file, str(cwd))
    fresh = import_session(file, str(cwd), new_id=True)
    assert [one.message for one in get_session_messages(fresh)] == [
        one.message for one in get_session_messages(session_id)
    ]
    assert {one.session_id for one in get_session_messages(fresh)} == {fresh}
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "another machine"))
    assert import_session(file, str(cwd)) == session_id
    assert next(iter_session_records(session_id)) == {"type": "from-the-future", "x": 1}


def test_a_file_that_is_no_transcript_is_not_imported(projects: Projects, tmp_path: Path) -> None:
    file = tmp_path / "shopping.txt"
    file.write_text("milk\n")
    with pytest.raises(NotATranscript):
        import_session(file)
    assert list_sessions() == []


def test_markdown_is_for_people(projects: Projects, cwd: Path) -> None:
    tool = [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "```a```"}]
    session_id = projects.add(cwd, [
        user("What is here?", new_id(1)),
        {**user("", new_id(2), new_id(1)), "type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm"}, *tool]}},
        user(result, new_id(3), new_id(2)),
        {**user("", new_id(4), new_id(3)), "type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "text", "text": "A file."}, {"type": "image", "source": {}}]}},
    ])  # fmt: skip
    out = io.BytesIO()
    export_session(session_id, out)
    assert out.getvalue().decode() == (
        f"# What is here?\n\n- session: `{session_id}`\n- folder: `/somewhere`\n- branch: `main`\n\n"
        "## You\n\nWhat is here?\n\n> hm\n\n"
        '**Bash**\n\n```json\n{\n  "command": "ls"\n}\n```\n\n'
        "````\n```a```\n````\n\n## Claude\n\nA file.\n\n*[image]*\n"
    )


# Trouble


def test_nothing_is_written_through_a_link_that_leads_outside(projects: Projects, cwd: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    session_id = projects.add(cwd, chat(1))
    projects.path(cwd, session_id).rename(outside)
    projects.path(cwd, session_id).symlink_to(outside)
    before = outside.read_bytes()
    assert len(get_session_messages(session_id)) == 2
    for change in (lambda: rename_session(session_id, "x"), lambda: tag_session(session_id, "x"),
                   lambda: fork_session(session_id)):  # fmt: skip
        with pytest.raises(TranscriptOutside, match="outside"):
            change()
    delete_session(session_id)
    assert outside.read_bytes() == before
    assert not projects.path(cwd, session_id).is_symlink()


def test_nothing_is_changed_in_a_project_folder_that_is_elsewhere(
    projects: Projects, cwd: Path, tmp_path: Path
) -> None:
    session_id = projects.add(cwd, chat(1))
    projects.folder(cwd).rename(tmp_path / "elsewhere")
    projects.folder(cwd).symlink_to(tmp_path / "elsewhere")
    assert [one.session_id for one in list_sessions()] == [session_id]
    file = tmp_path / "elsewhere" / f"{session_id}.jsonl"
    for change in (lambda: rename_session(session_id, "x"), lambda: delete_session(session_id),
                   lambda: import_session(file, str(cwd), new_id=True)):  # fmt: skip
        with pytest.raises(TranscriptOutside):
            change()
    assert len(list((tmp_path / "elsewhere").iterdir())) == 1


def test_a_folder_of_sub_agents_that_is_a_link_is_not_emptied(projects: Projects, cwd: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    session_id = projects.add(cwd, chat(1))
    (projects.folder(cwd) / session_id).symlink_to(precious)
    delete_session(session_id)
    assert (precious / "file").exists()
    assert list(projects.folder(cwd).iterdir()) == []


READ_ONLY = """
import sys
from quarterdeck import TranscriptUnwritable, delete_session, fork_session, rename_session
session_id = sys.argv[1]
for change in (lambda: rename_session(session_id, "x"), lambda: fork_session(session_id),
               lambda: delete_session(session_id)):
    try:
        change()
    except TranscriptUnwritable as error:
        print("nothing was changed" in str(error))
"""


def may_not_write_everywhere() -> None:
    """Even as root: PR_CAPBSET_DROP of CAP_DAC_OVERRIDE, before the program is started. For others it does nothing."""
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="root is kept from writing by a call of Linux")
def test_a_read_only_folder_is_an_error_and_nothing_changes(projects: Projects, cwd: Path) -> None:
    session_id = projects.add(cwd, chat(1))
    path = projects.path(cwd, session_id)
    before = path.read_bytes()
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, session_id],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=True,
            preexec_fn=may_not_write_everywhere,
        )
    finally:
        path.parent.chmod(0o700)
    assert done.stdout.split() == ["True", "True", "True"]
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_read_only_disk_is_named(projects: Projects, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = projects.add(cwd, chat(1))

    def refuse(*arguments: Any, **more: Any) -> int:
        raise OSError(errno.EROFS, "Read-only file system", arguments[0])

    monkeypatch.setattr("quarterdeck.client.transcripts.writing.os.open", refuse)
    with pytest.raises(TranscriptUnwritable, match=r"read-only.*nothing was changed") as caught:
        rename_session(session_id, "x")
    assert caught.value.errno == errno.EROFS


FULL_DISK = """
import resource, sys
from quarterdeck import TranscriptUnwritable, fork_session, get_session_info, rename_session
limit, session_id = int(sys.argv[1]), sys.argv[2]
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))  # from here on a write stops half-way
for change in (lambda: rename_session(session_id, "t" * 500), lambda: fork_session(session_id)):
    try:
        change()
    except TranscriptUnwritable as error:
        print("refused")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on processes")
def test_a_disk_that_is_full_in_the_middle_of_a_record_leaves_no_half_of_it(projects: Projects, cwd: Path) -> None:
    session_id = projects.add(cwd, chat(2))
    path = projects.path(cwd, session_id)
    before = path.read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(len(before) + 100), session_id],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    assert done.stdout.split() == ["refused", "refused"]
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


WRITER = """
import sys
from quarterdeck import rename_session
for number in range(100):
    rename_session(sys.argv[1], f"{sys.argv[2]} {number} " + "x" * 300)
"""


def test_two_writers_lose_nothing_of_each_other(projects: Projects, cwd: Path) -> None:
    session_id = projects.add(cwd, chat(1))
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, session_id, name]) for name in ("one", "two")]
    with projects.path(cwd, session_id).open("a") as cli:
        for number in range(100):
            cli.write(json.dumps({"type": "of-the-cli", "number": number}) + "\n")
            cli.flush()
    assert [writer.wait(LIMIT_S) for writer in writers] == [0, 0]
    records = list(iter_session_records(session_id))
    lines = [line for line in projects.path(cwd, session_id).read_bytes().splitlines() if line]
    assert len(records) == len(lines) == 2 + 300  # a line more that is empty does no harm: every reader passes over it
    for name in ("one", "two"):
        titles = [one["customTitle"].split()[1] for one in records if one.get("customTitle", "").startswith(name)]
        assert titles == [str(number) for number in range(100)]
