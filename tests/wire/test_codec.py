from __future__ import annotations

import gc
import json
import tracemalloc
from typing import Any

import pytest

from inside import classes_are_inspected, forget_classes
from looping import for_each
from quarterdeck.wire import (
    AssistantMessage,
    BadLine,
    ControlRequest,
    Decoder,
    InitializeRequest,
    InitMessage,
    KeepAliveMessage,
    Message,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    UnknownBlock,
    UnknownMessage,
    UnknownRequest,
    UserMessage,
    codec,
    decode,
    encode,
)
from quarterdeck.wire.blocks import typed_block
from quarterdeck.wire.codec import decode_only
from wire import message_lines
from work import most_bytes

KEEP_ALIVE = b'{"type":"keep_alive"}'
DELTA = {
    "type": "stream_event",
    "event": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hé"}},
    "session_id": "s",
    "parent_tool_use_id": None,
    "uuid": "u",
}


def line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def assistant(*blocks: Any, **more: Any) -> dict[str, Any]:
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "claude", "content": list(blocks), **more}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, "session_id": "s", "uuid": "u"}


def feed(data: bytes, *, limit_bytes: int = 1000) -> list[Message]:
    decoder = Decoder(limit_bytes=limit_bytes)
    return decoder.feed(data) + decoder.finish()


ODD = [
    b"[]",
    b"{}",
    b"nonsense",
    b'{"type":3}',
    b'{"type":"hologram"}',
    b'{"type":"user"}',
    b'{"type":"keep_alive","type":"user"}',
    b'{"type":"control_request","request_id":"1","request":{"subtype":"hologram"}}',
    b'{"type":"system","subtype":"status","status":[]}',
    b'{"type":"result","subtype":"success"}',
    b'\xff{"type":"keep_alive"}',
]


@for_each("said", [*message_lines.LINES, DELTA, *ODD])
def test_a_line_is_the_same_message_before_all_classes_are_inspected(
    said: dict[str, Any] | bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = said if isinstance(said, bytes) else line(said)
    codec.prepare()
    later = decode(given)
    forget_classes(monkeypatch)
    early = decode(given)
    assert (type(early), early.raw) == (type(later), later.raw)
    assert early == later
    if given not in ODD:
        assert not classes_are_inspected()


def test_a_chunk_is_the_same_before_all_classes_are_inspected(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line(said) for said in (message_lines.example("system", "init"), DELTA, DELTA)]
    for count in (1, 2, 3, 50):
        chunk = b"".join(one + b"\n" for one in lines * count)
        codec.prepare()
        later = Decoder().feed(chunk)
        forget_classes(monkeypatch)
        early = Decoder().feed(chunk)
        assert list(map(type, early)) == list(map(type, later))
        assert [one.raw for one in early] == [one.raw for one in later] == lines * count


def test_type_need_not_be_the_first_key() -> None:
    message = decode(b'{"uuid":"u","subtype":"init","session_id":"s","tools":[],"model":"m","cwd":"/","type":"system"}')
    assert isinstance(message, InitMessage)
    assert message.model == "m"


def test_a_line_may_carry_its_ending() -> None:
    assert decode(KEEP_ALIVE + b"\r\n").raw == KEEP_ALIVE


def test_unknown_fields_stay_in_data() -> None:
    message = decode(line({**assistant({"type": "text", "text": "hi"}), "brand_new": {"x": 1}}))
    assert isinstance(message, AssistantMessage)
    assert message.data["brand_new"] == {"x": 1}


def test_an_unknown_type_is_a_message_with_everything_in_data() -> None:
    message = decode(b'{"type":"telepathy","thought":42}')
    assert isinstance(message, UnknownMessage)
    assert (message.type, message.reason) == ("telepathy", "unknown type 'telepathy'")
    assert message.data == {"type": "telepathy", "thought": 42}


@pytest.mark.parametrize("text", [b'{"a":1}', b'{"type":7}', b'{"type":null}', b"{}"])
def test_a_line_without_a_usable_type_is_unknown(text: bytes) -> None:
    message = decode(text)
    assert isinstance(message, UnknownMessage)
    assert message.type is None
    assert message.data == json.loads(text)


def test_an_unknown_system_subtype_stays_a_system_message() -> None:
    message = decode(b'{"type":"system","subtype":"telepathy","x":1}')
    assert type(message) is SystemMessage
    assert (message.subtype, message.data["x"]) == ("telepathy", 1)


def test_an_unknown_block_costs_only_itself() -> None:
    odd = {"type": "hologram", "depth": 3}
    message = decode(line(assistant({"type": "text", "text": "hi"}, odd)))
    assert isinstance(message, AssistantMessage)
    text, unknown = message.content
    assert text == TextBlock("hi")
    assert isinstance(unknown, UnknownBlock)
    assert (unknown.data, unknown.type) == (odd, "hologram")


def test_an_unknown_block_inside_a_tool_result_costs_only_itself() -> None:
    inner = [{"type": "text", "text": "ok"}, {"type": "hologram"}]
    result = {"type": "tool_result", "tool_use_id": "t", "content": inner}
    message = decode(line({"type": "user", "message": {"role": "user", "content": [result]}}))
    assert isinstance(message, UserMessage)
    block = message.content[0]
    assert isinstance(block, ToolResultBlock)
    assert block.content == inner
    assert [typed_block(part) for part in inner] == [TextBlock("ok"), {"type": "hologram"}]
    assert isinstance(typed_block(inner[1]), UnknownBlock)


def test_a_block_without_a_required_field_is_unknown_with_the_reason() -> None:
    message = decode(line(assistant({"type": "text"})))
    assert isinstance(message, AssistantMessage)
    (block,) = message.content
    assert isinstance(block, UnknownBlock)
    assert "`text`" in block.reason


def test_a_missing_required_field_makes_the_message_unknown_with_the_reason() -> None:
    message = decode(b'{"type":"assistant","session_id":"s"}')
    assert isinstance(message, UnknownMessage)
    assert message.type == "assistant"
    assert "missing required field `message`" in message.reason


def test_a_missing_optional_field_is_absent() -> None:
    message = decode(b'{"type":"assistant","message":{"role":"assistant","content":[],"model":"m"}}')
    assert isinstance(message, AssistantMessage)
    assert (message.uuid, message.parent_tool_use_id, message.usage) == (None, None, None)


def test_an_optional_field_of_an_unexpected_shape_is_left_out_and_stays_in_data() -> None:
    odd = assistant({"type": "text", "text": "hi"}, usage={"input_tokens": "many", "output_tokens": 3})
    message = decode(line({**odd, "timestamp": {"not": "a string"}}))
    assert isinstance(message, AssistantMessage)
    assert message.timestamp is None
    assert message.data["timestamp"] == {"not": "a string"}
    assert message.usage is not None
    assert message.usage["output_tokens"] == 3
    assert message.data["message"]["usage"]["input_tokens"] == "many"


def test_a_result_of_the_wrong_shape_is_unknown_with_all_reasons() -> None:
    message = decode(b'{"type":"result","subtype":7,"is_error":"no"}')
    assert isinstance(message, UnknownMessage)
    assert "subtype" in message.reason


def test_an_unknown_request_keeps_its_data() -> None:
    message = decode(b'{"type":"control_request","request_id":"r","request":{"subtype":"new","x":1}}')
    assert isinstance(message, ControlRequest)
    assert isinstance(message.request, UnknownRequest)
    assert message.request["x"] == 1
    assert message.subtype == "new"


def test_a_stream_event_without_an_event_is_unknown_with_the_reason() -> None:
    message = decode(b'{"type":"stream_event","session_id":"s","uuid":"u"}')
    assert isinstance(message, UnknownMessage)
    assert "missing required field `event`" in message.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"not json at all", "not JSON"),
        (b'{"type":"keep_alive"', "not JSON"),
        (b'{"type":"keep_alive"}{}', "not JSON"),
        (b'{"type":"keep_alive"}\x00', "not JSON"),
        (b"\x00", "not JSON"),
        (b'{"type":"keep_alive","x":NaN}', "not JSON"),
        (b'{"type":"keep_alive","x":"\xff"}', "not valid UTF-8"),
        (b'{"type":"user","message":{"role":"user","content":"\xc3("}}', "not valid UTF-8"),
        (b"[1,2]", "a JSON array, not an object"),
        (b'"word"', "a JSON string, not an object"),
        (b"7", "a JSON number, not an object"),
        (b"1.5", "a JSON number, not an object"),
        (b"true", "a JSON boolean, not an object"),
        (b"null", "a JSON null, not an object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"type":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_001, "nested too deeply"),
    ],
)
def test_a_bad_line_says_why_and_the_stream_goes_on(text: bytes, reason: str) -> None:
    before, bad, after = feed(KEEP_ALIVE + b"\n" + text + b"\n" + KEEP_ALIVE + b"\n", limit_bytes=1_000_000)
    assert isinstance(bad, BadLine)
    assert bad.reason.startswith(reason)
    assert (bad.head, bad.size, bad.raw) == (text[:256], len(text), text)
    assert isinstance(before, KeepAliveMessage)
    assert isinstance(after, KeepAliveMessage)


def test_a_lone_surrogate_is_accepted_as_json_loads_does() -> None:
    text = (
        b'{"type":"assistant","message":{"role":"assistant","model":"m","content":[{"type":"text","text":"\\ud800"}]}}'
    )
    message = decode(text)
    assert isinstance(message, AssistantMessage)
    assert message.content == [TextBlock("\ud800")]
    assert message.data == json.loads(text)
    assert encode(message) == text + b"\n"


def test_a_lone_surrogate_in_a_delta_is_read_when_asked_for() -> None:
    text = line(DELTA).replace("hé".encode(), b"\\udfff")
    (message,) = feed(text + b"\n")
    assert isinstance(message, StreamEvent)
    assert message.event["delta"]["text"] == "\udfff"


def test_a_message_built_here_with_a_lone_surrogate_is_written_as_valid_utf8() -> None:
    encoded = encode({"type": "user", "message": {"role": "user", "content": "\ud800é"}})
    assert encoded.decode("utf-8").endswith("\n")
    assert json.loads(encoded)["message"]["content"] == "\ud800é"


def test_blank_lines_and_crlf_are_fine() -> None:
    messages = feed(b"\n\r\n  \n" + KEEP_ALIVE + b"\r\n\n" + KEEP_ALIVE + b"\n\n")
    assert [message.raw for message in messages] == [KEEP_ALIVE, KEEP_ALIVE]


def test_unicode_line_separators_do_not_break_a_line() -> None:
    text = line({"type": "user", "message": {"role": "user", "content": "a\u2028b\u2029c\u0085d"}})
    (message,) = feed(text + b"\n")
    assert isinstance(message, UserMessage)
    assert message.content == "a\u2028b\u2029c\u0085d"


def test_encoding_never_puts_a_newline_inside() -> None:
    encoded = encode({"type": "user", "message": {"role": "user", "content": "a\nb\r\u2028"}})
    assert encoded.count(b"\n") == 1
    assert json.loads(encoded)["message"]["content"] == "a\nb\r\u2028"


def test_a_line_over_the_limit_is_bad_and_the_next_one_is_read() -> None:
    long = b'{"type":"keep_alive","x":"' + b"y" * 2000 + b'"}'
    for size in (1, 7, 999, 1000, 1001, len(long), 10_000):
        decoder = Decoder(limit_bytes=1000)
        stream = long + b"\n" + KEEP_ALIVE + b"\n"
        messages = [m for at in range(0, len(stream), size) for m in decoder.feed(stream[at : at + size])]
        bad, good = messages
        assert isinstance(bad, BadLine)
        assert (bad.size, bad.head) == (len(long), long[:256])
        assert "limit of 1000 bytes" in bad.reason
        assert isinstance(good, KeepAliveMessage)


def test_a_line_of_exactly_the_limit_is_taken() -> None:
    (message,) = feed(KEEP_ALIVE + b"\n", limit_bytes=len(KEEP_ALIVE))
    assert isinstance(message, KeepAliveMessage)


def test_an_overlong_last_line_is_told_at_the_end() -> None:
    (bad,) = feed(b"x" * 5000, limit_bytes=1000)
    assert isinstance(bad, BadLine)
    assert bad.size == 5000


def test_memory_for_an_overlong_line_is_bounded() -> None:
    decoder = Decoder(limit_bytes=1000)

    def read_ten_megabytes() -> None:
        for _ in range(10_000):
            decoder.feed(b"x" * 1000)

    assert most_bytes(read_ten_megabytes) < 50_000


def test_a_line_of_64_mib_passes_by_default() -> None:
    decoder = Decoder()
    text = b'{"type":"keep_alive","x":"' + b"y" * (64 * 1024 * 1024 - 28) + b'"}'
    assert len(text) == 64 * 1024 * 1024
    (message,) = decoder.feed(text + b"\n")
    assert isinstance(message, KeepAliveMessage)
    assert len(message.raw) == len(text)


def test_one_odd_line_in_a_chunk_does_not_change_its_neighbours() -> None:
    odd = [b"garbage", b'{"type":"telepathy"}', line(assistant({"type": "hologram"}))]
    lines = [piece for other in odd for piece in (line(DELTA), other)] + [line(DELTA)]
    messages = feed(b"\n".join(lines) + b"\n", limit_bytes=100_000)
    assert [message.raw for message in messages] == lines
    assert [type(m).__name__ for m in messages[::2]] == ["StreamEvent"] * 4
    assert [m.event["delta"]["text"] for m in messages[::2] if isinstance(m, StreamEvent)] == ["hé"] * 4


def test_a_json_object_over_two_lines_is_two_bad_lines() -> None:
    bad = feed(b'{"type":\n"keep_alive"}\n' + KEEP_ALIVE + b"\n")
    assert [type(message) for message in bad] == [BadLine, BadLine, KeepAliveMessage]


def test_numbers_beyond_a_double_are_kept() -> None:
    message = decode(b'{"type":"keep_alive","x":1e999,"y":123456789012345678901234567890}')
    assert message.data["x"] == float("inf")
    assert message.data["y"] == 123456789012345678901234567890


def test_messages_are_equal_by_what_they_say() -> None:
    assert decode(b'{"type":"keep_alive","a":1}') == decode(b'{"a":1,"type":"keep_alive"}')
    assert decode(b'{"type":"keep_alive","a":1}') != decode(b'{"type":"keep_alive","a":2}')


def test_a_bad_line_cannot_be_encoded() -> None:
    with pytest.raises(TypeError, match="BadLine"):
        encode(decode(b"nope"))


def test_a_message_shows_itself_without_its_hidden_parts() -> None:
    shown = repr(decode(line(assistant({"type": "text", "text": "hi"}))))
    assert shown.startswith("AssistantMessage(content=[TextBlock(text='hi')], model=")
    assert "line_" not in shown


def test_a_result_reads_like_the_dicts_it_was_made_of() -> None:
    usage = {"input_tokens": 3, "output_tokens": 4, "brand_new": {"deep": True}}
    text = line({"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "duration_ms": 1,
                 "duration_api_ms": 1, "session_id": "s", "usage": usage, "modelUsage": {}})  # fmt: skip
    message = decode(text)
    assert isinstance(message, ResultMessage)
    assert message.usage is not None
    assert message.usage == usage
    assert message.usage is message.usage
    assert message.typed_usage is not None
    assert message.typed_usage["input_tokens"] == message.typed_usage.input_tokens == 3
    assert message.typed_usage.get("brand_new") == {"deep": True}
    assert "brand_new" in message.typed_usage and "nothing" not in message.typed_usage
    assert dict(message.typed_usage) == usage


INITIALIZE = b'{"type":"control_request","request_id":"1","request":{"subtype":"initialize"},"odd":1}'


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_an_expected_line_is_the_message_that_any_decoder_makes_of_it(ending: bytes) -> None:
    message = decode_only(INITIALIZE + ending, ControlRequest)

    assert message is not None
    assert message == decode(INITIALIZE)
    assert message.raw == INITIALIZE
    assert message.request == InitializeRequest()


@pytest.mark.parametrize(
    "chunk",
    [
        b"",
        INITIALIZE,
        b"\n" + INITIALIZE + b"\n",
        INITIALIZE + b"\n" + INITIALIZE + b"\n",
        INITIALIZE + b"\n" + INITIALIZE,
        INITIALIZE.replace(b",", b",\n") + b"\n",
        INITIALIZE.replace(b"control_request", b"control_cancel_request") + b"\n",
        INITIALIZE.replace(b'{"subtype":"initialize"}', b"1") + b"\n",
        INITIALIZE.replace(b'"odd"', b'"\xff"') + b"\n",
        b"not JSON\n",
    ],
)
def test_anything_but_one_whole_line_of_the_expected_class_is_left_to_a_decoder(chunk: bytes) -> None:
    assert decode_only(chunk, ControlRequest) is None


def test_a_chunk_that_goes_line_by_line_is_given_back() -> None:
    """Its system messages were made once on the quick way, and nobody may keep them: wire types are not collected."""
    padding = "x" * 60_000
    lines = ({"type": "system", "subtype": "status", "padding": padding}, {"type": "no such type"})
    chunk = b"".join(encode(line) for line in lines)
    Decoder().feed(chunk)
    tracemalloc.start()
    try:
        for _ in range(50):
            Decoder().feed(bytes(bytearray(chunk)))
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < 10 * len(chunk)
    finally:
        tracemalloc.stop()
