r"""Patterns without backtracking: the worst case is the product of the two lengths, and commands have a size limit.

Two dialects. Commands know only ``*``, which matches anything. Paths follow gitignore: ``*``, ``?``, ``[…]`` inside a
segment, ``**`` across segments, a pattern with an inner slash is anchored, and what matches a folder matches all below.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_MAGIC = re.compile(r"[*?\[\\]")
ANY_DEPTH: Final = "**"


def match_pieces(pieces: Sequence[str], text: str) -> bool:
    """Whether ``text`` is the pieces in order with anything between them (a pattern split at ``*``)."""
    first, last = pieces[0], pieces[-1]
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in pieces[1:-1]:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


class Segment:
    """One segment of a path pattern."""

    __slots__ = ("_regex", "literal")

    def __init__(self, pattern: str) -> None:
        self.literal = pattern if not _MAGIC.search(pattern) else None
        self._regex = None if self.literal is not None else re.compile(_translate(pattern), re.DOTALL)

    def matches(self, name: str) -> bool:
        return name == self.literal if self._regex is None else self._regex.match(name) is not None


def _translate(pattern: str) -> str:
    """A regex in which each ``*`` but the last is atomic with the text after it, so that it never backtracks."""
    pieces: list[str] = [""]
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "*":
            pieces.append("")
        elif char == "?":
            pieces[-1] += "[^/]"
        elif char == "[":
            expression, at = _bracket(pattern, at)
            pieces[-1] += expression
        else:
            if char == "\\" and at < len(pattern):
                char, at = pattern[at], at + 1
            pieces[-1] += re.escape(char)
    if len(pieces) == 1:
        return pieces[0] + r"\Z"
    middle = "".join(f"(?>.*?{piece})" for piece in pieces[1:-1])
    return f"{pieces[0]}{middle}.*{pieces[-1]}\\Z"


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    end = pattern.find("]", at + 1 if pattern[at : at + 1] != "!" else at + 2)
    if end < 0:
        return re.escape("["), at
    inside = pattern[at:end]
    negated = inside.startswith(("!", "^"))
    body = re.sub(r"([\\\[\]&~|^])", r"\\\1", inside[1:] if negated else inside)
    return f"[{'^/' if negated else ''}{body}]", end + 1


def match_segments(pattern: Sequence[Segment | None], names: Sequence[str]) -> bool:
    """Whether ``pattern`` matches ``names`` or one of the parent folders; None represents ``**``."""
    reached = {0}
    if pattern and pattern[-1] is None:
        return _match_below(pattern[:-1], names)
    for name in names:
        reached = _step(pattern, _skip(pattern, reached), name)
        if len(pattern) in reached:
            return True  # this name, or a folder that contains it
        if not reached:
            break
    return False


def _match_below(pattern: Sequence[Segment | None], names: Sequence[str]) -> bool:
    """``a/**`` matches the content of ``a``, not ``a`` itself."""
    if not pattern:
        return bool(names)
    return match_segments(pattern, names[:-1])


def _skip(pattern: Sequence[Segment | None], states: set[int]) -> set[int]:
    """With the states that ``**`` reaches by matching nothing."""
    todo, closed = list(states), set(states)
    while todo:
        state = todo.pop()
        if state < len(pattern) and pattern[state] is None and state + 1 not in closed:
            closed.add(state + 1)
            todo.append(state + 1)
    return closed


def _step(pattern: Sequence[Segment | None], states: set[int], name: str) -> set[int]:
    after: set[int] = set()
    for state in states:
        if state < len(pattern):
            segment = pattern[state]
            if segment is None:
                after.add(state)
            elif segment.matches(name):
                after.add(state + 1)
    return after


def compile_segments(pattern: str) -> list[Segment | None]:
    """``pattern`` split at slashes; runs of ``**`` are one."""
    compiled: list[Segment | None] = []
    for part in pattern.split("/"):
        if part == ANY_DEPTH:
            if not compiled or compiled[-1] is not None:
                compiled.append(None)
        elif part:
            compiled.append(Segment(part))
    return compiled
