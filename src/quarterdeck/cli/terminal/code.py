"""Syntax highlighting in the few colours of ``Look``."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from pygments.lexers import find_lexer_class_for_filename, get_lexer_by_name  # type: ignore[import-untyped]
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
from pygments.util import ClassNotFound  # type: ignore[import-untyped]

from quarterdeck.cli.common.look import codes_of

LONGEST = 20_000
"""Longer code is not highlighted: that would take longer than a frame."""
_NAME = re.compile(r"[\w+#.-]{1,40}")
_STYLES: dict[Any, str] = {
    Token: "",
    Comment: "dim",
    Keyword: "bold blue",
    Keyword.Type: "cyan",
    Operator.Word: "bold blue",
    Name.Builtin: "cyan",
    Name.Function: "magenta",
    Name.Class: "bold magenta",
    Name.Decorator: "magenta",
    Name.Tag: "blue",
    String: "green",
    Number: "cyan",
    Generic.Deleted: "red",
    Generic.Inserted: "green",
}
Span = tuple[str, str]
"""Text and its colour codes ("" for none)."""


def code_lines(code: str, language: str) -> list[str]:
    """The lines of ``code``, highlighted if the language is known."""
    return ["".join(_painted(text, codes) for text, codes in line) for line in code_spans(code, language)]


def code_spans(code: str, language: str) -> list[list[Span]]:
    """The same, as spans."""
    lexer = _lexer(language) if len(code) <= LONGEST else None
    if lexer is None:
        return [[(line, "")] for line in code.split("\n")]
    lines: list[list[Span]] = [[]]
    for kind, text in lexer.get_tokens(code):
        codes = _code_of(kind)
        first, *rest = text.split("\n")
        if first:
            lines[-1].append((first, codes))
        lines += [[(line, codes)] if line else [] for line in rest]
    return lines[: code.count("\n") + 1]


@cache
def language_of(path: str) -> str:
    """The language of a file, by its name; "" if unknown."""
    found = find_lexer_class_for_filename(path.rpartition("/")[2])
    return found.aliases[0] if found is not None and found.aliases else ""


def _painted(text: str, codes: str) -> str:
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


@cache
def _code_of(kind: Any) -> str:
    while kind not in _STYLES:
        kind = kind.parent
    return codes_of(_STYLES[kind])


@cache
def _known(language: str) -> Any:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _lexer(language: str) -> Any:
    """Cache only plausible names: a model may invent any number of languages."""
    return _known(language.lower()) if _NAME.fullmatch(language) and _known.cache_info().currsize < 1_000 else None
