"""The parts of the terminal that need none: keys, widgets, the surface, safe text."""

from __future__ import annotations

import os

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.cli.common import Look
from quarterdeck.cli.terminal.keys import Keys
from quarterdeck.cli.terminal.surface import TerminalSurface
from quarterdeck.cli.terminal.text import exact, one_line, painted_cells, painted_cut, safe, seconds, size
from quarterdeck.cli.terminal.widgets import NOT_YET, Checklist, Menu, MenuOption, TextField

LOOK = Look(width=40)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"ab\r", ["a", "b", "enter"]),
        ("é日".encode(), ["é", "日"]),
        (b"\x1b[A\x1b[B\x1bOC", ["up", "down", "right"]),
        (b"\x1b\r", ["alt-enter"]),
        (b"\x1b[200~a\r\nb\x1b[201~c", ["paste:a\nb", "c"]),
        (b"\x15\x7f\x08\t", ["ctrl-u", "backspace", "backspace", "tab"]),
        (b"\x1b[1;5C\x1b[24~x", ["x"]),
        (b"\x1bx", ["escape", "x"]),
    ],
)
def test_keys_are_the_same_whole_and_byte_by_byte(data: bytes, expected: list[str]) -> None:
    assert Keys().feed(data) == expected
    keys = Keys()
    assert [name for number in data for name in keys.feed(bytes([number]))] == expected


def test_an_escape_alone_is_a_key_once_nothing_follows() -> None:
    keys = Keys()
    assert keys.feed(b"\x1b") == []
    assert keys.waiting
    assert keys.settle() == ["escape"]
    assert not keys.waiting


@given(st.binary(max_size=60))
def test_no_bytes_break_the_keyboard(data: bytes) -> None:
    keys = Keys()
    names = keys.feed(data) + keys.settle()
    assert all(isinstance(name, str) and name for name in names)


def test_a_menu_by_arrows_number_letter_and_escape() -> None:
    options = [MenuOption("a", "First", key="f"), MenuOption("b", "Second", "a hint", key="s")]
    assert Menu("T", options).key("enter") == "a"
    menu = Menu("T", options)
    assert menu.key("down") is NOT_YET
    assert menu.lines(LOOK) == ["T", "  1 First (f)", "❯ 2 Second (s)  a hint"]
    assert menu.key("enter") == "b"
    assert menu.key("up") is NOT_YET
    assert menu.key("enter") == "a"
    assert menu.key("2") == "b"
    assert menu.key("f") == "a"
    assert menu.key("escape") is NOT_YET
    assert menu.key("9") is NOT_YET
    assert Menu("T", options, on_escape="gone").key("escape") == "gone"


def test_several_are_ticked_and_given_in_the_order_of_the_list() -> None:
    done = object()
    several = Checklist("", [MenuOption("a", "A"), MenuOption("b", "B"), MenuOption(done, "Done", key="d")], done=done)
    assert several.key("2") is NOT_YET
    assert several.key("1") is NOT_YET
    assert several.key("1") is NOT_YET
    assert several.key("up") is NOT_YET
    assert several.lines(LOOK) == ["  1 [ ] A", "  2 [x] B", "❯ 3 Done (d)"]
    several.key("1")
    assert several.key("d") == ["a", "b"]


def test_a_field_is_edited_with_the_keys_of_a_shell() -> None:
    field = TextField("T", "one two")
    for key in (
        "ctrl-w",
        "x",
        "home",
        "right",
        "backspace",
        "ctrl-k",
        "a",
        "alt-enter",
        "paste:b\nc",
        "left",
        "delete",
    ):
        assert field.key(key) is NOT_YET
    assert field.key("enter") == "a\nb\n"
    assert field.key("escape") is None


def test_the_cursor_of_a_field_is_where_one_writes() -> None:
    field = TextField("T", "日本" * 10)
    lines = field.lines(LOOK)
    assert lines[1:3] == ["│ " + "日本" * 9, "│ 日本"]
    assert field.cursor == (2, 6)


def test_nothing_hides_in_safe_text() -> None:
    assert safe("a\tb\x1b[31mred\x1b[0m\x1b]0;x\x07") == "a    bred␛]0;x␇"
    assert exact("\x1b[31m") == "␛[31m"
    assert safe("x\u200by\u2060\U000e0041\u202e\ud800") == "x<U+200B>y<U+2060><U+E0041><U+202E><U+D800>"
    assert safe("می\u200cخواهم 👩\u200d👧") == "می\u200cخواهم 👩\u200d👧"
    assert one_line("a\n  b " * 1_000_000, 10) == "a b a b a…"


@given(st.text(max_size=80), st.integers(2, 40))
def test_a_cut_line_fits_and_ends_its_colours(text: str, width: int) -> None:
    line = f"\x1b[31m{safe(text).replace(chr(10), ' ')}\x1b[0m"
    cut = painted_cut(line, width)
    assert painted_cells(cut) <= width
    assert cut.endswith("\x1b[0m")


def test_amounts_for_people() -> None:
    assert [size(999), size(1_500), size(2_000_000)] == ["999", "1.5k", "2.0M"]
    assert [seconds(0.04), seconds(12.6), seconds(75), seconds(7_320)] == ["0.0s", "13s", "1m 15s", "2h 02m"]


class Emulator:
    """A surface that draws into a terminal emulator."""

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=1_000)
        self._stream = pyte.ByteStream(self.screen)
        self._read, self._write = os.pipe()
        self.surface = TerminalSurface(self._write, size=lambda: os.terminal_size((columns, rows)))

    def draw(self, finished: list[str], live: list[str], cursor: tuple[int, int] | None = None) -> int:
        self.surface.commit(finished)
        self.surface.live(live, cursor)
        before = self.surface.bytes_written
        self.surface.flush()
        written = self.surface.bytes_written - before
        if written:
            self._stream.feed(os.read(self._read, written))
        return written

    @property
    def lines(self) -> list[str]:
        top = ["".join(row[x].data for x in range(self.screen.columns)) for row in self.screen.history.top]
        lines = [line.rstrip() for line in [*top, *self.screen.display]]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def close(self) -> None:
        os.close(self._read)
        os.close(self._write)


LINES = st.lists(st.text(alphabet="abc日 ", max_size=12).map(str.strip), max_size=5)


@given(st.lists(st.tuples(LINES, LINES), max_size=12))
def test_whatever_is_drawn_the_finished_lines_stand_above_the_live_ones(
    frames: list[tuple[list[str], list[str]]],
) -> None:
    emulator, finished = Emulator(30, 8), []
    try:
        for done, live in frames:
            finished += done
            emulator.draw(done, live)
            expected = [*finished, *live]
            while expected and not expected[-1]:
                expected.pop()
            assert [line.replace(" ", "") for line in emulator.lines] == [line.replace(" ", "") for line in expected]
    finally:
        emulator.close()


def test_a_frame_without_a_change_writes_nothing_and_a_small_one_little() -> None:
    emulator = Emulator(40, 10)
    try:
        emulator.draw(["done"], ["one", "two", "three"])
        assert emulator.draw([], ["one", "two", "three"]) == 0
        assert emulator.draw([], ["one", "TWO", "three"]) < 70
        assert emulator.lines == ["done", "one", "TWO", "three"]
        emulator.draw([], ["one", "field"], cursor=(1, 3))
        assert (emulator.screen.cursor.y, emulator.screen.cursor.x, emulator.screen.cursor.hidden) == (2, 3, False)
        emulator.draw(["more"], ["last"])
        assert emulator.lines == ["done", "more", "last"]
        assert emulator.screen.cursor.hidden
    finally:
        emulator.close()


def test_a_live_part_taller_than_the_terminal_shows_its_end() -> None:
    emulator = Emulator(40, 5)
    try:
        emulator.draw(["done"], [f"line {number}" for number in range(20)])
        assert emulator.lines == ["done", "line 16", "line 17", "line 18", "line 19"]
        emulator.draw(["more"], [])
        assert emulator.lines == ["done", "more"]
    finally:
        emulator.close()
