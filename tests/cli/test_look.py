from __future__ import annotations

import io
import os
import pty

import pytest

from quarterdeck.cli.common import Look, cells, cut, padded, sanitize
from quarterdeck.cli.common.look import codes_of


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("env", "terminal", "coloured"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
    ],
)
def test_colour_is_for_terminals_unless_the_environment_says_otherwise(
    env: dict[str, str], terminal: bool, coloured: bool
) -> None:
    look = Look.of(Terminal() if terminal else io.StringIO(), env)
    assert look.colour is coloured
    assert look.paint("bold red", "x") == (f"\033[1;{codes_of('red')}mx\033[0m" if coloured else "x")


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("3", 20), ("0", 80), ("wide", 80), ("", 80)])
def test_columns_tell_the_width_if_they_are_a_number(columns: str, width: int) -> None:
    assert Look.of(io.StringIO(), {"COLUMNS": columns}).width == width


def test_a_real_terminal_tells_its_width() -> None:
    import fcntl
    import struct
    import termios

    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb"), os.fdopen(follower, "w") as terminal:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 57, 0, 0))
        assert Look.of(terminal, {}) == Look(colour=True, width=57, unicode=True)


def test_a_stream_without_unicode_gets_stand_ins() -> None:
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert Look.of(narrow, {}).sign("✓", "+") == "+"
    assert Look.of(io.StringIO(), {}).sign("✓", "+") == "✓"


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("世界", 4), ("e\u0301", 1), ("a\u200db", 2), ("\u05d0\u05d1", 2), ("👍", 2)]
)
def test_text_is_measured_as_it_is_drawn(text: str, width: int) -> None:
    assert cells(text) == width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [("short", 5, "short"), ("longer", 5, "long…"), ("世界世界", 5, "世界…"), ("世界世界", 4, "世…"), ("abc", 0, "")],
)
def test_text_is_cut_at_cells(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown
    assert cells(padded(text, width)) == width


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\033[31mred\033[0m", "red"),
        ("\033]0;new title\007", "␛]0;new title␇"),
        ("\033[2J\033[H", "␛[2J␛[H"),
        ("\x9b2J", "<U+009B>2J"),
        ("progress\rdone", "progress␍done"),
        ("dos\r\nline", "dos\nline"),
        ("rm \u202efdp.\u202c", "rm <U+202E>fdp.<U+202C>"),
        ("\ud800", "<U+D800>"),
        ("\x7f", "␡"),
        ("שלום and 世界 👍🏽", "שלום and 世界 👍🏽"),
    ],
)
def test_text_of_others_has_no_effect_on_a_terminal(text: str, shown: str) -> None:
    assert sanitize(text) == shown


def test_one_line_is_one_line() -> None:
    assert sanitize(" a\n\tb   c ", one_line=True) == "a b c"
