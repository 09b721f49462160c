"""Long texts as rows of a terminal that are drawn only where they are looked at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import overload

from quarterdeck.cli.common import cells


class LongText(Sequence[str]):
    """Lines broken anywhere at ``room`` cells. ``head`` draws the prefix of a line, ``indent`` that of its
    continuation."""

    def __init__(
        self, lines: Sequence[str], room: int, *, head: Callable[[int], str] = lambda index: "", indent: str = ""
    ) -> None:
        self._lines = lines
        self._room = room
        self._head = head
        self._indent = indent
        self._ends = list(accumulate(_count(line, room) for line in lines))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            begin, end, _ = at.indices(len(self))
            return self._rows(begin, end)
        at = range(len(self))[at]
        return self._rows(at, at + 1)[0]

    def _rows(self, begin: int, end: int) -> list[str]:
        rows: list[str] = []
        line = bisect_right(self._ends, begin)
        before = self._ends[line - 1] if line else 0
        while before + len(rows) < end and line < len(self._lines):
            rows += self._drawn(line)
            line += 1
        return rows[begin - before : end - before]

    def _drawn(self, index: int) -> list[str]:
        first, *rest = _pieces(self._lines[index], self._room)
        return [self._head(index) + first, *(self._indent + piece for piece in rest)]


def _count(line: str, room: int) -> int:
    if len(line) <= room // 2:
        return 1
    return max(-(-len(line) // room), 1) if line.isascii() else sum(1 for _ in _pieces(line, room))


def _pieces(line: str, room: int) -> Iterator[str]:
    if line.isascii():
        yield from (line[at : at + room] for at in range(0, len(line) or 1, room))
        return
    begin = used = 0
    for at, character in enumerate(line):
        taken = cells(character)
        if used + taken > room and at > begin:
            yield line[begin:at]
            begin, used = at, 0
        used += taken
    yield line[begin:]


class Joined(Sequence[str]):
    """Several sequences one after the other."""

    def __init__(self, *parts: Sequence[str]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            begin, end, _ = at.indices(len(self))
            rows: list[str] = []
            for part in self._parts:
                rows += part[max(begin, 0) : max(end, 0)]
                begin, end = begin - len(part), end - len(part)
            return rows
        at = range(len(self))[at]
        for part in self._parts:
            if at < len(part):
                return part[at]
            at -= len(part)
        raise IndexError(at)
