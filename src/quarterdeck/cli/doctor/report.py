"""The findings for a person and for a machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from textwrap import wrap
from typing import Any

from quarterdeck.cli.common import Look, plain

from .finding import Finding

_SIGNS = {"ok": ("✓", "+", "green"), "warning": ("!", "!", "yellow"), "problem": ("✗", "x", "red")}
WIDEST = 110


def as_json(findings: Sequence[Finding]) -> dict[str, Any]:
    return {
        "ok": not _count(findings, "problem"),
        "problems": _count(findings, "problem"),
        "warnings": _count(findings, "warning"),
        "findings": [asdict(finding) for finding in findings],
    }


def _count(findings: Sequence[Finding], level: str) -> int:
    return sum(finding.level == level for finding in findings)


def lines(findings: Sequence[Finding], look: Look, *, quiet: bool) -> Iterator[str]:
    """In their areas, each with its sign, and what to do below it."""
    shown = [finding for finding in findings if not quiet or finding.level != "ok"]
    area = ""
    for finding in shown:
        if finding.area != area:
            if area:
                yield ""
            area = finding.area
            yield look.paint("bold", area[:1].upper() + area[1:])
        yield from _finding(finding, look)
    if shown:
        yield ""
    yield _verdict(findings, look)


def _finding(finding: Finding, look: Look) -> Iterator[str]:
    pretty, simple, style = _SIGNS[finding.level]
    width = max(min(look.width, WIDEST) - 4, 20)
    first, *rest = _wrapped(finding.what, width)
    yield f"  {look.paint(style, look.sign(pretty, simple))} {first}"
    yield from (f"    {line}" for line in rest)
    if finding.do:
        arrow = look.sign("→", "->")
        told = _wrapped(finding.do, width - len(arrow) - 1)
        yield f"    {look.paint('bold', arrow)} {told[0]}"
        yield from (f"    {' ' * len(arrow)} {line}" for line in told[1:])


def _wrapped(text: str, width: int) -> list[str]:
    found: list[str] = []
    for line in plain(text).split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        found += wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return found or [""]


def _verdict(findings: Sequence[Finding], look: Look) -> str:
    problems, warnings = _count(findings, "problem"), _count(findings, "warning")
    told = [
        f"{count} {word}{'s' if count != 1 else ''}" for count, word in ((problems, "problem"), (warnings, "warning"))
    ]
    if problems:
        return look.paint("bold red", ", ".join(told))
    return look.paint("bold green", "Ready.") + (f" {told[1]}" if warnings else "")
