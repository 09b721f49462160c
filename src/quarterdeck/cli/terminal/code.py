"""Syntax highlighting in a few colours that are readable on dark and light backgrounds."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
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

LONGEST = 20_000
"""Longer code is not highlighted: that would take longer than a frame."""
_NAME = re.compile(r"[\w+#.-]{1,40}")
_CODES: dict[Any, str] = {
    Token: "",
    Comment: "2",
    Keyword: "1;34",
    Keyword.Type: "36",
    Operator.Word: "1;34",
    Name.Builtin: "36",
    Name.Function: "35",
    Name.Class: "1;35",
    Name.Decorator: "35",
    Name.Tag: "34",
    String: "32",
    Number: "36",
    Generic.Deleted: "31",
    Generic.Inserted: "32",
}


def code_lines(code: str, language: str) -> list[str]:
    """The lines of ``code``, highlighted if the language is known."""
    lexer = _lexer(language) if len(code) <= LONGEST else None
    if lexer is None:
        return code.split("\n")
    lines = [""]
    for kind, text in lexer.get_tokens(code):
        codes = _code_of(kind)
        first, *rest = text.split("\n")
        lines[-1] += _painted(first, codes)
        lines += [_painted(line, codes) for line in rest]
    return lines[: code.count("\n") + 1]


def _painted(text: str, codes: str) -> str:
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


@cache
def _code_of(kind: Any) -> str:
    while kind not in _CODES:
        kind = kind.parent
    return _CODES[kind]


@cache
def _known(language: str) -> Any:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _lexer(language: str) -> Any:
    """Cache only plausible names: a model may invent any number of languages."""
    return _known(language.lower()) if _NAME.fullmatch(language) and _known.cache_info().currsize < 1_000 else None
