"""Writes docs/specifications.md from requirements.toml: ``python tests/docs/specifications.py``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "specifications.md"
ROWS = ROOT / "tests" / "requirements.toml"
NAMES = {
    "000": "OrbitDock: the connector and the server",
    "001": "betcode: the daemon",
    "002": "cc-insights: permissions and captures",
    "003": "dev-studio: the TypeScript SDK and ACP",
    "004": "Runloop: the broker",
}
HEAD = """\
# The five specifications, claim by claim

Five projects have published descriptions of Claude Code's protocol
([which ones](protocol.md#16-five-published-descriptions-against-the-cli)). This page lists their claims one by one, in
the order of the original text, each with the tests that check it. Where the real CLI differs, the row says how. The
page is generated from [`tests/requirements.toml`](../tests/requirements.toml).
"""


def page(claims: Iterable[dict[str, Any]]) -> str:
    parts = [HEAD]
    for source, rows in groupby(sorted(claims, key=lambda claim: str(claim["source"])), lambda claim: claim["source"]):
        parts.append(f"## {source} {NAMES[source]}\n")
        parts.append("\n".join(_table(rows)) + "\n")
    return "\n".join(parts)


def _table(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    yield "| section | claim | actual behaviour, where it differs | tests |"
    yield "|---|---|---|---|"
    section = ""
    for row in rows:
        where = "" if row["section"] == section else row["section"]
        section = row["section"]
        shown = ", ".join(_link(test) for test in row["tests"]) or f"*pending: {row.get('pending', '')}*"
        yield f"| {_cell(where)} | {_cell(row['behaviour'])} | {_cell(row.get('real', ''))} | {shown} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _link(test: str) -> str:
    """The test's name, leading to its file."""
    path, _, name = test.partition("::")
    return f"[`{name.partition('[')[0]}`](../{path})"


def write() -> None:
    PAGE.write_text(page(tomllib.loads(ROWS.read_text("utf-8"))["claim"]), "utf-8")


if __name__ == "__main__":
    write()
