"""The same conversation gives the same events and state: in one go, line by line, and saved and continued anywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversations import Recording, load, paths
from quarterdeck.timeline import Event, SnapshotError, State, Timeline, decode_event, encode, fold
from quarterdeck.timeline.folding import Direction
from quarterdeck.wire import Decoder, decode

from .talk import (
    answer,
    ask,
    assistant,
    block_start,
    call,
    cancel,
    delta,
    failure,
    init,
    may,
    message_start,
    prompt,
    result,
    stream,
    system,
    text,
    turn_end,
)

Lines = list[tuple[float, Direction, bytes]]

CASES = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])

RECEIVED: list[dict[str, Any]] = [
    init(),
    message_start(),
    message_start("msg_2", parent_tool_use_id="tool_1"),
    block_start(text("")),
    block_start(call(), 1),
    block_start(text(""), parent_tool_use_id="tool_1"),
    delta("text", "Hello"),
    delta("text", "there", parent_tool_use_id="tool_1"),
    delta("json", '{"a"', 1),
    stream({"type": "message_stop"}),
    assistant(text("Hello")),
    assistant(call(command="ls")),
    assistant(call("tool_2", "Edit", file_path="/a", old_string="x", new_string="y"), parent_tool_use_id="tool_1"),
    assistant({"type": "thinking", "thinking": "Hm", "signature": ""}, message="msg_3"),
    may(),
    may("ask_2", "AskUserQuestion", "tool_2", input={"questions": [{"question": "?", "options": []}]}),
    may("ask_3", "ExitPlanMode", "tool_2", input={}),
    ask("cb", "hook_callback", callback_id="h", input={"hook_event_name": "Stop"}),
    ask("el", "elicitation", mcp_server_name="s", message="?"),
    cancel("ask_1"),
    cancel("cb"),
    result(output="ok \ud800"),
    result("tool_2", "no", error=True, parent_tool_use_id="tool_1"),
    result(facts={"stdout": "", "stderr": "", "backgroundTaskId": "t"}),
    system("task_started", task_id="t", tool_use_id="tool_1", description="d", is_backgrounded=True),
    system("task_updated", task_id="t", patch={"status": "completed"}),
    system("task_notification", task_id="t", status="completed", summary="s", output_file="/o"),
    system("api_retry", attempt=1),
    system("status", status="compacting"),
    system("compact_boundary", compact_metadata={"trigger": "auto", "pre_tokens": 9, "post_tokens": 1}),
    system("from_the_future"),
    {"type": "conversation_reset", "new_conversation_id": "n"},
    turn_end(total_cost_usd=1.0, modelUsage={"opus": {"costUSD": 1.0, "inputTokens": 5, "contextWindow": 100}}),
    turn_end("error_during_execution"),
]
SENT: list[dict[str, Any]] = [
    prompt(),
    prompt("hi", uuid="p"),
    ask("i", "interrupt"),
    ask("m", "set_permission_mode", mode="plan"),
    answer("ask_1", {"behavior": "allow", "updatedInput": {}}),
    answer("ask_2", {"behavior": "deny", "message": "no"}),
    answer("cb", {}),
    failure("ask_3", "no"),
]
ANYTHING: st.SearchStrategy[tuple[Direction, dict[str, Any]]] = st.one_of(
    st.tuples(st.just("out"), st.sampled_from(RECEIVED)), st.tuples(st.just("in"), st.sampled_from(SENT))
)


def timed(lines: list[tuple[Direction, dict[str, Any]]]) -> Lines:
    return [(float(number), where, json.dumps(line).encode()) for number, (where, line) in enumerate(lines)]


def in_pieces(lines: Lines, cuts: list[int]) -> tuple[State, list[Event]]:
    """Saved and continued at each cut."""
    timeline, events = Timeline(), []
    for start, end in zip([0, *cuts], [*cuts, len(lines)], strict=True):
        timeline, told = fold(lines[start:end], timeline=Timeline.restore(timeline.snapshot()))
        events += told
    return timeline.state, events


def same_everywhere(lines: Lines, cuts: list[int]) -> None:
    whole, events = fold(lines)
    again, same_events = fold(lines)
    assert (again.state, same_events) == (whole.state, events)
    assert in_pieces(lines, cuts) == (whole.state, events)
    assert [decode_event(encode(event)) for event in events] == events


@CASES
@given(st.lists(ANYTHING, max_size=40), st.data())
def test_any_order_of_lines_gives_the_same_saved_or_not(lines: list[Any], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(lines)), max_size=4)))
    same_everywhere(timed(lines), cuts)


@CASES
@given(st.lists(ANYTHING, max_size=40))
def test_after_any_lines_the_end_of_the_process_leaves_nothing_open(lines: list[Any]) -> None:
    timeline, _ = fold(timed(lines))
    timeline.process_ended(at=100.0)
    state = timeline.state
    assert (state.activity, state.waiting, state.running, state.streams) == ("idle", [], [], {})
    assert timeline.process_ended(at=101.0) == []


@CASES
@given(st.sampled_from(RECEIVED), st.data())
def test_a_line_with_a_part_of_another_shape_never_raises(line: dict[str, Any], data: st.DataObject) -> None:
    damaged = json.loads(json.dumps(line))
    holder = data.draw(st.sampled_from([part for part in (damaged, *damaged.values()) if isinstance(part, dict)]))
    holder[data.draw(st.sampled_from(sorted(holder)))] = data.draw(
        st.sampled_from([None, 3, "x", [], {}, [1], {"a": 1}, True])
    )
    timeline = Timeline()
    timeline.received(decode(json.dumps(init()).encode()), at=0.0)
    timeline.received(decode(json.dumps(damaged).encode()), at=1.0)
    assert Timeline.restore(timeline.snapshot()).state == timeline.state


def entries(recording: Recording) -> Lines:
    return [(entry.t, entry.direction, entry.line) for entry in recording.entries if not entry.eof]


@pytest.mark.parametrize("cut", [1, 7])
def test_every_recorded_conversation_can_be_saved_and_continued(cut: int) -> None:
    for path in paths():
        lines = entries(load(path))
        whole, events = fold(lines)
        cuts = list(range(cut, len(lines), max(7, len(lines) // 5)))
        assert in_pieces(lines, cuts) == (whole.state, events), path


def test_messages_of_a_stream_of_bytes_are_the_same_as_line_by_line() -> None:
    for path in paths("2.1.325"):
        recording = load(path)
        one, other, decoder = Timeline(), Timeline(), Decoder()
        messages = [*decoder.feed(recording.stream("out")), *decoder.finish()]
        told = [one.received(message, at=0.0) for message in messages]
        lines = [line for line in recording.lines("out") if line.strip()]
        assert told == [other.received(decode(line), at=0.0) for line in lines], path
        assert one.state == other.state, path


@pytest.mark.parametrize("snapshot", [b"", b"[]", b'{"items": 3}', b"\xff"])
def test_what_is_no_snapshot_is_refused(snapshot: bytes) -> None:
    with pytest.raises(SnapshotError, match="not a snapshot"):
        Timeline.restore(snapshot)


def test_a_lone_surrogate_can_be_saved_while_something_is_being_said() -> None:
    """JavaScript can write one, and only an escape can carry it."""
    lines = timed([("out", message_start()), ("out", block_start(text(""))), ("out", delta("text", "\ud800"))])
    same_everywhere(lines, [2, 3])
    assert Timeline.restore(fold(lines)[0].snapshot()).state.speeches["msg_1"].blocks == {0: "msg_1:0"}
