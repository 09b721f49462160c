"""What the doctor finds, and how it is reported: as text or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from textwrap import wrap
from typing import Any, Literal

from quarterdeck.cli.common import Look, sanitize

Level = Literal["ok", "warning", "problem"]
Area = Literal["Claude Code", "login", "environment", "machine", "Python"]
_SIGNS = {"ok": ("✓", "+", "green"), "warning": ("!", "!", "yellow"), "problem": ("✗", "x", "red")}
WIDEST = 110


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """The outcome of one check. Anything that is not ok says what to ``do``."""

    area: Area
    id: str
    """Stable, for programs: ``cli-found``, ``login`` …"""
    level: Level
    what: str
    do: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.level == "ok") == bool(self.do):
            raise ValueError(f"{self.id}: a finding says what to do if, and only if, it is not ok")


def as_json(findings: Sequence[DoctorFinding]) -> dict[str, Any]:
    return {
        "ok": not _count(findings, "problem"),
        "problems": _count(findings, "problem"),
        "warnings": _count(findings, "warning"),
        "findings": [asdict(finding) for finding in findings],
    }


def _count(findings: Sequence[DoctorFinding], level: str) -> int:
    return sum(finding.level == level for finding in findings)


def lines(findings: Sequence[DoctorFinding], look: Look, *, quiet: bool) -> Iterator[str]:
    """Grouped by area; what to do follows each finding."""
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


def _finding(finding: DoctorFinding, look: Look) -> Iterator[str]:
    pretty, simple, style = _SIGNS[finding.level]
    width = max(min(look.width, WIDEST) - 4, 20)
    first, *rest = _wrapped(finding.what, width)
    yield f"  {look.paint(style, look.sign(pretty, simple))} {first}"
    yield from (f"    {line}" for line in rest)
    if finding.do:
        arrow = look.sign("→", "->")
        advice = _wrapped(finding.do, width - len(arrow) - 1)
        yield f"    {look.paint('bold', arrow)} {advice[0]}"
        yield from (f"    {' ' * len(arrow)} {line}" for line in advice[1:])


def _wrapped(text: str, width: int) -> list[str]:
    found: list[str] = []
    for line in sanitize(text).split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        found += wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return found or [""]


def _verdict(findings: Sequence[DoctorFinding], look: Look) -> str:
    problems, warnings = _count(findings, "problem"), _count(findings, "warning")
    counts = [f"{n} {word}{'s' if n != 1 else ''}" for n, word in ((problems, "problem"), (warnings, "warning"))]
    if problems:
        return look.paint("bold red", ", ".join(counts))
    return look.paint("bold green", "Ready.") + (f" {counts[1]}" if warnings else "")
