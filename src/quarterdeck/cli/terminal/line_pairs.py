"""Matches added lines with the removed lines they replace, for word-by-word comparison and side-by-side display."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

ALIKE = 0.4
"""Two lines with less in common than this do not replace each other."""
MOST = 2_500
"""Product of the line counts of one change up to which its lines are matched; above it they are paired in order."""
WORDS = re.compile(r"\w+|\s+|[^\w\s]")

Line = TypeVar("Line")


def aligned(removed: Sequence[Line], added: Sequence[Line]) -> Iterator[tuple[Line | None, Line | None]]:
    """Removed and added lines of one change, in order, similar ones paired. ``str(line)`` is a line's text.

    Between two pairs, the remaining lines are paired in order, so that a completely rewritten line still appears next
    to its replacement.
    """
    i = j = 0
    for a, b in [*_pairs(removed, added), (len(removed), len(added))]:
        for at in range(max(a - i, b - j)):
            yield removed[i + at] if i + at < a else None, added[j + at] if j + at < b else None
        if a < len(removed):
            yield removed[a], added[b]
        i, j = a + 1, b + 1


def _pairs(removed: Sequence[Line], added: Sequence[Line]) -> list[tuple[int, int]]:
    """The indexes of lines that are alike, none crossing another, with the greatest likeness in all."""
    if not removed or not added or len(removed) * len(added) > MOST:
        return []
    old = [Counter(WORDS.findall(str(line).strip())) for line in removed]
    new = [Counter(WORDS.findall(str(line).strip())) for line in added]
    best = [[0.0] * (len(added) + 1) for _ in range(len(removed) + 1)]
    likeness = [[_likeness(one, other) for other in new] for one in old]
    for i in range(len(removed) - 1, -1, -1):
        for j in range(len(added) - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], likeness[i][j] + best[i + 1][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(removed) and j < len(added):
        if likeness[i][j] and best[i][j] == likeness[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _likeness(old: Counter[str], new: Counter[str]) -> float:
    """The share of characters that two lines have in common, by words; 0 for lines that are not alike."""
    length = max(sum(len(word) * count for word, count in words.items()) for words in (old, new))
    shared = sum(len(word) * count for word, count in (old & new).items() if not word.isspace())
    return shared / length if length and shared >= ALIKE * length else 0.0
