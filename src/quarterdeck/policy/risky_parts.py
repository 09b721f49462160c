"""Where the risk of a shell command is: the parts that a person should look at before allowing it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from . import programs, risk
from .decision import RiskLevel
from .program_names import program_name
from .shell import MAX_LENGTH, MAX_WORK, OPERATORS, parse_tree

if TYPE_CHECKING:
    from tree_sitter import Node

Span = tuple[int, int]
_HARMLESS_TARGET = re.compile(
    rb"(?:[0-9]*(?:>>?|>\||&>>?)\s*/dev/(?:null|stdout|stderr)|[0-9]*[<>]&[0-9-]+|<[^(].*)\Z", re.DOTALL
)
_WITH_SUBCOMMANDS = frozenset({"git", *risk.INSTALLERS})
_NESTED = frozenset({"command_substitution", "process_substitution"})
MAX_WORDS = 1_000
"""In longer commands, what ``find`` runs is not looked at: each ``-exec`` is read to the end."""
_WITHOUT_GRAMMAR = re.compile(
    r"(?<![\w./-])(?:sudo|doas|su|rm|rmdir|shred|dd|mkfs[.\w]*|chmod|chown|curl|wget|ssh|scp|eval|source)(?![\w.-])"
    r"(?:[ \t]+-[\w-]+)*"
    r"|\|[ \t]*(?:sudo[ \t]+)?(?:ba|z|da|k)?sh(?![\w.-])|(?<![0-9<>&=-])>{1,2}(?![>&(])[ \t]*(?!/dev/null)[^\s;&|]+"
    r"|\$\([^)]*\)?|`[^`]*`?|[<>]\([^)]*\)?"
)
"""Roughly the same, for commands that the grammar does not read."""


def risky_parts(command: str) -> list[Span]:
    """Begin and end of each part, in order, without overlaps."""
    found = list(_found(command))
    found += [match.span() for match in risk.SECRETS.finditer(command)]
    merged: list[Span] = []
    for begin, end in sorted(found):
        while begin < end and command[begin] in " \t\n":
            begin += 1
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        elif begin < end:
            merged.append((begin, end))
    return merged


def _found(command: str) -> Iterator[Span]:
    too_large = len(command) > MAX_LENGTH or len(command) * len(OPERATORS.findall(command)) > MAX_WORK
    try:
        source = command.encode()
        root = None if too_large else parse_tree(source)
    except (ImportError, UnicodeEncodeError):
        root = None
    if root is None:
        yield from (match.span() for match in _WITHOUT_GRAMMAR.finditer(command))
        return
    for begin, end in _in_tree(root, source):
        yield len(source[:begin].decode(errors="replace")), len(source[:end].decode(errors="replace"))


def _in_tree(root: Node, source: bytes) -> Iterator[Span]:
    todo = [root]
    while todo:
        node = todo.pop()
        todo += node.children
        begin, end = node.start_byte, node.end_byte
        if node.type == "command":
            yield from _of_command(node, source)
        elif node.type in _NESTED or (node.type == "file_redirect" and not _HARMLESS_TARGET.match(source, begin, end)):
            yield begin, end
        elif node.type == "pipeline":
            yield from _into_a_shell(node, source)


def _of_command(node: Node, source: bytes) -> Iterator[Span]:
    """The program and the options right after it, and so on for what ``sudo`` or ``find -exec`` runs."""
    words = [child for child in node.children if child.type not in ("variable_assignment", "file_redirect")]
    if not words:
        return
    texts = [source[word.start_byte : word.end_byte].decode(errors="replace") for word in words]
    todo, seen = [0], {0}
    while todo:
        at = todo.pop()
        found: list[tuple[RiskLevel, str]] = []
        risk.of_program(texts[at:], found)
        end = at + 1 + (program_name(texts[at]) in _WITH_SUBCOMMANDS and at + 1 < len(texts))
        while end < len(texts) and texts[end].startswith("-"):
            end += 1
        if found:
            yield words[at].start_byte, words[end - 1].end_byte
        if program_name(texts[at]) in programs.OPAQUE and end < len(texts):
            todo.append(end)
        elif len(texts) <= MAX_WORDS:
            starts = {at + begin for begin, _ in risk.executed(texts[at:])}
            todo += starts - seen
            seen |= starts


def _into_a_shell(node: Node, source: bytes) -> Iterator[Span]:
    """``… | sh``, with the bar."""
    for bar, after in zip(node.children, node.children[1:], strict=False):
        text = source[after.start_byte : after.end_byte].decode(errors="replace").split()
        names = [program_name(word) for word in text]
        wrapped = names[:1] and names[0] in programs.OPAQUE
        if bar.type in ("|", "|&") and not programs.SHELLS.isdisjoint(names if wrapped else names[:1]):
            yield bar.start_byte, after.end_byte
