"""What was measured, as a table in the terminal, as Markdown and as JSON."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

OURS = "quarterdeck"
PEER = "claude-agent-sdk"
HEADERS = ("measured", "quarterdeck", "official SDK", "better by", "target", "")


def say(text: str) -> None:
    """A line of progress, apart from the results on stdout."""
    print(f"  · {text}", file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity, measured several times on either side.

    ``target`` is the least factor by which ours has to be better. ``pick`` is what stands for the repetitions: the best
    for what noise can only make worse (processor time, rates), the median for latencies.
    """

    name: str
    unit: str
    ours: Sequence[float]
    peer: Sequence[float] = ()
    better: Literal["lower", "higher"] = "lower"
    target: float | None = None
    pick: Literal["best", "median"] = "best"
    against: str = ""
    """What stands in the place of the official SDK, where it is something else."""

    def value(self, samples: Sequence[float]) -> float:
        if self.pick == "median":
            return statistics.median(samples)
        return min(samples) if self.better == "lower" else max(samples)

    @property
    def factor(self) -> float | None:
        """How many times better ours is."""
        if not self.peer:
            return None
        ours, peer = self.value(self.ours), self.value(self.peer)
        return peer / ours if self.better == "lower" else ours / peer

    @property
    def met(self) -> bool | None:
        return None if self.target is None or self.factor is None else self.factor >= self.target

    def cells(self) -> tuple[str, ...]:
        factor, met = self.factor, self.met
        return (
            self.name,
            self._shown(self.ours),
            f"{self._shown(self.peer)}{f' ({self.against})' if self.against else ''}" if self.peer else "–",
            "–" if factor is None else f"{_number(factor)}×",
            "" if self.target is None else f"≥ {_number(self.target)}×",
            {None: "", True: "met", False: "MISSED"}[met],
        )

    def _shown(self, samples: Sequence[float]) -> str:
        best, worst = self.value(samples), (max(samples) if self.better == "lower" else min(samples))
        spread = abs(worst - best) / best * 100 if best else 0.0
        noise = f" ±{spread:.0f} %" if len(samples) > 1 else ""
        return f"{_number(best)} {self.unit}{noise}"

    def plain(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "unit": self.unit,
            "better": self.better,
            "pick": self.pick,
            "ours": list(self.ours),
            "peer": list(self.peer),
            "against": self.against or PEER,
            "factor": self.factor,
            "target": self.target,
            "met": self.met,
        }


@dataclass(frozen=True, slots=True)
class Section:
    """One table, and the sentences that say how its numbers came about."""

    title: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        table = [HEADERS, *(row.cells() for row in self.rows)]
        widths = [max(len(line[column]) for line in table) for column in range(len(HEADERS))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in table]
        lines.insert(1, "  ".join("─" * width for width in widths))
        return "\n".join([f"\n{self.title}", *(line.rstrip() for line in lines), *self.notes])

    def markdown(self) -> str:
        lines = [f"## {self.title}", "", *_markdown_table(self.rows), ""]
        return "\n".join([*lines, *(f"{note}\n" for note in self.notes)])

    def plain(self) -> dict[str, Any]:
        return {"title": self.title, "rows": [row.plain() for row in self.rows], "notes": self.notes}


def _markdown_table(rows: Iterable[Row]) -> list[str]:
    lines = [HEADERS, ("---",) * len(HEADERS), *(row.cells() for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def _number(value: float) -> str:
    """Three digits that count, thousands apart."""
    if value >= 1000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def machine_facts() -> dict[str, str]:
    """Where this was measured. Absolute numbers mean nothing without it; the factors mean something even so."""
    import msgspec

    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores, load {load} at the start",
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}, msgspec {msgspec.__version__}",
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        if names:
            return names[0]
    return platform.processor() or platform.machine()


def show(sections: Iterable[Section], *, as_json: bool) -> None:
    """To stdout: the tables, or one JSON object."""
    if as_json:
        print(json.dumps({"machine": machine_facts(), "sections": [one.plain() for one in sections]}, indent=2))
        return
    for section in sections:
        print(section.text())
