"""Splits streaming Markdown into finished blocks and an unfinished tail.

Finished blocks are drawn once, only the tail is redrawn. So a block is finished only when no later text can change it:
a paragraph at a blank line, a list item at the next item, a table at the first line that is not a row. Code comes in
pieces while its fence is open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

CODE_PIECE_LINES = 24
"""Lines per piece of an open code block."""
LONGEST_TAIL = 6_000
"""Characters. A longer paragraph is cut, because the tail is redrawn in each frame."""

_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})\s*([^`]*)$")
_ITEM = re.compile(r"^(\s*)([-*+]|\d{1,9}[.)])(\s+|$)")
_HEADING = re.compile(r"^ {0,3}#{1,6}(\s|$)")
_RULE = re.compile(r"^ {0,3}([-*_])( *\1){2,} *$")


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A piece of Markdown that is drawn on its own. ``language`` is set for code, which comes without its fences."""

    source: str
    language: str | None = None
    gap: bool = True
    """Draw a blank line before it."""


@dataclass(slots=True)
class _Fence:
    mark: str
    language: str
    gap: bool
    indent: int


class MarkdownSplitter:
    """Feed it text; it returns finished blocks. ``tail`` is the rest, as blocks to draw for now."""

    def __init__(self) -> None:
        self._line = ""
        """The incomplete last line."""
        self._held: list[str] = []
        """Complete lines of the unfinished block."""
        self._fence: _Fence | None = None
        self._blank = False
        """After a blank line; the next line decides whether it ended the block."""
        self._listed = ""
        """The kind of list that the previous block belongs to, if any."""
        self._first = True

    def feed(self, text: str) -> list[MarkdownBlock]:
        lines = f"{self._line}{text}".split("\n")
        self._line = lines.pop()
        done: list[MarkdownBlock] = []
        for line in lines:
            done += self._whole_line(line)
        if self._blank and self._line.strip() and not _list_kind(self._held[0]):
            done += self._finished()  # this line starts another block in any case
        if len(self._line) > LONGEST_TAIL and self._fence is None:
            border = self._line.rfind(" ", 0, LONGEST_TAIL)
            border = LONGEST_TAIL if border <= 0 else border
            self._held.append(self._line[:border])
            self._line = self._line[border:].lstrip(" ")
            done += self._finished()
        return done

    def close(self) -> list[MarkdownBlock]:
        """The end of the text."""
        done = self._whole_line(self._line) if self._line else []
        self._line = ""
        if self._fence is not None:
            done += self._code(close=True)
        return done + self._finished()

    def tail(self) -> list[MarkdownBlock]:
        """The unfinished rest as it looks now."""
        held = self._held
        if self._line:
            held = [*held, "", self._line] if self._blank else [*held, self._line]
        if not held:
            return []
        if self._fence is not None:
            return [MarkdownBlock("\n".join(held), self._fence.language, self._fence.gap)]
        opened = _FENCE.match(held[-1])
        if opened is not None and held is not self._held:
            held = held[:-1]
        return [MarkdownBlock("\n".join(held), gap=self._gap(held))] if held else []

    def _whole_line(self, line: str) -> list[MarkdownBlock]:
        if self._fence is not None:
            return self._in_fence(line)
        opened = _FENCE.match(line)
        if opened is not None:
            done = self._finished()
            language = opened[3].strip().partition(" ")[0]
            self._fence = _Fence(opened[2], language, not self._first, len(opened[1]))
            return done
        if not line.strip():
            self._blank = bool(self._held)
            return []
        done = self._finished() if self._ends_before(line) else []
        if self._blank and self._held:
            self._held.append("")
        self._blank = False
        self._held.append(line)
        if _HEADING.match(line) or (_RULE.match(line) and len(self._held) == 1):
            done += self._finished()
        return done

    def _ends_before(self, line: str) -> bool:
        """Whether this line starts another block."""
        if not self._held:
            return False
        in_list = _ITEM.match(self._held[0]) is not None
        item = _ITEM.match(line)
        if in_list:
            if item is not None:
                return len(item[1]) <= len(_indent(self._held[0]))
            return self._blank and len(_indent(line)) <= len(_indent(self._held[0]))
        if self._blank or _HEADING.match(line) or (item is not None and not item[1]):
            return True
        return _is_row(self._held[0]) != _is_row(line)

    def _in_fence(self, line: str) -> list[MarkdownBlock]:
        fence = self._fence
        if fence is None:
            return []
        stripped = line.strip()
        if stripped.startswith(fence.mark) and not stripped.strip(fence.mark[0]):
            return self._code(close=True)
        indent = min(len(_indent(line)), fence.indent)
        self._held.append(line[indent:])
        return self._code(close=False) if len(self._held) >= CODE_PIECE_LINES else []

    def _code(self, *, close: bool) -> list[MarkdownBlock]:
        fence = self._fence
        if fence is None:
            return []
        block = MarkdownBlock("\n".join(self._held), fence.language, fence.gap)
        held, self._held = self._held, []
        fence.gap = False
        if close:
            self._fence = None
        self._listed, self._first = "", False
        return [block] if held else []

    def _finished(self) -> list[MarkdownBlock]:
        held, self._held = self._held, []
        gap = self._gap(held)
        self._blank = False
        if not held:
            return []
        self._listed, self._first = _list_kind(held[0]), False
        return [MarkdownBlock("\n".join(held), gap=gap)]

    def _gap(self, held: list[str]) -> bool:
        """No gap between items of one list."""
        if self._first or not held:
            return False
        return not self._listed or self._listed != _list_kind(held[0])


def _list_kind(line: str) -> str:
    item = _ITEM.match(line)
    return "" if item is None else "numbers" if item[2][0].isdecimal() else "bullets"


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")
