"""What a partly known word could be: its shape.

A shape is text in which ``ANY`` represents any text, ``NAME`` any without a slash, ``ONE`` any one character. Variables
that the command itself sets, ``$HOME``, ``$PWD`` and ``~`` are filled in; globs, braces and everything else leave a
gap. Two shapes match if some text fits both: when in doubt, they do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from .words import read_word

ANY: Final = "\ue000"
ONE: Final = "\ue001"
NAME: Final = "\ue002"
MAX_ALTERNATIVES = 8
MAX_WORK = 4_000
"""Steps in comparing two shapes; beyond that they are taken for equal."""

_VARIABLE: Final = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_GAPS: Final = re.compile(f"[{ANY}{NAME}]*{ANY}[{ANY}{NAME}]*")
_BRACKETS: Final = re.compile(r"\[[!^]?\]?(?:\[[:.=][^\]]*[:.=]\]|[^\]])*\]", re.DOTALL)
"""``[[:alpha:]]`` is one character."""
_GLOB: Final = re.compile(r"\*\*/?|\*|\?|\[[^\]/]+\]|\\(.)", re.DOTALL)


def shapes(text: str, values: Mapping[str, Sequence[str]]) -> list[str]:
    """The shapes of a word as written; ``values`` are the known values of variables."""
    found = _Shaper(text, values).run()
    return [_GAPS.sub(ANY, shape) for shape in dict.fromkeys(found)]


class _Shaper:
    def __init__(self, text: str, values: Mapping[str, Sequence[str]]) -> None:
        self.text, self.values = text, values
        self.at = 0
        self.out = [""]

    def run(self) -> list[str]:
        if self.text.startswith(("~", "=")):
            self._tilde()
        while self.at < len(self.text):
            self._next()
        return self.out

    def _add(self, *texts: str) -> None:
        longer = [shape + text for shape in self.out for text in texts]
        self.out = longer if len(longer) <= MAX_ALTERNATIVES else [shape + ANY for shape in self.out]

    def _tilde(self) -> None:
        end = re.compile(r"[^/]*").match(self.text)
        first = end[0] if end else ""
        self.at = len(first)
        self._add(*(self.values.get("HOME", (ANY,)) if first == "~" else (ANY,)))

    def _next(self) -> None:
        char = self.text[self.at]
        if char == "\\":
            self._add(self.text[self.at + 1 : self.at + 2].replace("\n", ""))
            self.at += 2
        elif char == "'" or self.text.startswith("$'", self.at):
            self._quoted()
        elif char == '"':
            self._double()
        elif char in "$`":
            self._expansion()
        elif char in "*?[{(!^#<>|":
            self._glob(char)
        else:
            self._add(char)
            self.at += 1

    def _quoted(self) -> None:
        start = self.at
        self.at = self.text.find("'", start + 1 + (self.text[start] == "$"))
        if self.text[start] == "$":
            while self.at > 0 and self.text[self.at - 1] == "\\":
                self.at = self.text.find("'", self.at + 1)
        self.at = self.at + 1 if self.at >= 0 else len(self.text)
        self._add(read_word(self.text[start : self.at]).hint)

    def _double(self) -> None:
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != '"':
            char = self.text[self.at]
            if char == "\\":
                self._add(self.text[self.at + 1 : self.at + 2])
                self.at += 2
            elif char in "$`":
                self._expansion()
            else:
                self._add(char)
                self.at += 1
        self.at += 1

    def _expansion(self) -> None:
        named = _VARIABLE.match(self.text, self.at)
        if named:
            self.at = named.end()
            self._add(*(self.values.get(named[1] or named[2]) or (ANY,)))
            return
        opening = self.text[self.at : self.at + 2]
        closing = {"${": "}", "$(": ")", "$[": "]"}.get(opening, "`" if opening[0] == "`" else "")
        if closing:
            end = self.text.find("`", self.at + 1) if closing == "`" else self.text.rfind(closing)
            self.at = end + 1 if end > self.at else len(self.text)
        else:
            self.at += 2
        self._add(ANY)

    def _end_of_group(self, char: str) -> int:
        if char == "[":
            found = _BRACKETS.match(self.text, self.at)
            return found.end() - 1 if found else -1
        return _balanced(self.text, self.at) if char in "{(" else -1

    def _glob(self, char: str) -> None:
        end = self._end_of_group(char)
        self.at = end + 1 if end > 0 else self.at + 1
        if char == "*":
            deep = self.text.startswith("*", self.at)
            self._add(ANY if deep else NAME)
        else:
            self._add(ONE if char == "?" or (char == "[" and end > 0) else ANY)


def _balanced(text: str, start: int) -> int:
    """Where the brace or parenthesis at ``start`` is closed; -1 if nowhere."""
    opening, closing, depth = text[start], {"{": "}", "(": ")"}[text[start]], 0
    for at in range(start, len(text)):
        depth += (text[at] == opening) - (text[at] == closing)
        if depth == 0:
            return at
    return -1


def shape_of_glob(glob: str) -> str:
    """A rule's pattern as a shape."""
    return _GAPS.sub(ANY, _GLOB.sub(_gap, glob))


def _gap(found: re.Match[str]) -> str:
    if found[1] is not None:
        return found[1]
    if found[0][0] in "?[":
        return ONE
    return ANY if found[0].startswith("**") else NAME


def is_known(shape: str) -> bool:
    return ANY not in shape and ONE not in shape and NAME not in shape


def overlap(one: str, other: str) -> bool:
    """Whether some text has both shapes."""
    head, tail = _ends(one)
    other_head, other_tail = _ends(other)
    if not (head.startswith(other_head) or other_head.startswith(head)):
        return False
    if not (tail.endswith(other_tail) or other_tail.endswith(tail)):
        return False
    return _overlap(one, other)


def _ends(shape: str) -> tuple[str, str]:
    """What it begins and ends with for certain; all of it where there is no gap."""
    parts = re.split(f"[{ANY}{NAME}{ONE}]", shape)
    return parts[0], parts[-1]


def _overlap(one: str, other: str) -> bool:
    todo, seen = [(0, 0)], {(0, 0)}
    while todo:
        if len(seen) > MAX_WORK:
            return True
        left, right = todo.pop()
        if left == len(one) and right == len(other):
            return True
        first = one[left] if left < len(one) else ""
        second = other[right] if right < len(other) else ""
        steps = [(left + 1, right + 1)] if _same(first, second) else []
        if first in (ANY, NAME):
            steps += [(left + 1, right), *([(left, right + 1)] if _fits(first, second) else [])]
        if second in (ANY, NAME):
            steps += [(left, right + 1), *([(left + 1, right)] if _fits(second, first) else [])]
        for step in steps:
            if step not in seen:
                seen.add(step)
                todo.append(step)
    return False


def _same(first: str, second: str) -> bool:
    return bool(first and second) and (first == second or (ONE in (first, second) and "/" not in (first, second)))


def _fits(gap: str, char: str) -> bool:
    """Whether ``gap`` may contain ``char``, which may be a gap itself."""
    return char != "" and (gap == ANY or char != "/")
