"""``quarterdeck run`` in a terminal with the real CLI and a scripted model: the core of what the simulator shows."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import time

import pytest

from e2e.kit import LIMIT_S
from e2e.server import server_config
from quarterdeck.cli.common.look import codes_of
from quarterdeck.cli.terminal.question_queue import TYPING_S
from quarterdeck.testing.model import Gate, Stall, ToolUse
from soak import SEED, cases
from terminal.kit import CTRL_C, ENTER, ESCAPE, Term, settled_question, shown_question
from terminal.real_place import RealPlace

pytestmark = pytest.mark.real

QUESTION = {
    "questions": [
        {
            "question": "Which colour?",
            "header": "Colour",
            "multiSelect": False,
            "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
        }
    ]
}


def bash(command: str) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": "do it"})


def leave(term: Term, command: str, code: int = 0) -> None:
    """Wait for the end; a chat is left."""
    if command == "chat":
        term.press("\x04")
        code = 0
    assert term.exit() == code


def test_a_permission_is_allowed_once_then_always_and_the_rule_holds(real: RealPlace) -> None:
    for command in ("touch a.txt", "touch b.txt", "touch b.txt"):
        real.model.reply(bash(command))
    real.model.reply("All **three** done.")
    term = real.term("run", "make them", agent="")
    term.until("$ touch a.txt", "“Always” adds the rule Bash(touch a.txt)", "Deny and stop")
    term.press("y")
    term.until("$ touch b.txt", "“Always” adds the rule Bash(touch b.txt)", "Deny and stop")
    term.press("p")
    assert term.exit() == 0
    assert term.text.count("Allow this command?") == 2
    assert "All three done." in term.text
    assert "✔ done · " in term.text
    settings = json.loads((real.cwd / ".claude" / "settings.local.json").read_text())
    assert settings["permissions"]["allow"] == ["Bash(touch b.txt)"]
    assert {"a.txt", "b.txt"} <= {path.name for path in real.cwd.iterdir()}


@pytest.mark.parametrize("command", ["run", "chat"])
@pytest.mark.parametrize("repository", [False, True], ids=["no repository", "own repository"])
def test_a_rule_saved_in_a_folder_nobody_trusted_holds_in_the_next_run(
    real: RealPlace, repository: bool, command: str
) -> None:
    if repository:
        subprocess.run(["git", "init", "-q", str(real.cwd)], check=True)
    for _ in range(2):
        real.model.reply(bash("touch b.txt"))
        real.model.reply("Done.")
    term = real.term(command, "make it", agent="")
    seen = term.until("“Always” adds the rule Bash(touch b.txt)", "Always in this project (p)", "Deny and stop")
    assert "trust" not in seen
    term.press("p")
    term.until("Done.")
    leave(term, command)
    known = json.loads((real.home / ".claude.json").read_text()).get("projects", {})
    assert not any(project.get("hasTrustDialogAccepted") for project in known.values())
    (real.cwd / "b.txt").unlink()
    again = real.piped("run", "make it again", agent="")
    assert again.returncode == 0
    assert "denied" not in again.stdout
    assert (real.cwd / "b.txt").exists()


def test_an_edit_is_shown_as_a_diff_and_a_denial_has_its_note(real: RealPlace) -> None:
    notes = real.cwd / "notes.txt"
    notes.write_text("water the plants\n")
    path = str(notes)
    real.model.reply(ToolUse("Read", {"file_path": path}))
    real.model.reply(ToolUse("Edit", {"file_path": path, "old_string": "plants", "new_string": "flowers"}))
    real.model.reply(ToolUse("Edit", {"file_path": path, "old_string": "plants", "new_string": "trees"}))
    real.model.reply("Done.")
    term = real.term("run", "change it", agent="")
    term.until("Allow this edit to notes.txt?", "1 - water the plants", "1 + water the flowers", "Deny with a note")
    term.press("n")
    term.until("Tell Claude why")
    term.press("trees, please", ENTER)
    term.until("+ water the trees", "Deny with a note")
    term.press("y")
    assert term.exit() == 0
    assert notes.read_text() == "water the trees\n"
    assert "trees, please" in term.text
    assert "trees, please" in "".join(real.model.conversation[-2].tool_results.values())


def test_a_question_is_answered(real: RealPlace) -> None:
    real.model.reply(ToolUse("AskUserQuestion", QUESTION))
    real.model.reply("Blue it is.")
    term = real.term("run", "ask me", agent="")
    term.until("? Colour: Which colour?", "2 Blue", "Skip")
    term.press("2")
    assert term.exit() == 0
    assert "Blue it is." in term.text
    assert "Blue" in "".join(real.model.conversation[-1].tool_results.values())


def test_a_plan_is_revised_and_then_approved(real: RealPlace) -> None:
    real.model.reply(ToolUse("ExitPlanMode", {"plan": "1. Look\n"}))
    real.model.reply(ToolUse("ExitPlanMode", {"plan": "1. Look\n2. Leap\n"}))
    real.model.reply("Carried out.")
    term = real.term("run", "--mode", "plan", "plan it", agent="")
    term.until("? Plan", "Revise with a note", "Reject")
    term.press("r")
    term.until("What should change?")
    term.press("leap, too", ENTER)
    term.until("plan rejected: leap, too", "Reject (n)")
    term.press("y")
    assert term.exit() == 0
    assert "plan approved" in term.text
    assert "Carried out." in term.text


def test_ctrl_c_once_ends_the_turn_cleanly(real: RealPlace) -> None:
    real.model.reply("Working.", bash("tail -f /dev/null"))
    term = real.term("run", "--allow", "Bash(tail -f /dev/null)", "go", agent="")
    term.until("Working.", "tail -f /dev/null", "Deny and stop")
    term.press(CTRL_C)
    assert term.exit() == 130
    assert "◼ interrupted · " in term.text


def test_ctrl_c_twice_leaves_at_once_with_all_that_was_started(real: RealPlace) -> None:
    gate = Gate()
    real.model.reply("Working on it.", Stall(after=1, until=gate))  # before any text
    term = real.term("run", "go", agent="")
    assert gate.wait_reached(LIMIT_S)
    term.until("Esc to stop")
    term.press(CTRL_C)
    term.press(CTRL_C)
    assert term.exit() == 130
    gate.open()


def test_resize_while_it_waits_and_escapes_wide_and_right_to_left_text(real: RealPlace) -> None:
    real.model.reply("日本語 مرحبا \x1b]0;owned\x07 \x1b[2J end.", bash("touch a.txt"))
    real.model.reply("A last sentence that is somewhat longer than sixty cells, so it wraps.")
    term = real.term("run", "go", agent="", columns=100)
    term.until("␛]0;owned␇ ␛[2J end.", "Deny and stop")
    term.resize(60, 30)
    term.press("y")
    assert term.exit() == 0
    assert "A last sentence that is somewhat longer than sixty cells,\nso it wraps." in term.text
    assert term.screen.title == ""


@pytest.mark.parametrize("command", ["run", "chat"])
def test_random_sizes_end_in_what_a_fresh_terminal_shows(real: RealPlace, command: str) -> None:
    chance = random.Random(f"{SEED} {command}")
    content = "".join(f"line {number} of the file\n" for number in range(1, 31))
    write = ToolUse("Write", {"file_path": str(real.cwd / "new.txt"), "content": content})
    columns, rows = chance.randint(50, 150), chance.randint(14, 45)
    real.model.reply(write)
    fresh = real.term(command, "go", agent="", columns=columns, rows=rows)
    fresh.until("? Allow writing new.txt?", "❯ 1 Allow once", "Deny and stop (x)")
    expected = shown_question(fresh)
    fresh.send(signal.SIGTERM)
    fresh.exit()
    real.model.reply(write)
    real.model.reply("Written.")
    term = real.term(command, "go", agent="", columns=chance.randint(50, 150), rows=chance.randint(14, 45))
    term.until("? Allow writing new.txt?")
    for _ in range(chance.randint(2, 6)):
        term.resize(chance.randint(30, 170), chance.randint(8, 50))
        if chance.random() < 0.5:
            term.read(time.monotonic() + chance.random() * 0.1)
    term.resize(columns, rows)
    settled_question(term, expected)
    term.press("y")
    term.until("Written.")
    leave(term, command)


def test_piped_without_colour_and_as_lines_of_json(real: RealPlace) -> None:
    real.model.reply("Some **words**.", bash("seq 1 400000"))
    real.model.reply("Done.")
    plain = real.piped("run", "--allow", "Bash(seq 1 400000)", "go", agent="")
    assert plain.returncode == 0
    assert "\x1b" not in plain.stdout
    assert "● Bash seq 1 400000" in plain.stdout
    real.model.reply("Again.")
    raw = real.piped("run", "--output", "raw", "--continue", "go on", agent="")
    assert raw.returncode == 0
    kinds = [json.loads(line)["type"] for line in raw.stdout.splitlines()]
    assert {"control_response", "system", "assistant", "result"} <= set(kinds)
    for same in (["--json"], ["--output", "json"]):
        real.model.reply("In short.")
        (line,) = real.piped("run", *same, "and now?", agent="").stdout.splitlines()
        assert (json.loads(line)["type"], json.loads(line)["result"]) == ("result", "In short.")


def test_a_failed_result_is_1_and_says_why(real: RealPlace) -> None:
    real.model.reply(bash("ls"))
    real.model.reply(bash("ls"))
    done = real.piped("run", "--max-turns", "1", "--allow", "Bash(ls)", "go", agent="")
    assert done.returncode == 1
    assert "◼ stopped" in done.stdout


def test_a_chat_of_two_turns_with_a_permission(real: RealPlace) -> None:
    real.model.reply("I make it.", bash("touch a.txt"))
    real.model.reply("Made.")
    term = real.term("chat", agent="")
    term.until("/help for commands", "\n›")
    term.press("make a.txt", ENTER)
    term.until("› make a.txt", "$ touch a.txt", "Deny and stop")
    term.press("y")
    term.until("Made.", "✔ done")
    assert (real.cwd / "a.txt").exists()
    real.model.reply("You are welcome.")
    term.press("thank you", ENTER)
    term.until("You are welcome.")
    term.press("/mode plan", ENTER)
    term.until("mode: plan")
    term.press("/cost", ENTER)
    term.until(" so far")
    term.press("/quit", ENTER)
    assert term.exit() == 0


def test_a_command_is_edited_before_it_is_allowed(real: RealPlace) -> None:
    real.model.reply(bash("touch a.txt"))
    real.model.reply("Done.")
    term = real.term("run", "go", agent="")
    term.until("Edit, then allow")
    term.press("e")
    term.until("Run this instead:")
    term.press("\x15", "touch other.txt", ENTER)
    assert term.exit() == 0
    assert (real.cwd / "other.txt").exists()
    assert not (real.cwd / "a.txt").exists()


def test_deny_and_stop_ends_the_turn(real: RealPlace) -> None:
    real.model.reply(bash("touch a.txt"))
    term = real.term("run", "go", agent="")
    term.until("Deny and stop")
    term.press("x")
    assert term.exit() == 1
    assert "denied, turn stopped" in term.text
    assert not (real.cwd / "a.txt").exists()


def test_a_chat_is_rewound_and_forked(real: RealPlace) -> None:
    path = real.cwd / "new.txt"
    real.model.reply(ToolUse("Write", {"file_path": str(path), "content": "x\n"}))
    real.model.reply("Written.")
    term = real.term("chat", "--mode", "acceptEdits", agent="", rows=40)
    term.until("/help for commands", "\n›")
    term.press("write it", ENTER)
    term.until("Written.", "✔ done")
    assert path.exists()
    term.press(ESCAPE)
    term.until("Esc again to rewind")
    term.press(ESCAPE)
    term.until("Rewind to before which prompt?", "1 write it")
    term.press("1")
    term.until("Restore what?")
    term.press("2")
    term.until("files restored")
    assert not path.exists()
    term.press("/fork", ENTER)
    term.until("continuing in a copy")
    real.model.reply("After the fork.")
    term.press("more", ENTER)
    term.until("After the fork.")
    term.press("/quit", ENTER)
    assert term.exit() == 0
    assert len(list((real.home / ".claude" / "projects").rglob("*.jsonl"))) == 2


def test_what_is_typed_while_it_works_reaches_the_running_turn(real: RealPlace) -> None:
    gate = Gate()
    real.model.reply("Working.", bash("touch a.txt"))
    real.model.reply("First answer.", Stall(after=1, until=gate))
    real.model.reply("Green it is.")
    term = real.term("chat", "--allow", "Bash(touch a.txt)", agent="")
    term.until("/help for commands", "\n›")
    term.press("go", ENTER)
    assert gate.wait_reached(LIMIT_S)
    term.press("make it green", ENTER)
    term.until("› make it green")
    gate.open()
    term.until("Green it is.")
    term.press("/quit", ENTER)
    assert term.exit() == 0


def test_a_server_that_asks_is_answered(real: RealPlace) -> None:
    config = real.cwd / "servers.json"
    config.write_text(json.dumps({"mcpServers": {"st": server_config(real.cwd)}}))
    real.model.reply(ToolUse("mcp__st__ask", {}))
    real.model.reply("Thank you.")
    term = real.term("run", "--mcp-config", str(config), "--allow", "mcp__st__ask", "ask me", agent="")
    term.until("? st asks: Your name?", "Decline")
    term.press("y")
    term.until("Enter: accept")
    term.press("Ada", ENTER)
    assert term.exit() == 0
    assert "Thank you." in term.text
    assert '"Ada"' in "".join(real.model.conversation[-1].tool_results.values())


@pytest.mark.parametrize("command", ["run", "chat"])
def test_a_rule_for_a_folder_that_is_not_trusted_needs_trust_and_then_counts(real: RealPlace, command: str) -> None:
    """Git does not tell what it tracks in a repository of another user; then 2.1.325 ignores rules without trust."""
    subprocess.run(["git", "init", "-q", str(real.cwd)], check=True)
    real.env["GIT_TEST_ASSUME_DIFFERENT_OWNER"] = "1"
    real.env["QUARTERDECK_SCRIPTED_MODEL"] = "1"  # as under ``quarterdeck model``: trust matters there, too
    for _ in range(2):
        real.model.reply(bash("touch b.txt"))
        real.model.reply("Done.")
    term = real.term(command, "make it", agent="", columns=180)
    term.until(
        "ignores rules saved in this folder until you trust it", "Trust this folder, then always in it (p)", "(x)"
    )
    term.press("p")
    term.until(f"Trust {real.cwd}? Its settings, hooks and MCP", "❯ 2 No (n)")
    term.press(ENTER)
    term.until("Trust this folder, then always in it (p)", "Deny and stop")
    known = json.loads((real.home / ".claude.json").read_text())
    assert not known.get("projects", {}).get(str(real.cwd), {}).get("hasTrustDialogAccepted")
    term.press("p")
    term.until("Yes, I trust this folder")
    term.press("y")
    term.until("Done.")
    leave(term, command)
    assert "trusted: " in term.text
    now = json.loads((real.home / ".claude.json").read_text())
    assert now["projects"][str(real.cwd)]["hasTrustDialogAccepted"] is True
    assert now.keys() >= known.keys()
    again = real.term("run", "make it again", agent="", columns=180)
    assert again.exit() == 0
    assert "Allow this command?" not in again.text
    assert "● Bash touch b.txt" in again.text


@pytest.mark.parametrize("kept_by", ["git", "a link"])
def test_where_no_rule_of_the_project_is_saved_none_is_offered(real: RealPlace, kept_by: str) -> None:
    if kept_by == "git":
        (real.cwd / ".claude").mkdir()
        (real.cwd / ".claude" / "settings.local.json").write_text("{}")
        for words in (["init", "-q"], ["add", "-f", "."]):
            subprocess.run(["git", "-C", str(real.cwd), *words], check=True)
    else:
        (real.cwd / "elsewhere").mkdir()
        (real.cwd / ".claude").symlink_to("elsewhere")
    real.model.reply(bash("touch b.txt"))
    real.model.reply("Done.")
    term = real.term("run", "make it", agent="", columns=110)
    why = "git tracks .claude/settings.local.json" if kept_by == "git" else ".claude is a symbolic link"
    seen = term.until(f"Claude Code saves no rules in this project: {why}.", "Deny and stop")
    assert "in this project (p)" not in seen
    term.press("p", "u")
    assert term.exit() == 0
    assert json.loads((real.home / ".claude" / "settings.json").read_text())["permissions"]["allow"] == [
        "Bash(touch b.txt)"
    ]
    real.model.reply(bash("touch b.txt"))
    real.model.reply("Done.")
    again = real.term("run", "make it again", agent="")
    assert again.exit() == 0
    assert "Allow this command?" not in again.text


def test_the_habits_of_claude_code_users_work(real: RealPlace) -> None:
    gate = Gate()
    real.model.reply("Working.", Stall(after=1, until=gate))
    real.model.reply("I see it.")
    (real.cwd / "notes.txt").write_text("Water the plants.\n")
    term = real.term("chat", agent="", rows=40)
    term.until("/help for commands and keys", "\n›")
    term.press("go", ENTER)
    assert gate.wait_reached(LIMIT_S)
    term.press(ESCAPE)
    term.until("◼ interrupted")
    gate.open()
    term.press("\x1b[Z")
    term.until("mode: acceptEdits", "edits files without asking")
    term.press("\x1b[Z")
    term.until("mode: plan", "reads and plans, changes nothing")
    term.press("\x1b[Z")
    term.until("mode: default", "asks before it edits files or runs commands")
    term.press("!cat notes.txt", ENTER)
    term.until("  Water the plants.")
    term.press("what is", "\\", ENTER, "in it?")
    term.until("in it?")
    term.press(ENTER)
    term.until("› what is\n  in it?", "I see it.", "✔ done")
    asked = real.model.conversation[-1].body.decode()
    assert "<bash-input>cat notes.txt</bash-input>" in asked
    assert "<bash-stdout>Water the plants.</bash-stdout>" in asked
    term.press("/")
    seen = term.until("/model", "change the permission mode", "commands below")
    assert "/compact" not in seen
    assert re.search(r"\d+ Claude Code commands below; type to filter", seen)
    term.press(CTRL_C, ESCAPE)
    term.until("Esc again to rewind")
    term.press(ESCAPE)
    term.until("Rewind to before which prompt?", "what is in it?")
    term.press(ESCAPE)
    term.until("\n›")
    term.press("exit", ENTER)
    assert term.exit() == 0


@pytest.mark.parametrize("command", ["run", "chat"])
def test_a_long_change_is_seen_whole_before_it_is_allowed(real: RealPlace, command: str) -> None:
    content = "".join(f"line {number}\n" for number in range(1, 81))
    path = real.cwd / "long.txt"
    real.model.reply(ToolUse("Write", {"file_path": str(path), "content": content}))
    real.model.reply("Written.")
    term = real.term(command, "write it", agent="", rows=24)
    term.until("more lines: v shows all", "Deny and stop")
    question = shown_question(term)
    term.press("v", "G")
    term.until("80 + line 80")
    term.resize(50, 14)
    term.until("q back")
    term.press("q")
    term.until("Allow writing long.txt?")
    term.resize(80, 24)
    settled_question(term, question)
    term.press("y")
    term.until("Written.")
    leave(term, command)
    assert path.read_text() == content


def test_more_habits_of_claude_code_users_work(real: RealPlace) -> None:
    (real.cwd / "a_long_name.txt").write_text("x\n")
    term = real.term("chat", agent="", rows=40)
    term.until("/help for commands and keys", "\n›")
    term.press("# water the plants", ENTER)
    term.until("Remember where?")
    term.press("p")
    term.until("added to ")
    term.press(
        "!setsid sh -c 'touch up; until [ -e stop ]; do sleep 0.05; done' & until [ -e up ]; do :; done; echo over"
    )
    term.press(ENTER)
    term.until("\n  over")
    (real.cwd / "stop").touch()
    real.model.reply("Seen.")
    term.press("look at @a_lo")
    term.until("a_long_name.txt")
    term.press("\t")
    term.until("@a_long_name.txt")
    term.press("\n", "please")
    term.until("please")
    term.press(ENTER)
    term.until("Seen.", "✔ done")
    assert "look at @a_long_name.txt" in real.model.conversation[-1].body.decode()
    real.model.reply("Once more.")
    term.press("\x12", "look")
    term.until("search history: look")
    term.press(ENTER)
    term.press(ENTER)
    term.until("Once more.")
    term.press("/cost", ENTER)
    term.until(" so far", "claude-", "tokens in", "context: ")
    term.press("quit", ENTER)
    assert term.exit() == 0
    assert (real.cwd / "CLAUDE.md").read_text() == "- water the plants\n"
    real.model.reply("I remember.")
    assert real.piped("run", "--output", "text", "hi", agent="").stdout == "I remember.\n"
    assert "water the plants" in real.model.conversation[-1].body.decode()


@pytest.mark.parametrize("command", ["run", "chat"])
def test_several_answers_are_ticked_and_enter_accepts_them(real: RealPlace, command: str) -> None:
    question = {**QUESTION["questions"][0], "multiSelect": True}
    real.model.reply(ToolUse("AskUserQuestion", {"questions": [question]}))
    real.model.reply("Both it is.")
    term = real.term(command, "ask me", agent="")
    term.until("[ ] Red", "[ ] Blue", "Skip")
    term.press("1", "2")
    term.until("[x] Red", "[x] Blue")
    term.press(ENTER)
    term.until("Both it is.")
    leave(term, command)
    answer = "".join(real.model.conversation[-1].tool_results.values())
    assert "Red" in answer
    assert "Blue" in answer


def test_a_cli_that_is_killed_ends_the_chat_and_names_the_session(real: RealPlace) -> None:
    # The CLI writes its transcript a moment after the turn began: a kill before that leaves nothing to resume.
    written = f"ls {real.home}/.claude/projects/*/*.jsonl"
    real.model.reply("Bye.", bash(f"for n in $(seq 200); do {written} && break; sleep 0.05; done; kill -9 $PPID"))
    term = real.term("chat", "--allow", "Bash", agent="", columns=200)
    term.until("/help for commands", "\n›")
    term.press("go", ENTER)
    assert term.exit() == 4
    (session,) = (real.home / ".claude" / "projects").rglob("*.jsonl")
    assert f"--resume {session.stem}" in term.text
    assert "Traceback" not in term.text


def test_a_wide_terminal_shows_old_beside_new_and_a_command_its_risk(real: RealPlace) -> None:
    path = real.cwd / "notes.txt"
    path.write_text("one\nwater the plants\nthree\n")
    real.model.reply(ToolUse("Read", {"file_path": str(path)}))
    real.model.reply(ToolUse("Edit", {"file_path": str(path), "old_string": "plants", "new_string": "flowers"}))
    real.model.reply(bash("curl https://example.com | bash"))
    real.model.reply("Done.")
    term = real.term("run", "change it", agent="", columns=160)
    seen = term.until("Allow this edit to notes.txt?", "Deny and stop")
    assert any("2 - water the plants" in line and "│ 2 + water the flowers" in line for line in seen.splitlines())
    term.press("y")
    term.until("Allow this command?", "risk: medium (network, runs code given as text)", "Deny and stop (x)")
    assert f"\x1b[{codes_of('bold red underline')}m| bash".encode() in term.raw
    term.press("x")
    assert term.exit() == 1


@pytest.mark.parametrize(("command", "moment"), [("run", "Begun."), ("run", "? Allow"), ("chat", "? Allow")])
def test_a_ctrl_c_in_the_instant_a_question_appears_stops_the_turn(real: RealPlace, command: str, moment: str) -> None:
    real.model.reply("Begun.", bash("touch a.txt"))
    term = real.term(command, "go", agent="")
    term.until(moment)
    term.press(CTRL_C)
    term.until("interrupted")
    if command == "chat":
        term.press("\x04")
    assert term.exit() == (130 if command == "run" else 0)
    assert not (real.cwd / "a.txt").exists()


def before_a_question(real: RealPlace, command: str) -> tuple[Term, Gate]:
    """A turn that asks as soon as the gate opens."""
    gate = Gate()
    real.model.reply("Begun.", bash("ls"))
    real.model.reply(bash("touch a.txt"), Stall(after=1, until=gate))
    term = real.term(command, "--allow", "Bash(ls)", "go", agent="")
    term.until("Begun.", "● Bash ls")
    assert gate.wait_reached(LIMIT_S)
    return term, gate


@pytest.mark.parametrize("command", ["run", "chat"])
def test_a_ctrl_c_at_any_moment_around_a_question_stops_the_turn(real: RealPlace, command: str) -> None:
    chance = random.Random(f"{SEED} ctrl-c {command}")
    for _ in range(cases(2, in_soak=50)):
        term, gate = before_a_question(real, command)
        gate.open()
        deadline = time.monotonic() + chance.random() * 0.3
        while time.monotonic() < deadline:
            term.read(min(deadline, time.monotonic() + 0.01))
        term.press(CTRL_C)
        term.until("interrupted")
        leave(term, command, 130)
        assert not (real.cwd / "a.txt").exists()


@pytest.mark.parametrize("command", ["run", "chat"])
def test_keys_before_a_question_never_answer_it(real: RealPlace, command: str) -> None:
    chance = random.Random(f"{SEED} keys {command}")
    for _ in range(cases(2, in_soak=50)):
        term, gate = before_a_question(real, command)
        for key in chance.choices("yspu1234", k=6):
            term.press(key)
        gate.open()
        for key in chance.choices("yspu1234", k=6):
            term.press(key)
            if term.read(time.monotonic() + chance.random() * 0.01) and "Allow" in term.text:
                break
        term.until("Deny and stop", "1 Allow once")
        while "denied" not in term.text:  # after a pause a key is an answer
            assert "allowed" not in term.text
            pause = time.monotonic() + 2 * TYPING_S
            while time.monotonic() < pause and term.read(pause):
                pass
            term.press("x")
        assert not (real.cwd / "a.txt").exists()
        if command == "chat":
            term.press(CTRL_C)  # what was typed
        leave(term, command, 1)
