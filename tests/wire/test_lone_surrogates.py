"""A lone surrogate may stand anywhere, also where no text belongs: whatever reads it says that it does not fit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from quarterdeck.wire import UnknownEvent, decode, parse_answer
from quarterdeck.wire.permissions import parse_permission_answer
from quarterdeck.wire.tools import parse_tool_input

LONE = "\ud800"


@pytest.mark.parametrize(
    "event",
    [
        {"type": LONE},
        {"type": "content_block_delta", "index": LONE, "delta": {"type": "text_delta", "text": "x"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": LONE}},
        {"type": "message_start", "message": LONE},
    ],
    ids=json.dumps,
)
def test_in_a_stream_event(event: dict[str, Any]) -> None:
    line = json.dumps({"type": "stream_event", "event": event, "uuid": LONE, "session_id": LONE}).encode()
    message = decode(line)
    assert message.event == event
    assert message.typed_event is not None
    assert message.raw == line


def test_an_event_that_does_not_fit_says_so() -> None:
    line = json.dumps({"type": "stream_event", "event": {"type": "content_block_stop", "index": LONE}}).encode()
    assert isinstance(decode(line).typed_event, UnknownEvent)


def test_in_an_answer() -> None:
    parse_answer("initialize", {"commands": LONE, "models": [{"value": LONE, "description": 1}]})


def test_in_the_answer_to_a_permission_request() -> None:
    assert parse_permission_answer({"behavior": LONE}) is None
    updates = [{"type": LONE}, {"type": "addRules", "rules": LONE, "behavior": LONE, "destination": LONE}]
    parse_permission_answer({"behavior": "allow", "updatedInput": {}, "updatedPermissions": updates})


def test_in_the_input_of_a_tool() -> None:
    assert parse_tool_input("Bash", {"command": "ls", "timeout": LONE}) is not None
