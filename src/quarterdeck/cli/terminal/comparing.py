"""Compares two texts line by line, in bounded time: what takes too long counts as changed."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher

SMALL = 250_000
"""Maximum product of line counts for ``difflib``, which is quadratic, or worse with repeated lines."""
BUDGET = 1_000_000
"""The same limit for all parts together."""

Opcode = tuple[str, int, int, int, int]
Match = tuple[int, int, int]
"""Where in the old text, where in the new one, how many lines."""


def compare(before: list[str], after: list[str]) -> tuple[list[Opcode], bool]:
    """The edits from one to the other, as in ``SequenceMatcher.get_opcodes``, and whether everything was compared.

    Large parts are split at lines that both have exactly once (a patience diff). Where there are none, the whole part
    counts as replaced.
    """
    matches: list[Match] = []
    budget, whole = BUDGET, True
    parts = [(0, len(before), 0, len(after))]
    while parts:
        a, b, c, d = parts.pop()
        head = _equal_head(before, after, a, b, c, d)
        tail = _equal_tail(before, after, a + head, b, c + head, d)
        matches += [(a, c, head), (b - tail, d - tail, tail)]
        a, b, c, d = a + head, b - tail, c + head, d - tail
        size = (b - a) * (d - c)
        if not size:
            continue
        if size <= min(SMALL, budget):
            budget -= size
            blocks = SequenceMatcher(None, before[a:b], after[c:d], autojunk=False).get_matching_blocks()
            matches += [(a + i, c + j, count) for i, j, count in blocks]
            continue
        anchors = _anchors(before, after, a, b, c, d)
        whole = whole and bool(anchors)
        for begin, end in zip([(a - 1, c - 1), *anchors], [*anchors, (b, d)], strict=True) if anchors else ():
            parts.append((begin[0] + 1, end[0], begin[1] + 1, end[1]))
        matches += [(i, j, 1) for i, j in anchors]
    return list(_opcodes(sorted(match for match in matches if match[2]), len(before), len(after))), whole


def _equal_head(before: list[str], after: list[str], a: int, b: int, c: int, d: int) -> int:
    count, most = 0, min(b - a, d - c)
    while count < most and before[a + count] == after[c + count]:
        count += 1
    return count


def _equal_tail(before: list[str], after: list[str], a: int, b: int, c: int, d: int) -> int:
    count, most = 0, min(b - a, d - c)
    while count < most and before[b - 1 - count] == after[d - 1 - count]:
        count += 1
    return count


def _anchors(before: list[str], after: list[str], a: int, b: int, c: int, d: int) -> list[tuple[int, int]]:
    """Lines that occur exactly once in each text, and in the same order in both."""
    old, new = Counter(before[a:b]), Counter(after[c:d])
    places = {after[j]: j for j in range(c, d) if new[after[j]] == 1}
    pairs = [(i, places[before[i]]) for i in range(a, b) if old[before[i]] == 1 and before[i] in places]
    return _longest_rising(pairs)


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of ``pairs``, which rise in the first number, that rises in the second, too."""
    ends: list[int] = []
    last: list[int] = []
    previous: list[int] = []
    for index, (_, j) in enumerate(pairs):
        at = bisect_left(ends, j)
        previous.append(last[at - 1] if at else -1)
        if at == len(ends):
            ends.append(j)
            last.append(index)
        else:
            ends[at], last[at] = j, index
    rising: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        rising.append(pairs[index])
        index = previous[index]
    return rising[::-1]


def _opcodes(matches: list[Match], old: int, new: int) -> Iterator[Opcode]:
    i = j = 0
    equal: tuple[int, int] | None = None  # where the equal lines before here began
    for a, c, count in [*matches, (old, new, 0)]:
        if (a > i or c > j or not count) and equal is not None:
            yield "equal", equal[0], i, equal[1], j
            equal = None
        if a > i or c > j:
            yield ("replace" if a > i and c > j else "delete" if a > i else "insert"), i, a, j, c
        equal = equal or (a, c)
        i, j = a + count, c + count
