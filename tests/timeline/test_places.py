"""Every message of the wire has a deliberate place, and every event is told and described somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import msgspec

import quarterdeck.timeline as package
from looping import for_each
from quarterdeck.timeline import Event, Item, State, events, items
from quarterdeck.timeline.events import EventBase
from quarterdeck.timeline.folding import RECEIVED, SENT, nothing_to_show
from quarterdeck.timeline.toolcalls import CALLS
from quarterdeck.wire import SYSTEM_TYPES, TYPES, BadLine, ControlRequest, Message, UnknownMessage
from quarterdeck.wire.blocks import ContentBlock
from quarterdeck.wire.inbound import INCOMING_REQUESTS

ROOT = Path(__file__).parents[2]
SOURCE = "\n".join(path.read_text() for path in (ROOT / "src/quarterdeck/timeline").glob("*.py"))
WIRE: set[type[Message]] = {*TYPES.values(), *SYSTEM_TYPES.values(), UnknownMessage, BadLine}

NOTHING_TO_SHOW = {"KeepAliveMessage", "TranscriptMirrorMessage", "UpdateEnvironmentVariables"}
ONLY_IN_PROMPTS = {"SearchResultBlock", "ToolAdditionBlock", "ToolRemovalBlock"}
"""Blocks that only a client can say; text and pictures are shown, these are not."""


def test_every_type_of_message_has_a_place() -> None:
    assert set(RECEIVED) == WIRE
    assert {cls.__name__ for cls, handler in RECEIVED.items() if handler is nothing_to_show} == NOTHING_TO_SHOW


def test_every_type_that_we_write_and_the_cli_reads_has_a_place() -> None:
    assert {cls.__name__ for cls in SENT} == {
        "UserMessage",
        "ControlRequest",
        "ControlResponse",
        "ControlCancelRequest",
    }
    assert ControlRequest in SENT


@for_each("block", get_args(ContentBlock), ids=lambda block: block.__name__)
def test_every_block_has_a_place(block: type) -> None:
    known = block in CALLS or issubclass(block, CALLS) or block.__name__ in ONLY_IN_PROMPTS
    bases = [base.__name__ for base in block.__mro__ if base.__module__.endswith("wire.blocks")]
    known = known or f'"{block.__struct_config__.tag}"' in SOURCE  # read from a dict, inside a tool's result
    assert known or block.__name__ == "UnknownBlock" or any(re.search(rf"\b{name}\b", SOURCE) for name in bases)


@for_each("subtype", sorted(INCOMING_REQUESTS))
def test_every_request_of_the_cli_has_a_place(subtype: str) -> None:
    named = INCOMING_REQUESTS[subtype].__name__ in SOURCE
    assert named or subtype == "sdk_control_interrupt"  # no CLI has it: it is shown as unknown


def test_every_event_is_in_the_union_is_told_and_is_described() -> None:
    classes = set(get_args(Event))
    assert {cls for cls in vars(events).values() if isinstance(cls, type) and issubclass(cls, EventBase)} == {
        *classes,
        EventBase,
    }
    table = (ROOT / "docs/timeline.md").read_text()
    for cls in classes:
        assert re.search(rf"\b{cls.__name__}\(", SOURCE), f"{cls.__name__} is never told"
        assert f"`{cls.__name__}`" in table, f"{cls.__name__} is not in docs/timeline.md"
        assert f"``{cls.__name__}``" in (events.__doc__ or "")
        assert cls.__doc__


def test_tags_are_unique_and_every_item_has_one() -> None:
    for union in (get_args(Event), get_args(Item)):
        tags = [cls.__struct_config__.tag for cls in union]
        assert len(set(tags)) == len(tags)
    assert items.ToolCall.__struct_config__.tag == "tool_call"


def test_the_schema_of_events_and_state_can_be_written() -> None:
    """Faces in other languages read it."""
    (_, definitions) = msgspec.json.schema_components([Event, State])
    assert {"TurnEnded", "State", "ToolCall"} <= set(definitions)


def test_the_public_names_are_those_of_the_package() -> None:
    assert sorted(package.__all__) == package.__all__
    assert all(hasattr(package, name) for name in package.__all__)
