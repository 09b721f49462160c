"""How much is kept, and how fast it is."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any

from quarterdeck.timeline import Limits, Timeline
from quarterdeck.timeline.events import TextCompleted, ToolCalled, ToolEnded
from quarterdeck.timeline.items import Prompt, Text, ToolCall
from quarterdeck.timeline.limits import clip, first_line
from quarterdeck.timeline.parts import Kept
from quarterdeck.wire import Decoder, encode

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


def _stream(pieces: int, size: int) -> tuple[float, Timeline]:
    """Microseconds of processor time for each piece of a streamed text, the reading of the line not counted."""
    decoder = Decoder()
    timeline = Timeline()
    for message in decoder.feed(encode(message_start()) + encode(block_start(text("")))):
        timeline.received(message, at=0.0)
    chunk = encode(delta("text", "x" * size)) * 50
    spent = 0.0
    for _ in range(pieces // 50):
        messages = decoder.feed(chunk)
        started = process_time()
        for message in messages:
            timeline.received(message, at=1.0)
        spent += process_time() - started
    return spent / pieces * 1e6, timeline


def test_a_piece_costs_microseconds() -> None:
    """It is about 2.5 µs on a machine of 2020; the bound leaves room for a slow and busy one."""
    assert min(_stream(10_000, 8)[0] for _ in range(3)) < 15


def test_ten_megabytes_in_pieces_are_not_copied_again_and_again() -> None:
    short, _ = _stream(2_000, 500)
    long, timeline = _stream(20_000, 500)
    assert long < 5 * short + 20
    started = perf_counter()
    timeline.received(Decoder().feed(encode(assistant(text("x" * 10_000_000))))[0], at=2.0)
    assert perf_counter() - started < 2
