"""The table of routes in ``docs/http.md``, made from the routes themselves.

``PYTHONPATH=tests python -m gateways.http.route_table`` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

from quarterdeck.gateways.http.decoding import path_fields, shape_of
from quarterdeck.gateways.http.openapi import TAGS, tag_of
from quarterdeck.gateways.http.problems import STATUS, TITLES
from quarterdeck.gateways.http.routes import ROUTES, Route

PAGE = Path(__file__).parents[3] / "docs" / "http.md"
BEGIN, END = "<!-- routes -->\n", "<!-- end of routes -->\n"
ERRORS_BEGIN, ERRORS_END = "<!-- codes -->\n", "<!-- end of codes -->\n"


def table() -> str:
    sections = []
    for tag, about in TAGS.items():
        rows = [_row(route) for route in ROUTES if tag_of(route) == tag]
        head = ["| route | what | scope | takes | returns |", "|---|---|---|---|---|"]
        sections.append("\n".join([f"### {tag}", "", about, "", *head, *rows, ""]))
    return "\n".join(sections)


def _row(route: Route) -> str:
    operation = route.operation
    fields = [field for field in shape_of(route).takes.__struct_encode_fields__ if field not in path_fields(route)]
    taken = "the file" if route.raw else ", ".join(f"`{name}`" for name in fields)
    returned = f"`{operation.returns.__name__}`" + (", as events" if route.streams else "")
    status = f" ({route.status})" if route.status != 200 else ""
    scope = "none" if route.public else operation.scope
    about = operation.about.rstrip(".")
    return f"| `{route.method} {route.path}` | {about} | {scope} | {taken} | {returned}{status} |"


def codes() -> str:
    rows = [f"| `{code}` | {status} | {TITLES[code]} |" for code, status in STATUS.items()]
    return "\n".join(["| code | status | meaning |", "|---|---|---|", *rows, ""])


def with_tables(page: str) -> str:
    page = _with(page, BEGIN, table(), END)
    return _with(page, ERRORS_BEGIN, codes(), ERRORS_END)


def _with(page: str, begin: str, made: str, end: str) -> str:
    before, _, rest = page.partition(begin)
    return before + begin + "\n" + made + "\n" + end + rest.partition(end)[2]


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
