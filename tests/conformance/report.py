"""``docs/compatibility.md`` from ``docs/compatibility.json``, and back: the two files of one run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from .runner import SIMULATOR, Outcome
from .scenario import Scenario

FORMAT = 1
_MARKS = {"pass": "✓", "differs": "≠", "not there": "–", "not claimed": "n/c", "not run": "?"}
_SHOWN = {"not there": "missing"}
"""How a status is called on the page."""

_HEAD = """# Compatibility

{count} protocol scenarios, run through Quarterdeck's client against real CLIs and the simulator. Each scenario
describes what Claude Code {newest} does. `make conformance` generates this page; do not edit it by hand.

| mark | meaning |
|---|---|
| ✓ | same as {newest} |
| ≠ | differs: see the notes below the table |
| – | missing |
| n/c | the simulator does not claim to support it |
| ? | not run |
"""


Outcomes: TypeAlias = Mapping[str, Mapping[str, Outcome]]
"""Scenario → CLI → outcome."""


def as_json(
    scenarios: Iterable[Scenario], outcomes: Outcomes, *, newest: str, peers: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    rows = [
        {
            "id": scenario.id,
            "group": scenario.group,
            "title": scenario.title,
            "sources": list(scenario.sources),
            "outcomes": {
                name: {"status": outcome.status, **({"detail": outcome.detail} if outcome.detail else {})}
                for name, outcome in outcomes.get(scenario.id, {}).items()
            },
        }
        for scenario in scenarios
    ]
    return {"format": FORMAT, "newest": newest, "scenarios": rows, "peers": list(peers)}


def merged(earlier: Mapping[str, Any], outcomes: Outcomes, *, order: Sequence[str]) -> dict[str, dict[str, Outcome]]:
    """Fills in outcomes from an earlier run, so that a run can be limited to some scenarios or one version."""
    found = {
        row["id"]: {name: Outcome(**told) for name, told in row["outcomes"].items()} for row in earlier["scenarios"]
    }
    for identifier, by_cli in outcomes.items():
        both = found.get(identifier, {}) | dict(by_cli)
        found[identifier] = {name: both[name] for name in [*order, *(both.keys() - set(order))] if name in both}
    return found


def save(document: Mapping[str, Any], folder: Path) -> None:
    """Both files."""
    text = json.dumps(document, indent=1, ensure_ascii=False)
    (folder / "compatibility.json").write_text(f"{text}\n", encoding="utf-8")
    (folder / "compatibility.md").write_text(as_markdown(document), encoding="utf-8")


def as_markdown(document: Mapping[str, Any]) -> str:
    rows = document["scenarios"]
    names = list(dict.fromkeys(name for row in rows for name in row["outcomes"]))
    parts = [_HEAD.format(count=len(rows), newest=document["newest"]), _summary(rows, names)]
    groups = dict.fromkeys(row["group"] for row in rows)
    parts += [_group(group, [row for row in rows if row["group"] == group], names) for group in groups]
    parts.append(_peers(document["peers"]))
    return "\n".join(part for part in parts if part)


def _summary(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    lines = ["| | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for status, mark in _MARKS.items():
        counts = [sum(_status(row, name) == status for row in rows) for name in names]
        if any(counts):
            lines.append(f"| {_SHOWN.get(status, status)} ({mark}) | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines) + "\n"


def _group(group: str, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    lines = [f"## {group[0].upper()}{group[1:]}", "", "| scenario | " + " | ".join(names) + " |"]
    lines.append("|---|" + "---|" * len(names))
    notes: list[str] = []
    for row in rows:
        marks = [_MARKS[_status(row, name)] for name in names]
        lines.append(f"| {_cell(row['title'])} (`{row['id']}`) | " + " | ".join(marks) + " |")
        notes += _notes(row, names)
    return "\n".join([*lines, *(["", *notes] if notes else []), ""])


def _notes(row: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """The differences; CLIs with the same one share a line."""
    same: dict[tuple[str, str], list[str]] = {}
    for name in names:
        outcome = row["outcomes"].get(name, {"status": "pass"})
        if outcome["status"] != "pass":
            same.setdefault((outcome["status"], outcome.get("detail", "")), []).append(name)
    return [
        f"- `{row['id']}` on {', '.join(where)}: {_SHOWN.get(status, status)}: {_cell(why)}"
        for (status, why), where in same.items()
    ]


def _peers(peers: Sequence[Mapping[str, Any]]) -> str:
    if not peers:
        return ""
    lines = [
        "## Official SDKs",
        "",
        "The official SDKs run one turn with a permission request, with our tools as their",
    ]
    lines += ["`claude`. Their output must be identical each time.", ""]
    ways = list(peers[0]["outcomes"])
    lines += ["| SDK | " + " | ".join(ways) + " |", "|---|" + "---|" * len(ways)]
    for peer in peers:
        marks = [_MARKS[_status(peer, way)] for way in ways]
        lines.append(f"| {peer['name']} {peer['version']} | " + " | ".join(marks) + " |")
    notes = [note for peer in peers for note in _notes({"id": peer["name"], "outcomes": peer["outcomes"]}, ways)]
    return "\n".join([*lines, *(["", *notes] if notes else []), ""])


def _status(row: Mapping[str, Any], name: str) -> str:
    return str(row["outcomes"].get(name, {"status": "not run"})["status"])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def failures(document: Mapping[str, Any]) -> list[str]:
    """Failures of the newest CLI, the simulator or an official SDK; a run must have none."""
    must = (document["newest"], SIMULATOR)
    found = [
        f"{row['id']} on {name}: {outcome['status']}: {outcome.get('detail', '')}"
        for row in document["scenarios"]
        for name, outcome in row["outcomes"].items()
        if name in must and outcome["status"] not in ("pass", "not claimed")
    ]
    return found + [
        f"{peer['name']} {way}: {outcome.get('detail', '')}"
        for peer in document["peers"]
        for way, outcome in peer["outcomes"].items()
        if outcome["status"] != "pass"
    ]
