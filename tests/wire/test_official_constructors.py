"""Messages built as programs for the official SDK build them, mostly in their tests."""

from __future__ import annotations

import json

import pytest

from quarterdeck.wire import (
    AssistantMessage,
    HookEventMessage,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TaskStartedMessage,
    TaskUpdatedMessage,
    TextBlock,
    ToolUseBlock,
    UserMessage,
    decode,
    encode,
)


def test_an_assistant_message_by_keyword() -> None:
    message = AssistantMessage(
        content=[TextBlock("hi"), ToolUseBlock("t", "Bash", {"command": "ls"})],
        model="claude",
        usage={"input_tokens": 3},
        message_id="m1",
        session_id="s",
    )
    assert message.content == [TextBlock("hi"), ToolUseBlock("t", "Bash", {"command": "ls"})]
    assert (message.model, message.message_id, message.session_id) == ("claude", "m1", "s")
    assert message.usage is not None and message.usage["input_tokens"] == 3
    assert decode(encode(message)) == message


def test_an_assistant_message_by_position() -> None:
    message = AssistantMessage([TextBlock("hi")], "claude", "toolu")
    assert (message.model, message.parent_tool_use_id) == ("claude", "toolu")


def test_too_many_positions_are_a_type_error() -> None:
    with pytest.raises(TypeError, match="takes 5 positional"):
        UserMessage("a", "b", "c", "d", "e", "f")


def test_a_user_message() -> None:
    assert UserMessage(content="hello", uuid="u").data == {
        "type": "user",
        "message": {"role": "user", "content": "hello"},
        "uuid": "u",
    }
    assert UserMessage("hello").content == "hello"


def test_a_system_message_and_its_subclasses() -> None:
    message = SystemMessage(subtype="init", data={"subtype": "init", "session_id": "s", "cwd": "/"})
    assert (message.subtype, message.session_id, message.data["cwd"]) == ("init", "s", "/")
    task = TaskStartedMessage(subtype="task_started", data={}, task_id="t", description="d", uuid="u", session_id="s")
    assert (task.task_id, task.description) == ("t", "d")


def test_a_stream_event() -> None:
    event = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}
    message = StreamEvent(uuid="u", session_id="s", event=event)
    assert message.event["delta"]["text"] == "x"
    assert (message.uuid, message.session_id, message.parent_tool_use_id) == ("u", "s", None)


def test_a_result_message() -> None:
    message = ResultMessage(
        subtype="success", duration_ms=1, duration_api_ms=2, is_error=False, num_turns=3, session_id="s", result="ok"
    )
    assert (message.num_turns, message.result, message.failed) == (3, "ok", False)
    assert ResultMessage("error_max_turns", 1, 1, False, 1, "s").failed


def test_a_result_message_with_plain_dicts() -> None:
    message = ResultMessage(
        "success", 1, 2, False, 1, "s", usage={"input_tokens": 3, "new": 4}, model_usage={"m": {"inputTokens": 3}}
    )
    assert message.usage is not None and message.model_usage is not None
    assert message.usage == {"input_tokens": 3, "new": 4}
    assert message.typed_usage is not None and message.typed_usage.input_tokens == 3
    assert message.model_usage["m"]["inputTokens"] == 3


def test_task_messages_by_position() -> None:
    started = TaskStartedMessage("task_started", {"extra": 1}, "t", "d", "u", "s", "toolu", "local_agent")
    assert (started.task_id, started.session_id, started.task_type, started.data["extra"]) == (
        "t",
        "s",
        "local_agent",
        1,
    )
    updated = TaskUpdatedMessage("task_updated", {}, "t", {"description": "d"}, "killed")
    assert (updated.status, updated.patch["description"]) == ("killed", "d")
    hook = HookEventMessage("hook_started", {}, "PreToolUse")
    assert (hook.hook_event_name, hook.data) == ("PreToolUse", {})
    with pytest.raises(TypeError, match="takes 2 positional"):
        SystemMessage("init", {}, "more")


def test_what_was_a_dict_can_be_written_as_json() -> None:
    event = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}
    result = ResultMessage("success", 1, 2, False, 1, "s", usage={"input_tokens": 3}, model_usage={"m": {"costUSD": 3}})
    told = [StreamEvent(uuid="u", session_id="s", event=event).event, result.usage, result.model_usage]
    assert json.loads(json.dumps(told)) == [event, {"input_tokens": 3}, {"m": {"costUSD": 3}}]
