"""A change of a file as coloured lines."""

from __future__ import annotations

from quarterdeck.cli.common import Look, cut
from quarterdeck.timeline.parts import FileDiff, Hunk

from .text import exact, nearer, safe

SHOWN_LINES = 60
"""Of one diff. A person who wants all of a longer one opens the file."""


def diff_lines(diff: FileDiff, look: Look, *, folder: str | None, limit: int = SHOWN_LINES) -> list[str]:
    """The diff, its file first (as one says it in ``folder``); lines that do not fit are cut."""
    what = {"create": "new file", "delete": "deleted"}.get(diff.kind, "")
    counts = f"{look.paint('green', f'+{diff.added}')} {look.paint('red', f'-{diff.removed}')}"
    cell = f" cell {safe(diff.cell)}" if diff.cell else ""
    title = look.paint("bold", cut(f"{safe(nearer(diff.path, folder))}{cell}", look.width - 24))
    lines = [f"{title}  {counts}{f'  {what}' if what else ''}"]
    body = [line for hunk in diff.hunks for line in _hunk(hunk, diff, look)]
    lines += body[:limit]
    hidden = max(0, len(body) - limit) + diff.left_out
    if hidden:
        lines.append(look.paint("dim", f"      … {hidden:,} more lines"))
    return lines


def _hunk(hunk: Hunk, diff: FileDiff, look: Look) -> list[str]:
    old, new = hunk.old_start, hunk.new_start
    digits = len(str(max(old + hunk.old_lines, new + hunk.new_lines)))
    shown: list[str] = []
    if diff.hunks and hunk is not diff.hunks[0]:
        shown.append(look.paint("dim", " " * digits + " ⋯"))
    for line in hunk.lines:
        mark, text = line[:1], exact(line[1:])
        number = old if mark == "-" else new
        column = f"{number:>{digits}} " if diff.numbered else ""
        drawn = cut(f"{column}{mark or ' '} {text}", look.width)
        style = {"-": "red", "+": "green"}.get(mark)
        shown.append(look.paint(style, drawn) if style else look.paint("dim", drawn))
        old += mark != "+"
        new += mark != "-"
    return shown
