"""Turns: how they begin and end, what they used and cost; and what a turn waits for."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.timeline import Timeline
from quarterdeck.timeline.events import (
    ActivityChanged,
    CompactionEnded,
    ContextChanged,
    ConversationReset,
    InterruptSent,
    ModelChanged,
    NoticeShown,
    Retracted,
    RetryScheduled,
    TurnEnded,
    TurnStarted,
)
from quarterdeck.timeline.items import TurnSummary
from quarterdeck.timeline.parts import Context, Kept, ModelCost, Tokens
from quarterdeck.timeline.state import PendingRetry

from .talk import (
    Talk,
    answer,
    ask,
    assistant,
    block_start,
    call,
    init,
    kinds,
    may,
    message_start,
    only,
    prompt,
    result,
    stream,
    system,
    text,
    turn_end,
)


def used(cost: float, tokens: int = 100, window: int = 0) -> dict[str, Any]:
    counts = {"inputTokens": tokens, "outputTokens": 10, "costUSD": cost, "contextWindow": window}
    return {"total_cost_usd": cost, "modelUsage": {"opus": counts}}


def test_a_turn_ends_with_everything_a_last_line_needs() -> None:
    talk = Talk()
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 5}
    talk.hear(init(), assistant(text("Done.")))
    talk.hear(turn_end(result="Done.", usage=usage, stop_reason="end_turn", **used(0.5, window=1_000)))
    turn = TurnSummary(
        id="turn-1",
        at=3.0,
        number=1,
        outcome="done",
        subtype="success",
        result=Kept("Done."),
        started_at=1.0,
        duration_s=1.5,
        api_s=1.0,
        steps=1,
        tokens=Tokens(100, 20, 5),
        cost_usd=0.5,
        by_model={"opus": ModelCost(Tokens(100, 10), 0.5)},
        total_usd=0.5,
        stop_reason="end_turn",
    )
    assert only(TurnStarted, talk.events) == TurnStarted(1.0, 1)
    assert only(TurnEnded, talk.events) == TurnEnded(3.0, turn, Context(0, 1_000))
    assert talk.item(TurnSummary, "turn-1") == turn


@pytest.mark.parametrize(
    ("line", "outcome", "error"),
    [
        (turn_end(is_error=True, result="Overloaded"), "failed", "Overloaded"),
        (turn_end("error_during_execution", errors=["broken", "more"]), "failed", "broken; more"),
        (turn_end("error_during_execution"), "failed", "the turn failed"),
        (turn_end("error_max_turns"), "limit", "turn limit reached"),
        (turn_end("error_max_budget_usd", errors=["Reached"]), "limit", "Reached"),
        (
            turn_end("error_during_execution", terminal_reason="aborted_tools", errors=["[ede_diagnostic] x"]),
            "interrupted",
            None,
        ),
    ],
)
def test_a_turn_ends_well_badly_at_a_limit_or_stopped(line: dict[str, Any], outcome: str, error: str | None) -> None:
    talk = Talk()
    talk.hear(init(), line)
    turn = only(TurnEnded, talk.events).turn
    assert (turn.outcome, turn.error) == (outcome, error)


def test_an_interrupt_of_ours_is_told_and_makes_the_end_an_interrupted_one() -> None:
    talk = Talk()
    talk.hear(init())
    assert talk.say(ask("i", "interrupt")) == [InterruptSent(2.0)]
    talk.hear(answer("i", {"still_queued": []}), turn_end("error_during_execution"))
    assert only(TurnEnded, talk.events).outcome == "interrupted"
    talk.hear(init(), turn_end("error_during_execution"))
    assert talk.item(TurnSummary, "turn-2").outcome == "failed"


def test_a_turn_that_nobody_saw_begin_counts_too() -> None:
    talk = Talk()
    talk.hear(turn_end("error_during_execution", errors=["No conversation found"]))
    assert (talk.state.turn, talk.item(TurnSummary, "turn-1").error) == (1, "No conversation found")


def test_structured_output_denials_origin_and_local_command_are_told() -> None:
    talk = Talk()
    denials = [{"tool_name": "Bash", "tool_use_id": "tool_1", "tool_input": {}}]
    origin = {"kind": "task-notification"}
    talk.hear(turn_end(structured_output={"n": 3}, permission_denials=denials, origin=origin, local_command="compact"))
    turn = talk.item(TurnSummary, "turn-1")
    told = (turn.structured_output, turn.denied, turn.source, turn.command)
    assert told == ({"n": 3}, ["tool_1"], "task-notification", "compact")


# Cost, by difference


def costs(*totals: float, **more: Any) -> list[float]:
    talk = Talk()
    for number, total in enumerate(totals):
        talk.hear(turn_end(uuid=str(number), **used(total), **more))
    return [event.turn.cost_usd for event in talk.events if isinstance(event, TurnEnded)]


def test_a_turn_costs_what_the_running_total_grew_by() -> None:
    assert costs(1.0, 1.5, 1.5, 4.0) == [1.0, 0.5, 0.0, 2.5]


def test_a_total_that_falls_has_started_anew() -> None:
    assert costs(1.0, 0.25, 0.75) == [1.0, 0.25, 0.5]


def test_the_difference_that_the_cli_tells_itself_is_taken() -> None:
    talk = Talk()
    since = {"opus": {"inputTokens": 7, "costUSD": 0.25}}
    talk.hear(turn_end(**used(9.0), model_usage_since_last_result=since))
    turn = talk.item(TurnSummary, "turn-1")
    assert (turn.cost_usd, turn.by_model) == (0.25, {"opus": ModelCost(Tokens(7), 0.25)})
    assert (talk.state.cost.total_usd, talk.state.cost.reported_usd) == (0.25, 9.0)


def test_a_result_told_twice_costs_once() -> None:
    talk = Talk()
    talk.hear(turn_end(uuid="r", **used(1.0)), turn_end(uuid="r", **used(1.0)))
    assert talk.state.cost.total_usd == 1.0


def test_another_process_counts_from_zero_if_told_so() -> None:
    talk = Talk()
    talk.hear(turn_end(uuid="1", **used(1.0)))
    talk.timeline.process_started()
    talk.hear(turn_end(uuid="2", **used(1.25)))
    assert talk.state.cost.total_usd == 2.25
    assert talk.state.cost.by_model == {"opus": ModelCost(Tokens(200, 20), 2.25)}


def test_a_result_without_a_total_adds_up_its_models() -> None:
    talk = Talk()
    talk.hear(turn_end(modelUsage={"a": {"costUSD": 0.5}, "b": {"costUSD": 0.25}}))
    assert talk.state.cost.total_usd == 0.75


# Context


def usage_line(tokens: int, message: str = "msg_1") -> dict[str, Any]:
    line = assistant(text("x"), message=message)
    line["message"]["usage"] = {"input_tokens": tokens, "cache_read_input_tokens": 10, "output_tokens": 1}
    return line


def test_the_context_fills_and_its_window_is_known_after_the_first_turn() -> None:
    talk = Talk()
    talk.hear(usage_line(89), turn_end(**used(1.0, window=1_000)))
    changes = [event.context for event in talk.events if isinstance(event, ContextChanged)]
    assert changes == [Context(100, 0, "opus"), Context(100, 1_000, "opus")]
    assert [context.fraction for context in changes] == [None, 0.1]


def test_the_context_of_a_sub_agent_is_its_own_affair() -> None:
    talk = Talk()
    talk.hear({**usage_line(89), "parent_tool_use_id": "tool_1"})
    assert talk.state.context == Context()


def test_the_end_of_a_streamed_message_tells_its_final_usage() -> None:
    talk = Talk()
    usage = {"input_tokens": 100, "output_tokens": 20}
    talk.hear(message_start(), stream({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}))
    assert only(ContextChanged, talk.events).context == Context(120, 0, "opus")


# What a turn waits for


def test_a_retry_is_told_and_forgotten_when_the_model_answers() -> None:
    talk = Talk()
    line = system("api_retry", attempt=1, max_retries=10, retry_delay_ms=500, error_status=529, error="overloaded")
    talk.hear(init(), line)
    assert talk.events[-1] == RetryScheduled(2.0, 1, 10, 0.5, 529, "overloaded")
    assert talk.state.retry == PendingRetry(1, 10, 0.5, 529, "overloaded", 2.0)
    talk.hear(assistant(text("Here.")))
    assert talk.state.retry is None


def test_a_compaction_is_an_activity_and_then_an_event() -> None:
    talk = Talk()
    talk.hear(init(), system("status", status="compacting"))
    assert talk.events[-1] == ActivityChanged(2.0, "compacting")
    facts = {"trigger": "auto", "pre_tokens": 900, "post_tokens": 90, "duration_ms": 1200}
    events = talk.hear(system("status", status=None), system("compact_boundary", compact_metadata=facts))
    assert only(CompactionEnded, events) == CompactionEnded(4.0, "auto", 900, 90, 1.2)
    assert talk.state.context.tokens == 90


def test_a_compaction_that_failed_says_why() -> None:
    talk = Talk()
    talk.hear(init(), system("status", status="compacting"))
    events = talk.hear(system("status", status=None, compact_result="failed", compact_error="too short"))
    assert only(CompactionEnded, events).error == "too short"


def test_a_conversation_that_starts_anew_has_no_plan_and_an_empty_context() -> None:
    talk = Talk()
    todos = [{"content": "Look", "status": "pending", "activeForm": "Looking"}]
    talk.hear(usage_line(89), assistant(call(name="TodoWrite", todos=todos)), result())
    events = talk.hear({"type": "conversation_reset", "new_conversation_id": "n", "trigger": "clear"})
    assert only(ConversationReset, events).trigger == "clear"
    assert (talk.state.plans, talk.state.context.tokens) == ({}, 0)


def test_the_activity_through_a_turn() -> None:
    talk = Talk()
    talk.say(prompt())
    talk.hear(init(), system("status", status="requesting"), message_start(), block_start(text("")))
    talk.hear(assistant(text("Hm.")), stream({"type": "message_stop"}), assistant(call(command="ls")), may())
    talk.say(answer("ask_1", {"behavior": "allow"}))
    talk.hear(result(), assistant(text("Done."), message="msg_2"), turn_end())
    told = [event.activity for event in talk.events if isinstance(event, ActivityChanged)]
    assert told == ["requesting", "responding", "working", "waiting", "working", "requesting", "responding", "idle"]


def test_what_runs_in_the_background_does_not_keep_the_turn_working() -> None:
    talk = Talk()
    talk.hear(assistant(call(name="Task", description="errand")), result(facts={"status": "async_launched"}))
    nested = assistant(call("tool_2", command="ls"), message="m", parent_tool_use_id="tool_1")
    talk.hear(turn_end(), nested)
    assert (talk.state.activity, talk.state.turn_started_at) == ("idle", None)


def test_models_change_by_refusal_and_what_was_said_is_taken_back() -> None:
    talk = Talk()
    talk.hear(init(), assistant(text("I")))
    line = {"trigger": "refusal", "direction": "retry", "original_model": "opus", "fallback_model": "sonnet"}
    events = talk.hear(system("model_refusal_fallback", **line, content="flagged", retracted_message_uuids=["u-msg_1"]))
    assert only(Retracted, events).ids == ["msg_1:0"]
    assert only(ModelChanged, events) == ModelChanged(3.0, "sonnet", "cli", "opus", "flagged")
    assert only(NoticeShown, events).kind == "refusal"
    talk.hear(system("model_refusal_no_fallback", original_model="sonnet", content="no"))
    assert talk.events[-1].text == "no"  # type: ignore[union-attr]


# The end of the process


def test_when_the_process_ends_nothing_stays_open() -> None:
    talk = Talk()
    hook = ask("cb", "hook_callback", callback_id="h", input={"hook_event_name": "Stop"})
    started = system("task_started", task_id="t", tool_use_id="x", description="d", is_backgrounded=True)
    talk.hear(init(), assistant(call(command="ls")), may(), hook, started, message_start("m"), block_start(text("Hal")))
    events = talk.timeline.process_ended(at=9.0)
    assert kinds(events) == [
        "text_completed",
        "request_cancelled",
        "hook_ended",
        "task_ended",
        "tool_ended",
        "notice_shown",
    ]
    assert (talk.state.activity, talk.state.running, talk.state.waiting) == ("idle", [], [])


def test_when_the_process_ends_between_turns_there_is_nothing_to_tell() -> None:
    talk = Talk()
    talk.hear(init(), turn_end())
    assert talk.timeline.process_ended(at=9.0) == []
    assert Timeline().process_ended(at=0.0) == []
