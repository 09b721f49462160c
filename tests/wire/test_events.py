from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest

from quarterdeck.wire import events as e
from quarterdeck.wire.blocks import TextBlock, ToolUseBlock, UnknownBlock
from quarterdeck.wire.messages import LazyStreamEvent, StreamEvent
from wire_lines import received

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


def both_ways(event: dict[str, Any]) -> list[Any]:
    return [received(line(event), LazyStreamEvent), received(line(event), StreamEvent)]


@pytest.mark.parametrize(("cls", "event"), EVENTS, ids=lambda value: getattr(value, "__name__", ""))
def test_an_event_is_the_same_lazy_and_eager_and_keeps_every_key(cls: type, event: dict[str, Any]) -> None:
    for message in both_ways(event):
        assert type(message.event) is cls
        assert message.event.type == event["type"]
        assert message.event == event
        assert message.event is message.event
    assert e.decode_event(event).to_dict() == event  # the typed part alone says as much


def test_every_event_and_delta_class_has_an_example() -> None:
    assert {cls for cls, _ in EVENTS} | {e.UnknownEvent} == set(get_args(e.Event))
    deltas = {type(e.decode_event(event).delta) for cls, event in EVENTS if cls is e.ContentBlockDelta}
    assert deltas | {e.UnknownDelta} == set(get_args(e.Delta))


def test_events_read_like_dicts_and_like_objects() -> None:
    for message in both_ways(delta(type="text_delta", text="Hel")):
        event = message.event
        assert event["type"] == "content_block_delta"
        assert event["delta"]["text"] == event.delta.text == "Hel"
        assert event.get("delta", {}).get("type") == "text_delta"
        assert isinstance(event.delta, e.TextDelta)
    for message in both_ways({"type": "content_block_start", "index": 2, "content_block": _tool_use()}):
        assert isinstance(message.event.content_block, ToolUseBlock)
        assert message.event["content_block"]["name"] == "Read"


def _tool_use(**others: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "tu", "name": "Read", "input": {}, **others}


@pytest.mark.parametrize("read", ["by key", "by attribute"])
@pytest.mark.parametrize(
    ("event", "path"),
    [
        ({"type": "ping", "novel": 1}, []),
        (delta(type="text_delta", text="x", novel=1), ["delta"]),
        ({"type": "content_block_start", "index": 0, "content_block": _tool_use(novel=1)}, ["content_block"]),
        ({"type": "message_start", "message": {**MESSAGE, "novel": 1}}, ["message"]),
        ({"type": "message_start", "message": {**MESSAGE, "usage": {"novel": 1}}}, ["message", "usage"]),
        (
            {"type": "message_delta", "delta": {}, "usage": {"server_tool_use": {"novel": 1}}},
            ["usage", "server_tool_use"],
        ),
    ],
)
def test_unknown_keys_are_answered_at_any_depth(event: dict[str, Any], path: list[str], read: str) -> None:
    for message in both_ways(event):
        part = message.event
        for name in path:
            part = part[name] if read == "by key" else getattr(part, name)
        assert part["novel"] == 1
        assert "novel" in part
        assert part.get("absent") is None


def test_a_key_that_is_null_on_the_wire_is_there_as_none() -> None:
    message = received(line({"type": "message_delta", "delta": {"stop_reason": None}}), LazyStreamEvent)
    assert message.event["delta"]["stop_reason"] is None
    with pytest.raises(KeyError):
        message.event["delta"]["stop_sequence"]


def test_an_unknown_event_keeps_all_it_says() -> None:
    event = {"type": "aurora", "colour": {"hue": 120}}
    message = received(line(event), LazyStreamEvent)
    assert type(message.event) is e.UnknownEvent
    assert message.event.type == "aurora"
    assert message.event["colour"]["hue"] == 120
    assert message.event == event
    assert "aurora" in message.event.reason


def test_only_the_unknown_part_of_an_event_is_unknown() -> None:
    event = received(line(delta(type="smell_delta", smell="smoke")), LazyStreamEvent).event
    assert (type(event), event.index, type(event.delta)) == (e.ContentBlockDelta, 1, e.UnknownDelta)
    assert event.delta["smell"] == event["delta"]["smell"] == "smoke"

    block = {"type": "hologram", "beam": 3}
    event = received(line({"type": "content_block_start", "index": 0, "content_block": block}), LazyStreamEvent).event
    assert (type(event), type(event.content_block)) == (e.ContentBlockStart, UnknownBlock)
    assert event.content_block == block

    content = [{"type": "text", "text": "a"}, block]
    event = received(line({"type": "message_start", "message": {**MESSAGE, "content": content}}), LazyStreamEvent).event
    assert [type(item) for item in event.message.content] == [TextBlock, UnknownBlock]


@pytest.mark.parametrize("event", [None, 3, [], "text", {}, {"type": 7}, {"type": "message_start", "message": 1}])
def test_an_event_of_any_shape_is_read_without_an_error(event: Any) -> None:
    assert type(received(line(event), LazyStreamEvent).event) is e.UnknownEvent


def test_a_line_without_an_event_says_so() -> None:
    for event in (received({"type": "stream_event"}, LazyStreamEvent).event, LazyStreamEvent().event):
        assert type(event) is e.UnknownEvent
        assert "event" in event.reason
        assert event.to_dict() == {}


def test_lone_surrogates_survive_the_lazy_way() -> None:
    raw = json.dumps(line(delta(type="text_delta", text="\ud83d"), api_message_id="m\ud800")).encode()
    message = received(raw, LazyStreamEvent)
    assert message.event.delta.text == "\ud83d"
    assert message.event["delta"]["text"] == "\ud83d"
    assert message.api_message_id == "m\ud800"


def test_the_first_read_of_an_event_tells_the_decoder_and_nothing_else_does() -> None:
    message = received(line({"type": "ping"}), LazyStreamEvent)
    assert message.uuid == "u-1"
    assert message.lines_.demand.events is False
    assert message.event_ is None
    message.event  # noqa: B018  # reading is what is tested
    assert message.lines_.demand.events is True


def test_the_rest_of_the_line_is_read_when_asked_for() -> None:
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
    for cls in (LazyStreamEvent, StreamEvent):
        message = received(line({"type": "ping"}, **others), cls)
        assert {name: getattr(message, name) for name in others} == others
        assert (message.session_id, message.uuid) == ("s-1", "u-1")
        assert isinstance(message, StreamEvent)


def test_a_field_of_the_line_with_an_odd_shape_costs_only_itself() -> None:
    message = received(line({"type": "ping"}, ttft_ms="soon", api_message_id="msg_1"), LazyStreamEvent)
    assert (message.ttft_ms, message.api_message_id, message.uuid) == (None, "msg_1", "u-1")
    assert message.data["ttft_ms"] == "soon"


def test_a_stream_event_can_be_built() -> None:
    event = {"type": "content_block_stop", "index": 0, "novel": 1}
    message = StreamEvent.of(event, session_id="s", uuid="u", ttft_ms=3)
    assert message.data == {
        "type": "stream_event",
        "event": event,
        "session_id": "s",
        "ttft_ms": 3,
        "parent_tool_use_id": None,
        "uuid": "u",
    }
    assert message.event == event
    assert StreamEvent.of(e.Ping(), session_id="s", uuid="u").event == {"type": "ping"}
    assert "Ping()" in repr(StreamEvent.of(e.Ping(), session_id="s", uuid="u"))


def test_eager_decoding_refuses_what_it_cannot_type_so_that_the_codec_goes_the_lazy_way() -> None:
    with pytest.raises(msgspec.ValidationError):
        received(line({"type": "aurora"}), StreamEvent)
