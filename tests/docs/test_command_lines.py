"""Every command line on a page is one that the command understands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from looping import for_each

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"```(?:sh|console)?\n(.*?)```", re.DOTALL)
AFTER = {"--", "|", "||", "&&", ";", ">", "<", "&", "(", ")", ')"'}
"""What ends a command line of ours: another program begins."""
FOREIGN = {"sim"}
"""Takes the command line of ``claude`` itself."""


def command_lines() -> Iterator[tuple[str, str]]:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for block in FENCE.findall(page.read_text("utf-8")):
            for line in re.findall(r"^(?:\$ |.*\| )?(quarterdeck [a-z].*)$", block, re.MULTILINE):
                yield page.name, line


LINES = sorted(set(command_lines()))


def words_of(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if word in AFTER:
            break
        words.append(word)
    return words


def test_there_are_command_lines_on_the_pages() -> None:
    assert len(LINES) > 40


@for_each(("page", "line"), LINES)
def test_a_command_line_of_a_page_is_understood(page: str, line: str) -> None:
    _, command, *words = words_of(line)
    module = import_module(f"quarterdeck.cli.{command}")
    if command not in FOREIGN and "…" not in line and "[options]" not in line:
        module.parser().parse_args(words)
