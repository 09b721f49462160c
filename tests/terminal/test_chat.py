"""``quarterdeck chat`` in a terminal, on the simulator."""

from __future__ import annotations

import json
import stat

import pytest

from terminal.kit import ALT_ENTER, CTRL_C, ENTER, ESCAPE, Place, Term, bash, tool

READY = "/help for commands"


@pytest.fixture
def chat(place: Place) -> Place:
    (place.cwd / "notes.txt").write_text("Water the plants.\n")
    return place


def started(place: Place, *words: str, **options: int) -> Term:
    term = place.term("chat", *words, **options)
    term.until(READY, "\n›")
    return term


def say(term: Term, text: str) -> None:
    term.press(text)
    term.until(text.split("\n")[-1])
    term.press(ENTER)


def unwrapped(term: Term) -> str:
    return "".join(line.ljust(term.screen.columns) if len(line) < term.screen.columns else line for line in term.lines)


def test_several_turns_and_what_they_cost(chat: Place) -> None:
    chat.plays(turns=[["**One** answer."], ["Another answer."]])
    term = started(chat)
    say(term, "first")
    term.until("› first", "One answer.", "✔ done")
    say(term, "second")
    term.until("Another answer.")
    say(term, "/cost")
    seen = term.until(" so far", "tokens in", "context: ")
    prices = [line for line in seen[seen.index(" so far") - 30 :].splitlines() if "$" in line]
    assert len(prices) == 3  # all, the model, the status line
    assert all("(simulated)" in line for line in prices)
    say(term, "/quit")
    assert term.exit() == 0


def test_a_permission_is_asked_above_the_line_to_write_in(chat: Place) -> None:
    path = str(chat.cwd / "notes.txt")
    edit = {"file_path": path, "old_string": "plants", "new_string": "flowers"}
    chat.plays(tool("Read", {"file_path": path}), tool("Edit", edit), "Changed.")
    term = started(chat)
    say(term, "change it")
    term.until("Allow this edit to notes.txt?", "+ Water the flowers.", "Deny with a note")
    term.press("n")
    term.until("Tell Claude why")
    term.press("not yet", ESCAPE)
    term.until("Allow once")
    term.press("y")
    term.until("Changed.", "✔ done")
    assert (chat.cwd / "notes.txt").read_text() == "Water the flowers.\n"
    term.press("\x04")
    assert term.exit() == 0


def test_what_is_said_while_it_works_steers_it(chat: Place) -> None:
    chat.plays("Working.", bash("ls"), {"wait_for": "go.txt"}, bash("ls"), "Steered.")
    term = started(chat, "--allow", "Bash(ls)")
    say(term, "begin")
    term.until("Working.", "● Bash ls")
    say(term, "turn left")
    term.until("› turn left")
    (chat.cwd / "go.txt").touch()
    term.until("Steered.", "✔ done")
    assert term.text.count("✔ done") == 1
    say(term, "/quit")
    assert term.exit() == 0


def test_commands_and_files_are_completed(chat: Place) -> None:
    term = started(chat)
    term.press("/rew")
    term.until("/rewind", "go back to before a prompt")
    term.press(CTRL_C)
    term.press("look at @not")
    term.until("  notes.txt")
    term.press("\t", " please")
    term.until("look at @notes.txt please")
    term.press(CTRL_C, "\x04")
    assert term.exit() == 0


def test_a_prompt_of_several_lines(chat: Place) -> None:
    chat.plays(rules=[{"when": "(?s)(?P<all>.+)", "steps": ["Seen: {all}"]}])
    term = started(chat)
    term.press("line one", ALT_ENTER, "line two")
    term.until("line two")
    term.press(ENTER)
    term.until("› line one\n  line two", "Seen: line one line two")
    say(term, "/quit")
    assert term.exit() == 0


def test_history_is_kept_for_the_person_alone(chat: Place) -> None:
    chat.plays(turns=[["Yes."]])
    term = started(chat)
    say(term, "remember me")
    term.until("Yes.", "✔ done")
    say(term, "/quit")
    assert term.exit() == 0
    history = chat.home / ".local" / "state" / "quarterdeck" / "chat_history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    again = started(chat)
    again.press("\x1b[A", "\x1b[A")
    again.until("› remember me")
    again.press(CTRL_C, "\x04")
    assert again.exit() == 0


def test_ctrl_c_stops_the_turn_and_the_chat_goes_on(chat: Place) -> None:
    chat.plays(turns=[["Working.", bash("sleep 60"), "Never said."], ["Still here."]])
    term = started(chat, "--allow", "Bash(sleep:*)")
    say(term, "go")
    term.until("Bash sleep 60")
    term.press(CTRL_C)
    term.until("◼ interrupted")
    say(term, "and now?")
    term.until("Still here.")
    say(term, "/quit")
    assert term.exit() == 0


def test_ctrl_c_twice_leaves(chat: Place) -> None:
    chat.plays("Working.", {"pause": 60}, time_scale=1)
    term = started(chat)
    say(term, "go")
    term.until("Working.")
    term.press(CTRL_C, CTRL_C)
    assert term.exit() == 130


def test_mode_model_fork_and_rewind(chat: Place) -> None:
    path = str(chat.cwd / "new.txt")
    write = [tool("Write", {"file_path": path, "content": "x\n"}), "Written."]
    chat.plays(rules=[{"when": "write", "steps": write}, {"when": "more", "steps": ["After the fork."]}])
    term = started(chat, rows=40)
    say(term, "/mode")
    term.until("Which permission mode?", "acceptEdits")
    term.press("2")
    term.until("mode: acceptEdits")
    say(term, "/model sonnet")
    term.until("model: ")
    say(term, "write it")
    term.until("Written.", "✔ done")
    say(term, "/rewind")
    term.until("Rewind to before which prompt?", "1 write it")
    term.press("1")
    term.until("Restore what?")
    term.press("2")
    term.until("files restored")
    assert not (chat.cwd / "new.txt").exists()
    say(term, "/fork")
    term.until("continuing in a copy")
    say(term, "more")
    term.until("After the fork.")
    say(term, "/quit")
    assert term.exit() == 0
    sessions = list((chat.home / ".claude-simulator" / "projects").rglob("*.jsonl"))
    assert len(sessions) == 2


def test_a_chat_needs_a_terminal(chat: Place) -> None:
    done = chat.piped("chat")
    assert done.returncode == 3
    assert done.stderr == (
        'quarterdeck chat: standard output is not a terminal\n  In a script or a pipe, use: quarterdeck run "…"\n'
    )


def test_attaching_without_a_terminal_points_to_the_log() -> None:
    from quarterdeck.cli.attach import main
    from quarterdeck.cli.common import ReportedError

    with pytest.raises(ReportedError, match="standard output is not a terminal") as caught:
        main(["my review"])
    assert caught.value.next_step == "In a script or a pipe, use: quarterdeck log 'my review' --follow"


def test_a_cli_that_ends_ends_the_chat_with_its_reason(chat: Place) -> None:
    chat.plays("Bye.", bash("ls"), {"exit": 9, "stderr": "out of breath"})
    term = started(chat, "--allow", "Bash(ls)")
    say(term, "go")
    assert term.exit() == 4
    assert "out of breath" in term.text
    assert "Traceback" not in term.text
    (session,) = (chat.home / ".claude-simulator" / "projects").rglob("*.jsonl")
    assert f"Resume the session with: quarterdeck chat --agent sim --resume {session.stem}" in unwrapped(term)


def test_the_first_prompt_and_the_session_to_go_on_with_come_from_the_command_line(chat: Place) -> None:
    chat.plays(turns=[["Hello."]])
    assert chat.piped("run", "--output", "json", "hi").returncode == 0
    term = chat.term("chat", "--continue", "and again")
    term.until("› and again", "Hello.", "✔ done")
    say(term, "/quit")
    assert term.exit() == 0
    (session,) = (chat.home / ".claude-simulator" / "projects").rglob("*.jsonl")
    prompts = [json.loads(line) for line in session.read_text().splitlines()]
    assert [one["message"]["content"] for one in prompts if one["type"] == "user"] == ["hi", "and again"]
