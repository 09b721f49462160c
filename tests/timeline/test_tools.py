"""Tool calls, from the first word of their input to their result."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.timeline.events import (
    NoticeShown,
    ToolBackgrounded,
    ToolCalled,
    ToolEnded,
    ToolInputAdded,
    ToolOutputAdded,
    ToolProgressed,
    ToolsSummarised,
    ToolStarted,
)
from quarterdeck.timeline.items import ToolCall
from quarterdeck.timeline.parts import Kept

from .talk import (
    Talk,
    answer,
    ask,
    assistant,
    block_start,
    call,
    delta,
    init,
    kinds,
    may,
    message_start,
    only,
    prompt,
    result,
    system,
    turn_end,
)

LS = assistant(call(command="ls -l"))


def test_a_call_is_started_called_and_finished() -> None:
    talk = Talk()
    talk.hear(LS, result(output="a\nb"))
    assert kinds(talk.events) == ["turn_started", "tool_started", "tool_called", "tool_ended"]
    assert only(ToolStarted, talk.events) == ToolStarted(1.0, "tool_1", "Bash", "Bash")
    assert only(ToolCalled, talk.events) == ToolCalled(1.0, "tool_1", "Bash", "Bash", "ls -l", {"command": "ls -l"})
    assert only(ToolEnded, talk.events) == ToolEnded(2.0, "tool_1", "Bash", "finished", Kept("a\nb"), elapsed_s=1.0)
    item = talk.item(ToolCall, "tool_1")
    assert (item.status, item.about, item.output, talk.state.running) == ("finished", "ls -l", Kept("a\nb"), [])


def test_the_input_builds_up_and_the_call_is_the_same_when_it_is_complete() -> None:
    talk = Talk()
    talk.hear(message_start(), block_start(call()), delta("json", '{"command": '), delta("json", '"ls -l"}'))
    item = talk.item(ToolCall, "tool_1")
    assert (item.status, "".join(item.input_pieces)) == ("writing", '{"command": "ls -l"}')
    talk.hear(LS)
    assert [event.json for event in talk.events if isinstance(event, ToolInputAdded)] == ['{"command": ', '"ls -l"}']
    assert only(ToolStarted, talk.events).at == 2.0
    assert only(ToolCalled, talk.events).input == {"command": "ls -l"}
    assert (item.status, item.input_pieces, item.input) == ("running", [], {"command": "ls -l"})


def test_a_call_that_is_known_is_not_begun_again() -> None:
    talk = Talk()
    talk.hear(message_start(), LS, block_start(call(), 1))
    assert only(ToolStarted, talk.events).id == "tool_1"
    assert talk.state.running == ["tool_1"]


@pytest.mark.parametrize(
    "line",
    [
        {"tool_use_id": "tool_1-heartbeat-0", "parent_tool_use_id": "tool_1", "heartbeat": True},
        {"tool_use_id": "tool_1", "parent_tool_use_id": None},
    ],
    ids=["2.1.325", "before"],
)
def test_a_running_call_tells_its_time(line: dict[str, Any]) -> None:
    talk = Talk()
    talk.hear(LS)
    told = talk.hear({"type": "tool_progress", "tool_name": "Bash", "elapsed_time_seconds": 30, **line})
    assert told == [ToolProgressed(2.0, "tool_1", 30.0)]
    assert talk.item(ToolCall, "tool_1").elapsed_s == 30


def test_a_sub_agent_whose_call_of_the_api_is_made_again_says_so() -> None:
    talk = Talk()
    talk.hear(assistant(call(name="Agent", prompt="x")))
    retry = {"agent_id": "a", "attempt": 2, "error_category": "overloaded"}
    line = {"type": "tool_progress", "tool_use_id": "tool_1", "elapsed_time_seconds": 3, "subagent_retry": retry}
    assert talk.hear(line) == [ToolProgressed(2.0, "tool_1", 3.0, "overloaded, attempt 2")]


def test_a_failed_call_says_why() -> None:
    talk = Talk()
    talk.hear(LS, result(output="<tool_use_error>No such thing</tool_use_error>", error=True))
    ended = only(ToolEnded, talk.events)
    assert (ended.status, ended.output, ended.reason) == ("failed", Kept("No such thing"), "No such thing")


def test_a_call_denied_by_a_rule_is_denied_and_a_notice_says_why() -> None:
    talk = Talk()
    denied = system("permission_denied", tool_name="Bash", tool_use_id="tool_1", message="Not in this mode")
    talk.hear(LS, denied, result(output="Not in this mode", error=True))
    assert only(NoticeShown, talk.events).tool_ids == ["tool_1"]
    ended = only(ToolEnded, talk.events)
    assert (ended.status, ended.reason) == ("denied", "Not in this mode")


def test_a_call_denied_by_a_person_is_denied_with_their_words() -> None:
    talk = Talk()
    talk.hear(LS, may())
    talk.say(answer("ask_1", {"behavior": "deny", "message": "Not on a Sunday"}))
    talk.hear(result(output="Not on a Sunday", error=True))
    ended = only(ToolEnded, talk.events)
    assert (ended.status, ended.reason) == ("denied", "Not on a Sunday")


@pytest.mark.parametrize(
    "line",
    [
        result(output="The user doesn't want to proceed with this tool use. …", error=True),
        result(error=True, tool_result_meta=[{"id": "tool_1", "non_execution_kind": "user-rejected"}]),
        result(facts={"stdout": "", "stderr": "", "interrupted": True}),
    ],
)
def test_a_call_that_was_stopped_with_the_turn_is_not_called_denied(line: dict[str, Any]) -> None:
    talk = Talk()
    talk.hear(LS, line)
    assert only(ToolEnded, talk.events).status == "interrupted"


def test_a_call_without_a_result_ends_with_its_turn() -> None:
    talk = Talk()
    talk.hear(LS, turn_end("error_max_budget_usd"))
    assert only(ToolEnded, talk.events) == ToolEnded(2.0, "tool_1", "Bash", "interrupted", Kept(), elapsed_s=1.0)


def test_the_time_a_call_waits_for_a_person_is_not_its_own() -> None:
    talk = Talk()
    talk.hear(LS, may())
    assert talk.item(ToolCall, "tool_1").status == "waiting"
    talk.now = 100
    talk.say(answer("ask_1", {"behavior": "allow", "updatedInput": {}}))
    talk.hear(result())
    assert only(ToolEnded, talk.events).elapsed_s == 1.0


def test_a_call_in_the_background_goes_on_until_its_task_ends() -> None:
    talk = Talk()
    talk.hear(
        LS,
        system("task_started", task_id="t", tool_use_id="tool_1", description="ls", is_backgrounded=True),
        result(output="Running in background", facts={"stdout": "", "stderr": "", "backgroundTaskId": "t"}),
        turn_end(),
    )
    gone = only(ToolBackgrounded, talk.events)
    assert gone == ToolBackgrounded(3.0, "tool_1", "Bash", Kept("Running in background"), "t")
    assert (talk.item(ToolCall, "tool_1").status, talk.state.activity) == ("background", "idle")
    talk.hear(system("task_updated", task_id="t", patch={"status": "completed"}))
    assert only(ToolEnded, talk.events).status == "finished"


def test_what_a_running_task_has_written_is_the_calls_live_output() -> None:
    talk = Talk()
    talk.hear(LS, system("task_started", task_id="t", tool_use_id="tool_1", description="ls"))
    talk.say(ask("r", "get_task_output", task_id="t"))
    told = talk.hear(answer("r", {"output": "so far", "total_bytes": 6, "truncated": False}))
    assert told == [ToolOutputAdded(4.0, "tool_1", Kept("so far"), "t")]
    assert talk.item(ToolCall, "tool_1").live_output == Kept("so far")


def test_pictures_in_a_result_are_counted() -> None:
    talk = Talk()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    talk.hear(
        assistant(call(name="Read", file_path="a.png")), result(output=[image, {"type": "text", "text": "a.png"}])
    )
    ended = only(ToolEnded, talk.events)
    assert (ended.images, ended.output) == (1, Kept("a.png"))


def test_an_output_too_large_for_the_model_tells_where_it_is() -> None:
    talk = Talk()
    talk.hear(LS, result(facts={"stdout": "xx", "stderr": "", "persistedOutputPath": "/out"}))
    ended = only(ToolEnded, talk.events)
    assert (ended.output, ended.output_path) == (Kept("xx"), "/out")


def test_what_the_cli_adds_for_the_model_is_not_the_output() -> None:
    talk = Talk()
    read = "1→alpha\n\n<system-reminder>\nBe careful.\n</system-reminder>\n"
    report = {"status": "completed", "content": [{"type": "text", "text": "Done."}]}
    talk.hear(assistant(call("a", "Read", file_path="x")), result("a", read))
    talk.hear(assistant(call("b", "Task", description="errand")), result("b", "[hand-back] … Done.", report))
    talk.hear(assistant(call("c", command="true")), result("c", "(Bash completed with no output)"))
    assert [event.output for event in talk.events if isinstance(event, ToolEnded)] == [
        Kept("1→alpha"),
        Kept("Done."),
        Kept(),
    ]


def test_calls_of_a_sub_agent_hang_on_its_own_call() -> None:
    talk = Talk()
    nested = {"parent_tool_use_id": "tool_1"}
    talk.hear(assistant(call(name="Task", description="errand", prompt="p", subagent_type="explorer")))
    talk.hear(prompt("p", uuid="q", **nested), assistant(call("tool_2", command="ls"), message="msg_2", **nested))
    assert only(ToolCalled, talk.events[:4]).agent_type == "explorer"
    assert [item.id for item in talk.state.children("tool_1")] == ["q", "tool_2"]
    talk.hear(result("tool_1", "Done."))
    ended = [(event.id, event.status) for event in talk.events if isinstance(event, ToolEnded)]
    assert ended == [("tool_1", "finished"), ("tool_2", "interrupted")]


def test_a_tool_that_the_api_runs_has_its_result_in_the_same_message() -> None:
    talk = Talk()
    use = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "ships"}}
    found = [{"type": "web_search_result", "title": "Ships", "url": "https://s.example"}]
    talk.hear(assistant(use), assistant({"type": "web_search_tool_result", "tool_use_id": "srv", "content": found}))
    assert only(ToolCalled, talk.events).run_by_api
    assert only(ToolEnded, talk.events).output == Kept("Ships https://s.example")


def test_a_tool_of_a_server_has_a_name_for_people() -> None:
    talk = Talk()
    meta = [{"id": "tool_1", "display_name": "Book a table"}]
    talk.hear(assistant(call(name="mcp__tables__book"), tool_use_meta=meta))
    assert only(ToolStarted, talk.events).label == "tables: book"
    assert only(ToolCalled, talk.events).label == "Book a table"


def test_a_summary_names_its_calls() -> None:
    talk = Talk()
    talk.hear(LS, result())
    line = {"type": "tool_use_summary", "summary": "Looked around", "preceding_tool_use_ids": ["tool_1"]}
    assert talk.hear(line) == [ToolsSummarised(3.0, "Looked around", ["tool_1"])]
    assert talk.item(ToolCall, "tool_1").summary == "Looked around"


def test_a_result_of_a_call_that_began_before_we_looked_is_told_all_the_same() -> None:
    talk = Talk()
    talk.hear(init(), result("tool_9", "late"))
    assert only(ToolEnded, talk.events) == ToolEnded(2.0, "tool_9", "", "finished", Kept("late"))


def test_a_second_result_of_the_same_call_is_nothing_new() -> None:
    talk = Talk()
    talk.hear(LS, result())
    assert kinds(talk.hear(result())) == []
