"""Draw docs/assets/terminal.svg from a run of ``quarterdeck run``: ``PYTHONPATH=tests python docs/draw_terminal.py``.

The command runs on the simulator in a real pseudo-terminal; what is drawn is what its emulator shows, cell by cell.
Only what differs from run to run is replaced: seconds, and the name of the folder, by one of the same length.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import NamedTuple

import pyte
from pyte.screens import Char

from terminal.kit import Term

PICTURE = Path(__file__).parent / "assets" / "terminal.svg"
PROMPT = "Change appels to apples in notes.txt"
NOTES = "Shopping: bread, tea, appels\n"
HOME = "/home/captain"
"""What stands for the scratch folder: as long as ``/tmp/`` and eight random letters, so that lines break alike."""
COLUMNS, ROWS = 84, 40
CELL_WIDTH, CELL_HEIGHT, MARGIN, HEAD = 8.4, 19, 18, 34
NO_BREAK = "\u00a0"
"""In place of blanks: browsers draw several of those as one, and none at the ends."""

INK, PAPER = "#d5dbe3", "#0b0d10"


class Style(NamedTuple):
    ink: str
    paper: str
    bold: bool
    italic: bool
    underlined: bool


Line = list[tuple[str, Style]]
"""Pieces of text, each in one style."""


def recorded() -> tuple[list[Line], list[Line]]:
    """What is on the screen when the edit is asked about, and when it has been allowed and all is done."""
    with tempfile.TemporaryDirectory(prefix="", dir="/tmp") as scratch:  # the length of its name matters
        home = Path(scratch).resolve()
        folder = home / "project"
        folder.mkdir()
        (folder / "notes.txt").write_text(NOTES)
        env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        env["COLORTERM"] = "truecolor"
        command = [sys.executable, "-m", "quarterdeck", "run", "--agent", "sim", PROMPT]
        term = Term(command, folder, env, COLUMNS, ROWS)
        try:
            term.until("Allow once", "Deny and stop")
            asked = _lines(term, str(home))
            term.press("y")
            if term.exit() != 0 or "apples" not in (folder / "notes.txt").read_text():
                raise RuntimeError(f"the run did not go as it should\n{term.text}")
            return asked, _lines(term, str(home))
        finally:
            term.close()


def _lines(term: Term, home: str) -> list[Line]:
    screen = pyte.Screen(COLUMNS, ROWS)
    pyte.ByteStream(screen).feed(bytes(term.raw))
    rows = [[screen.buffer[y][x] for x in range(COLUMNS)] for y in range(ROWS)]
    lines = [_line(row, home) for row in rows]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _line(row: list[Char], home: str) -> Line:
    runs = [("".join(cell.data for cell in cells), style) for style, cells in itertools.groupby(row, _style)]
    if runs and not runs[-1][0].strip() and runs[-1][1].paper == PAPER:
        runs.pop()
    return [(_same_each_time(text, home), style) for text, style in runs]


def _same_each_time(text: str, home: str) -> str:
    seconds = "0.9s" if "done" in text else "0.0s"
    return re.sub(r"\b\d+\.\ds\b", seconds, text.replace(home, HOME))


def _style(cell: Char) -> Style:
    ink, paper = _colour(cell.fg, INK), _colour(cell.bg, PAPER)
    if cell.reverse:
        ink, paper = paper, ink
    return Style(ink, paper, cell.bold, cell.italics, cell.underscore)


def _colour(name: str, otherwise: str) -> str:
    return otherwise if name == "default" else f"#{name}"  # six digits


def picture(asked: list[Line], done: list[Line]) -> str:
    """Both screens in one window, the second without what it has in common with the first."""
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(asked, done, strict=False)))
    key: Line = [("  you press y", Style("#7d8799", PAPER, bold=False, italic=True, underlined=False))]
    lines = [_command(), [], *asked, [], key, [], *done[same:]]
    width, height = COLUMNS * CELL_WIDTH + 2 * MARGIN, HEAD + len(lines) * CELL_HEIGHT + MARGIN
    rows = "\n".join(_drawn(line, HEAD + (index + 1) * CELL_HEIGHT) for index, line in enumerate(lines) if line)
    dots = "".join(
        f'<circle cx="{22 + 18 * index}" cy="18" r="5.5" fill="{colour}"/>'
        for index, colour in enumerate(("#f07178", "#f2c66d", "#a5d67b"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" role="img">\n'
        "<title>quarterdeck run asks before it edits a file, shows the change, and does it when allowed</title>\n"
        f'<rect width="100%" height="100%" rx="9" fill="{PAPER}"/>\n{dots}\n'
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" '
        f'font-size="14">\n{rows}\n</g>\n</svg>\n'
    )


def _command() -> Line:
    plain = Style(INK, PAPER, bold=False, italic=False, underlined=False)
    return [("$ ", plain._replace(ink="#7d8799")), (f"quarterdeck run --agent sim '{PROMPT}'", plain)]


def _drawn(line: Line, y: float) -> str:
    """One line: each piece at its column and exactly as wide as its cells, whatever font the reader has."""
    parts, column = [], 0
    for text, style in line:
        x, width = MARGIN + column * CELL_WIDTH, len(text) * CELL_WIDTH
        column += len(text)
        if style.paper != PAPER:
            parts.append(
                f'<rect x="{x:.1f}" y="{y - 14:.0f}" width="{width:.1f}" height="{CELL_HEIGHT}" fill="{style.paper}"/>'
            )
        shown = text.strip()
        if shown:
            x += (len(text) - len(text.lstrip())) * CELL_WIDTH
            width = len(shown) * CELL_WIDTH
            looks = f' fill="{style.ink}"'
            looks += ' font-weight="bold"' if style.bold else ""
            looks += ' font-style="italic"' if style.italic else ""
            looks += ' text-decoration="underline"' if style.underlined else ""
            parts.append(
                f'<text x="{x:.1f}" y="{y:.0f}" textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"{looks}>'
                f"{escape(shown, quote=False).replace(' ', NO_BREAK)}</text>"
            )
    return "".join(parts)


if __name__ == "__main__":
    PICTURE.write_text(picture(*recorded()), "utf-8")
