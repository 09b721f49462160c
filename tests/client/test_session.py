from __future__ import annotations

import asyncio
from typing import Any

import pytest

from client.fake import FakeCli, session_and_cli, until
from inside import classes_are_inspected, connection_of, forget_classes
from protocol.pair import init, result, system
from quarterdeck import (
    LATER,
    Aborted,
    Approve,
    AskUserQuestionInput,
    AssistantMessage,
    CancelSignal,
    ClaudeAgentOptions,
    ControlError,
    ControlTimeout,
    LocalProtocolError,
    Message,
    PermissionResultAllow,
    PermissionResultDeny,
    Plan,
    ProcessExited,
    ResultError,
    ResultMessage,
    Revise,
    Session,
    StreamEvent,
    TextAccumulator,
    ToolPermissionContext,
    UserMessage,
)
from quarterdeck.protocol import AnswerReceived, CancelReceived, OutputEnded, RequestFailed, RequestReceived


def text(words: str, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "model": "m", "content": [{"type": "text", "text": words}]}
    return {"type": "assistant", "message": message, "session_id": "s1", "uuid": "u", **more}


def delta(words: str, **more: Any) -> dict[str, Any]:
    event = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": words}}
    return {"type": "stream_event", "event": event, "session_id": "s1", "uuid": "u", "parent_tool_use_id": None, **more}


async def test_while_the_cli_starts_the_classes_of_its_messages_are_inspected(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_classes(monkeypatch)
    cli = FakeCli()
    cli.answers_initialize = False
    await cli.start()
    session = Session(transport=cli.near)
    opening = asyncio.create_task(session.open())
    asked = await cli.expect(RequestReceived)
    await until(classes_are_inspected)
    cli.answer(asked.request_id, {})
    await opening
    await session.close()


async def test_a_prompt_is_followed_to_its_result() -> None:
    async with session_and_cli() as (session, cli):
        play = asyncio.create_task(cli.turn(text("hello")))
        messages = [message async for message in session.prompt("hi")]
        assert [type(message).__name__ for message in messages] == ["InitMessage", "AssistantMessage", "ResultMessage"]
        assert (await play).content == "hi"
        assert session.session_id == "s1"
        assert session.version == "2.1.325"


async def test_a_prompt_can_be_awaited_for_its_result() -> None:
    async with session_and_cli() as (session, cli):
        play = asyncio.create_task(cli.turn(text("hello"), result="done"))
        ended = await session.prompt("hi")
        assert isinstance(ended, ResultMessage)
        assert ended.result == "done"
        await play


async def test_an_error_result_is_returned_or_raised_as_asked() -> None:
    async with session_and_cli() as (session, cli):
        failed = {"subtype": "error_max_turns", "is_error": True, "errors": ["too many turns"]}
        play = asyncio.create_task(cli.turn(**failed))
        assert (await session.prompt("hi")).is_error
        await play
        play = asyncio.create_task(cli.turn(**failed))
        with pytest.raises(ResultError, match="too many turns") as caught:
            await session.prompt("again").checked()
        assert caught.value.subtype == "error_max_turns"
        await play


async def test_several_turns_each_end_at_their_own_result() -> None:
    async with session_and_cli() as (session, cli):
        for number in range(3):
            play = asyncio.create_task(cli.turn(text(f"answer {number}"), result=f"r{number}"))
            assert (await session.prompt(f"prompt {number}")).result == f"r{number}"
            await play


async def test_a_turn_that_the_cli_took_by_itself_does_not_end_the_prompts_turn() -> None:
    async with session_and_cli() as (session, cli):
        turn = session.prompt("mine")
        await turn.send()
        await cli.expect(UserMessage)
        cli.say(init(), result(result="not mine", origin={"kind": "task-notification"}))
        cli.say(init(), result(result="mine"))
        assert (await turn).result == "mine"


async def test_stopping_early_leaves_the_rest_to_the_next_reader() -> None:
    async with session_and_cli() as (session, cli):
        play = asyncio.create_task(cli.turn(text("one"), text("two")))
        async for message in session.prompt("hi"):
            if isinstance(message, AssistantMessage):
                break
        await play
        rest = [await session.next_message() for _ in range(2)]
        assert [type(message).__name__ for message in rest] == ["AssistantMessage", "ResultMessage"]


async def test_a_response_ends_with_the_next_result_and_stopping_early_loses_nothing() -> None:
    async with session_and_cli() as (session, cli):
        cli.say(text("one"), result(result="first"), text("two"), result(result="second"))
        async for message in session.response():
            assert isinstance(message, AssistantMessage)
            break
        kinds = [type(message).__name__ async for message in session.response()]
        assert kinds == ["ResultMessage"]
        kinds = [type(message).__name__ async for message in session.response()]
        assert kinds == ["AssistantMessage", "ResultMessage"]
        cli.end()
        assert [message async for message in session.response()] == []


async def test_text_comes_once_whether_streamed_or_whole() -> None:
    async with session_and_cli() as (session, cli):
        lines = [delta("Hel"), delta("lo"), text("Hello"), text(" world"), text("sub", parent_tool_use_id="t")]
        play = asyncio.create_task(cli.turn(*lines))
        pieces = [piece async for piece in session.prompt("hi").text()]
        assert pieces == ["Hel", "lo", " world"]
        await play
        accumulator = TextAccumulator()
        play = asyncio.create_task(cli.turn(*lines))
        async for message in session.prompt("hi"):
            accumulator.add(message)
        assert accumulator.text == "Hello world"
        await play


async def test_batches_hand_over_everything_that_has_arrived() -> None:
    async with session_and_cli() as (session, cli):
        cli.say(*[delta(str(number)) for number in range(500)], result())
        cli.end()
        batches = [batch async for batch in session.batches()]
        messages: list[Message] = [message for batch in batches for message in batch]
        assert len(messages) == 501
        assert len(batches) < 20
        assert isinstance(messages[0], StreamEvent)


async def test_a_control_call_from_inside_the_receive_loop_completes() -> None:
    async with session_and_cli() as (session, cli):

        async def play() -> None:
            await cli.turn(*[delta("x")] * 5000)
            asked = await cli.expect(RequestReceived)
            cli.answer(asked.request_id, {"mode": "plan"})

        playing = asyncio.create_task(play())
        calls = 0
        async for message in session.prompt("hi"):
            if isinstance(message, AssistantMessage) or (isinstance(message, StreamEvent) and not calls):
                calls += 1
                await session.request("set_permission_mode", mode="plan")
        assert calls == 1
        await playing


async def test_a_refused_control_call_raises_with_the_code() -> None:
    async with session_and_cli() as (session, cli):
        call = asyncio.create_task(session.request("set_permission_mode", mode="bogus"))
        asked = await cli.expect(RequestReceived)
        cli.side.refuse(asked.request_id, "Cannot set permission mode", error_code="invalid_mode")
        cli.flush()
        with pytest.raises(ControlError, match=r"refused set_permission_mode \[invalid_mode\]") as caught:
            await call
        assert caught.value.code == "invalid_mode"


async def test_an_unanswered_control_call_is_a_timeout() -> None:
    async with session_and_cli() as (session, cli):
        with pytest.raises(ControlTimeout, match="mcp_status"):
            await session.request("mcp_status", timeout_s=0.05)
        await cli.expect(CancelReceived)


async def test_a_cancelled_control_call_is_taken_back() -> None:
    async with session_and_cli() as (session, cli):
        call = asyncio.create_task(session.request("side_question", question="?"))
        await cli.expect(RequestReceived)
        call.cancel()
        await cli.expect(CancelReceived)
        assert call.cancelled() or ((await asyncio.wait([call])) and call.cancelled())


async def test_a_control_call_when_the_cli_dies_says_how_it_died() -> None:
    async with session_and_cli() as (session, cli):
        call = asyncio.create_task(session.request("mcp_status"))
        await cli.expect(RequestReceived)
        cli.write_stderr("out of cheese\n")
        cli.end(code=3)
        with pytest.raises(ProcessExited, match="out of cheese") as caught:
            await call
        assert caught.value.exit_code == 3
        with pytest.raises(ProcessExited):
            async for _ in session.messages():
                pass


async def test_closing_the_session_ends_what_waits() -> None:
    cli = FakeCli()
    await cli.start()
    session = Session(transport=cli.near)
    await session.open()
    call = asyncio.create_task(session.request("mcp_status"))

    async def prompted() -> None:
        await session.prompt("hi")

    turn = asyncio.create_task(prompted())
    await cli.expect(RequestReceived)
    await session.close()
    with pytest.raises(Aborted):
        await call
    with pytest.raises(Aborted):
        await turn
    await session.close()


# Permissions


def deciding(decide: Any) -> ClaudeAgentOptions:
    return ClaudeAgentOptions(can_use_tool=decide)


BASH = {"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t1"}


async def test_allow_always_carries_the_input_and_the_tool_use_id() -> None:
    async def allow(name: str, tool_input: dict[str, Any], context: ToolPermissionContext) -> PermissionResultAllow:
        assert (name, tool_input, context.tool_use_id) == ("Bash", {"command": "ls"}, "t1")
        assert context.request_id == "cli-1"
        return PermissionResultAllow()

    async with session_and_cli(deciding(allow)) as (session, cli):
        cli.ask("can_use_tool", **BASH)
        answer = (await cli.expect(AnswerReceived)).answer
        assert answer == {"behavior": "allow", "updatedInput": {"command": "ls"}, "toolUseID": "t1"}
        assert connection_of(session).requests._signals == {}


async def test_a_plain_function_may_deny_and_stop_the_turn() -> None:
    def deny(*_: Any) -> PermissionResultDeny:
        return PermissionResultDeny(message="not today", interrupt=True)

    async with session_and_cli(deciding(deny)) as (_, cli):
        cli.ask("can_use_tool", **BASH)
        answer = (await cli.expect(AnswerReceived)).answer
        assert answer == {"behavior": "deny", "message": "not today", "interrupt": True, "toolUseID": "t1"}


async def test_without_a_callback_everything_is_denied() -> None:
    async with session_and_cli() as (_, cli):
        cli.ask("can_use_tool", **BASH)
        assert (await cli.expect(AnswerReceived)).answer["behavior"] == "deny"


@pytest.mark.parametrize("returned", [True, {"behavior": "allow"}, None])
async def test_a_callback_that_returns_nonsense_is_an_error_answer(returned: Any) -> None:
    async with session_and_cli(deciding(lambda *_: returned)) as (_, cli):
        cli.ask("can_use_tool", **BASH)
        failed = await cli.expect(RequestFailed)
        assert "Tool permission callback must return PermissionResult (PermissionResultAllow or" in failed.error


async def test_an_answer_that_is_no_json_is_an_error_answer_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with session_and_cli(deciding(lambda *_: PermissionResultAllow(updated_input={"when": object()}))) as (
        _,
        cli,
    ):
        cli.ask("can_use_tool", **BASH)
        failed = await cli.expect(RequestFailed)
        assert "unsupported" in failed.error
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [TypeError]


async def test_a_callback_that_raises_is_an_error_answer_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def explode(*_: Any) -> Any:
        raise RuntimeError("host exploded")

    async with session_and_cli(deciding(explode)) as (_, cli):
        cli.ask("can_use_tool", **BASH)
        failed = await cli.expect(RequestFailed)
        assert failed.error == "host exploded"
    assert caplog.messages == ["The callback for can_use_tool failed: host exploded"]
    assert caplog.records[0].name.startswith("quarterdeck.")


async def test_a_cancelled_request_cancels_its_callback_and_sets_its_signal() -> None:
    seen: list[CancelSignal] = []
    stopped = asyncio.Event()

    async def wait_for_ever(_: str, __: Any, context: ToolPermissionContext) -> Any:
        seen.append(context.signal)
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with session_and_cli(deciding(wait_for_ever)) as (session, cli):
        request_id = cli.ask("can_use_tool", **BASH)
        await until(lambda: seen)
        cli.cancel(request_id)
        async with asyncio.timeout(10):
            await stopped.wait()
        assert seen[0].aborted
        assert session.pending() == {}


async def test_an_answer_may_come_later_by_request_id_and_only_once() -> None:
    async def later(*_: Any) -> Any:
        return LATER

    async with session_and_cli(deciding(later)) as (session, cli):
        request_id = cli.ask("can_use_tool", **BASH)
        await until(session.pending)
        session.answer(request_id, PermissionResultAllow(updated_input={"command": "pwd"}))
        answer = (await cli.expect(AnswerReceived)).answer
        assert answer["updatedInput"] == {"command": "pwd"}
        with pytest.raises(LocalProtocolError, match="already answered"):
            session.answer(request_id, PermissionResultAllow())


async def test_requests_are_served_side_by_side_and_answered_in_any_order() -> None:
    gates = {str(number): asyncio.Event() for number in range(100)}

    async def decide(_: str, tool_input: dict[str, Any], __: Any) -> PermissionResultAllow:
        await gates[tool_input["n"]].wait()
        return PermissionResultAllow()

    async with session_and_cli(deciding(decide)) as (session, cli):
        ids = {n: cli.ask("can_use_tool", tool_name="Read", input={"n": n}, tool_use_id=n) for n in gates}
        await until(lambda: len(session.pending()) == 100)
        for n in reversed(gates):
            gates[n].set()
            assert (await cli.expect(AnswerReceived)).request_id == ids[n]


QUESTION = {
    "question": "Which?",
    "header": "H",
    "multiSelect": False,
    "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}],
}


async def test_a_question_is_answered_with_the_questions_repeated() -> None:
    def answer(asked: AskUserQuestionInput, _: Any) -> dict[str, str]:
        assert asked.questions[0].options[1].label == "B"
        return {"Which?": "B"}

    async with session_and_cli(ClaudeAgentOptions(on_question=answer)) as (_, cli):
        cli.ask("can_use_tool", tool_name="AskUserQuestion", input={"questions": [QUESTION]}, tool_use_id="t")
        updated = (await cli.expect(AnswerReceived)).answer["updatedInput"]
        assert updated == {"questions": [QUESTION], "answers": {"Which?": "B"}}


async def test_a_skipped_question_is_a_denial() -> None:
    async with session_and_cli(ClaudeAgentOptions(on_question=lambda *_: None)) as (_, cli):
        cli.ask("can_use_tool", tool_name="AskUserQuestion", input={"questions": [QUESTION]}, tool_use_id="t")
        assert (await cli.expect(AnswerReceived)).answer["behavior"] == "deny"


@pytest.mark.parametrize("with_callback", [True, False])
async def test_a_question_of_an_odd_shape_is_a_permission_like_any_other(with_callback: bool) -> None:
    asked = []

    def answer(*_: Any) -> Any:
        raise AssertionError("not a question")

    async def decide(name: str, tool_input: dict[str, Any], context: Any) -> PermissionResultDeny:
        asked.append((name, tool_input))
        return PermissionResultDeny(message="odd")

    options = ClaudeAgentOptions(on_question=answer, can_use_tool=decide if with_callback else None)
    async with session_and_cli(options) as (_, cli):
        cli.ask("can_use_tool", tool_name="AskUserQuestion", input={"questions": 7}, tool_use_id="t")
        reply = (await cli.expect(AnswerReceived)).answer
    assert reply["behavior"] == "deny"
    assert reply["message"] == "odd" if with_callback else "nobody can allow" in reply["message"]
    assert asked == ([("AskUserQuestion", {"questions": 7})] if with_callback else [])


@pytest.mark.parametrize(
    ("decision", "behavior", "words"),
    [
        (True, "allow", None),
        (Approve(), "allow", None),
        (False, "deny", "rejected"),
        (Revise("add tests"), "deny", "add tests"),
    ],
)
async def test_a_plan_is_approved_revised_or_rejected(decision: Any, behavior: str, words: str | None) -> None:
    def review(plan: Plan, _: Any) -> Any:
        assert plan.text == "1. do"
        return decision

    async with session_and_cli(ClaudeAgentOptions(on_plan=review)) as (_, cli):
        cli.ask("can_use_tool", tool_name="ExitPlanMode", input={"plan": "1. do"}, tool_use_id="t")
        answer = (await cli.expect(AnswerReceived)).answer
        assert answer["behavior"] == behavior
        assert words is None or words in answer["message"]


async def test_an_approved_plan_can_set_the_mode() -> None:
    async with session_and_cli(ClaudeAgentOptions(on_plan=lambda *_: Approve(mode="acceptEdits"))) as (_, cli):
        cli.ask("can_use_tool", tool_name="ExitPlanMode", input={}, tool_use_id="t")
        (update,) = (await cli.expect(AnswerReceived)).answer["updatedPermissions"]
        assert update == {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


async def test_elicitations_are_declined_unless_someone_answers() -> None:
    fields = {"mcp_server_name": "s", "message": "name?", "mode": "form"}
    async with session_and_cli() as (_, cli):
        cli.ask("elicitation", **fields)
        assert (await cli.expect(AnswerReceived)).answer == {"action": "decline"}
    options = ClaudeAgentOptions(on_elicitation=lambda *_: {"action": "accept", "content": {"name": "x"}})
    async with session_and_cli(options) as (_, cli):
        cli.ask("elicitation", **fields)
        assert (await cli.expect(AnswerReceived)).answer["content"] == {"name": "x"}


async def test_a_new_kind_of_request_is_served_by_registration() -> None:
    async with session_and_cli() as (session, cli):
        cli.ask("ask_the_oracle", depth=3)
        assert "Unsupported" in (await cli.expect(RequestFailed)).error
        session.on_request("ask_the_oracle", lambda request, _: {"word": request["depth"]})
        cli.ask("ask_the_oracle", depth=3)
        assert (await cli.expect(AnswerReceived)).answer == {"word": 3}


async def test_a_session_cannot_be_opened_twice() -> None:
    async with session_and_cli() as (session, _):
        with pytest.raises(Exception, match="already opened"):
            await session.open()


async def test_background_news_between_turns_are_read_too() -> None:
    async with session_and_cli() as (session, cli):
        play = asyncio.create_task(cli.turn())
        await session.prompt("hi")
        await play
        done = system("task_notification", task_id="b", status="completed", output_file="/o", summary="ok")
        cli.say(done)
        message = await session.next_message()
        assert type(message).__name__ == "TaskNotificationMessage"


@pytest.mark.parametrize(
    ("env", "shown"),
    [({}, False), ({"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}, True)],
    ids=["by default", "by the variable"],
)
async def test_states_are_read_by_programs_that_ask_for_them(env: dict[str, str], shown: bool) -> None:
    async with session_and_cli(ClaudeAgentOptions(env=env)) as (session, cli):
        await session.send("hi")
        cli.say({"type": "system", "subtype": "session_state_changed", "state": "running", "session_id": "s"})
        cli.say(init())
        cli.say(result())
        read = [type(message).__name__ async for message in session.response()]
    assert ("SessionStateChangedMessage" in read) is shown


async def test_a_cli_that_never_calls_itself_idle_is_waited_for_as_long_as_the_variable_says() -> None:
    options = ClaudeAgentOptions(env={"CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS": "50"})
    async with session_and_cli(options) as (session, cli):
        await session.send("hi")
        session.finish()
        cli.say(system("session_state_changed", state="running"))
        await cli.turn()
        await cli.expect(OutputEnded)
