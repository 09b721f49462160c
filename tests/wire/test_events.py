from __future__ import annotations

import copy
import json
import pickle
from typing import Any, get_args

import pytest

from quarterdeck.wire import UnknownMessage, decode, encode
from quarterdeck.wire import events as e
from quarterdeck.wire.blocks import TextBlock, ToolUseBlock, UnknownBlock, typed_block
from quarterdeck.wire.stream import StreamEvent
from wire_lines import received
from work import most_bytes

MESSAGE = {"type": "message", "content": [], "model": "m", "id": "msg_1", "role": "assistant"}
USAGE = {"input_tokens": 3, "output_tokens": 7, "server_tool_use": {"web_search_requests": 1}}


def delta(**fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 1, "delta": fields}


EVENTS: list[tuple[type, dict[str, Any]]] = [
    (e.MessageStart, {"type": "message_start", "message": {**MESSAGE, "usage": USAGE}}),
    (e.ContentBlockStart, {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    (e.ContentBlockDelta, delta(type="text_delta", text="Hel")),
    (e.ContentBlockDelta, delta(type="thinking_delta", thinking="hm", estimated_tokens=4)),
    (e.ContentBlockDelta, delta(type="signature_delta", signature="c2ln")),
    (e.ContentBlockDelta, delta(type="input_json_delta", partial_json='{"pa')),
    (e.ContentBlockDelta, delta(type="citations_delta", citation={"type": "page_location"})),
    (e.ContentBlockDelta, delta(type="compaction_delta", content="so far")),
    (e.ContentBlockStop, {"type": "content_block_stop", "index": 0}),
    (
        e.MessageDelta,
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "container": {"id": "c"}},
            "usage": USAGE,
            "context_management": {"applied_edits": []},
        },
    ),
    (e.MessageStop, {"type": "message_stop"}),
    (e.Ping, {"type": "ping"}),
    (e.ErrorEvent, {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
]


def line(event: Any, **others: Any) -> dict[str, Any]:
    return {"type": "stream_event", "event": event, "session_id": "s-1", "uuid": "u-1", **others}


@pytest.mark.parametrize(("cls", "event"), EVENTS, ids=lambda value: getattr(value, "__name__", ""))
def test_an_event_is_its_dict_and_can_be_had_typed(cls: type, event: dict[str, Any]) -> None:
    message = received(line(event))
    assert message.event == event
    assert type(message.event) is dict
    assert message.event is message.event
    assert type(message.typed_event) is cls
    assert message.typed_event.type == event["type"]
    assert message.typed_event.to_dict() == event  # the typed part alone says as much


def test_every_event_and_delta_class_has_an_example() -> None:
    assert {cls for cls, _ in EVENTS} | {e.UnknownEvent} == set(get_args(e.Event))
    deltas = {type(e.decode_event(event).delta) for cls, event in EVENTS if cls is e.ContentBlockDelta}
    assert deltas | {e.UnknownDelta} == set(get_args(e.Delta))


def test_typed_events_read_like_dicts_and_like_objects() -> None:
    event = received(line(delta(type="text_delta", text="Hel"))).typed_event
    assert event["type"] == "content_block_delta"
    assert event["delta"]["text"] == event.delta.text == "Hel"
    assert event.get("delta", {}).get("type") == "text_delta"
    assert isinstance(event.delta, e.TextDelta)
    block = {"type": "tool_use", "id": "tu", "name": "Read", "input": {}}
    event = received(line({"type": "content_block_start", "index": 2, "content_block": block})).typed_event
    assert isinstance(event.content_block, ToolUseBlock)
    assert event["content_block"]["name"] == "Read"


def test_a_program_may_change_an_event() -> None:
    message = received(line(delta(type="text_delta", text="Hel")))
    message.event["delta"]["text"] = "Bye"
    assert message.event["delta"]["text"] == message.typed_event.delta.text == "Bye"
    assert b"Hel" in message.raw


def test_typing_an_event_or_a_block_inspects_no_class_again() -> None:
    """Else each takes ten times as long; what is learnt of a dozen classes would show as memory."""
    message, block = received(line(delta(type="text_delta", text="Hel"))), {"type": "text", "text": "Hel"}
    for look in (lambda: message.typed_event, lambda: typed_block(block)):
        look()
        assert most_bytes(look) < 400


def test_an_unknown_event_keeps_all_it_says() -> None:
    event = {"type": "aurora", "colour": {"hue": 120}}
    typed = received(line(event)).typed_event
    assert type(typed) is e.UnknownEvent
    assert typed.type == "aurora"
    assert typed["colour"]["hue"] == 120
    assert typed == event
    assert "aurora" in typed.reason


def test_only_the_unknown_part_of_an_event_is_unknown() -> None:
    event = received(line(delta(type="smell_delta", smell="smoke"))).typed_event
    assert (type(event), event.index, type(event.delta)) == (e.ContentBlockDelta, 1, e.UnknownDelta)
    assert event.delta["smell"] == event["delta"]["smell"] == "smoke"

    block = {"type": "hologram", "beam": 3}
    event = received(line({"type": "content_block_start", "index": 0, "content_block": block})).typed_event
    assert (type(event), type(event.content_block)) == (e.ContentBlockStart, UnknownBlock)
    assert event.content_block == block

    content = [{"type": "text", "text": "a"}, block]
    event = received(line({"type": "message_start", "message": {**MESSAGE, "content": content}})).typed_event
    assert [type(item) for item in event.message.content] == [TextBlock, UnknownBlock]


@pytest.mark.parametrize("event", [{}, {"type": 7}, {"type": "message_start", "message": 1}])
def test_an_event_of_any_shape_is_read_without_an_error(event: Any) -> None:
    message = decode(json.dumps(line(event)).encode())
    assert isinstance(message, StreamEvent)
    assert message.event == event
    assert type(message.typed_event) is e.UnknownEvent


@pytest.mark.parametrize("event", [None, 3, [], "text"])
def test_a_line_whose_event_is_no_object_is_unknown_and_keeps_all_it_says(event: Any) -> None:
    message = decode(json.dumps(line(event)).encode())
    assert isinstance(message, UnknownMessage)
    assert "event" in message.reason
    assert message.data == line(event)


def test_lone_surrogates_survive() -> None:
    raw = json.dumps(line(delta(type="text_delta", text="\ud83d"), api_message_id="m\ud800")).encode()
    message = decode(raw)
    assert isinstance(message, StreamEvent)
    assert message.event["delta"]["text"] == "\ud83d"
    assert message.api_message_id == "m\ud800"


def test_the_rest_of_the_line_is_typed() -> None:
    others = {
        "parent_tool_use_id": "tu",
        "api_message_id": "msg_1",
        "ttft_ms": 12.5,
        "user_message_uuid": "um",
        "user_message_uuids": ["um"],
        "resume_reason": "r",
        "thinking_display": "updates",
        "abandoned_blocks": {"from_block_index": 0},
        "owed_rows": [],
    }
    message = received(line({"type": "ping"}, **others))
    assert {name: getattr(message, name) for name in others} == others
    assert (message.session_id, message.uuid) == ("s-1", "u-1")


def test_a_field_of_the_line_with_an_odd_shape_costs_only_itself() -> None:
    message = decode(json.dumps(line({"type": "ping"}, ttft_ms="soon", api_message_id="msg_1")).encode())
    assert isinstance(message, StreamEvent)
    assert (message.ttft_ms, message.api_message_id, message.uuid) == (None, "msg_1", "u-1")
    assert message.data["ttft_ms"] == "soon"


def test_a_stream_event_can_be_built() -> None:
    event = {"type": "content_block_stop", "index": 0, "novel": 1}
    message = StreamEvent(event=event, session_id="s", uuid="u", ttft_ms=3)
    assert message.data == {"type": "stream_event", "event": event, "session_id": "s", "ttft_ms": 3, "uuid": "u"}
    assert message.event is event
    assert decode(encode(message)) == message


def test_a_field_that_few_events_have_can_be_set_copied_and_deleted() -> None:
    message = received(line({"type": "message_start"}, ttft_ms=5))
    message.ttft_ms = 7
    again = pickle.loads(pickle.dumps(message))  # noqa: S301
    assert (message.ttft_ms, again.ttft_ms, copy.copy(message).ttft_ms) == (7, 7, 7)
    assert again.raw == message.raw
    del message.ttft_ms
    assert (message.ttft_ms, received(line({"type": "ping"}, ttft_ms=1)).ttft_ms) == (5, 1)
    assert received(line({"type": "ping"})).ttft_ms is None


def test_a_built_event_keeps_the_fields_that_few_events_have() -> None:
    built = StreamEvent(event={"type": "message_stop"}, owed_rows=[1], resume_reason=None)
    assert (built.owed_rows, built.resume_reason, built.ttft_ms) == ([1], None, None)
    sent = decode(encode(built))
    assert isinstance(sent, StreamEvent)
    assert sent.owed_rows == [1]
    assert sent.data == {"type": "stream_event", "event": {"type": "message_stop"}, "owed_rows": [1]}
