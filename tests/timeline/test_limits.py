"""How much is kept, and how much work a piece of a text is."""

from __future__ import annotations

from typing import Any

from quarterdeck.timeline import Limits, Timeline
from quarterdeck.timeline.events import TextCompleted, ToolCalled, ToolEnded
from quarterdeck.timeline.items import Prompt, Text, ToolCall
from quarterdeck.timeline.limits import clip, first_line
from quarterdeck.timeline.parts import Kept
from quarterdeck.wire import Decoder, Message, encode
from work import most_bytes, steps

from .talk import (
    Talk,
    assistant,
    block_start,
    call,
    delta,
    init,
    may,
    message_start,
    only,
    prompt,
    result,
    text,
    turn_end,
)


def test_a_long_text_keeps_its_two_ends() -> None:
    kept = clip("a" * 100 + "z" * 100, 40)
    assert kept == Kept("a" * 30, "z" * 10, 160)
    assert (kept.size, str(kept)) == (200, "a" * 30 + "\n… 160 characters left out …\n" + "z" * 10)
    assert clip("short", 40) == Kept("short")


def test_an_output_is_cut_in_its_event_and_in_the_state() -> None:
    talk = Talk(limits=Limits(output_chars=1_000))
    talk.hear(assistant(call(command="yes")), result(output="y" * 10_000_000))
    ended = only(ToolEnded, talk.events)
    assert (ended.output.size, len(ended.output.text) + len(ended.output.tail)) == (10_000_000, 1_000)
    assert len(talk.timeline.snapshot()) < 10_000


def test_a_text_is_whole_in_its_event_and_cut_in_the_state() -> None:
    talk = Talk(limits=Limits(text_chars=1_000))
    talk.say(prompt("p" * 5_000, uuid="p"))
    talk.hear(assistant(text("x" * 10_000)))
    assert len(only(TextCompleted, talk.events).text) == 10_000
    assert talk.item(Text, "msg_1:0").text.size == 10_000
    assert talk.item(Prompt, "p").text.size == 5_000
    assert len(talk.timeline.snapshot()) < 5_000


def test_a_text_that_is_being_said_is_bounded_too_and_its_rest_is_right() -> None:
    talk = Talk(limits=Limits(text_chars=100))
    talk.hear(message_start(), block_start(text("")))
    for _ in range(1_000):
        talk.hear(delta("text", "0123456789"))
    item = talk.item(Text, "msg_1:0")
    assert sum(map(len, item.pieces)) <= 110
    assert item.text.size + item.pieces_size == 10_000
    talk.hear(assistant(text("0123456789" * 1_000 + "the end")))
    assert only(TextCompleted, talk.events).rest == "the end"


def test_long_texts_in_an_input_are_cut_in_the_state_only() -> None:
    talk = Talk(limits=Limits(input_chars=100))
    given: dict[str, Any] = {"file_path": "/a", "content": "x" * 10_000, "list": ["y" * 10_000, 3]}
    talk.hear(message_start(), block_start(call(name="Write")))
    for _ in range(100):
        talk.hear(delta("json", "0123456789"))
    assert sum(map(len, talk.item(ToolCall, "tool_1").input_pieces)) <= 100
    talk.hear(assistant(call(name="Write", **given)))
    assert only(ToolCalled, talk.events).input == given
    kept = talk.item(ToolCall, "tool_1").input
    assert (kept["file_path"], kept["list"][1], len(kept["content"]) < 200, len(kept["list"][0]) < 200) == (
        "/a",
        3,
        True,
        True,
    )


def test_the_oldest_items_go_but_never_what_is_open() -> None:
    talk = Talk(limits=Limits(items=10))
    talk.hear(init(), assistant(call(command="sleep")), may())
    for number in range(50):
        talk.hear(assistant(text("x"), message=f"m{number}"))
    state = talk.state
    assert (len(state.items), state.dropped_items) == (10, 42)
    assert list(state.items)[:3] == ["tool_1", "ask_1", "m42:0"]
    talk.hear(result())
    assert talk.item(ToolCall, "tool_1").status == "finished"


def test_a_text_that_is_being_said_is_not_dropped() -> None:
    talk = Talk(limits=Limits(items=3))
    talk.hear(message_start(), block_start(text("")), delta("text", "Hel"))
    talk.hear(*(prompt("more", uuid=str(number), isReplay=True) for number in range(9)))
    talk.hear(delta("text", "lo"), assistant(text("Hello.")))
    assert only(TextCompleted, talk.events).rest == "."


def test_a_session_of_days_has_a_size() -> None:
    talk = Talk(limits=Limits(items=100, finished_tasks=5))
    sizes = []
    for number in range(400):
        key = f"tool_{number}"
        talk.hear(init(), assistant(call(key, command="ls"), message=f"m{number}"), result(key), turn_end(uuid=key))
        sizes.append(len(talk.timeline.snapshot()))
    assert max(sizes[-100:]) < 1.1 * max(sizes[100:200])


def test_one_line_tells_what_it_is_about() -> None:
    assert [first_line(words) for words in ("", " a ", "a\nb", "x" * 300)] == ["", "a", "a …", "x" * 199 + "…"]


STEPS_PER_PIECE = 80
"""Measured: 48, the typing of the message included."""


def _pieces(count: int, size: int) -> list[Message]:
    return Decoder().feed(encode(delta("text", "x" * size)) * count)


def _begun() -> Timeline:
    """A timeline in which a text has begun."""
    timeline = Timeline()
    for message in Decoder().feed(encode(message_start()) + encode(block_start(text("")))):
        timeline.received(message, at=0.0)
    return timeline


def _receive(timeline: Timeline, messages: list[Message]) -> None:
    for message in messages:
        timeline.received(message, at=1.0)


def test_a_piece_is_a_few_steps_however_many_came_before() -> None:
    timeline = _begun()
    early, many, late = _pieces(100, 8), _pieces(10_000, 8), _pieces(100, 8)
    at_first = steps(lambda: _receive(timeline, early))
    _receive(timeline, many)
    assert steps(lambda: _receive(timeline, late)) <= at_first <= STEPS_PER_PIECE * len(early)


def test_ten_megabytes_in_pieces_are_joined_seldom_and_never_copied_whole() -> None:
    timeline = _begun()
    item = timeline.state.items["msg_1:0"]
    assert isinstance(item, Text)
    joined = 0
    for piece in _pieces(20_000, 500):
        before = len(item.pieces)
        timeline.received(piece, at=1.0)
        joined += len(item.pieces) <= before
    assert joined <= 20_000 * 500 // Limits().text_chars
    more = _pieces(2_000, 500)
    assert most_bytes(lambda: _receive(timeline, more)) < 5_000_000
    whole = Decoder().feed(encode(assistant(text("x" * 10_000_000))))
    assert most_bytes(lambda: _receive(timeline, whole)) < 25_000_000
