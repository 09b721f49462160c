"""Markdown that needs a real parser, drawn by ``rich`` in the colours of ``Look``."""

from __future__ import annotations

import io

from markdown_it import MarkdownIt
from rich.color import Color
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from quarterdeck.cli.common.look import INDEXED, RGB, has_true_colour

from .code import code_lines
from .text import unpainted


def _colour(name: str) -> Color:
    return Color.from_rgb(*RGB[name]) if has_true_colour() else Color.from_ansi(INDEXED[name])


_DIM, _CYAN, _BLUE = _colour("dim"), _colour("cyan"), _colour("blue")
THEME = Theme({
    "markdown.h1": Style(bold=True, underline=True),
    "markdown.h2": Style(bold=True, underline=True),
    "markdown.h3": Style(bold=True),
    "markdown.h4": Style(bold=True, italic=True),
    "markdown.code": Style(color=_CYAN),
    "markdown.code_block": Style(),
    "markdown.block_quote": Style(italic=True, color=_DIM),
    "markdown.list": Style(),
    "markdown.item.bullet": Style(color=_CYAN),
    "markdown.item.number": Style(color=_CYAN),
    "markdown.hr": Style(color=_DIM),
    "markdown.link": Style(color=_BLUE, underline=True),
    "markdown.link_url": Style(color=_BLUE, underline=True),
    "markdown.table.border": Style(color=_DIM),
    "markdown.table.header": Style(bold=True),
})  # fmt: skip


class _Heading(Heading):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text


class _Code(CodeBlock):
    """Code inside a list item or a quote; other code is a separate block."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in code_lines(str(self.text).rstrip(), self.lexer_name):
            yield Text("│ ", style=Style(color=_DIM)) + Text.from_ansi(line)


class _Document(Markdown):
    elements = {**Markdown.elements, "heading_open": _Heading, "fence": _Code, "code_block": _Code}  # noqa: RUF012


class RichMarkdown:
    def __init__(self, *, colour: bool) -> None:
        self._colour = colour
        self._parser = MarkdownIt().enable("strikethrough").enable("table")
        self._console = Console(
            file=io.StringIO(),
            force_terminal=True,
            color_system=("truecolor" if has_true_colour() else "256") if colour else None,
            legacy_windows=False,
            emoji=False,
            markup=False,
            highlight=False,
            theme=THEME,
            width=80,
        )

    def lines(self, text: str, width: int) -> list[str]:
        """Safe text in lines of at most ``width`` cells."""
        document = _Document("", hyperlinks=False)
        document.parsed = self._parser.parse(text)  # faster than building its parser each time
        options = self._console.options.update(width=width, height=None)
        drawn = self._console.render_lines(document, options, pad=False)
        return _trimmed([self._joined(line) for line in drawn])

    def _joined(self, segments: list[Segment]) -> str:
        system = self._console._color_system
        return "".join(
            segment.style.render(segment.text, color_system=system) if segment.style and self._colour else segment.text
            for segment in segments
            if not segment.control
        ).rstrip()


def _trimmed(lines: list[str]) -> list[str]:
    """Without the empty lines that rich draws around a table."""
    while lines and not unpainted(lines[0]).strip():
        lines.pop(0)
    while lines and not unpainted(lines[-1]).strip():
        lines.pop()
    return lines
