"""The table of events in ``docs/timeline.md``, made from their docstrings.

``PYTHONPATH=tests python -m timeline.event_table`` writes it anew.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

from quarterdeck.timeline import EventBase
from quarterdeck.timeline.events import requests, said, session, tasks, tools, turns

GUIDE = Path(__file__).parents[2] / "docs" / "timeline.md"
BEGIN, END = "<!-- events -->\n", "<!-- end of events -->\n"
ROOMS = (said, tools, requests, tasks, turns, session)


def table() -> str:
    return "\n".join(_section(room) for room in ROOMS)


def _section(room: ModuleType) -> str:
    classes = [cls for cls in vars(room).values() if isinstance(cls, type) and issubclass(cls, EventBase)]
    rows = [_row(cls) for cls in classes if cls is not EventBase]
    title = (room.__doc__ or "").partition(".")[0]
    return "\n".join([f"### {title}", "", "| event | meaning | fields |", "|---|---|---|", *rows, ""])


def _row(cls: type[EventBase]) -> str:
    meaning = " ".join((inspect.getdoc(cls) or "").split()).replace("``", "`").replace("|", "\\|")
    fields = ", ".join(f"`{name}`" for name in cls.__struct_fields__ if name != "at")
    return f"| `{cls.__name__}` | {meaning} | {fields} |"


def with_table(guide: str) -> str:
    before, _, rest = guide.partition(BEGIN)
    return before + BEGIN + "\n" + table() + "\n" + END + rest.partition(END)[2]


if __name__ == "__main__":
    GUIDE.write_text(with_table(GUIDE.read_text()))
