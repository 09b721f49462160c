"""The page in Chromium beside a bare one that only appends text: ratios, in rounds by turns.

``python -m benchmarks.page`` prints the tables (``--json`` for a program, ``--quick`` for a look). The stand-in CLI
plays; the host and its gateway are real. Each load has a browser of its own. Needs Chromium.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from . import _lines
from ._arguments import Size, parse
from ._browser import CHROMIUM, MISSING
from ._children.page import END
from ._rounds import ROUNDS, Figures, Rounds, divided, scratch, thousands
from ._standin import Script, compiled
from ._table import Row, Section, show
from .host import LINES_PER_TURN

PACE = 2_000
"""Deltas per second."""
STREAMED_S = Size(full=5, quick=3)
LONG_ROWS = Size(full=100_000, quick=20_000)
MANY_ITEMS = 10_000
ROWS_PER_ITEM = 1.6
FIRST_LOAD_KB, FIRST_PAINT_MS = 150.0, 500.0
EDIT = json.dumps(
    {
        "type": "control_request",
        "request_id": "edit",
        "request": {
            "subtype": "can_use_tool",
            "tool_name": "Edit",
            "input": {"file_path": "a.txt", "old_string": "one two", "new_string": "one three"},
            "tool_use_id": "toolu_1",
        },
    }
).encode()
AGAINST = "page that appends text"


class Bench(Rounds):
    """The page, part by part."""

    module = "benchmarks._children.page"

    def _streaming(self, name: str) -> dict[str, object]:
        count = PACE * STREAMED_S.of(self.quick)
        lines = _lines.streamed_prose(count, END)
        return {"env": self.script.says(name, lines, len(lines), per_second=PACE), "count": count}

    def _streamed(self, found: dict[str, Figures], what: str, items: int = 0) -> list[Row]:
        ours, bare = found["stream_ours"], found["stream_bare"]

        def per_thousand(figures: Figures, name: str) -> list[float]:
            return [1e6 * one for one in divided(figures[name], figures["deltas"])]

        if min(ours["items"]) < items or min(bare["items"]) < items:
            raise SystemExit(f"{items} items, and the pages have {ours['items']} and {bare['items']}")
        return [
            Row(
                f"{what}: CPU time of the page per 1,000 deltas",
                "ms",
                per_thousand(ours, "processor_s"),
                per_thousand(bare, "processor_s"),
                against=AGAINST,
            ),
            Row(
                "· main thread per 1,000 deltas",
                "ms",
                per_thousand(ours, "main_thread_s"),
                per_thousand(bare, "main_thread_s"),
                against=AGAINST,
            ),
            Row(
                "· pictures with new text",
                "/s",
                ours["pictures_per_s"],
                bare["pictures_per_s"],
                better="higher",
                against=AGAINST,
            ),
            Row(
                "· from a message's arrival to its picture, p99", "ms", ours["p99_ms"], bare["p99_ms"], against=AGAINST
            ),
            Row("· long tasks (50 ms and more)", "tasks", ours["long_tasks"], most=0.0),
            Row("· the longest of them", "ms", ours["longest_ms"]),
            Row("· heap at its end", "MB", ours["heap_mb"], bare["heap_mb"], against=AGAINST),
        ]

    def stream(self) -> list[Row]:
        setting = self._streaming("prose")
        return self._streamed(
            self.rounds({"stream_bare": setting, "stream_ours": setting}), f"{thousands(PACE)} deltas/s"
        )

    def many_items(self) -> list[Row]:
        rows = int(MANY_ITEMS * ROWS_PER_ITEM)
        with scratch() as folder:
            talk = self.script.says("many", _lines.conversation(rows), LINES_PER_TURN)
            ids = self.child("fill", folder=folder, env=talk, rows=[rows])["ids"]
            setting = {"folder": folder, "ids": ids, **self._streaming("prose")}
            found = self.rounds({"stream_bare": setting, "stream_ours": setting})
        return self._streamed(found, f"the same below {thousands(MANY_ITEMS)} items", MANY_ITEMS)

    def opening(self) -> list[Row]:
        rows = LONG_ROWS.of(self.quick)
        with scratch() as folder:
            talk = self.script.says("long", _lines.conversation(rows), LINES_PER_TURN)
            ids = self.child("fill", folder=folder, env=talk, rows=[rows])["ids"]
            setting = {"folder": folder, "ids": ids}
            loads = ("opening_bare", "opening_ours", "hit_ours", "first_load", "first_size", "session_size")
            found = self.rounds(dict.fromkeys(loads, setting))
        ours, bare, hit = (found[load] for load in ("opening_ours", "opening_bare", "hit_ours"))
        return [
            Row(
                f"a session of {thousands(rows)} rows opened by its link, cold, to the first paint with its items",
                "ms",
                ours["shown_ms"],
                bare["shown_ms"],
                against=f"{AGAINST}, same snapshot",
            ),
            Row("· longest task", "ms", ours["longest_ms"]),
            Row("· heap", "MB", ours["heap_mb"], bare["heap_mb"], against=AGAINST),
            Row("the same by a link to a row at its beginning, to that row", "ms", hit["shown_ms"]),
            Row("· longest task", "ms", hit["longest_ms"]),
            *self._first("the list", found["first_load"], found["first_size"]),
            Row("received for a session, compressed", "KB", found["session_size"]["received_kb"], most=FIRST_LOAD_KB),
        ]

    def inbox(self) -> list[Row]:
        lines = (*_lines.streamed_prose(10, END), EDIT)
        setting = {"env": self.script.says("edit", lines, len(lines))}
        found = self.rounds(dict.fromkeys(("inbox_load", "inbox_size"), setting))
        return self._first("an inbox with an edit", found["inbox_load"], found["inbox_size"])

    def _first(self, what: str, load: Figures, size: Figures) -> list[Row]:
        return [
            Row(f"first load of {what}, cold: first paint with data", "ms", load["shown_ms"], most=FIRST_PAINT_MS),
            Row(
                "· received for it with all it fetches then, compressed", "KB", size["received_kb"], most=FIRST_LOAD_KB
            ),
        ]


NOTE = (
    "The bare page parses the same messages of the same WebSocket and appends the text to one node per block: no "
    "Markdown, no state. CPU time is the renderer's, by Chromium's own account; heap is after a collection. "
    "Whoever draws fewer pictures uses less CPU time: compare both. A link to an early row folds the whole log. "
    f"{ROUNDS.full} rounds of everything."
)


def run(*, quick: bool) -> list[Section]:
    if CHROMIUM is None:
        raise SystemExit(MISSING)
    with tempfile.TemporaryDirectory(prefix="quarterdeck-bench-") as folder:
        bench = Bench(cli=compiled(), script=Script(Path(folder)), quick=quick)
        parts = (bench.stream, bench.many_items, bench.opening, bench.inbox)
        return [Section("The page beside a bare one", [row for part in parts for row in part()], [NOTE])]


def main() -> int:
    arguments = parse(__doc__)
    sections = run(quick=arguments.quick)
    show(sections, as_json=arguments.json)
    return 0 if all(row.met is not False for section in sections for row in section.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
