"""``quarterdeck run`` in a terminal, on the simulator: every prompt answered by keys."""

from __future__ import annotations

import json
import signal

import pytest

from terminal.kit import CTRL_C, DOWN, ENTER, ESCAPE, Place, bash, tool

NOTES = "Water the plants.\nFeed the cat.\n"


@pytest.fixture
def notes(place: Place) -> Place:
    (place.cwd / "notes.txt").write_text(NOTES)
    return place


def edit(place: Place) -> list[object]:
    path = str(place.cwd / "notes.txt")
    return [
        tool("Read", {"file_path": path}),
        tool("Edit", {"file_path": path, "old_string": "plants", "new_string": "flowers"}),
        "Changed.",
    ]


def test_an_edit_is_shown_asked_about_and_done(notes: Place) -> None:
    notes.plays("I change **it**.", *edit(notes))
    term = notes.term("run", "change it")
    seen = term.until("Allow this edit to notes.txt?", "Allow once")
    assert "I change it." in seen
    assert "1 - Water the plants." in seen
    assert "1 + Water the flowers." in seen
    assert "risk: low (changes a file)" in seen
    assert "reason: " in seen
    assert "(//" in seen
    term.press("y")
    assert term.exit() == 0
    assert (notes.cwd / "notes.txt").read_text() == NOTES.replace("plants", "flowers")
    assert "✔ done · " in term.text
    assert " tokens in, " in term.text
    assert " · $0." in term.text


@pytest.mark.parametrize(
    ("key", "destination"),
    [("s", None), ("p", "repo/.claude/settings.local.json"), ("u", "home/.claude-simulator/settings.json")],
)
def test_always_adds_exactly_the_rule_that_was_shown(place: Place, key: str, destination: str | None) -> None:
    place.plays(bash("touch a.txt"), {"next": True}, bash("touch a.txt"), {"next": True}, bash("touch b.txt"), "Done.")
    term = place.term("run", "go")
    term.until("“Always” adds the rule Bash(touch a.txt)", "Always, everywhere")
    term.press(key)
    term.until("always: Bash(touch a.txt)", "$ touch b.txt")
    assert term.text.count("Allow this command?") == 2  # the second time it was not asked
    term.until("“Always” adds the rule Bash(touch b.txt)")
    term.press("y")
    assert term.exit() == 0
    saved = {str(path.relative_to(place.cwd.parent)): path for path in place.cwd.parent.rglob("settings*.json")}
    assert list(saved) == ([destination] if destination else [])
    for path in saved.values():
        assert json.loads(path.read_text()) == {"permissions": {"allow": ["Bash(touch a.txt)"]}}


def test_a_denial_carries_its_note(place: Place) -> None:
    place.plays(bash("touch a.txt"), "Ah.")
    term = place.term("run", "go")
    term.until("Deny with a note")
    term.press("n")
    term.until("Tell Claude why")
    term.press("use b.txt", ENTER)
    assert term.exit() == 0
    assert "use b.txt" in term.text
    assert "denied" in term.text
    assert not (place.cwd / "a.txt").exists()


def test_escape_leads_back_from_a_note_and_then_denies(place: Place) -> None:
    place.plays(bash("touch a.txt"), "Ah.")
    term = place.term("run", "go")
    term.until("Deny with a note")
    term.press("n")
    term.until("Tell Claude why")
    term.press(ESCAPE)
    term.until("Deny and stop")
    term.press(ESCAPE)
    assert term.exit() == 0
    assert "The user denied this." in term.text


def test_the_command_can_be_edited_before_it_is_allowed(place: Place) -> None:
    place.plays(bash("touch a.txt"), "Done.")
    term = place.term("run", "go")
    term.until("Edit, then allow")
    term.press("e")
    term.until("Run this instead:")
    term.press("\x15", "touch other.txt", ENTER)
    assert term.exit() == 0
    assert (place.cwd / "other.txt").exists()
    assert not (place.cwd / "a.txt").exists()


def test_an_input_is_edited_as_json_and_what_is_none_is_asked_again(place: Place) -> None:
    path = str(place.cwd / "a.txt")
    place.plays(tool("Write", {"file_path": path, "content": "one\n"}), "Done.")
    term = place.term("run", "go")
    term.until("Edit, then allow")
    term.press("e")
    term.until("Use this input instead:")
    term.press("\x1b[F", "x", ENTER)
    term.until("Invalid JSON")
    term.press("\x15", "\x1b[200~" + json.dumps({"file_path": path, "content": "two\n"}) + "\x1b[201~")
    term.press(ENTER)
    assert term.exit() == 0
    assert (place.cwd / "a.txt").read_text() == "two\n"


def test_deny_and_stop_ends_the_turn(place: Place) -> None:
    place.plays(bash("touch a.txt"), "Never said.")
    term = place.term("run", "go")
    term.until("Deny and stop")
    term.press("x")
    assert term.exit() == 1
    assert "denied, turn stopped" in term.text
    assert "Never said." not in term.text


def test_a_question_is_answered_by_number_by_arrows_by_own_words_and_skipped(place: Place) -> None:
    place.plays(
        {"ask": "Drink?", "options": ["Tea", "Coffee"]},
        {"ask": "Food?", "options": ["Bread", "Rice"]},
        {"ask": "Music?", "options": ["Jazz", "Folk"]},
        {"ask": "Dance?", "options": ["Yes", "No"]},
        {"ask": "Sides?", "options": ["Salad", "Soup", "Olives"], "multi": True},
        "Thank you.",
    )
    term = place.term("run", "go", rows=40)
    term.until("? Question: Drink?", "1 Tea", "Skip")
    term.press("1")
    term.until("  Tea\n", "Food?", "2 Rice")
    term.press(DOWN, ENTER)
    term.until("  Rice\n", "Music?", "2 Folk")
    term.press("o")
    term.until("Your answer:")
    term.press("Blues", ENTER)
    term.until("  Blues\n", "Dance?", "2 No")
    term.press("s")
    term.until("skipped", "Sides?", "[ ] Olives")
    term.press("1", "3", "d")
    assert term.exit() == 0
    assert "  Salad, Olives" in term.text
    assert "Thank you." in term.text


@pytest.mark.parametrize(
    ("keys", "told"),
    [(["y"], "plan approved"), (["a"], "plan approved, mode acceptEdits"), (["n"], "The user rejected the plan.")],
)
def test_a_plan_is_reviewed(place: Place, keys: list[str], told: str) -> None:
    place.plays({"plan": "# Steps\n\n1. Look\n2. Leap\n"}, "Fine.")
    term = place.term("run", "--mode", "plan", "go")
    term.until("? Plan", "Steps", "1. Look", "Approve and accept edits")
    term.press(*keys)
    term.exit()
    assert told in term.text


def test_a_plan_is_revised_with_a_note(place: Place) -> None:
    place.plays({"plan": "# Steps\n\n1. Look\n"}, "I plan again.")
    term = place.term("run", "--mode", "plan", "go")
    term.until("Revise with a note")
    term.press("r")
    term.until("What should change?")
    term.press("Leap first.", ENTER)
    term.exit()
    assert "plan rejected: Leap first." in term.text


def test_ctrl_c_once_interrupts_the_turn_which_still_ends(place: Place) -> None:
    place.plays("Working.", bash("sleep 60"), "Never said.")
    term = place.term("run", "--allow", "Bash(sleep:*)", "go")
    term.until("Working.", "Bash sleep 60")
    term.press(CTRL_C)
    assert term.exit() == 130
    assert "interrupted" in term.text
    assert "Never said." not in term.text


def test_ctrl_c_while_a_question_is_open_takes_it_away(place: Place) -> None:
    place.plays(bash("touch a.txt"), "Never said.")
    term = place.term("run", "go")
    term.until("Allow once")
    term.press(CTRL_C)
    assert term.exit() == 130
    assert not (place.cwd / "a.txt").exists()


def test_ctrl_c_twice_leaves_although_the_cli_does_not_react(place: Place) -> None:
    place.plays("Working.", {"pause": 60}, time_scale=1)
    term = place.term("run", "go")
    term.until("Working.")
    term.press(CTRL_C, CTRL_C)
    assert term.exit() == 130


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_that_ends_it_leaves_the_terminal_as_it_was(place: Place, number: signal.Signals, code: int) -> None:
    place.plays(bash("touch a.txt"), "Never said.")
    term = place.term("run", "go")
    term.until("Allow once")
    term.send(number)
    assert term.exit() == code


def test_what_was_typed_before_the_question_is_no_answer_to_it(place: Place) -> None:
    place.plays("First.", bash("ls"), {"wait_for": "go.txt"}, bash("touch a.txt"), "Done.")
    term = place.term("run", "--allow", "Bash(ls)", "go")
    term.until("First.", "● Bash ls")
    term.press("y", "y", ENTER)
    (place.cwd / "go.txt").touch()
    term.until("Allow once")
    term.press("n")
    term.until("Tell Claude why")
    term.press("no", ENTER)
    assert term.exit() == 0
    assert not (place.cwd / "a.txt").exists()


def test_thinking_is_folded_and_the_plan_and_the_helper_are_shown(place: Place) -> None:
    todos = [{"content": "Look", "activeForm": "Looking", "status": "completed"}]
    place.plays(
        {"thinking": "Hm, let me see.\nAll of it."},
        tool("TodoWrite", {"todos": todos}),
        {"agent": "Look around", "description": "look around", "background": False, "steps": [bash("ls"), "Seen."]},
        "Done.",
    )
    term = place.term("run", "--allow", "Bash(ls)", "go")
    assert term.exit() == 0
    seen = term.text
    assert "✻ thought" in seen
    assert "Hm, let me see. All of it." in seen
    assert "☑ Look" in seen
    lines = term.lines
    agent = next(index for index, line in enumerate(lines) if line.startswith("● Task look around"))
    assert lines[agent + 1].startswith("  │ ● Bash ls")
    assert "TodoWrite" not in seen


def test_the_session_to_go_on_with_is_chosen_from_a_list(place: Place) -> None:
    place.plays(rules=[{"when": "(?P<all>.+)", "steps": ["You said {all}."]}])
    for prompt in ("about apples", "about pears"):
        assert place.piped("run", prompt).returncode == 0
    term = place.term("run", "and now?", "--resume")
    term.until("Which session?", "1 about pears", "2 about apples", " ago")
    term.press("2")
    assert term.exit() == 0
    assert "You said and now?." in term.text
    sessions = {path: path.read_text() for path in (place.home / ".claude-simulator" / "projects").rglob("*.jsonl")}
    (resumed,) = [text for text in sessions.values() if "and now?" in text]
    assert "about apples" in resumed
    assert len(sessions) == 2
    assert place.piped("run", "--resume", "--max-turns", "1", stdin="x").returncode == 2


def test_a_server_that_asks_is_answered_with_a_form(place: Place) -> None:
    schema = {
        "type": "object",
        "properties": {
            "guests": {"type": "integer", "title": "Guests"},
            "terrace": {"type": "boolean"},
            "meal": {"type": "string", "enum": ["lunch", "dinner"]},
            "note": {"type": "string"},
        },
        "required": ["guests"],
    }
    place.plays(tool("mcp__tables__book", {}, elicit={"message": "For whom?", "schema": schema}), "Booked.")
    term = place.term("run", "--allow", "mcp__tables__book", "go", columns=110)
    term.until("? tables asks: For whom?", "Decline")
    term.press("y")
    term.until("Guests")
    term.press("many", ENTER)
    term.until("(must be a number)")
    term.press("\x15", "4", ENTER)
    term.until("terrace", "1 Yes")
    term.press("y")
    term.until("meal", "2 dinner")
    term.press("2")
    term.until("note (optional)")
    term.press(ENTER)
    assert term.exit() == 0
    assert "answered: accept" in term.text
    assert '{"action": "accept", "content": {"guests": 4, "terrace": true, "meal": "dinner"}}' in term.text
    assert "Booked." in term.text


def test_the_prompt_may_come_through_a_pipe_and_the_answers_from_the_terminal(place: Place) -> None:
    place.plays(bash("touch a.txt"), "Done.")
    term = place.term("run", stdin="make it\n")
    term.until("› make it", "Allow once")
    term.press("y")
    assert term.exit() == 0
    assert (place.cwd / "a.txt").exists()


def test_ctrl_z_gives_the_terminal_back_and_in_the_foreground_it_goes_on(place: Place) -> None:
    place.plays(bash("touch a.txt"), "Done.")
    term = place.term("run", "go")
    term.until("Deny and stop")
    term.press("\x1a")
    term.until_stopped()
    assert "Deny and stop" not in term.text
    term.send(signal.SIGCONT)
    term.until("Deny and stop")
    term.press("y")
    assert term.exit() == 0
    assert (place.cwd / "a.txt").exists()
