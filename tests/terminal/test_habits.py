"""What users of Claude Code have in their fingers works in ``quarterdeck chat``."""

from __future__ import annotations

import re
import select
import time

import pytest

from terminal.kit import CTRL_C, ENTER, ESCAPE, LIMIT_S, Place, Term, bash, tool

READY = "/help for commands and keys"
SHIFT_TAB, CTRL_R, CTRL_J, CTRL_D = "\x1b[Z", "\x12", "\n", "\x04"
ECHO = [{"when": "(?s)(?P<all>.+)", "steps": ["Seen: {all}"]}]


def started(place: Place, *words: str, **options: int) -> Term:
    term = place.term("chat", *words, **options)
    term.until(READY, "\n›")
    return term


def say(term: Term, text: str) -> None:
    term.press(text)
    term.until(text)
    term.press(ENTER)


def leave(term: Term) -> None:
    term.press(CTRL_D)
    assert term.exit() == 0


def test_escape_stops_the_turn_and_the_chat_goes_on(place: Place) -> None:
    place.plays(turns=[["Working.", bash("sleep 60"), "Never said."], ["Still here."]])
    term = started(place, "--allow", "Bash(sleep:*)")
    say(term, "go")
    term.until("Bash sleep 60")
    term.press(ESCAPE)
    term.until("◼ interrupted")
    say(term, "and now?")
    term.until("Still here.")
    assert "Never said." not in term.text
    leave(term)


def test_escape_twice_opens_the_list_to_rewind_to(place: Place) -> None:
    write = [tool("Write", {"file_path": str(place.cwd / "new.txt"), "content": "x\n"}), "Written."]
    place.plays(rules=[{"when": "write", "steps": write}])
    term = started(place, "--mode", "acceptEdits", rows=40)
    say(term, "write it")
    term.until("Written.", "✔ done")
    term.press(ESCAPE)
    term.until("Esc again to rewind")
    term.press(ESCAPE)
    term.until("Rewind to before which prompt?", "1 write it")
    term.press("1")
    term.until("Restore what?")
    term.press("2")
    term.until("files restored")
    assert not (place.cwd / "new.txt").exists()
    leave(term)


def test_escape_twice_clears_what_is_written(place: Place) -> None:
    term = started(place)
    term.press("half a sentence")
    term.until("› half a sentence")
    term.press(ESCAPE)
    term.until("Esc again to clear the line")
    term.press(ESCAPE)
    term.until("\n›\n")
    leave(term)


def test_shift_tab_goes_through_the_modes_and_says_what_each_does(place: Place) -> None:
    term = started(place)
    term.press(SHIFT_TAB)
    term.until("mode: acceptEdits", "edits files without asking, asks before it runs commands")
    term.press(SHIFT_TAB)
    term.until("mode: plan", "reads and plans, changes nothing")
    term.press(SHIFT_TAB)
    term.until("mode: default", "asks before it edits files or runs commands")
    leave(term)


@pytest.mark.parametrize("key", ["\\" + ENTER, CTRL_J, ESCAPE + ENTER])
def test_a_new_line(place: Place, key: str) -> None:
    place.plays(rules=ECHO)
    term = started(place)
    term.press("line one", key, "line two")
    term.until("line two")
    term.press(ENTER)
    term.until("› line one\n  line two", "Seen: line one line two")
    leave(term)


@pytest.mark.parametrize("word", ["exit", "quit", "/quit"])
def test_words_that_leave(place: Place, word: str) -> None:
    term = started(place)
    say(term, word)
    assert term.exit() == 0


def test_our_commands_come_first_and_there_are_more(place: Place) -> None:
    term = started(place)
    term.press("/")
    seen = term.until("/model", "/mode", "/cost", "/rewind", "commands below")
    assert "/compact" not in seen
    assert re.search(r"\d+ Claude Code commands below; type to filter", seen)
    term.press(CTRL_C, "/comp")
    term.until("/compact")
    term.press(CTRL_C)
    leave(term)


def test_an_exclamation_mark_runs_a_command_in_the_folder_and_the_model_gets_the_output(place: Place) -> None:
    (place.cwd / "notes.txt").write_text("Water the plants.\n")
    place.plays(rules=ECHO)
    term = started(place)
    say(term, "!cat notes.txt; exit 3")
    term.until("! cat notes.txt; exit 3", "  Water the plants.", "  exit code 3")
    assert "✔ done" not in term.text
    assert "bash-input" not in term.text
    say(term, "hello")
    term.until("Seen: hello", "✔ done")
    leave(term)
    (file,) = (place.home / ".claude-simulator" / "projects").rglob("*.jsonl")
    session = file.read_text()
    assert "<bash-input>cat notes.txt; exit 3</bash-input>" in session
    assert "<bash-stdout>Water the plants.</bash-stdout>" in session


@pytest.mark.parametrize("key", [ESCAPE, CTRL_C])
def test_a_shell_command_is_stopped(place: Place, key: str) -> None:
    term = started(place)
    say(term, "!echo begun; sleep 600")
    term.until("! echo begun; sleep 600")
    term.press(key)
    term.until("  stopped")
    leave(term)


@pytest.mark.parametrize("says", ["", "echo tick; "])
def test_a_daemon_that_keeps_the_pipe_open_does_not_hold_up_the_chat(place: Place, says: str) -> None:
    place.plays(rules=ECHO)
    (place.cwd / "serve.sh").write_text(
        f"setsid sh -c 'touch up; until [ -e stop ]; do {says}sleep 0.05; done' &\n"
        "until [ -e up ]; do sleep 0.01; done; echo started\n"
    )
    term = started(place)
    say(term, "!sh serve.sh")
    term.until("\n  started")
    say(term, "hello")
    term.until("Seen: hello", "✔ done")
    assert says or any("touch up" in line for line in place.left_running())  # nobody reads what it says
    leave(term)
    assert "Exception" not in term.text
    (place.cwd / "stop").touch()
    deadline = time.monotonic() + LIMIT_S
    while place.left_running() and time.monotonic() < deadline:
        select.select([], [], [], 0.05)


def test_a_hash_remembers_where_one_chooses(place: Place) -> None:
    (place.cwd / "CLAUDE.md").write_text("# Rules\n\n- Be kind.")
    term = started(place)
    say(term, "# use tabs")
    term.until("Remember where?", "CLAUDE.local.md")
    term.press("p")
    term.until("added to ")
    say(term, "#water the plants")
    term.until("Remember where?")
    term.press("u#never")  # in one go: what follows the answer is the next prompt
    term.until("› #never")
    say(term, " mind")
    term.until("Remember where?")
    term.press(ESCAPE)
    term.until("\n›")
    leave(term)
    assert (place.cwd / "CLAUDE.md").read_text() == "# Rules\n\n- Be kind.\n- use tabs\n"
    assert (place.home / ".claude" / "CLAUDE.md").read_text() == "- water the plants\n"
    assert not (place.cwd / "CLAUDE.local.md").exists()


def test_ctrl_r_searches_earlier_prompts(place: Place) -> None:
    place.plays(rules=ECHO)
    term = started(place)
    for prompt in ("count the apples", "count the pears"):
        say(term, prompt)
        term.until(f"Seen: {prompt}")
    term.press(CTRL_R, "app")
    term.until("search history: app", "› count the apples\n")
    term.press(ENTER)
    term.press(ENTER)
    term.until("\n\n› count the apples\n\nSeen: count the apples\n\n✔ done")
    leave(term)


def test_help_tells_all_of_this(place: Place) -> None:
    term = started(place, rows=50)
    say(term, "/help")
    term.until(
        "/rewind", "!command", "#text", "@path", "Ctrl-J", "Esc Esc", "Shift-Tab", "Ctrl-R", "Ctrl-D, exit, quit"
    )
    leave(term)
