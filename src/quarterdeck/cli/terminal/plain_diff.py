"""A diff that is too long for colours and marked words: all its lines, drawn only when visible."""

from __future__ import annotations

from collections.abc import Sequence

from quarterdeck.cli.common import Look
from quarterdeck.timeline.parts import FileDiff

from .diff_view import diff_title, gutter_of, sign_style
from .rows import Joined, LongText
from .text import exact

LARGE_LINES = 3_000
LARGE_CHARS = 200_000
NOTE = "Large change: shown without colours and marked words."


def is_large(diffs: Sequence[FileDiff]) -> bool:
    lines = sum(len(hunk.lines) for diff in diffs for hunk in diff.hunks)
    return lines > LARGE_LINES or sum(len(line) for d in diffs for hunk in d.hunks for line in hunk.lines) > LARGE_CHARS


class PlainDiff:
    """Slow to create, once; ``rows`` for a width is fast."""

    def __init__(self, diff: FileDiff, *, folder: str | None) -> None:
        self._diff = diff
        self._folder = folder
        self._signs: list[tuple[str, int]] = []
        self._texts: list[str] = []
        for index, hunk in enumerate(diff.hunks):
            if index:
                self._add("⋯", 0, "")
            old, new = hunk.old_start, hunk.new_start
            for line in hunk.lines:
                sign = line[:1] or " "
                self._add(sign, old if sign == "-" else new, line[1:])
                old += sign != "+"
                new += sign != "-"
        if diff.left_out:
            self._add("…", 0, f"{diff.left_out:,} more lines not shown")

    def _add(self, sign: str, number: int, text: str) -> None:
        self._signs.append((sign, number))
        self._texts.append(text if text.isprintable() and text.isascii() else exact(text))

    def rows(self, look: Look, margin: str) -> Sequence[str]:
        gutter = gutter_of(self._diff)

        def head(index: int) -> str:
            sign, number = self._signs[index]
            if sign in "⋯…":
                return margin + look.paint("dim", f"{'':{gutter}}{sign} ")
            shown = f"{number:>{gutter}} " if gutter else ""
            return margin + look.paint(sign_style(sign), f"{shown}{sign} ")

        before = len(margin) + (gutter + 1 if gutter else 0) + 2
        room = max(look.width - before, 8)
        title = margin + diff_title(self._diff, look, self._folder)
        return Joined([title], LongText(self._texts, room, head=head, indent=" " * before))
