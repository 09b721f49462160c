from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.cli import main
from quarterdeck.cli.common import cells
from quarterdeck.cli.common.look import codes_of
from quarterdeck.cli.sessions.find import age, size
from quarterdeck.client.transcripts import get_session_info, list_sessions

WriteSession = Callable[..., str]
Capture = pytest.CaptureFixture[str]

FIRST = "aaaa1111-0000-4000-8000-000000000001"
SECOND = "aaaa2222-0000-4000-8000-000000000002"
THIRD = "bbbb3333-0000-4000-8000-000000000003"
EVIL = "\033]0;owned\007\033[2Jtitle \u202eterces"


def call(capsys: Capture, *words: str) -> tuple[int, str, str]:
    code = main(["sessions", *words])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.fixture
def three(write_session: WriteSession, home: Path) -> None:
    (home / "other").mkdir()
    write_session("Fix the login", session_id=FIRST, age_s=7200)
    write_session("Water the plants", session_id=SECOND, title="Bonjour 世界", age_s=120)
    write_session("Elsewhere", session_id=THIRD, folder=home / "other", age_s=86400 * 3)


# Listing


@pytest.mark.usefixtures("three")
def test_without_a_command_the_sessions_of_this_folder_are_listed(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert call(capsys) == (
        0,
        "ID        CHANGED    TITLE\naaaa2222  2 min ago  Bonjour 世界\naaaa1111  2 h ago    Fix the login\n",
        "",
    )


@pytest.mark.usefixtures("three")
def test_a_wide_terminal_has_room_for_size_and_branch(capsys: Capture) -> None:
    assert call(capsys)[1].splitlines()[0].split() == ["ID", "CHANGED", "SIZE", "BRANCH", "TITLE"]


@pytest.mark.usefixtures("three")
def test_all_lists_every_folder_and_names_it(capsys: Capture) -> None:
    code, shown, _ = call(capsys, "--all")
    assert code == 0
    assert "FOLDER" in shown
    assert "~/other" in shown
    assert shown.count("\n") == 4


@pytest.mark.usefixtures("three")
def test_project_lists_another_folder(capsys: Capture, home: Path) -> None:
    assert call(capsys, "list", "--project", str(home / "other"), "--quiet") == (0, f"{THIRD}\n", "")


@pytest.mark.usefixtures("three")
def test_json_is_one_object_for_each_session(capsys: Capture, home: Path) -> None:
    _, shown, _ = call(capsys, "list", "--json")
    found = [json.loads(line) for line in shown.splitlines()]
    expected = list_sessions(str(home / "project"))
    assert [one["session_id"] for one in found] == [info.session_id for info in expected]
    assert [one["summary"] for one in found] == ["Bonjour 世界", "Fix the login"]


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 120])
@pytest.mark.usefixtures("three")
def test_no_line_is_wider_than_the_terminal(columns: int, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    _, shown, _ = call(capsys, "--all")
    assert max(map(cells, shown.splitlines())) <= columns


def test_more_than_a_screenful_is_cut_and_said_so(capsys: Capture, write_session: WriteSession) -> None:
    for number in range(32):
        write_session(f"Session {number}", age_s=number)
    _, shown, _ = call(capsys)
    assert shown.count("Session") == 30
    assert shown.endswith("… more; list all with --limit 0\n")
    _, all_of_them, _ = call(capsys, "--limit", "0")
    assert all_of_them.count("Session") == 32


@pytest.mark.usefixtures("home")
def test_an_empty_folder_says_where_else_to_look(capsys: Capture) -> None:
    code, shown, _ = call(capsys)
    assert code == 0
    assert shown.endswith("project.\nList those of all folders with: quarterdeck sessions --all\n")


def test_titles_cannot_do_anything_to_the_terminal(capsys: Capture, write_session: WriteSession) -> None:
    write_session("hello", title=EVIL)
    _, shown, _ = call(capsys)
    assert "␛]0;owned␇␛[2Jtitle <U+202E>terces" in shown
    assert "\033" not in shown


# Which session is meant


@pytest.mark.parametrize("wanted", [FIRST, FIRST.upper(), "aaaa1", "fix the LOGIN", "Fix the"])
@pytest.mark.usefixtures("three")
def test_a_session_is_found_by_id_beginning_or_title(wanted: str, capsys: Capture) -> None:
    code, shown, _ = call(capsys, "show", wanted)
    assert (code, shown.splitlines()[0]) == (0, "Fix the login")


@pytest.mark.usefixtures("three")
def test_sessions_of_other_folders_are_found_too(capsys: Capture) -> None:
    assert call(capsys, "show", "bbbb")[1].startswith("Elsewhere\n")


@pytest.mark.usefixtures("three")
def test_but_not_when_a_folder_is_named(capsys: Capture, home: Path) -> None:
    code, _, told = call(capsys, "show", "bbbb", "--project", str(home / "project"))
    assert code == 1
    assert told.startswith("quarterdeck sessions: no such session in ")


@pytest.mark.usefixtures("three")
def test_several_ids_that_begin_so_are_named(capsys: Capture) -> None:
    assert call(capsys, "show", "aaaa") == (
        1,
        "",
        "quarterdeck sessions: several ids start with 'aaaa':\n"
        f"    {FIRST}     2 h ago  Fix the login\n"
        f"    {SECOND}   2 min ago  Bonjour 世界\n"
        "  Use a longer prefix.\n",
    )


def test_several_titles_that_begin_so_are_named(capsys: Capture, write_session: WriteSession) -> None:
    for _ in range(7):
        write_session("Same words")
    code, _, told = call(capsys, "show", "same")
    assert code == 1
    assert told.count("Same words") == 5
    assert told.endswith("    …\n  Use an ID instead.\n")


def test_of_several_sessions_with_a_title_the_one_of_this_folder_is_meant(
    capsys: Capture, write_session: WriteSession, home: Path
) -> None:
    (home / "other").mkdir()
    write_session("hello", session_id=FIRST)
    write_session("hello", session_id=SECOND, folder=home / "other")
    write_session("hello there", session_id=THIRD)
    for wanted, meant in (("hello", FIRST), ("aaaa", FIRST), ("aaaa2", SECOND)):
        assert call(capsys, "tag", wanted, wanted)[0] == 0
        info = get_session_info(meant)
        assert info is not None
        assert info.tag == wanted


def test_a_title_that_is_the_beginning_of_another_is_meant_itself(capsys: Capture, write_session: WriteSession) -> None:
    write_session("Plan")
    write_session("Plan B")
    assert call(capsys, "show", "plan")[1].startswith("Plan\n")


@pytest.mark.parametrize("wanted", ["zzz", "", "cccc", "12345678-0000-4000-8000-000000000000"])
@pytest.mark.usefixtures("three")
def test_no_such_session_says_how_to_find_one(wanted: str, capsys: Capture) -> None:
    assert call(capsys, "show", wanted) == (
        1,
        "",
        f"quarterdeck sessions: no such session: {wanted!r}\n"
        "  Run quarterdeck sessions list --all to list sessions, or quarterdeck sessions search TEXT to find one.\n",
    )


def test_a_transcript_in_which_nothing_was_said_can_still_be_deleted(
    capsys: Capture, write_session: WriteSession
) -> None:
    chosen = write_session([{"type": "text", "text": "only the model"}])
    assert get_session_info(chosen) is None
    assert call(capsys, "delete", chosen[:8], "--yes")[0] == 0


# Searching


@pytest.mark.usefixtures("three")
def test_search_shows_the_session_and_the_words(capsys: Capture) -> None:
    assert call(capsys, "search", "PLANTS") == (
        0,
        "aaaa2222  2 min ago  Bonjour 世界\n  user    Water the plants\n",
        "",
    )


@pytest.mark.usefixtures("three")
def test_search_for_machines(capsys: Capture) -> None:
    _, shown, _ = call(capsys, "search", "plants", "--json")
    (hit,) = map(json.loads, shown.splitlines())
    assert (hit["session_id"], hit["type"], hit["excerpt"]) == (SECOND, "user", "Water the plants")


@pytest.mark.usefixtures("three")
def test_finding_nothing_is_told_by_the_exit_code_and_says_where_else(capsys: Capture) -> None:
    assert call(capsys, "search", "Elsewhere") == (
        1,
        "No matches for 'Elsewhere'. Search all folders with --all.\n",
        "",
    )
    assert call(capsys, "search", "Elsewhere", "--all")[0] == 0
    assert call(capsys, "search", "elsewhere", "--all", "--case-sensitive")[0] == 1


@pytest.mark.usefixtures("three")
def test_searching_for_nothing_is_refused(capsys: Capture) -> None:
    code, _, told = call(capsys, "search", "")
    assert (code, told.splitlines()[0]) == (1, "quarterdeck sessions: the search text is empty")


def test_an_excerpt_always_has_what_was_looked_for(
    capsys: Capture, write_session: WriteSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    write_session("before " * 20 + "needle\033[2J" + " after" * 20)
    _, shown, _ = call(capsys, "search", "needle")
    assert f"\033[{codes_of('bold yellow')}mneedle\033[0m" in shown
    assert "␛[2J" in shown


# Changing


@pytest.mark.usefixtures("three")
def test_rename_tag_and_list_by_tag(capsys: Capture) -> None:
    assert call(capsys, "rename", "aaaa1", " The login bug ") == (0, f"{FIRST} renamed to 'The login bug'\n", "")
    assert call(capsys, "tag", "The login bug", "release") == (0, f"{FIRST} tagged 'release'\n", "")
    assert call(capsys, "list", "--tag", "release", "-q") == (0, f"{FIRST}\n", "")
    assert call(capsys, "tag", "aaaa1", "--remove", "--json") == (0, f'{{"session_id": "{FIRST}", "tag": null}}\n', "")
    assert call(capsys, "list", "--tag", "release")[1].startswith("No sessions with the tag release.")


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["rename", "aaaa1", "  "], 1, "the title is empty"),
        (["tag", "aaaa1"], 2, "needs TAG or --remove"),
        (["tag", "aaaa1", "x", "--remove"], 2, "needs TAG or --remove"),
        (["tag", "aaaa1", "\u200b"], 1, "the tag is empty"),
        (["fork", "aaaa1", "--up-to", "nonsense"], 1, "aaaa1111 cannot be forked: Invalid up_to_message_id"),
        (["list", "--project", "/nowhere/at/all"], 1, "no such folder: /nowhere/at/all"),
    ],
)
@pytest.mark.usefixtures("three")
def test_what_cannot_be_done_is_said_with_the_next_step(
    words: list[str], code: int, problem: str, capsys: Capture
) -> None:
    ended, shown, told = call(capsys, *words)
    assert (ended, shown) == (code, "")
    first, second = told.splitlines()
    assert first.startswith(f"quarterdeck sessions: {problem}")
    assert second.startswith("  ")


@pytest.mark.usefixtures("three")
def test_fork_makes_a_copy_to_go_on_with(capsys: Capture) -> None:
    code, shown, _ = call(capsys, "fork", "aaaa1", "--title", "another way", "--json")
    made: dict[str, Any] = json.loads(shown)
    assert (code, made["forked_from"]) == (0, FIRST)
    assert call(capsys, "show", "another way")[1].splitlines()[0] == "another way"


def test_a_fork_can_end_at_a_message_that_show_names(capsys: Capture, write_session: WriteSession) -> None:
    chosen = write_session("one", [{"type": "text", "text": "two"}], "three")
    parts = [json.loads(line) for line in call(capsys, "show", chosen, "--json")[1].splitlines()]
    _, shown, _ = call(capsys, "fork", chosen, "--up-to", parts[1]["id"], "--json")
    made = call(capsys, "show", json.loads(shown)["session_id"], "--json")[1]
    assert [json.loads(line)["text"]["text"] for line in made.splitlines()] == ["one", "two"]


@pytest.mark.usefixtures("three")
def test_delete_refuses_where_nobody_can_confirm(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115, PTH123
    code, _, told = call(capsys, "delete", "aaaa1")
    sys.stdin.close()
    assert code == 2
    assert told.endswith("needs confirmation, and there is no terminal\n  Add --yes to delete it without asking.\n")
    assert get_session_info(FIRST) is not None


@pytest.mark.usefixtures("three")
def test_delete_with_yes_removes_it(capsys: Capture) -> None:
    assert call(capsys, "delete", "aaaa1", "--yes") == (0, f"{FIRST} deleted\n", "")
    assert get_session_info(FIRST) is None


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
@pytest.mark.usefixtures("three")
def test_delete_asks_on_a_terminal(answer: str, code: int) -> None:
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "quarterdeck", "sessions", "delete", "aaaa1"]
    with (
        os.fdopen(leader, "rb+", buffering=0) as terminal,
        subprocess.Popen(command, stdin=follower, stdout=subprocess.PIPE, stderr=follower) as process,
    ):
        os.close(follower)
        asked = b""
        while b"[y/N]" not in asked:
            asked += terminal.read(1024)
        terminal.write(answer.encode())
        assert process.wait(30) == code
    assert b"Permanently delete 'Fix the login'" in asked
    assert (get_session_info(FIRST) is None) is (code == 0)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(5, "just now"), (-50, "just now"), (90, "1 min ago"), (7300, "2 h ago"), (200_000, "2 d ago")],
)
def test_ages_are_for_people(seconds: int, told: str) -> None:
    assert age(1_000_000_000_000, now_s=1_000_000_000 + seconds) == told


@pytest.mark.parametrize(
    ("count", "told"), [(None, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (42_000_000, "42 MB"), (3 * 10**9, "3.0 GB")]
)
def test_sizes_are_for_people(count: int | None, told: str) -> None:
    assert size(count) == told
