"""The same conversation gives the same events and state: in one go, line by line, and saved and continued anywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import soak
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


@given(st.lists(ANYTHING, max_size=40), st.data())
def test_any_order_of_lines_gives_the_same_saved_or_not(lines: list[Any], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(lines)), max_size=4)))
    same_everywhere(timed(lines), cuts)


@given(st.lists(ANYTHING, max_size=40))
def test_after_any_lines_the_end_of_the_process_leaves_nothing_open(lines: list[Any]) -> None:
    timeline, _ = fold(timed(lines))
    timeline.process_ended(at=100.0)
    state = timeline.state
    assert (state.activity, state.waiting, state.running, state.streams) == ("idle", [], [], {})
    assert timeline.process_ended(at=101.0) == []


HOOKED = {"hook_event_name": "PreToolUse", "tool_use_id": "e"}
OPENING: Lines = timed(
    [
        ("in", ask("s", "mcp_set_servers", servers={})),
        ("in", ask("t", "mcp_status")),
        ("in", ask("c", "get_context_usage")),
        ("in", ask("w", "set_cwd", path="/b")),
        ("in", ask("o", "get_task_output", task_id="t")),
        ("in", ask("f", "rewind_files", user_message_id="p")),
        ("in", ask("l", "set_model", model="haiku")),
        ("in", ask("n", "initialize")),
        ("out", init()),
        ("out", message_start()),
        ("out", assistant(call("e", "Edit", file_path="/a", old_string="x", new_string="y"))),
        ("out", assistant(call("k", "NotebookEdit", notebook_path="/n", new_source="x"))),
        ("out", assistant(call("d", "TodoWrite", todos=[]))),
        ("out", assistant(call("u", "TaskList"))),
        ("out", assistant(call("a", "Task", description="d"))),
        ("out", may("ask_1", tool="e")),
        ("out", may("ask_2", "AskUserQuestion", "x", input={})),
        ("out", may("ask_3", "ExitPlanMode", "y", input={})),
        (
            "out",
            ask("cb", "hook_callback", callback_id="h", input={"hook_event_name": "PreToolUse", "tool_use_id": "e"}),
        ),
        ("out", ask("el", "elicitation", mcp_server_name="s", message="?")),
        ("out", system("task_started", task_id="t", tool_use_id="e", description="d")),
    ]
)
"""So that each line that comes next has something to hang on."""

RULES = [{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls"}], "behavior": "allow"}]
QUESTION = {"question": "?", "header": "h", "options": [{"label": "A", "preview": "a"}]}
LIMITS = {"status": "allowed", "unifiedWindows": {"w": {"utilization": 1}}}
HUNK = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}
DETAILED: list[tuple[Direction, dict[str, Any]]] = [
    *(("out", line) for line in RECEIVED),
    *(("in", line) for line in SENT),
    ("out", may(permission_suggestions=RULES, matched_ask_rule={"source": "s", "tool_name": "Bash"})),
    (
        "out",
        may(
            "q",
            "AskUserQuestion",
            input={"questions": [{"question": "?", "options": [{"label": "A", "preview": "a"}]}]},
        ),
    ),
    ("out", may("r", "ExitPlanMode", input={"plan": "p", "planFilePath": "/p", "allowedPrompts": [{"prompt": "x"}]})),
    ("out", assistant(call("m", "MultiEdit", file_path="/a", edits=[{"old_string": "a", "new_string": "b"}]))),
    ("out", result("e", facts={"filePath": "/a", "structuredPatch": [HUNK], "persistedOutputPath": "/o"})),
    ("out", result("k", facts={"notebook_path": "/n", "new_source": "y", "old_source": "x", "cell_id": "c"})),
    ("out", result("d", facts={"newTodos": [{"content": "c", "status": "pending", "activeForm": "d"}]})),
    ("out", result("u", facts={"tasks": [{"id": "1", "subject": "s", "status": "pending", "blockedBy": ["2"]}]})),
    ("out", result("a", facts={"status": "completed", "content": [{"type": "text", "text": "t"}], "agentId": "a"})),
    ("out", answer("s", {"added": ["a"], "removed": ["b"], "errors": {"a": "e"}})),
    ("out", answer("t", {"mcpServers": [{"name": "s", "status": "connected", "tools": [{"name": "x"}]}]})),
    ("out", answer("c", {"totalTokens": 1, "rawMaxTokens": 2, "model": "m"})),
    ("out", answer("w", {"cwd": "/b", "changed": True})),
    ("out", answer("o", {"output": "x"})),
    ("out", answer("f", {"filesChanged": ["/a"], "insertions": 1, "deletions": 1})),
    ("out", answer("l", {"model": "m"})),
    ("out", answer("n", {"commands": [{"name": "c"}], "models": [{"value": "v"}], "account": {"email": "e"}})),
    ("in", answer("ask_1", {"behavior": "allow", "updatedInput": {}, "updatedPermissions": RULES})),
    ("in", answer("ask_2", {"behavior": "allow", "updatedInput": {"answers": {"?": ["A"]}}})),
    ("in", answer("cb", {"decision": "block", "reason": "r", "hookSpecificOutput": {"permissionDecision": "deny"}})),
    ("in", answer("el", {"action": "accept"})),
    ("in", ask("x", "set_permission_mode", mode="plan")),
    ("in", ask("y", "rename_session", title="t")),
    (
        "out",
        {
            "type": "rate_limit_event",
            "rate_limit_info": {"status": "allowed", "unifiedWindows": {"w": {"utilization": 1}}},
        },
    ),
    ("out", system("files_persisted", files=[{"filename": "a"}], failed=[{"filename": "b", "error": "e"}])),
    ("out", system("memory_recall", memories=[{"path": "/m"}])),
    ("out", {"type": "active_goal", "value": {"condition": "c", "iterations": 1}}),
]
ODD: st.SearchStrategy[Any] = st.sampled_from([None, 3, -1.5, "x", [], {}, [1], {"a": 1}, True, [None], [{}], "\ud800"])


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a value, with each of its keys."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    return [place for key in keys for place in ((value, key), *places(value[key]))]


@given(st.sampled_from(DETAILED), st.data())
def test_a_line_with_a_part_of_another_shape_never_raises_and_can_be_saved(
    where_and_line: tuple[Direction, dict[str, Any]], data: st.DataObject
) -> None:
    where, line = where_and_line
    damaged = json.loads(json.dumps(line))
    container, key = data.draw(st.sampled_from(places(damaged)))
    container[key] = data.draw(ODD)
    lines: Lines = [*OPENING, (99.0, where, json.dumps(damaged).encode())]
    timeline, events = fold(lines)
    events += timeline.process_ended(at=100.0)
    assert Timeline.restore(timeline.snapshot()).state == timeline.state
    assert [decode_event(encode(event)) for event in events] == events


def entries(recording: Recording) -> Lines:
    return [(entry.t, entry.direction, entry.line) for entry in recording.entries if not entry.eof]


@pytest.mark.parametrize("cut", [1, 7])
def test_every_recorded_conversation_can_be_saved_and_continued(cut: int) -> None:
    for path in paths():
        lines = entries(load(path))
        whole, events = fold(lines)
        cuts = list(range(cut, len(lines), max(7, len(lines) // 5)))
        assert in_pieces(lines, cuts) == (whole.state, events), path


EVERY = 1 if soak.ON else 3
"""How many entries lie between two cuts."""


def test_every_recording_cut_at_any_entry_gives_the_same_events_and_state() -> None:
    for path in paths():
        whole = Timeline()
        for number, (at, direction, line) in enumerate(entries(load(path))):
            message = decode(line)
            if number % EVERY:
                whole.take(direction, message, at=at)
                continue
            again = Timeline.restore(whole.snapshot())
            assert again.take(direction, message, at=at) == whole.take(direction, message, at=at), (path, number)
            assert again.state == whole.state, (path, number)


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
    assert Timeline.restore(fold(lines)[0].snapshot()).state.outputs["msg_1"].blocks == {0: "msg_1:0"}
