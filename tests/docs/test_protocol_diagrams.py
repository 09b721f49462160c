"""docs/protocol.md shows the state tables as they are and leaves no message, request or hook event out."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

from looping import for_each
from quarterdeck.protocol.states import FLOW, HANDSHAKE, REQUEST, TURN, mermaid
from quarterdeck.wire import MESSAGE_TYPES, OUTGOING_REQUESTS, SYSTEM_TYPES
from quarterdeck.wire.control import ControlCancelRequest, ControlRequest, ControlResponse
from quarterdeck.wire.hooks import HOOK_EVENTS
from quarterdeck.wire.inbound import INCOMING_REQUESTS

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "protocol.md").read_text("utf-8")
TABLES: dict[str, Any] = {"FLOW": FLOW, "HANDSHAKE": HANDSHAKE, "TURN": TURN, "REQUEST": REQUEST}
BLOCKS = re.compile(r"<!-- states:(\w+) -->\n```mermaid\n(.*?)\n```\n<!-- /states -->", re.DOTALL)
NAMED = {
    **{cls.__name__: str(cls.__struct_config__.tag) for cls in MESSAGE_TYPES},
    **{cls.__name__: subtype for subtype, cls in SYSTEM_TYPES.items()},
    **{cls.__name__: subtype for subtype, cls in OUTGOING_REQUESTS.items()},
    **{cls.__name__: subtype for subtype, cls in INCOMING_REQUESTS.items()},
    **{cls.__name__: str(cls.__struct_config__.tag) for cls in (ControlRequest, ControlResponse, ControlCancelRequest)},
}


def test_each_table_of_states_is_drawn_once_and_as_it_is() -> None:
    found = BLOCKS.findall(TEXT)
    assert sorted(name for name, _ in found) == sorted(TABLES)
    assert dict(found) == {name: mermaid(table) for name, table in TABLES.items()}


def test_the_script_that_draws_the_diagrams_would_change_nothing_and_mends_a_changed_one() -> None:
    spec = importlib.util.spec_from_file_location("draw_states", DOCS / "draw_states.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.drawn(TEXT) == TEXT
    damaged = BLOCKS.sub(lambda block: f"<!-- states:{block[1]} -->\n<!-- /states -->", TEXT)
    assert damaged != TEXT
    assert script.drawn(damaged) == TEXT


@for_each(("name", "word"), NAMED.items(), ids=list(NAMED))
def test_every_class_is_in_the_document_beside_its_word_on_the_wire(name: str, word: str) -> None:
    rows = [line for line in TEXT.splitlines() if f"`{name}`" in line]
    assert any(f"`{word}`" in line for line in rows), f"docs/protocol.md does not describe {name} ({word})"


@for_each("event", HOOK_EVENTS)
def test_every_hook_event_is_in_the_document(event: str) -> None:
    assert f"`{event}`" in TEXT, f"docs/protocol.md does not name the hook event {event}"


def test_links_inside_the_document_lead_to_a_heading() -> None:
    headings = {_anchor(line.lstrip("# ")) for line in TEXT.splitlines() if line.startswith("#")}
    assert set(re.findall(r"\]\(#([^)]+)\)", TEXT)) <= headings


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
