from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from quarterdeck.wire import UnknownMessage, decode
from quarterdeck.wire import messages as m
from quarterdeck.wire.blocks import TextBlock, ToolResultBlock, ToolUseBlock
from quarterdeck.wire.notices import HookEventMessage
from quarterdeck.wire.result import DeferredToolUse, MessageOrigin
from quarterdeck.wire.system_types import SYSTEM_TYPES
from quarterdeck.wire.tasks import TERMINAL_TASK_STATUSES, TaskPatch
from quarterdeck.wire.usage import RateLimitInfo, Usage
from wire.message_lines import LINES, example, system
from wire_lines import class_of, received, typed


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['type']}.{line.get('subtype', '')}")
def test_a_line_becomes_its_class_and_every_key_is_typed(line: dict[str, Any]) -> None:
    message = typed(line)
    assert isinstance(message, class_of(line))
    by_fields = {key: value for key, value in line.items() if key != "tool_use_result"}  # that one is decoded apart
    assert message.to_dict() == by_fields  # the typed fields alone say all that the line said
    assert received(line).data == received(line).to_dict() == line


def test_every_class_has_an_example() -> None:
    assert {class_of(line) for line in LINES} == {*m.MESSAGE_TYPES, *SYSTEM_TYPES.values()}


def test_each_subtype_class_knows_its_subtype() -> None:
    for subtype, cls in SYSTEM_TYPES.items():
        line = example("system", subtype)
        fields = {name: value for name, value in line.items() if name not in ("type", "subtype")}
        without_subtype = msgspec.convert({"type": "system", **fields}, cls)
        assert without_subtype.subtype == subtype
        assert without_subtype.to_dict() == line


MINIMAL: list[dict[str, Any]] = [
    {"type": "assistant", "message": {"content": []}},
    {"type": "user", "message": {"content": "hi"}},
    {"type": "result", "subtype": "success"},
    {"type": "active_goal", "value": None},
    {"type": "auth_status"},
    {"type": "system", "subtype": "init"},
    {"type": "system", "subtype": "status", "status": None},
    {"type": "system", "subtype": "task_updated", "task_id": "t"},
    {"type": "system", "subtype": "compact_boundary"},
    {"type": "system", "subtype": "informational"},
]


@pytest.mark.parametrize("line", MINIMAL, ids=lambda line: f"{line['type']}.{line.get('subtype', '')}")
def test_what_a_line_leaves_out_is_no_error(line: dict[str, Any]) -> None:
    assert type(received(line)) is class_of(line)


def test_words_unknown_to_this_version_are_passed_on() -> None:
    assert received({**example("assistant"), "error": "gremlins"}).error == "gremlins"
    assert received({"type": "result", "subtype": "error_solar_flare"}).subtype == "error_solar_flare"
    assert received(system("status", status="levitating", permissionMode="zen")).permission_mode == "zen"


def test_an_assistant_message_shows_its_inner_message() -> None:
    message = received(example("assistant"))
    assert message.content == [TextBlock("Done.")]
    assert (message.model, message.message_id, message.stop_reason) == ("claude-x", "msg_1", "end_turn")
    assert (message.parent_tool_use_id, message.error) == ("tu", "rate_limit")
    assert (message.uuid, message.session_id) == ("u-1", "s-1")
    assert message.usage["input_tokens"] == message.typed_usage.input_tokens == 10
    match message:
        case m.AssistantMessage(content=[TextBlock(text=text)]):
            assert text == "Done."
        case _:
            pytest.fail("the official SDK's way of matching does not work")


def test_a_user_message_shows_its_inner_message() -> None:
    message = received(example("user"))
    assert message.content == [ToolResultBlock("tu", "ok", False)]
    assert message.tool_use_result == {"stdout": "ok"}
    assert (message.is_replay, message.is_synthetic, message.should_query) == (True, True, False)
    assert message.origin["from"] == MessageOrigin.of(message.origin).from_ == "them"
    assert received({"type": "user", "message": {"role": "user", "content": "hi"}}).content == "hi"


def test_a_user_message_built_here_is_what_the_cli_wants_on_stdin() -> None:
    message = m.UserMessage(message=m.MessageParam("hi"), session_id="", should_query=False)
    assert message.to_dict() == {
        "type": "user",
        "message": {"role": "user", "content": "hi"},
        "session_id": "",
        "shouldQuery": False,
    }


def test_a_result_has_the_official_names_and_order() -> None:
    message = received(example("result"))
    assert message.model_usage["claude-x"]["costUSD"] == message.typed_model_usage["claude-x"].cost_usd == 0.25
    assert message.usage["output_tokens"] == 4
    assert message.permission_denials[0]["tool_name"] == "Bash"
    assert message.deferred_tool_use == DeferredToolUse("tu", "Bash", {})
    assert message.origin["kind"] == "task-notification"
    built = m.ResultMessage("success", 5, 4, False, 1, "s")
    assert built.to_dict() == {
        "type": "result",
        "subtype": "success",
        "duration_ms": 5,
        "duration_api_ms": 4,
        "is_error": False,
        "num_turns": 1,
        "session_id": "s",
    }


def test_a_rate_limit_has_its_raw_dict() -> None:
    message = received(example("rate_limit_event"))
    info = message.rate_limit_info
    assert isinstance(info, RateLimitInfo)
    assert (info.status, info.resets_at, info.rate_limit_type) == ("allowed_warning", 1900000000, "five_hour")
    assert info.raw == example("rate_limit_event")["rate_limit_info"]
    assert RateLimitInfo("rejected", 5).raw == {}


def test_a_test_double_stands_in_for_a_rate_limit() -> None:
    double = SimpleNamespace(status="rejected")
    assert m.RateLimitEvent(double, "u", "s").rate_limit_info is double
    line = {**example("rate_limit_event"), "rate_limit_info": None}
    assert isinstance(decode(json.dumps(line).encode()), UnknownMessage)


def test_hook_lines_are_hook_events() -> None:
    for subtype in ("hook_started", "hook_progress", "hook_response"):
        message = received(example("system", subtype))
        assert isinstance(message, HookEventMessage)
        assert message.hook_event_name == "Stop"
    assert received({"type": "system", "subtype": "hook_started"}).hook_event_name == ""


def test_the_end_of_a_task_is_seen_in_both_its_messages() -> None:
    notified = received(example("system", "task_notification"))
    updated = received(example("system", "task_updated"))
    assert notified.status in TERMINAL_TASK_STATUSES
    assert updated.status in TERMINAL_TASK_STATUSES
    assert updated.patch["end_time"] == TaskPatch.of(updated.patch).end_time == 5
    assert received(system("task_updated", task_id="t")).status is None


def test_typed_system_messages_are_still_system_messages_with_data() -> None:
    for line in LINES:
        if line["type"] == "system":
            message = received(line)
            assert isinstance(message, m.SystemMessage)
            assert (message.subtype, message.data) == (line["subtype"], line)


def with_novelty(line: dict[str, Any], *path: str) -> dict[str, Any]:
    """The line with one more key in the object at ``path``."""
    if not path:
        return {**line, "novel": 1}
    return {**line, path[0]: with_novelty(line[path[0]], *path[1:])}


@pytest.mark.parametrize(
    ("kind", "subtype", "path", "attributes"),
    [
        ("assistant", None, ["message", "usage"], ["usage"]),
        ("assistant", None, ["message", "usage"], ["typed_usage"]),
        ("user", None, ["origin"], ["origin"]),
        ("result", None, ["usage"], ["usage"]),
        ("result", None, ["usage"], ["typed_usage"]),
        ("result", None, ["origin"], ["origin"]),
        ("rate_limit_event", None, ["rate_limit_info"], ["rate_limit_info"]),
        ("system", "task_updated", ["patch"], ["patch"]),
        ("system", "task_progress", ["usage"], ["usage"]),
    ],
)
def test_keys_of_tomorrow_are_answered(kind: str, subtype: str | None, path: list[str], attributes: list[str]) -> None:
    part = received(with_novelty(example(kind, subtype), *path))
    for name in attributes:
        part = getattr(part, name)
    assert part["novel"] == 1
    assert part.get("absent") is None
    assert "novel" in list(part)


def test_keys_of_tomorrow_are_in_the_data_of_every_message() -> None:
    for line in LINES:
        for key in (key for key, value in line.items() if isinstance(value, dict)):
            assert decode(json.dumps(with_novelty(line, key)).encode()).data[key]["novel"] == 1


def test_keys_of_tomorrow_are_answered_for_each_model() -> None:
    message = received(with_novelty(example("result"), "modelUsage", "claude-x"))
    assert message.model_usage["claude-x"]["novel"] == 1
    assert dict(message.model_usage["claude-x"])["novel"] == 1


def test_an_object_built_here_has_only_what_it_was_given() -> None:
    usage = Usage(input_tokens=3)
    assert dict(usage) == {"input_tokens": 3}
    with pytest.raises(KeyError):
        usage["output_tokens"]
    message = m.AssistantMessage([ToolUseBlock("i", "n", {})], "claude-x", usage=dict(usage))
    assert message.usage == {"input_tokens": 3}
    assert message.to_dict()["message"]["usage"] == {"input_tokens": 3}
