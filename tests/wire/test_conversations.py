"""Every recorded conversation with the real CLI, line by line and cut at random borders."""

from __future__ import annotations

import itertools
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import conversations
from conversations import Recording
from looping import for_each
from quarterdeck.protocol import HostSide, ProtocolEvent
from quarterdeck.wire import (
    BadLine,
    Decoder,
    Message,
    StreamEvent,
    SystemMessage,
    UnknownEvent,
    UnknownMessage,
    UserMessage,
    decode,
    encode,
)
from quarterdeck.wire.untyped import untyped_keys

PATHS = conversations.paths()
SMALL = [path for path in PATHS if path.stat().st_size < 60_000]


def name(path: Path) -> str:
    return f"{path.parent.name}-{path.name.split('.')[0]}"


def not_blank(lines: list[bytes]) -> list[bytes]:
    return [line for line in lines if line.strip()]


def test_there_are_recordings_of_all_five_versions() -> None:
    versions = {path.parent.name for path in PATHS}
    assert versions == {"2.0.77", "2.1.17", "2.1.25", "2.1.52", "2.1.325"}


@for_each("path", PATHS, ids=name)
def test_each_line_of_the_cli_is_typed_down_to_its_last_key(path: Path) -> None:
    for line in not_blank(conversations.load(path).lines("out")):
        message = decode(line)
        assert not isinstance(message, (UnknownMessage, BadLine)), message
        assert type(message) is not SystemMessage, message
        assert list(untyped_keys(message)) == []
        if isinstance(message, UserMessage) and "tool_use_result" in message.data:
            assert message.tool_use_result == message.data["tool_use_result"]


@for_each("path", PATHS, ids=name)
def test_each_line_keeps_its_bytes_and_survives_encoding(path: Path) -> None:
    recording = conversations.load(path)
    for line in not_blank(recording.lines("out") + recording.lines("in")):
        message = decode(line)
        assert message.raw == line.rstrip(b"\r")
        if isinstance(message, BadLine):
            continue
        encoded = encode(message)
        assert encoded == message.raw + b"\n"
        assert decode(encoded) == message


@for_each("path", PATHS, ids=name)
def test_no_line_is_lost_on_its_way_through_the_host_side(path: Path) -> None:
    recording = conversations.load(path)
    lines = not_blank(recording.lines("out"))
    assert [message.raw for message in through_host_side([recording.stream("out")])] == lines


@given(data=st.data())
def test_the_same_messages_come_out_however_the_bytes_are_cut(data: st.DataObject) -> None:
    recording = conversations.load(data.draw(st.sampled_from(SMALL)))
    stream = recording.stream("out")
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=40))
    chunks = cut(stream, sorted(cuts))
    whole = Decoder()
    expected = whole.feed(stream) + whole.finish()
    pieces = Decoder()
    messages = [message for chunk in chunks for message in pieces.feed(chunk)] + pieces.finish()
    assert [type_of(message) for message in messages] == [type_of(message) for message in expected]
    assert [message.raw for message in messages] == [message.raw for message in expected]
    assert [message.raw for message in through_host_side(chunks)] == not_blank(recording.lines("out"))


@for_each("path", SMALL[::9], ids=name)
def test_the_same_messages_come_out_byte_by_byte(path: Path) -> None:
    recording = conversations.load(path)
    stream = recording.stream("out")
    chunks = [stream[at : at + 1] for at in range(len(stream))]
    assert [message.raw for message in through_host_side(chunks)] == not_blank(recording.lines("out"))


@for_each("path", PATHS, ids=name)
def test_every_event_is_its_dict_and_can_be_typed(path: Path) -> None:
    for message in Decoder().feed(conversations.load(path).stream("out")):
        if isinstance(message, StreamEvent):
            assert message.event == message.data["event"]
            assert not isinstance(message.typed_event, UnknownEvent)


def through_host_side(chunks: list[bytes]) -> list[Message]:
    """Each message once: itself, or the one that an event carries."""
    host = HostSide(new_id=lambda: "id", clock=lambda: 0.0)
    for chunk in chunks:
        host.receive(chunk)
    host.receive_eof()
    messages = []
    for event in host.events():
        carried = getattr(event, "message", None) if isinstance(event, ProtocolEvent) else event
        if carried is not None:
            messages.append(carried)
    return messages


def type_of(message: Message) -> str:
    return type(message).__name__


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *places, len(stream)]
    return [stream[start:end] for start, end in itertools.pairwise(edges)]


def test_a_recording_says_which_cli_it_is_of() -> None:
    recording: Recording = conversations.load(PATHS[0])
    assert recording.header.cli == PATHS[0].parent.name
