"""Text as it is streamed, when pieces of it were missed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from quarterdeck.remote.output import OutputLines

TEXT = "one two three four"


def event(kind: str, **more: Any) -> str:
    return json.dumps({"type": "stream_event", "event": {"type": kind, "index": 0, **more}, "session_id": "s"})


def delta(text: str) -> str:
    return event("content_block_delta", delta={"type": "text_delta", "text": text})


MESSAGE = json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": TEXT}]}, "session_id": "s"})


def shown(lines: list[bytes]) -> str:
    """The text of the deltas among them."""
    events = [json.loads(line).get("event", {}) for line in lines]
    return "".join(one["delta"]["text"] for one in events if one.get("type") == "content_block_delta")


@pytest.mark.parametrize("seen", [["one ", "two "], []], ids=["in the middle", "before the first piece"])
def test_what_was_missed_follows_with_the_message_and_nothing_is_shown_twice(seen: list[str]) -> None:
    output = OutputLines(deltas=True)
    lines = output.lines(event("content_block_start"))
    lines += [line for piece in seen for line in output.lines(delta(piece))]
    output.cut()
    lines += output.lines(delta("four"))  # "three " was missed
    lines += output.lines(MESSAGE)
    assert shown(lines) == TEXT
    assert json.loads(lines[-1])["type"] == "assistant"


def test_the_next_block_is_streamed_again() -> None:
    output = OutputLines(deltas=True)
    output.cut()
    lines = [*output.lines(event("content_block_start")), *output.lines(delta(TEXT)), *output.lines(MESSAGE)]
    assert shown(lines) == TEXT


def test_without_deltas_there_is_the_message_alone() -> None:
    output = OutputLines(deltas=False)
    output.cut()
    assert output.lines(delta("one ")) == []
    assert output.lines(MESSAGE) == [MESSAGE.encode()]
