"""A block of Markdown as coloured lines, drawn by ``rich`` in colours that can be read on dark and on light."""

from __future__ import annotations

import io

from pygments.token import (  # type: ignore[import-untyped]
    Comment,
    Generic,
    Keyword,
    Name,
    Number,
    Operator,
    String,
    Token,
)
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown
from rich.segment import Segment
from rich.style import Style
from rich.syntax import ANSISyntaxTheme, Syntax
from rich.text import Text
from rich.theme import Theme

from .blocks import Block
from .text import safe, unpainted, wrapped

WIDEST = 110
"""Longer lines of prose are tiring to read, however wide the terminal."""
LONGEST_HIGHLIGHT = 20_000
"""Characters of code that are coloured; more costs more time than a frame has."""

CODE_THEME = ANSISyntaxTheme({
    Token: Style(),
    Comment: Style(dim=True),
    Keyword: Style(color="blue", bold=True),
    Keyword.Type: Style(color="cyan"),
    Operator.Word: Style(color="blue", bold=True),
    Name.Builtin: Style(color="cyan"),
    Name.Function: Style(color="magenta"),
    Name.Class: Style(color="magenta", bold=True),
    Name.Decorator: Style(color="magenta"),
    Name.Tag: Style(color="blue"),
    String: Style(color="green"),
    Number: Style(color="cyan"),
    Generic.Deleted: Style(color="red"),
    Generic.Inserted: Style(color="green"),
})  # fmt: skip

THEME = Theme({
    "markdown.h1": Style(bold=True, underline=True),
    "markdown.h2": Style(bold=True, underline=True),
    "markdown.h3": Style(bold=True),
    "markdown.h4": Style(bold=True, italic=True),
    "markdown.code": Style(color="cyan"),
    "markdown.code_block": Style(),
    "markdown.block_quote": Style(italic=True, dim=True),
    "markdown.list": Style(),
    "markdown.item.bullet": Style(color="cyan"),
    "markdown.item.number": Style(color="cyan"),
    "markdown.hr": Style(dim=True),
    "markdown.link": Style(color="blue", underline=True),
    "markdown.link_url": Style(color="blue", underline=True),
    "markdown.table.border": Style(dim=True),
    "markdown.table.header": Style(bold=True),
})  # fmt: skip


class _Heading(Heading):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text


class _Code(CodeBlock):
    """Code inside a list item or a quote; other code comes as a block of its own."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Syntax(str(self.text).rstrip(), self.lexer_name, theme=CODE_THEME, word_wrap=True, padding=(0, 2))


class _Document(Markdown):
    elements = {**Markdown.elements, "heading_open": _Heading, "fence": _Code, "code_block": _Code}  # noqa: RUF012


class MarkdownPainter:
    """Draws blocks at one width, in colour or without."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour
        self._console = Console(
            file=io.StringIO(),
            force_terminal=True,
            color_system="standard" if colour else None,
            legacy_windows=False,
            emoji=False,
            markup=False,
            highlight=False,
            theme=THEME,
            width=80,
        )

    def lines(self, block: Block, width: int) -> list[str]:
        """``block`` in lines of at most ``width`` cells; its gap is the caller's."""
        if block.language is not None:
            return self._code(block, width)
        room = min(width, WIDEST)
        document = _Document(safe(block.source), hyperlinks=False, code_theme="ansi_dark")
        options = self._console.options.update(width=room, height=None)
        drawn = self._console.render_lines(document, options, pad=False)
        return _trimmed([self._joined(line) for line in drawn])

    def _code(self, block: Block, width: int) -> list[str]:
        """Behind a bar, so that it can be told from prose; long lines are wrapped, nothing is lost."""
        text, room = safe(block.source), max(width - 2, 10)
        bar = "\x1b[2m│\x1b[0m " if self._colour else "│ "
        if not self._colour or len(text) > LONGEST_HIGHLIGHT:
            return [f"{bar}{line}" for line in wrapped(text, room)]
        syntax = Syntax(text, block.language or "text", theme=CODE_THEME)
        shown: list[str] = []
        for line in syntax.highlight(text).split("\n")[: text.count("\n") + 1]:
            for piece in _folded(line, room, self._console):
                segments = piece.render(self._console, end="")
                shown.append(bar + self._joined(list(segments)))
        return shown

    def _joined(self, segments: list[Segment]) -> str:
        system = self._console._color_system
        return "".join(
            segment.style.render(segment.text, color_system=system) if segment.style and self._colour else segment.text
            for segment in segments
            if not segment.control
        ).rstrip()


def _folded(line: Text, width: int, console: Console) -> list[Text]:
    if cell_len(line.plain) <= width:
        return [line]
    return list(line.wrap(console, width, overflow="fold", no_wrap=False))


def _trimmed(lines: list[str]) -> list[str]:
    """Without the empty lines, coloured or not, that are drawn around a table."""
    while lines and not unpainted(lines[0]).strip():
        lines.pop(0)
    while lines and not unpainted(lines[-1]).strip():
        lines.pop()
    return lines
