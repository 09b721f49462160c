"""Docstrings of the host's structs as comments of a ``.proto`` file."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from functools import cache
from itertools import pairwise

WIDTH = 118


def comment(text: str, indent: int = 0) -> str:
    """A text as lines of comment; nothing for no text."""
    start = " " * indent + "// "
    paragraphs = text.replace("``", "`").split("\n\n")
    lines: list[str] = []
    for number, paragraph in enumerate(paragraphs if text else []):
        if number:
            lines.append(start.rstrip())
        lines += textwrap.wrap(" ".join(paragraph.split()), WIDTH, initial_indent=start, subsequent_indent=start)
    return "".join(f"{line}\n" for line in lines)


def doc_of(struct: type) -> str:
    return inspect.cleandoc(struct.__doc__ or "")


def field_docs(struct: type) -> dict[str, str]:
    """The text below each field, also of the classes it inherits from."""
    docs: dict[str, str] = {}
    for cls in reversed(struct.__mro__):
        docs |= _own_docs(cls.__module__).get(cls.__name__, {})
    return docs


@cache
def _own_docs(module: str) -> dict[str, dict[str, str]]:
    if not module.startswith("quarterdeck."):
        return {}
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    found: dict[str, dict[str, str]] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = dict(_documented(node.body))
    return found


def _documented(body: list[ast.stmt]) -> list[tuple[str, str]]:
    docs = []
    for field, below in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            docs.append((field.target.id, inspect.cleandoc(below.value.value)))
    return docs
