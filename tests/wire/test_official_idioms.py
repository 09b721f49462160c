"""What programs do with the official SDK's dataclasses, done with our messages and blocks."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from typing import Any

import pytest

from quarterdeck.wire import (
    AssistantMessage,
    InitMessage,
    Message,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TaskUpdatedMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    decode,
)

LINES: list[dict[str, Any]] = [
    {
        "type": "assistant",
        "message": {"role": "assistant", "model": "m", "content": [{"type": "text", "text": "hi"}], "usage": {"n": 1}},
        "session_id": "s",
        "uuid": "u",
        "novel": {"deep": 1},
    },
    {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"a": 1}]}]},
        "tool_use_result": {"stdout": "x"},
    },
    {"type": "system", "subtype": "init", "cwd": "/", "model": "m", "session_id": "s", "uuid": "u"},
    {"type": "system", "subtype": "task_updated", "task_id": "t", "patch": {"status": "killed"}},
    {"type": "stream_event", "event": {"type": "ping"}, "session_id": "s", "uuid": "u"},
    {
        "type": "result",
        "subtype": "success",
        "duration_ms": 1,
        "duration_api_ms": 1,
        "is_error": False,
        "num_turns": 1,
        "session_id": "s",
        "permission_denials": [{"tool_name": "Bash"}],
        "modelUsage": {"m": {"costUSD": 0.1}},
    },
]
OFFICIAL = (AssistantMessage, UserMessage, SystemMessage, TaskUpdatedMessage, StreamEvent, ResultMessage)


def received(line: dict[str, Any]) -> Any:
    return decode(json.dumps(line).encode())


@pytest.fixture(params=LINES, ids=lambda line: line.get("subtype", line["type"]))
def message(request: pytest.FixtureRequest) -> Any:
    return received(request.param)


def test_it_is_a_dataclass_for_whoever_asks(message: Message) -> None:
    assert dataclasses.is_dataclass(message)
    names = [field.name for field in dataclasses.fields(message)]  # type: ignore[arg-type]
    assert list(vars(message)) == list(dataclasses.asdict(message)) == names  # type: ignore[call-overload]
    assert repr(message).startswith(f"{type(message).__name__}({names[0]}=")


def test_it_can_be_written_as_json(message: Message) -> None:
    json.dumps(dataclasses.asdict(message))  # type: ignore[call-overload]


def test_copies_are_equal_and_keep_the_line(message: Message) -> None:
    for twin in (copy.copy(message), copy.deepcopy(message), pickle.loads(pickle.dumps(message))):  # noqa: S301
        assert twin == message
        assert not twin != message  # noqa: SIM202  # both were true once
        assert (type(twin), twin.raw, twin.data) == (type(message), message.raw, message.data)


def test_a_deep_copy_shares_nothing(message: Message) -> None:
    before = json.dumps(message.data)
    twin = copy.deepcopy(message)
    twin.data["changed"] = 1
    assert json.dumps(message.data) == before


def test_data_is_the_same_dict_each_time(message: Message) -> None:
    assert message.data is message.data
    message.data["mine"] = 1
    assert message.data["mine"] == 1
    assert b"mine" not in message.raw


def test_attributes_can_be_changed_and_added(message: Any) -> None:
    message.seen_at = 7
    assert (message.seen_at, vars(message)["seen_at"], copy.copy(message).seen_at) == (7, 7, 7)
    del message.seen_at
    assert not hasattr(message, "seen_at")
    name = dataclasses.fields(message)[0].name
    setattr(message, name, "changed")
    assert getattr(message, name) == "changed"


def test_it_has_no_hash_as_it_can_be_changed(message: Message) -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(message)


def test_a_property_without_a_setter_cannot_be_set(message: Message) -> None:
    with pytest.raises(AttributeError):
        message.raw = b""  # type: ignore[misc]


def test_messages_are_equal_by_their_official_fields() -> None:
    one, other = received(LINES[0]), received({**LINES[0], "novel": 2})
    assert one == other
    assert one == AssistantMessage([TextBlock("hi")], "m", usage={"n": 1}, session_id="s", uuid="u")
    assert one != received({**LINES[0], "uuid": "another"})
    assert one != "something else"


def test_an_init_message_equals_the_plain_system_message_of_the_same_line() -> None:
    init = received(LINES[2])
    assert isinstance(init, InitMessage)
    assert init == SystemMessage("init", dict(LINES[2]))
    assert dataclasses.asdict(init) == {"subtype": "init", "data": LINES[2]}  # type: ignore[call-overload]


def test_positional_patterns_are_the_official_ones() -> None:
    match received(LINES[0]):
        case AssistantMessage([TextBlock(text)], model):
            assert (text, model) == ("hi", "m")
        case other:
            pytest.fail(f"not matched: {other}")
    match ToolUseBlock("i", "Bash", {"command": "ls"}):
        case ToolUseBlock(_, "Bash", {"command": command}):
            assert command == "ls"


def test_replace_makes_another_one() -> None:
    message = received(LINES[0])
    changed = dataclasses.replace(message, model="other")
    assert (changed.model, message.model, changed.content) == ("other", "m", message.content)
    assert dataclasses.replace(TextBlock("a"), text="b") == TextBlock("b")


def test_what_the_official_sdk_has_as_dicts_are_dicts() -> None:
    result = received(LINES[5])
    assert [type(part) for part in (result.model_usage["m"], result.permission_denials[0])] == [dict, dict]
    (block,) = received(LINES[1]).content
    assert isinstance(block, ToolResultBlock)
    assert block.content == [{"a": 1}]
    assert received(LINES[3]).patch == {"status": "killed"}
    assert received(LINES[3]).status == "killed"


def test_what_was_given_is_what_is_there() -> None:
    content, usage = [TextBlock("a")], {"input_tokens": 1}
    message = AssistantMessage(content=content, model="m", usage=usage)
    assert message.content is content
    assert message.usage is usage
    content.append(TextBlock("b"))
    assert len(message.to_dict()["message"]["content"]) == 2


def test_required_arguments_are_required() -> None:
    with pytest.raises(TypeError, match="'model'"):
        AssistantMessage(content=[])  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="multiple values"):
        AssistantMessage([], "m", content=[])  # type: ignore[misc]


def test_a_message_that_holds_itself_can_be_shown() -> None:
    message = SystemMessage("loop", {})
    message.data["self"] = message
    assert "..." in repr(message)


def test_an_attribute_added_to_one_message_is_no_other_messages() -> None:
    one, other = StreamEvent("u", "s", {}), StreamEvent("u", "s", {})
    one.seen = True  # type: ignore[attr-defined]
    assert not hasattr(other, "seen")
    assert not hasattr(StreamEvent, "seen")
    assert pickle.loads(pickle.dumps(one)).seen  # noqa: S301
    one.to_dict = None  # type: ignore[assignment,method-assign]
    assert other.to_dict() == {"type": "stream_event", "uuid": "u", "session_id": "s", "event": {}}
