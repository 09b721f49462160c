"""Draws file diffs: in one column, or side by side on a wide terminal. Changed words are marked; no line is cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from quarterdeck.cli.common import Look, cut
from quarterdeck.cli.common.look import codes_of
from quarterdeck.timeline.parts import FileDiff, Hunk

from .line_pairs import ALIKE, WORDS, aligned
from .text import exact, painted_cells, painted_wrap, relative_to, safe

SIDE_BY_SIDE = 140
"""Width from which diffs are drawn side by side."""
LONGEST_COMPARED = 2_000
"""Characters. Longer lines are not compared by words: that is quadratic."""
COMPARED_WORDS = 1_000_000
"""Product of word counts, summed over the pairs of lines of one change. Above it, words are not compared."""
_STYLES = {"-": "red", "+": "green", " ": "dim"}

Span = tuple[str, str]


@dataclass(slots=True)
class _DiffLine:
    """One line of a diff: its sign, its line number, its text in spans, and the changed words."""

    sign: str
    number: int
    spans: list[Span]
    marks: list[tuple[int, int]]
    old_number: int = 0
    """Of a line that has not changed."""

    def __str__(self) -> str:
        return "".join(text for text, _ in self.spans)


def diff_lines(diff: FileDiff, look: Look, *, folder: str | None) -> list[str]:
    """All of a diff, below the path of its file (relative to ``folder``)."""
    gutter = gutter_of(diff)
    beside = look.width >= SIDE_BY_SIDE and diff.added > 0 and diff.removed > 0
    lines = [diff_title(diff, look, folder)]
    for index, hunk in enumerate(diff.hunks):
        if index:
            lines.append(look.paint("dim", " " * gutter + "⋯"))
        rows = _hunk_lines(hunk, diff.path, look)
        lines += _side_by_side(rows, look, gutter) if beside else _one_column(rows, look, gutter)
    if diff.left_out:
        lines.append(look.paint("bold yellow", f"… {diff.left_out:,} more lines not shown"))
    return lines


def gutter_of(diff: FileDiff) -> int:
    """The width of the line numbers."""
    last = max((max(one.old_start + one.old_lines, one.new_start + one.new_lines) for one in diff.hunks), default=1)
    return len(str(last)) if diff.numbered else 0


def sign_style(sign: str) -> str:
    return _STYLES[sign] if sign == " " else f"bold {_STYLES[sign]}"


def diff_title(diff: FileDiff, look: Look, folder: str | None) -> str:
    """The path of the file and how much changes in it."""
    what = {"create": "  new file", "delete": "  deleted"}.get(diff.kind, "")
    counts = f"{look.paint('green', f'+{diff.added}')} {look.paint('red', f'-{diff.removed}')}"
    cell = f" cell {safe(diff.cell)}" if diff.cell else ""
    path = cut(f"{safe(relative_to(diff.path, folder))}{cell}", max(look.width - 24, 8))
    return f"{look.paint('bold', path)}  {counts}{what}"


def _hunk_lines(hunk: Hunk, path: str, look: Look) -> list[_DiffLine]:
    old = _spans([line[1:] for line in hunk.lines if line[:1] == "-"], path, look)
    new = _spans([line[1:] for line in hunk.lines if line[:1] == "+"], path, look)
    rows: list[_DiffLine] = []
    old_number, new_number = hunk.old_start, hunk.new_start
    for line in hunk.lines:
        sign = line[:1] or " "
        if sign == "-":
            rows.append(_DiffLine("-", old_number, next(old), []))
        elif sign == "+":
            rows.append(_DiffLine("+", new_number, next(new), []))
        else:
            text = [(exact(line[1:]), codes_of("dim") if look.colour else "")]
            rows.append(_DiffLine(" ", new_number, text, [], old_number))
        old_number += sign != "+"
        new_number += sign != "-"
    budget = COMPARED_WORDS
    for removed, added in _changes(rows):
        for one, other in aligned(removed, added):
            if one is not None and other is not None and budget > 0:
                budget -= _mark_words(one, other)
    return rows


def _spans(lines: list[str], path: str, look: Look) -> Iterator[list[Span]]:
    text = [exact(line) for line in lines]
    if not look.colour:
        return iter([[(line, "")] for line in text])
    from .code import code_spans, language_of

    return iter(code_spans("\n".join(text), language_of(path)))


def _changes(rows: list[_DiffLine]) -> Iterator[tuple[list[_DiffLine], list[_DiffLine]]]:
    """Removed lines and the added ones right after them."""
    removed: list[_DiffLine] = []
    added: list[_DiffLine] = []
    for row in [*rows, _DiffLine(" ", 0, [], [])]:
        if row.sign == "-" and not added:
            removed.append(row)
        elif row.sign == "+":
            added.append(row)
        else:
            if removed or added:
                yield removed, added
            removed, added = ([row], []) if row.sign == "-" else ([], [])


def _mark_words(old: _DiffLine, new: _DiffLine) -> int:
    """Returns the work done: the product of the word counts."""
    before, after = str(old), str(new)
    if max(len(before), len(after)) > LONGEST_COMPARED:
        return 0
    ours, theirs = WORDS.findall(before), WORDS.findall(after)
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    shared = sum(len("".join(ours[a : a + size]).strip()) for a, _, size in matcher.get_matching_blocks())
    if shared >= ALIKE * max(len(before.strip()), len(after.strip())):
        for word, a, b, c, d in matcher.get_opcodes():
            if word != "equal":
                _add_mark(old, ours, a, b)
                _add_mark(new, theirs, c, d)
    return len(ours) * len(theirs)


def _add_mark(line: _DiffLine, words: list[str], begin: int, end: int) -> None:
    start = sum(map(len, words[:begin]))
    if end > begin:
        line.marks.append((start, start + sum(map(len, words[begin:end]))))


# Drawing


def _painted(line: _DiffLine, look: Look) -> str:
    if not look.colour:
        return str(line)
    drawn, at = "", 0
    for text, codes in line.spans:
        for piece, marked in _split(text, at, line.marks):
            style = f"7;{codes_of(_STYLES[line.sign])}" if marked else codes
            drawn += f"\x1b[{style}m{piece}\x1b[0m" if style else piece
        at += len(text)
    return drawn


def _split(text: str, at: int, marks: list[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """``text``, which starts at column ``at``, cut where marks begin and end."""
    borders = sorted({0, len(text), *(min(max(edge - at, 0), len(text)) for mark in marks for edge in mark)})
    for begin, end in pairwise(borders):
        yield text[begin:end], any(start <= at + begin < stop for start, stop in marks)


def _one_column(rows: list[_DiffLine], look: Look, gutter: int) -> list[str]:
    return [piece for row in rows for piece in _in_column(row, look, gutter, look.width)]


def _in_column(line: _DiffLine, look: Look, gutter: int, width: int) -> list[str]:
    """Number, sign and text; the rest of a long line continues below the text."""
    number = f"{line.number:>{gutter}} " if gutter else ""
    head = look.paint(sign_style(line.sign), f"{number}{line.sign} ")
    room = max(width - len(number) - 2, 8)
    first, *rest = painted_wrap(_painted(line, look), room)
    return [head + first, *(" " * (len(number) + 2) + piece for piece in rest)]


def _side_by_side(rows: list[_DiffLine], look: Look, gutter: int) -> list[str]:
    width = (look.width - 3) // 2
    bar = look.paint("dim", " │ ")
    lines: list[str] = []
    for left, right in _paired(rows):
        ours = _in_column(left, look, gutter, width) if left is not None else []
        theirs = _in_column(right, look, gutter, width) if right is not None else []
        for index in range(max(len(ours), len(theirs))):
            one = ours[index] if index < len(ours) else ""
            other = theirs[index] if index < len(theirs) else ""
            lines.append(f"{one}{' ' * (width - painted_cells(one))}{bar}{other}".rstrip())
    return lines


def _paired(rows: list[_DiffLine]) -> Iterator[tuple[_DiffLine | None, _DiffLine | None]]:
    """Pairs of lines: unchanged lines with themselves, a removed line with its replacement."""
    changes = _changes(rows)
    at = 0
    while at < len(rows):
        if rows[at].sign == " ":
            yield _DiffLine(" ", rows[at].old_number, rows[at].spans, []), rows[at]
            at += 1
            continue
        removed, added = next(changes)
        yield from aligned(removed, added)
        at += len(removed) + len(added)
