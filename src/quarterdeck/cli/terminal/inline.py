"""Inline Markdown (emphasis, code, links) as coloured, wrapped text.

Most of what a model writes is simple paragraphs and lists, up to a thousand per second; this draws them a hundred times
faster than a full Markdown parser, which ``markdown_rich`` uses for the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import east_asian_width

from quarterdeck.cli.common import cells
from quarterdeck.cli.common.look import codes_of

Span = tuple[str, str]
"""Text and its colour codes ("" for none)."""

_SPAN = re.compile(
    r"\\(?P<escaped>[\\`*_{}\[\]()#+.!|~<>-])"
    r"|(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)"
    r"|!?\[(?P<label>[^\[\]]*)\]\((?P<url>[^()\s]+)(?:\s+\"[^\"]*\")?\)"
    r"|<(?P<auto>https?://[^<>\s]+)>"
    r"|(?P<strong>\*\*|(?<!\w)__)(?=\S)(?P<bold>.+?)(?<=\S)(?P=strong)"
    r"|(?P<em>\*|(?<!\w)_)(?=[^\s*_])(?P<italic>[^*_]*?[^\s*_])(?P=em)(?!\w)"
    r"|~~(?=\S)(?P<struck>.+?)(?<=\S)~~",
    re.DOTALL,
)
_SPECIAL = re.compile(r"[\\`*_\[~<]")
_WORDS = re.compile(r"\s+|\S+")
CODE, LINK, BOLD, ITALIC, STRUCK = codes_of("cyan"), codes_of("blue underline"), "1", "3", "9"


def spans(text: str, codes: str = "") -> Iterator[Span]:
    """The spans of ``text`` with their colours."""
    if _SPECIAL.search(text) is None:
        yield text, codes
        return
    end = 0
    for found in _SPAN.finditer(text):
        if found.start() > end:
            yield text[end : found.start()], codes
        end = found.end()
        yield from _span(found, codes)
    if end < len(text):
        yield text[end:], codes


def _span(found: re.Match[str], codes: str) -> Iterator[Span]:
    groups = found.groupdict()
    if groups["escaped"] is not None:
        yield groups["escaped"], codes
    elif groups["code"] is not None:
        yield groups["code"].strip(" ") or groups["code"], _joined(codes, CODE)
    elif groups["url"] is not None:
        label, url = groups["label"], groups["url"]
        if label and label != url:
            yield from spans(label, codes)
            yield " (", codes
            yield url, _joined(codes, LINK)
            yield ")", codes
        else:
            yield url, _joined(codes, LINK)
    elif groups["auto"] is not None:
        yield groups["auto"], _joined(codes, LINK)
    elif groups["bold"] is not None:
        yield from spans(groups["bold"], _joined(codes, BOLD))
    elif groups["italic"] is not None:
        yield from spans(groups["italic"], _joined(codes, ITALIC))
    else:
        yield from spans(groups["struck"], _joined(codes, STRUCK))


def _joined(codes: str, more: str) -> str:
    return f"{codes};{more}" if codes else more


def wrap(text: str, width: int, *, colour: bool, codes: str = "") -> list[str]:
    """``text`` as coloured lines of at most ``width`` cells."""
    line = _LineFiller(width, colour=colour)
    for piece, its_codes in spans(text, codes):
        for word in _WORDS.findall(piece):
            if word.isspace():
                line.blank(breaks=word.count("  \n") if "\n" in word else 0)
            else:
                line.add(word, its_codes)
    return line.lines()


class _LineFiller:
    """Fills lines word by word. A word may consist of several spans and is kept together."""

    def __init__(self, width: int, *, colour: bool) -> None:
        self._width = width
        self._colour = colour
        self._done: list[str] = []
        self._current: list[Span] = []
        self._used = 0
        self._word: list[Span] = []
        self._word_cells = 0
        self._space = False

    def add(self, text: str, codes: str) -> None:
        self._word.append((text, codes))
        self._word_cells += cells(text)

    def blank(self, *, breaks: int) -> None:
        self._put()
        self._space = self._used > 0
        if breaks:
            self._end()

    def _put(self) -> None:
        if not self._word:
            return
        room = self._width - self._used - self._space
        if self._word_cells <= room:
            self._take(self._word, self._word_cells)
        elif self._word_cells <= self._width and not any(_breaks_anywhere(text) for text, _ in self._word):
            self._end()
            self._take(self._word, self._word_cells)
        else:
            self._split()
        self._word, self._word_cells = [], 0

    def _take(self, word: list[Span], size: int) -> None:
        if self._space:
            before = self._current[-1][1] if self._current else ""
            self._current.append((" ", before if before == word[0][1] else ""))
            self._used += 1
        self._space = False
        self._current += word
        self._used += size

    def _split(self) -> None:
        """A word that is longer than a line, or in a script that breaks anywhere."""
        for text, codes in self._word:
            begin, size = 0, 0
            for index, character in enumerate(text):
                wide = cells(character)
                if self._used + self._space + size + wide > self._width:
                    if index > begin:
                        self._take([(text[begin:index], codes)], size)
                    self._end()
                    begin, size = index, 0
                size += wide
            self._take([(text[begin:], codes)], size)

    def _end(self) -> None:
        self._done.append(self._painted())
        self._current, self._used, self._space = [], 0, False

    def _painted(self) -> str:
        if not self._colour:
            return "".join(text for text, _ in self._current)
        return "".join(f"\x1b[{codes}m{text}\x1b[0m" if codes else text for text, codes in self._current)

    def lines(self) -> list[str]:
        self._put()
        if self._current or not self._done:
            self._end()
        return self._done


def _breaks_anywhere(text: str) -> bool:
    return not text.isascii() and any(east_asian_width(character) in "WF" for character in text)
