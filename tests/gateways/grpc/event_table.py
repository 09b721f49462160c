"""The tables in ``docs/grpc.md``: methods, events and codes, made from the code itself.

``PYTHONPATH=tests python -m gateways.grpc.event_table`` writes them anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from quarterdeck.gateways.grpc.errors import STATUS
from quarterdeck.gateways.grpc.methods import METHODS, SERVICES, Method
from quarterdeck.gateways.grpc.shapes import message_name, snake
from quarterdeck.host.events import EVENTS, HostEvent
from quarterdeck.timeline.events import EventBase

PAGE = Path(__file__).parents[3] / "docs" / "grpc.md"


def methods() -> str:
    sections = []
    for service, about in SERVICES.items():
        rows = [_method(method) for method in METHODS.values() if method.service == service]
        head = ["| method | what | scope | key |", "|---|---|---|---|"]
        sections.append("\n".join([f"### {service}", "", about, "", *head, *rows, ""]))
    return "\n".join(sections)


def _method(method: Method) -> str:
    operation = method.operation
    name = f"`{method.name}`" + (" (streams)" if operation.streams else "")
    return f"| {name} | {operation.about.rstrip('.')} | {operation.scope} | {'yes' if operation.writes else ''} |"


def events() -> str:
    rows = [_event(tag, event) for tag, event in EVENTS.items()]
    return "\n".join(["| message | field of `Event` | in JSON | of the |", "|---|---|---|---|", *rows, ""])


def _event(tag: str, event: type[EventBase]) -> str:
    name = message_name(event)
    whose = "host" if event in get_args(HostEvent) else "timeline"
    return f"| `{name}` | `{snake(name)}` | `{tag}` | {whose} |"


def codes() -> str:
    rows = [f"| `{code}` | `{status.name}` |" for code, status in STATUS.items()]
    return "\n".join(["| `reason` | status |", "|---|---|", *rows, ""])


def with_tables(page: str) -> str:
    for name, made in (("methods", methods()), ("events", events()), ("codes", codes())):
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = page.partition(begin)
        page = before + begin + "\n" + made + "\n" + end + rest.partition(end)[2]
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
