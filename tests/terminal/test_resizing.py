"""Whatever size the terminal takes while a question is open, and whenever a key is pressed: the screen is as if drawn
afresh, nothing that was finished is lost, and no key answers a question that it was not meant for."""

from __future__ import annotations

import os
import random
import re
import signal
import time

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.cli.common import Look
from quarterdeck.cli.terminal.prompt import ChoicePrompt, Subject
from quarterdeck.cli.terminal.question_queue import TYPING_S
from quarterdeck.cli.terminal.surface import TerminalSurface
from quarterdeck.cli.terminal.text import painted_cut
from quarterdeck.cli.terminal.widgets import Menu, MenuOption, TextField
from soak import SEED, cases
from terminal.kit import CTRL_C, Place, ResizableScreen, bash, settled_question, shown_question, tool

SIZES = st.tuples(st.integers(24, 160), st.integers(6, 50))
BODY = [f"{number:>2} + a line of the file, rather a long one, with the number {number} in it" for number in range(20)]
ANSWERS = [MenuOption(number, f"Answer {number}", "why one would choose it") for number in range(6)]


class Display:
    """A surface on an emulated terminal whose size changes."""

    def __init__(self, columns: int, rows: int, *, rewraps: bool) -> None:
        self.size = os.terminal_size((columns, rows))
        self.screen = ResizableScreen(columns, rows, history=5_000)
        self.screen.rewraps = rewraps
        self._stream = pyte.ByteStream(self.screen)
        self._read, self._write = os.pipe()
        self.surface = TerminalSurface(self._write, size=lambda: self.size)

    def resize(self, columns: int, rows: int) -> None:
        self.size = os.terminal_size((columns, rows))
        self.screen.resize(rows, columns)
        self.surface.resized()

    def draw(self, prompt: ChoicePrompt, finished: list[str]) -> list[str]:
        look = Look(width=self.surface.width)
        lines = prompt.lines(look, self.surface.height)
        self.surface.commit(finished)
        self.surface.live(lines, prompt.cursor)
        before = self.surface.bytes_written
        self.surface.flush()
        left = self.surface.bytes_written - before
        while left:
            data = os.read(self._read, left)
            self._stream.feed(data)
            left -= len(data)
        return [painted_cut(line, self.surface.width).rstrip() for line in lines]

    @property
    def above(self) -> list[str]:
        """The scrollback, and the screen down to the question."""
        top = ["".join(row[x].data for x in range(self.screen.columns)) for row in self.screen.history.top]
        return [line.rstrip() for line in [*top, *self.screen.display[: self.screen.cursor.y]]]

    def close(self) -> None:
        os.close(self._read)
        os.close(self._write)


def question(*, field: bool) -> ChoicePrompt:
    subject = Subject(lambda look: ["? Allow this?"], lambda look: [line[: look.width] for line in BODY])
    return ChoicePrompt(subject, TextField("Why?", "some words") if field else Menu("A title", ANSWERS))


def sizes(chance: random.Random, count: int) -> list[tuple[int, int]]:
    return [(chance.randint(24, 160), chance.randint(6, 50)) for _ in range(count)]


@pytest.mark.parametrize("rewraps", [False, True])
def test_a_question_is_drawn_afresh_at_every_size_and_finished_lines_stay(rewraps: bool) -> None:
    chance = random.Random(f"{SEED} {rewraps}")
    for _ in range(cases(6, in_soak=1_000)):
        first, *later = sizes(chance, 6)
        display, prompt = Display(*first, rewraps=rewraps), question(field=False)
        finished = [f"done {number}" for number in range(30)]
        display.draw(prompt, finished)
        for number, size in enumerate(later):
            display.resize(*size)
            more = [f"more {number} {index}" for index in range(chance.randint(0, 2))]
            finished += more
            lines = display.draw(prompt, more)
            at = display.screen.cursor.y
            assert [line.rstrip() for line in display.screen.display[at:]][: len(lines)] == lines
            assert not any(line.strip() for line in display.screen.display[at + len(lines) :])
            assert display.above == finished
        display.close()


@pytest.mark.parametrize("rewraps", [False, True])
def test_a_text_field_is_drawn_afresh_at_every_size_too(rewraps: bool) -> None:
    chance = random.Random(f"{SEED} field {rewraps}")
    for _ in range(cases(4, in_soak=1_000)):
        first, *later = sizes(chance, 5)
        display, prompt = Display(*first, rewraps=rewraps), question(field=True)
        finished = [f"done {number}" for number in range(30)]
        display.draw(prompt, finished)
        for size in later:
            display.resize(*size)
            lines = display.draw(prompt, [])
            assert [line.rstrip() for line in display.screen.display][: len(lines)] == lines
            assert not any(line.strip() for line in display.screen.display[len(lines) :])
            assert [line for line in display.above if line.startswith("done")] == finished
            assert (display.screen.cursor.y, display.screen.cursor.x) == prompt.cursor
        display.close()


@given(SIZES, st.booleans())
def test_a_question_fits_and_says_what_it_hides(size: tuple[int, int], field: bool) -> None:
    prompt = question(field=field)
    columns, rows = size
    lines = prompt.lines(Look(width=columns - 1), rows - 1)
    assert len(lines) <= rows - 1
    assert lines[0] == "? Allow this?"
    shown = sum(line in [body[: columns - 1] for body in BODY] for line in lines)
    if shown < len(BODY):
        assert any(re.search(rf"… {len(BODY) - shown} more.*\bv\b", line) for line in lines)
    assert any("some words" in line for line in lines) if field else any("❯ 1 Answer 0" in line for line in lines)


@pytest.mark.parametrize("command", ["run", "chat"])
@pytest.mark.parametrize("rewraps", [False, True])
def test_in_a_terminal_random_sizes_end_in_what_a_fresh_one_shows(place: Place, command: str, rewraps: bool) -> None:
    chance = random.Random(f"{SEED} {command} {rewraps}")
    content = "".join(f"line {number} of the file\n" for number in range(1, 31))
    path = place.cwd / "new.txt"
    for _ in range(cases(1, in_soak=40)):
        place.plays(tool("Write", {"file_path": str(path), "content": content}), "Written.")
        columns, rows = chance.randint(50, 150), chance.randint(14, 45)
        fresh = place.term(command, "go", columns=columns, rows=rows)
        fresh.until("? Allow writing new.txt?", "❯ 1 Allow once", "Deny and stop (x)")
        expected = shown_question(fresh)
        fresh.send(signal.SIGTERM)
        fresh.exit()
        term = place.term(command, "go", columns=chance.randint(50, 150), rows=chance.randint(14, 45))
        term.screen.rewraps = rewraps
        term.until("? Allow writing new.txt?")
        for _ in range(chance.randint(2, 6)):
            term.resize(chance.randint(30, 170), chance.randint(8, 50))
            if chance.random() < 0.5:
                term.read(time.monotonic() + chance.random() * 0.1)
        term.resize(columns, rows)
        settled_question(term, expected)
        term.press("y")
        term.until("Written.")
        path.unlink()
        term.press("\x04") if command == "chat" else None
        assert term.exit() == 0


@pytest.mark.parametrize("command", ["run", "chat"])
def test_a_ctrl_c_at_any_moment_around_a_question_stops_the_turn(place: Place, command: str) -> None:
    chance = random.Random(f"{SEED} {command}")
    for _ in range(cases(4, in_soak=200)):
        (place.cwd / "go.txt").unlink(missing_ok=True)
        place.plays("Begun.", bash("ls"), {"wait_for": "go.txt"}, bash("touch a.txt"), "Never said.")
        term = place.term(command, "--allow", "Bash(ls)", "go")
        term.until("Begun.", "● Bash ls")
        (place.cwd / "go.txt").touch()
        deadline = time.monotonic() + chance.random() * 0.15
        while time.monotonic() < deadline:
            term.read(min(deadline, time.monotonic() + 0.01))
        term.press(CTRL_C)
        term.until("interrupted")
        if command == "chat":
            term.press("\x04")
        assert term.exit() == (130 if command == "run" else 0)
        assert not (place.cwd / "a.txt").exists()
        assert "Never said." not in term.text


@pytest.mark.parametrize("command", ["run", "chat"])
def test_keys_before_a_question_never_answer_it(place: Place, command: str) -> None:
    chance = random.Random(f"{SEED} keys {command}")
    for _ in range(cases(3, in_soak=200)):
        (place.cwd / "go.txt").unlink(missing_ok=True)
        place.plays("Begun.", bash("ls"), {"wait_for": "go.txt"}, bash("touch a.txt"), "Over.")
        term = place.term(command, "--allow", "Bash(ls)", "go")
        term.until("Begun.", "● Bash ls")
        typed = "".join(chance.choice("yspu1234") for _ in range(12))
        for index, key in enumerate(typed):
            if index == 6:
                (place.cwd / "go.txt").touch()
            term.press(key)
            if "Allow" not in term.text:
                term.read(time.monotonic() + chance.random() * 0.01)
            else:
                break
        term.until("Deny and stop")
        term.until("1 Allow once")
        assert "allowed" not in term.text
        while "denied" not in term.text:  # after a pause a key is an answer
            assert "allowed" not in term.text
            pause = time.monotonic() + 2 * TYPING_S
            while time.monotonic() < pause and term.read(pause):
                pass
            term.press("x")
        assert not (place.cwd / "a.txt").exists()
        term.press(CTRL_C, "\x04") if command == "chat" else None
        term.exit()
