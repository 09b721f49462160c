"""A Markdown block as coloured lines: paragraphs, lists and code here, tables and quotes with ``rich``."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from quarterdeck.cli.common import cells
from quarterdeck.cli.common.look import codes_of

from .inline import wrap
from .markdown_blocks import MarkdownBlock
from .text import painted_wrap, safe, wrapped

if TYPE_CHECKING:
    from .markdown_rich import RichMarkdown

WIDEST = 110
"""Longer lines are hard to read, even on a wide terminal."""
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*$")
_ITEM = re.compile(r"^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$")
_RULE = re.compile(r"^ {0,3}([-*_])( *\1){2,} *$")
_HARD = re.compile(r"^(\s*>|\s*\||\s*<[a-zA-Z/!]|\s{4,}\S|.*\n\s*(=+|-+)\s*$|\[[^\]]+\]:)", re.MULTILINE)
"""Quotes, tables, HTML, indented code, underlined headings, link definitions."""


class MarkdownPainter:
    """Draws blocks, with or without colour."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    def lines(self, block: MarkdownBlock, width: int) -> list[str]:
        """``block`` in lines of at most ``width`` cells; the caller adds its gap."""
        text = safe(block.source)
        if block.language is not None:
            return self._code(text, block.language, width)
        room = min(width, WIDEST)
        heading = _HEADING.match(text)
        if heading is not None and "\n" not in text:
            return wrap(heading[2], room, colour=self._colour, codes="1;4" if len(heading[1]) < 3 else "1")
        if _RULE.match(text):
            return [self._painted(codes_of("dim"), "─" * min(room, 40))]
        if "\n\n" not in text and _ITEM.match(text.partition("\n")[0]):
            return self._list(text, room)
        if "\n\n" in text or _HARD.search(text):
            # rich measures letters with a joiner between them as one, like emoji: measure again
            return [piece for line in self._rich.lines(text, room) for piece in painted_wrap(line, room)]
        return wrap(text, room, colour=self._colour)

    def _list(self, text: str, width: int) -> list[str]:
        items: list[tuple[int, str, str]] = []
        for line in text.split("\n"):
            found = _ITEM.match(line)
            if found is not None:
                items.append((len(found[1]), found[2], found[3]))
            else:
                depth, mark, said = items[-1]
                items[-1] = depth, mark, f"{said}\n{line.strip()}"
        shown: list[str] = []
        for depth, mark, said in items:
            bullet = f"{' ' * min(depth, 20)} {'•' if mark in '-*+' else mark} "
            first, *rest = wrap(said, max(width - cells(bullet), 10), colour=self._colour)
            shown.append(f"{self._painted(codes_of('cyan'), bullet)}{first}")
            shown += [" " * cells(bullet) + line for line in rest]
        return shown

    def _code(self, text: str, language: str, width: int) -> list[str]:
        """After a bar, to distinguish it from prose; long lines are wrapped."""
        bar, room = self._painted(codes_of("dim"), "│") + " ", max(width - 2, 10)
        if not self._colour:
            return [f"{bar}{line}" for line in wrapped(text, room)]
        from .code import code_lines

        return [f"{bar}{piece}" for line in code_lines(text, language) for piece in painted_wrap(line, room)]

    def _painted(self, codes: str, text: str) -> str:
        return f"\x1b[{codes}m{text}\x1b[0m" if self._colour else text

    @cached_property
    def _rich(self) -> RichMarkdown:
        from .markdown_rich import RichMarkdown

        return RichMarkdown(colour=self._colour)
