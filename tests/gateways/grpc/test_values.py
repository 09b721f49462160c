"""Every struct survives the way into a message and back; what a message cannot hold is not lost."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from gateways.grpc.grpc_host import tagged
from looping import for_each
from quarterdeck.gateways.grpc.decoding import parsed, request_of, values_of
from quarterdeck.gateways.grpc.encoding import event_message, response_of, writer_of
from quarterdeck.gateways.grpc.events import within, written
from quarterdeck.gateways.grpc.messages import MESSAGES
from quarterdeck.gateways.grpc.methods import METHODS, Method
from quarterdeck.gateways.grpc.shapes import Field, Kind, fields_of, message_name, snake
from quarterdeck.host.errors import HostError
from quarterdeck.host.events import EVENTS, RawLine, UsageReport
from quarterdeck.host.folding import Preview
from quarterdeck.host.resources import Details, Frame, Frames, TokenCounts
from quarterdeck.timeline.events import TextAdded, TurnStarted

WHEN = datetime(2026, 1, 15, 9, 30, 0, 123456, tzinfo=UTC)
SINGLE: dict[Kind, Any] = {
    Kind.TEXT: "a text, ünïcode 🜚",
    Kind.INTEGER: 2**53 + 1,
    Kind.NUMBER: 1.25,
    Kind.TRUTH: True,
    Kind.BYTES: b"\x00\xff",
    Kind.MONEY: Decimal("0.1000000000000000055"),
    Kind.MOMENT: WHEN,
    Kind.CONTENT: [{"type": "text", "text": "hello"}],
}


def sample(struct: Any) -> Any:
    """A value of this struct with something in every field."""
    return msgspec.convert(plain(struct), struct)


def plain(struct: Any) -> dict[str, Any]:
    tag = struct.__struct_config__.tag
    named = {} if tag is None else {struct.__struct_config__.tag_field: tag}
    at = {"at": 12.5} if "at" in struct.__struct_fields__ and not any(f.name == "at" for f in fields_of(struct)) else {}
    return {**named, **at, **{field.encoded: value_for(struct, field) for field in fields_of(struct)}}


def value_for(struct: Any, field: Field) -> Any:
    if field.kind is Kind.JSON:
        return json_for(struct, field)
    one = (
        [TurnStarted(3.0, 7)]
        if field.kind is Kind.EVENT
        else plain(field.of)
        if field.kind is Kind.STRUCT
        else field.words.words[-1]
        if field.kind is Kind.WORD
        else SINGLE[field.kind]
    )
    if field.kind is Kind.EVENT:
        return one
    return [one, one] if field.many == "list" else {"a": one, "b": one} if field.many == "map" else one


def json_for(struct: Any, field: Field) -> Any:
    """What fits: an object, or a list of them."""
    whole = {"big": 2**63, "float": 1.0, "deep": [{"x": None}]}
    for value in (whole, [whole]):
        try:
            annotation = next(one.type for one in msgspec.structs.fields(struct) if one.name == field.attribute)
            msgspec.convert(value, annotation)
        except msgspec.ValidationError:
            continue
        return value
    raise AssertionError(field)


@for_each("event", EVENTS.values(), ids=list(EVENTS))
def test_an_event_comes_back_as_it_was(event: Any) -> None:
    made = sample(event)
    message = MESSAGES["Event"].FromString(event_message(made, "s-1", 9).SerializeToString())
    name = snake(message_name(event))
    assert (message.session_id, message.seq, message.at, message.WhichOneof("event")) == ("s-1", 9, 12.5, name)
    tag = event.__struct_config__.tag
    values = values_of(event, getattr(message, name), "")
    assert msgspec.convert({"type": tag, "at": 12.5, **tagged(event, values)}, event) == made


@for_each("method", METHODS.values(), ids=list(METHODS))
def test_a_request_is_read_as_it_was_written(method: Method) -> None:
    takes = method.operation.takes
    made = sample(takes)
    message = writer_of(takes, method.request)(made)
    assert request_of(method, parsed(method.request, message.SerializeToString())) == made


@for_each("method", METHODS.values(), ids=list(METHODS))
def test_a_response_shows_all_that_was_returned(method: Method) -> None:
    if method.returns is Frame:
        return  # streamed as events
    made = sample(method.returns)
    shown = parsed(method.response, response_of(method, made))
    shown = getattr(shown, method.wrapped) if method.wrapped else shown
    if method.returns is Frames:
        assert [event.turn_started.number for event in shown.frames[0].events] == [7]
        assert (shown.gap.epoch, shown.last_seq) == (SINGLE[Kind.TEXT], 2**53 + 1)
        return
    assert msgspec.convert(values_of(method.returns, shown, ""), method.returns) == made


def test_what_is_left_out_has_the_hosts_default_and_null_is_said_by_clear() -> None:
    create = request_of(METHODS["create_session"], MESSAGES["CreateSessionRequest"](cwd="/srv"))
    assert create == METHODS["create_session"].operation.takes(cwd="/srv")
    watch = request_of(METHODS["watch_session"], MESSAGES["WatchSessionRequest"](session_id="s"))
    assert (watch.previews, watch.view) == (True, "timeline")
    off = MESSAGES["WatchSessionRequest"](session_id="s", previews=False)
    assert request_of(METHODS["watch_session"], off).previews is False
    update = MESSAGES["UpdateSessionRequest"](session_id="s", clear=["budget_usd", "tags"])
    request = request_of(METHODS["update_session"], update)
    assert (request.budget_usd, request.tags, request.model) == (None, [], msgspec.UNSET)


@pytest.mark.parametrize(
    ("operation", "fields", "field"),
    [
        ("get_session", {}, "session_id"),
        ("create_session", {"cwd": "/srv", "options_json": "{"}, "options_json"),
        ("create_session", {"cwd": "/srv", "options_json": "[" * 5000}, "options_json"),
        ("create_session", {"cwd": "/srv", "options_json": "[1]"}, "options"),
        ("create_session", {"cwd": "/s\0rv"}, "cwd"),
        ("create_session", {"cwd": "/srv", "budget_usd": "much"}, "budget_usd"),
        ("create_token", {"name": "n", "scope": 99}, "scope"),
        ("create_token", {"name": "n"}, "scope"),
        ("list_sessions", {"state": [99]}, "state[0]"),
        ("update_session", {"session_id": "s", "clear": ["name"]}, "clear"),
        ("send_prompt", {"session_id": "s", "content": {}}, "content"),
        ("send_prompt", {"session_id": "s", "content": {"blocks_json": "nonsense"}}, "content.blocks_json"),
        ("update_prompt", {"session_id": "s", "prompt_id": "p", "not_before": {"seconds": 2**62}}, "not_before"),
        ("decide", {"approval_id": "a"}, "decision"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_with_the_field(
    operation: str, fields: dict[str, Any], field: str
) -> None:
    method = METHODS[operation]
    with pytest.raises(HostError) as refused:
        request_of(method, MESSAGES[method.request](**fields))
    assert (refused.value.code, refused.value.details["field"]) == ("invalid", field)


def test_a_field_of_a_newer_version_is_refused_also_inside() -> None:
    data = MESSAGES["DecideRequest"](approval_id="a", decision={"decision": 1}).SerializeToString()
    with pytest.raises(HostError, match="field 900 of DecideRequest"):
        request_of(METHODS["decide"], parsed("DecideRequest", data + b"\xa0\x38\x01"))
    inner = MESSAGES["Decision"](decision=1).SerializeToString() + b"\xa0\x38\x01"
    nested = b"\x0a\x01a\x12" + bytes([len(inner)]) + inner
    with pytest.raises(HostError, match="field 900 of Decision") as refused:
        request_of(METHODS["decide"], parsed("DecideRequest", nested))
    assert refused.value.details["field"] == "decision"


def test_bytes_that_are_no_message_are_refused() -> None:
    for data in (b"\x0a\x02\xff\xfe", b"\x0a\x7f", b"\xff" * 20):
        with pytest.raises(HostError) as refused:
            parsed("GetSessionRequest", data)
        assert refused.value.code == "invalid"


def test_an_event_whose_values_do_not_fit_comes_with_its_json() -> None:
    event = UsageReport(1.0, 2**70, Decimal("1.5"), TokenCounts(input=3))
    message = event_message(event, "s", 4)
    assert (message.WhichOneof("event"), message.unknown.type) == ("unknown", "usage_report")
    assert msgspec.json.decode(message.unknown.json)["turn"] == 2**70


@for_each("event", EVENTS.values(), ids=list(EVENTS))
def test_what_is_written_by_hand_is_what_protobuf_writes(event: Any) -> None:
    made = sample(event)
    for item in (
        Frame(session="s-1", seq=300, at=1.0, events=[made, made]),
        Preview(session="ü" * 100, after_seq=0, events=[made]),
    ):
        seq = item.seq if isinstance(item, Frame) else item.after_seq
        is_preview = isinstance(item, Preview)
        whole = [event_message(one, item.session, seq, preview=is_preview) for one in item.events]
        assert MESSAGES["WatchSessionResponse"].FromString(written(item)) == MESSAGES["WatchSessionResponse"](
            events=whole
        )


def test_a_preview_whose_values_do_not_fit_is_still_one() -> None:
    odd = Preview(
        session="s",
        after_seq=1,
        events=[TextAdded(1.0, "b", "x\ud800"), UsageReport(1.0, 2**70, Decimal(1), TokenCounts())],
    )
    shown = MESSAGES["WatchSessionResponse"].FromString(written(odd)).events
    assert [(event.WhichOneof("event"), event.preview) for event in shown] == [("text_delta", True), ("unknown", True)]


def test_half_a_character_is_shown_as_a_replacement_and_kept_in_json() -> None:
    message = event_message(TextAdded(1.0, "b", "x\ud800y"), "s", 4, with_json=True)
    assert message.text_delta.text == "x\ufffdy"
    assert "\\ud800" in message.json
    details = response_of(METHODS["get_info"], Details(details={"a": "\udfff"}))
    assert "\\udfff" in parsed("GetInfoResponse", details).details_json


def test_events_that_are_too_large_are_named_largest_first_and_the_others_stay() -> None:
    events = [RawLine(1.0, "received", "x" * size) for size in (10, 5_000, 3_000)]
    frame = Frame(session="s", seq=3, at=1.0, events=events)
    whole = MESSAGES["WatchSessionResponse"].FromString(written(frame))
    assert [event.WhichOneof("event") for event in whole.events] == ["raw_line"] * 3
    shown = MESSAGES["WatchSessionResponse"].FromString(within(frame, 4_000))
    assert [event.WhichOneof("event") for event in shown.events] == ["raw_line", "oversized", "raw_line"]
    assert (shown.events[1].oversized.type, shown.events[1].oversized.size_bytes > 5_000) == ("raw_line", True)
    assert [event.seq for event in shown.events] == [3, 3, 3]
