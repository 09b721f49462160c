"""While ``quarterdeck run`` works: what it says, and where the keys go that are typed meanwhile."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import select
import shlex
import sys
import termios
from pathlib import Path

import pytest

from quarterdeck.cli.terminal.tty import Keyboard
from quarterdeck.testing.model import Stall
from quarterdeck.testing.sim import executable
from terminal.kit import CTRL_C, ENTER, ESCAPE, LIMIT_S, UP, Place, Term, bash
from terminal.real_place import RealPlace


def slow_start(place: Place) -> str:
    """A CLI that starts when ``go.txt`` is there."""
    path = place.home / "slow-claude"
    launcher = shlex.quote(str(executable(folder=place.home / "bin")))
    path.write_text(f'#!/bin/sh\nuntil [ -e go.txt ]; do sleep 0.05; done\nexec {launcher} "$@"\n')
    path.chmod(0o755)
    return str(path)


def test_run_says_at_once_what_it_does_and_for_how_long(place: Place) -> None:
    place.plays("Hello.")
    term = place.term("run", "hi", agent=slow_start(place))
    seen = term.until("starting Claude Code · ", "1.")
    assert re.search(r"starting Claude Code · 1\.\d", seen)
    (place.cwd / "go.txt").touch()
    assert term.exit() == 0
    assert "Hello." in term.text
    assert "starting" not in term.text


def test_run_says_that_it_starts_the_simulator(place: Place) -> None:
    place.plays("Hello.")
    term = place.term("run", "hi")
    term.exit()
    assert b"starting the simulator" in bytes(term.raw)


def test_ctrl_c_while_it_starts_leaves(place: Place) -> None:
    term = place.term("run", "hi", agent=slow_start(place))
    term.until("starting Claude Code")
    term.press(CTRL_C)
    assert term.exit() == 130


def test_what_is_entered_while_a_chat_starts_is_sent_when_it_has(place: Place) -> None:
    place.plays(rules=[{"when": "(?P<all>.+)", "steps": ["You said {all}."]}])
    term = place.term("chat", agent=slow_start(place))
    term.until("starting Claude Code …")
    term.press("first", ENTER)
    term.until("› first", "(sent when the session has started)")
    term.press("\x1b[Z", "/cost", ENTER)
    term.until("› /cost")
    (place.cwd / "go.txt").touch()
    term.until("/help for commands", " so far", "You said first.", "✔ done")
    assert place.left_running()
    term.press("quit", ENTER)
    assert term.exit() == 0


@pytest.mark.real
def test_what_is_entered_while_a_chat_with_the_real_cli_starts_is_sent_when_it_has(real: RealPlace) -> None:
    real.model.reply("I heard it.")
    term = real.term("chat", agent="")
    term.until("starting Claude Code …")
    term.press("a word said early", ENTER)
    term.until("I heard it.", "✔ done")
    assert b"a word said early" in real.model.conversation[-1].body
    term.press("exit", ENTER)
    assert term.exit() == 0


def test_a_chat_says_that_it_starts_the_simulator(place: Place) -> None:
    term = place.term("chat")
    term.until("starting the simulator …", "/help for commands")
    term.press("exit", ENTER)
    assert term.exit() == 0


def in_a_shell(place: Place, *words: str, agent: str = "sim", reads: str = "read -r") -> Term:
    """The command, and then what a shell reads after it: by the line, or key by key (``read -e``)."""
    command = shlex.join(place.command(*words, agent=agent))
    script = f'{command}; {reads} line; echo "the shell got: $line"'
    term = Term(["bash", "-c", script], place.cwd, place.env, 100, 30)
    place.opened.append(term)
    return term


def can_push() -> bool:
    """Whether the kernel lets a program put keys back."""
    setting = Path("/proc/sys/dev/tty/legacy_tiocsti")
    return not setting.exists() or setting.read_text().strip() == "1" or os.geteuid() == 0


@pytest.mark.parametrize("reads", ["read -e -r", *(["read -r"] if can_push() else [])])
def test_keys_typed_while_it_works_reach_the_shell(place: Place, reads: str) -> None:
    place.plays("First.", bash("ls"), {"wait_for": "go.txt"}, "Done.")
    term = in_a_shell(place, "run", "--allow", "Bash(ls)", "go", reads=reads)
    term.until("First.", "● Bash ls")
    term.press("echo typed early", ENTER)
    (place.cwd / "go.txt").touch()
    assert "the shell got: echo typed early" in term.until("the shell got: ")
    assert term.exit() == 0
    assert term.text.count("echo typed early") == (2 if "-e" in reads else 1)  # readline shows what it reads


def test_keys_reach_the_shell_where_none_can_be_put_back(place: Place) -> None:
    place.plays("First.", bash("ls"), {"wait_for": "go.txt"}, "Done.")
    (place.home / "sitecustomize.py").write_text(
        "from quarterdeck.cli.terminal.tty import Keyboard\nKeyboard._may_put_back = lambda self: False\n"
    )
    place.env["PYTHONPATH"] = str(place.home)
    term = in_a_shell(place, "run", "--allow", "Bash(ls)", "go", reads="read -e -r")
    term.until("First.", "● Bash ls")
    term.press("echo typed early", ENTER)
    (place.cwd / "go.txt").touch()
    assert "the shell got: echo typed early" in term.until("the shell got: ")
    assert term.exit() == 0


def test_esc_stops_the_turn_and_what_was_typed_still_reaches_the_shell(place: Place) -> None:
    place.plays("First.", bash("sleep 60"), "Never said.")
    term = in_a_shell(place, "run", "--allow", "Bash(sleep:*)", "go", reads="read -e -r")
    term.until("First.", "Bash sleep 60")
    term.press("ls -l", ESCAPE)
    term.until("◼ interrupted")
    if can_push():
        term.press(ENTER)
        term.until("the shell got: ls -l")
    else:
        term.until("typed while running, not used: ls -l")
        term.press(ENTER)
    assert term.exit() == 0
    assert "Never said." not in term.text


@pytest.mark.parametrize("key", [UP, "\x1b[1;5C", "\x1bx"])
def test_other_keys_that_begin_with_esc_stop_nothing(place: Place, key: str) -> None:
    place.plays("First.", bash("ls"), {"wait_for": "go.txt"}, "Done.")
    term = place.term("run", "--allow", "Bash(ls)", "go")
    term.until("First.", "● Bash ls")
    term.press(key)
    (place.cwd / "go.txt").touch()
    assert term.exit() == 0
    assert "Done." in term.text


def test_esc_before_the_turn_and_a_second_one_do_nothing(place: Place) -> None:
    place.plays("First.", bash("trap : INT; sleep 60"), "Never said.")
    term = place.term("run", "--allow", "Bash", "go", agent=slow_start(place))
    term.until("starting Claude Code")
    term.press(ESCAPE)
    (place.cwd / "go.txt").touch()
    term.until("First.", "Bash trap")
    term.press(ESCAPE, ESCAPE)
    assert term.exit() == 130
    assert "◼ interrupted" in term.text


def test_keys_typed_before_a_question_reach_the_shell_and_do_not_answer_it(place: Place) -> None:
    place.plays("First.", bash("ls"), {"wait_for": "go.txt"}, bash("touch a.txt"), "Done.")
    term = in_a_shell(place, "run", "--allow", "Bash(ls)", "go")
    term.until("First.", "● Bash ls")
    term.press("y", "y", ENTER)
    (place.cwd / "go.txt").touch()
    term.until("Deny and stop")
    term.press("x")
    seen = term.until("denied, turn stopped", "the shell got: yy") if can_push() else term.until("not used: yy")
    assert "Done." not in seen
    if not can_push():
        term.press(ENTER)
    assert term.exit() == 0
    assert not (place.cwd / "a.txt").exists()


def test_keys_that_cannot_be_put_back_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    master, slave = pty.openpty()
    monkeypatch.setattr(termios, "TIOCSTI", 0)  # no such request

    async def ask() -> None:
        with Keyboard(lambda key: None) as keyboard:
            os.write(master, b"ls \x1b[31m\n")
            assert select.select([slave], [], [], LIMIT_S)[0]
            with keyboard.listening():
                pass

    before = termios.tcgetattr(slave)
    with open(slave, closefd=False) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        asyncio.run(ask())
    assert "typed while running, not used: ls" in capsys.readouterr().out
    assert termios.tcgetattr(slave) == before
    os.close(master)
    os.close(slave)


@pytest.mark.real
def test_run_on_the_real_cli_starts_visibly_and_keeps_what_is_typed(real: RealPlace) -> None:
    gate = real.model.gate()
    real.model.reply("First.", Stall(after=5, until=gate), " Then more.")
    term = in_a_shell(real, "run", "go", agent="")
    term.until("starting Claude Code · ")
    term.until("First.")
    term.press("echo typed early", ENTER)
    gate.open()
    term.until("the shell got: echo typed early")
    assert term.exit() == 0


@pytest.mark.real
def test_esc_on_the_real_cli_stops_the_turn(real: RealPlace) -> None:
    gate = real.model.gate()
    real.model.reply("First.", Stall(after=5, until=gate), " Then more.")
    term = real.term("run", "go", agent="")
    term.until("First.")
    term.press(UP, ESCAPE)
    assert term.exit() == 130
    assert "◼ interrupted" in term.text
    assert "Then more." not in term.text
    gate.open()
