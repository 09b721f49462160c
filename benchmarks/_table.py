"""What was measured, as a table in the terminal, as Markdown and as JSON."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

OURS = "quarterdeck"
PEER = "claude-agent-sdk"


def say(text: str) -> None:
    """A line of progress, apart from the results on stdout."""
    print(f"  · {text}", file=sys.stderr, flush=True)


def quartiles(samples: Sequence[float]) -> tuple[float, float, float]:
    """Where a quarter, half and three quarters of the samples lie below. One odd round moves none of them."""
    if len(samples) == 1:
        return samples[0], samples[0], samples[0]
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return low, middle, high


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity, measured in rounds: in each round once on either side, one after the other.

    What counts is the factor of each round, because what else the machine does falls on both sides of a round alike.
    ``target`` is the least factor by which ours has to be better, ``most`` the most that ours may be.
    """

    HEADERS: ClassVar[tuple[str, ...]] = ("measured", "quarterdeck", "official SDK", "better by", "target", "")

    name: str
    unit: str
    ours: Sequence[float]
    peer: Sequence[float] = ()
    better: Literal["lower", "higher"] = "lower"
    target: float | None = None
    most: float | None = None
    against: str = ""
    """What stands in the place of the official SDK, where it is something else."""

    @property
    def factors(self) -> list[float]:
        """How many times better ours is, round by round; by the medians, if the sides had rounds of their own."""
        ours, peer = self.ours, self.peer
        if peer and len(ours) != len(peer):
            ours, peer = [statistics.median(ours)], [statistics.median(peer)]
        pairs = zip(ours, peer, strict=True) if peer else ()
        return [peer / ours if self.better == "lower" else ours / peer for ours, peer in pairs]

    @property
    def factor(self) -> float | None:
        return quartiles(self.factors)[1] if self.peer else None

    @property
    def met(self) -> bool | None:
        if self.most is not None:
            return quartiles(self.ours)[1] <= self.most
        return None if self.target is None or self.factor is None else self.factor >= self.target

    def cells(self) -> tuple[str, ...]:
        return (
            self.name,
            self.shown_ours(),
            self.shown_peer(),
            self.shown_factor(),
            self.shown_target(),
            self.verdict(),
        )

    def shown_ours(self) -> str:
        low, middle, high = quartiles(self.ours)
        off = f" ±{(high - low) / 2 / middle * 100:.0f} %" if middle and len(self.ours) > 1 and not self.peer else ""
        return f"{_number(middle)} {self.unit}{off}"

    def shown_peer(self) -> str:
        if not self.peer:
            return "–"
        return f"{_number(quartiles(self.peer)[1])} {self.unit}{f' ({self.against})' if self.against else ''}"

    def shown_factor(self) -> str:
        if not self.peer:
            return "–"
        low, middle, high = quartiles(self.factors)
        return f"{_number(middle)}× ({_number(low)}–{_number(high)})"

    def shown_target(self) -> str:
        if self.most is not None:
            return f"≤ {_number(self.most)} {self.unit}"
        return "" if self.target is None else f"≥ {_number(self.target)}×"

    def verdict(self) -> str:
        return {None: "", True: "met", False: "MISSED"}[self.met]

    def plain(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "unit": self.unit,
            "better": self.better,
            "ours": list(self.ours),
            "peer": list(self.peer),
            "against": self.against or PEER,
            "factors": self.factors,
            "factor": self.factor,
            "target": self.target,
            "most": self.most,
            "met": self.met,
        }


@dataclass(frozen=True, slots=True)
class BothWays:
    """The same work wall-clock time and in CPU time."""

    HEADERS: ClassVar[tuple[str, ...]] = (
        *("measured", "wall-clock time: quarterdeck", "official SDK", "better by", "target"),
        *("CPU time: quarterdeck", "official SDK", "better by", "target"),
    )

    name: str
    clock: Row
    processor: Row

    @property
    def met(self) -> bool | None:
        verdicts = {self.clock.met, self.processor.met} - {None}
        return all(verdicts) if verdicts else None

    def cells(self) -> tuple[str, ...]:
        cells = [self.name]
        for row in (self.clock, self.processor):
            goal = f"{row.shown_target()} {row.verdict()}".strip()
            cells += [row.shown_ours(), row.shown_peer(), row.shown_factor(), goal]
        return tuple(cells)

    def plain(self) -> dict[str, Any]:
        return {"name": self.name, "clock": self.clock.plain(), "processor": self.processor.plain()}


@dataclass(frozen=True, slots=True)
class Section:
    """One table, and the sentences that say how its numbers came about."""

    title: str
    rows: Sequence[Row | BothWays] = ()
    notes: Sequence[str] = ()

    def table(self) -> list[tuple[str, ...]]:
        return [self._headers(), *(row.cells() for row in self.rows)]

    def _headers(self) -> tuple[str, ...]:
        """The official SDK has a column only where it was measured."""
        heads = self.rows[0].HEADERS
        if all(isinstance(row, Row) and (row.against or not row.peer) for row in self.rows):
            return tuple("compared with" if head == "official SDK" else head for head in heads)
        return heads

    def text(self) -> str:
        table = self.table()
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in table]
        lines.insert(1, "  ".join("─" * width for width in widths))
        return "\n".join([f"\n{self.title}", *(line.rstrip() for line in lines), *self.notes])

    def markdown(self) -> str:
        head, *lines = self.table()
        table = [f"| {' | '.join(line)} |" for line in (head, ("---",) * len(head), *lines)]
        return "\n".join([f"## {self.title}", "", *table, "", *(f"{note}\n" for note in self.notes)])

    def plain(self) -> dict[str, Any]:
        return {"title": self.title, "rows": [row.plain() for row in self.rows], "notes": list(self.notes)}


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
