"""The core of the client on every supported CLI, in one session per version; where versions differ, it is asserted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from e2e.conftest import running_in
from e2e.kit import Running, of_kind
from quarterdeck import (
    AskUserQuestionInput,
    AssistantMessage,
    ControlError,
    ControlTimeout,
    InitMessage,
    Message,
    PermissionResultDeny,
    Plan,
    ResultError,
    ResultMessage,
    StreamEvent,
    ToolPermissionContext,
    create_sdk_mcp_server,
    tool,
)
from quarterdeck.testing.install import SUPPORTED
from quarterdeck.testing.model import Error, Stall, ToolUse, Usage
from quarterdeck.wire import PreToolUseHookInput
from quarterdeck.wire.versions import REFUSES_UNKNOWN_REQUESTS, is_at_least

pytestmark = pytest.mark.real

TOUCH = ToolUse("Bash", {"command": "touch made.txt", "description": "Make a file"})


@tool
async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@tool
def broken() -> str:
    """Never works."""
    raise RuntimeError("out of order")


@pytest.fixture(scope="module", params=SUPPORTED)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    options = {
        "include_partial_messages": True,
        "system_prompt": "Be terse.",
        "mcp_servers": {"calc": create_sdk_mcp_server("calc", tools=[add, broken])},
        "env": {"CLAUDE_CODE_MAX_RETRIES": "0"},
    }
    with running_in(tmp_path_factory.mktemp("core"), request.param, **options) as running:
        yield running


@pytest.fixture
def running(shared: Running) -> Running:
    shared.reset()
    return shared


def is_newest(running: Running) -> bool:
    return running.stage.newest


async def test_turns_follow_each_other_in_one_process_each_with_its_own_cost(running: Running) -> None:
    session, before = running.session, running.session.costs.total_usd
    messages: list[Message] = []
    costs = []
    for number in (1, 2):
        running.model.reply(f"answer {number}", usage=Usage(1000, 100))
        messages = [message async for message in session.prompt(f"prompt {number}")]
        result = messages[-1]
        assert isinstance(result, ResultMessage)
        assert result.result == f"answer {number}"
        costs.append(session.costs.last.cost_usd)
        request = running.model.conversation[-1]
        assert request.last_user_text.splitlines()[-1] == f"prompt {number}"
        assert "Be terse." in request.system
    assert of_kind(messages, InitMessage)[0].claude_code_version == running.stage.version == session.version
    assert of_kind(messages, AssistantMessage)[0].content[0].text == "answer 2"
    assert len(of_kind(messages, StreamEvent)) > 3
    assert session.session_id == result.session_id
    assert min(costs) > 0
    assert session.costs.total_usd == pytest.approx(before + sum(costs)) == pytest.approx(result.total_cost_usd)


async def test_a_permission_is_allowed_then_denied(running: Running) -> None:
    contexts: list[ToolPermissionContext] = []
    made = running.stage.cwd / "made.txt"

    async def decide(name: str, tool_input: dict[str, Any], context: ToolPermissionContext) -> Any:
        contexts.append(context)
        if len(contexts) == 1:
            return await running.stage.allow(name, tool_input, context)
        return PermissionResultDeny(message="Not on a Sunday")

    running.decide = decide
    running.model.reply(TOUCH)
    running.model.reply("made")
    await running.session.prompt("make it")
    assert made.exists()
    running.model.reply(ToolUse("Bash", {"command": "rm made.txt", "description": "Remove it"}))
    running.model.reply("I respect that")
    result = await running.session.prompt("remove it")
    assert made.exists()
    assert running.stage.tool_results() == ["Not on a Sunday"]
    assert running.stage.asked == [("Bash", dict(TOUCH.input))]
    assert all(context.tool_use_id and context.request_id and context.signal is not None for context in contexts)
    assert [denial["tool_name"] for denial in result.permission_denials or ()] == ["Bash"]


async def test_a_hook_refuses_one_tool_and_has_no_opinion_of_the_other(running: Running) -> None:
    seen: list[str] = []

    async def guard(hook_input: PreToolUseHookInput, tool_use_id: str | None, _: Any) -> Any:
        seen.append(hook_input.tool_input["command"])
        assert tool_use_id
        if "forbidden" not in hook_input["tool_input"]["command"]:
            return None
        decision = {"permissionDecision": "deny", "permissionDecisionReason": "house rule"}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}

    running.guard = guard
    running.model.reply(ToolUse("Bash", {"command": "touch forbidden", "description": "x"}))
    running.model.reply(ToolUse("Bash", {"command": "touch harmless", "description": "x"}))
    running.model.reply("One of two.")
    await running.session.prompt("go")
    assert seen == ["touch forbidden", "touch harmless"]
    assert not (running.stage.cwd / "forbidden").exists()
    assert (running.stage.cwd / "harmless").exists()
    assert [name for name, _ in running.stage.asked] == ["Bash"]
    assert "house rule" in running.model.conversation[-2].text


async def test_an_interrupt_ends_the_turn_and_not_the_session(running: Running) -> None:
    session = running.session
    stall = Stall(after=4, until=running.model.gate())
    running.model.reply("A long answer that nobody hears to its end.", stall)
    receipt = None
    async for message in session.prompt("talk"):
        if isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta" and receipt is None:
            receipt = await session.interrupt()
        if isinstance(message, ResultMessage):
            assert message.subtype == "error_during_execution"
            assert message.terminal_reason == ("aborted_streaming" if is_newest(running) else None)
    assert receipt is not None
    assert receipt.still_queued == ([] if is_newest(running) else None)
    running.model.reply("Still here.")
    assert (await session.prompt("there?")).result == "Still here."


async def test_a_tool_of_this_process_is_called_and_its_failure_is_a_result(running: Running) -> None:
    for name, arguments, told in (("add", {"a": 2, "b": 3}, "5"), ("broken", {}, "out of order")):
        running.model.reply(ToolUse(f"mcp__calc__{name}", arguments))
        running.model.reply("done")
        assert (await running.session.prompt("use it")).result == "done"
        assert told in running.stage.tool_results()[0]


QUESTION = {
    "question": "Which topping?",
    "header": "Topping",
    "options": [{"label": label, "description": f"With {label}"} for label in ("Olives", "Corn", "Ham")],
    "multiSelect": False,
}


async def test_a_question_is_answered(running: Running) -> None:
    async def answer(asked: AskUserQuestionInput, _: ToolPermissionContext) -> dict[str, str]:
        assert [option.label for option in asked.questions[0].options] == ["Olives", "Corn", "Ham"]
        return {asked.questions[0].question: "Corn"}

    running.answer = answer
    running.model.reply(ToolUse("AskUserQuestion", {"questions": [QUESTION]}))
    running.model.reply("Corn it is.")
    await running.session.prompt("ask me")
    assert "Corn" in running.stage.tool_results()[0]
    assert "Which topping?" in running.stage.tool_results()[0]


async def test_a_plan_is_revised_then_approved(running: Running) -> None:
    plans: list[Plan] = []

    async def review(plan: Plan, _: ToolPermissionContext) -> Any:
        plans.append(plan)
        return "Add a third step" if len(plans) == 1 else True

    running.review = review
    await running.session.set_permission_mode("plan")
    for steps in ("1. Look", "1. Look 2. Leap 3. Land"):
        running.model.reply(ToolUse("ExitPlanMode", {"plan": steps}))
    running.model.reply("Carrying it out.")
    assert (await running.session.prompt("plan it")).result == "Carrying it out."
    assert "Add a third step" in running.model.conversation[-2].text
    # 2.1.325 hands over only a plan that it finds in a file; the others give the model's own words.
    told = [None, None] if is_newest(running) else ["1. Look", "1. Look 2. Leap 3. Land"]
    assert [plan.text for plan in plans] == told
    await running.session.set_permission_mode("default")


async def test_a_failed_api_call_is_an_error_though_the_cli_calls_it_success(running: Running) -> None:
    refusal = Error(400, "the scripted model did not like this")
    rule = running.model.on(lambda request: request.kind == "main", refusal)
    with pytest.raises(ResultError, match="did not like this") as caught:
        await running.session.prompt("hi").checked()
    rule.times = 0
    assert caught.value.subtype == "success"
    assert caught.value.session_id == running.session.session_id
    assert caught.value.api_error_status == (400 if is_newest(running) else None)


async def test_an_unknown_control_request_is_refused_or_never_answered(running: Running) -> None:
    answers = is_at_least(running.stage.version, REFUSES_UNKNOWN_REQUESTS)
    with pytest.raises(ControlError, match="ask_the_oracle") as caught:
        await running.session.request("ask_the_oracle", timeout_s=None if answers else 0.5)
    assert type(caught.value) is (ControlError if answers else ControlTimeout)
    assert caught.value.code == ("unsupported_request" if is_newest(running) else None)
