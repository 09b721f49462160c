from __future__ import annotations

import pytest

from protocol.pair import Pair, content, init, kinds, lifecycle, result, system
from quarterdeck.protocol import LocalProtocolError, TurnClosed, TurnOpened, TurnState
from quarterdeck.protocol.states import IDLE_WAIT_S, SETTLE_S
from quarterdeck.wire import TextBlock, UserMessage


def test_a_turn_runs_from_init_to_result() -> None:
    pair = Pair()
    assert pair.host.turn is TurnState.IDLE
    uuid = pair.host.send_user("hello", uuid="p1")
    assert uuid == "p1"
    assert pair.host.turn is TurnState.AWAITED
    (prompt,) = pair.to_cli()
    assert isinstance(prompt, UserMessage)
    assert (prompt.content, prompt.uuid) == ("hello", "p1")
    pair.cli.say(init())
    (started, _) = pair.to_host()
    assert isinstance(started, TurnOpened)
    assert (started.number, started.autonomous) == (1, False)
    assert (pair.host.turn, pair.cli.turn) == (TurnState.RUNNING, TurnState.RUNNING)
    pair.cli.say(result())
    (_, ended) = pair.to_host()
    assert isinstance(ended, TurnClosed)
    assert (ended.number, ended.result.result) == (1, "ok")
    assert (pair.host.turn, pair.cli.turn) == (TurnState.IDLE, TurnState.IDLE)
    assert pair.host.session_id == "s1"


def test_a_prompt_of_blocks_and_further_fields_is_written_as_given() -> None:
    pair = Pair()
    pair.host.send_user([TextBlock("a"), {"type": "text", "text": "b"}], priority="later", shouldQuery=False)
    (prompt,) = pair.to_cli()
    assert isinstance(prompt, UserMessage)
    assert prompt.data["message"]["content"] == [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert (prompt.priority, prompt.should_query) == ("later", False)


def test_each_prompt_of_a_multi_turn_session_has_its_turn() -> None:
    pair = Pair()
    for number in range(1, 4):
        pair.host.send_user(f"prompt {number}")
        pair.carry()
        pair.cli.say(init())
        pair.cli.say(result())
        started, _, _, ended = pair.to_host()
        assert isinstance(started, TurnOpened) and isinstance(ended, TurnClosed)
        assert (started.number, ended.number) == (number, number)


def test_a_turn_that_the_cli_starts_by_itself_is_told_as_such() -> None:
    pair = Pair()
    pair.cli.say(init())
    (started, _) = pair.to_host()
    assert isinstance(started, TurnOpened) and started.autonomous


def test_a_result_without_init_ends_a_turn_that_asked_nothing_of_the_model() -> None:
    pair = Pair()
    pair.host.send_user("note", shouldQuery=False)
    pair.cli.say(result(num_turns=0))
    (_, ended) = pair.to_host()
    assert isinstance(ended, TurnClosed) and ended.number == 1
    assert pair.host.turn is TurnState.IDLE


def test_a_second_init_in_a_running_turn_does_not_count_as_a_turn() -> None:
    pair = Pair()
    pair.cli.say(init())
    pair.cli.say(init())
    assert kinds(pair.to_host()) == ["TurnOpened", "InitMessage", "InitMessage"]
    assert pair.host.turn_number == 1


def test_a_queued_prompt_with_lifecycle_keeps_the_next_turn_awaited() -> None:
    pair = Pair()
    pair.host.send_user("first", uuid="p1")
    pair.cli.say(lifecycle("p1", "queued"))
    pair.cli.say(lifecycle("p1", "started"))
    pair.cli.say(init())
    pair.carry()
    pair.host.send_user("later", uuid="p2", priority="later")
    pair.cli.say(lifecycle("p2", "queued"))
    pair.cli.say(result())
    pair.carry()
    assert pair.host.turn is TurnState.AWAITED
    pair.cli.say(lifecycle("p1", "completed"))
    pair.cli.say(lifecycle("p2", "started"))
    pair.cli.say(init())
    pair.cli.say(result())
    pair.cli.say(lifecycle("p2", "completed"))
    pair.carry()
    assert pair.host.turn is TurnState.IDLE
    assert pair.host.quiet


def test_a_queued_prompt_that_is_taken_back_leaves_nothing_awaited() -> None:
    pair = Pair()
    pair.host.send_user("first", uuid="p1")
    pair.cli.say(init())
    pair.cli.say(lifecycle("p1", "started"))
    pair.carry()
    pair.host.send_user("second", uuid="p2", priority="later")
    pair.cli.say(lifecycle("p2", "queued"))
    pair.cli.say(lifecycle("p2", "cancelled"))
    pair.cli.say(lifecycle("p1", "completed"))
    pair.cli.say(result())
    pair.carry()
    assert pair.host.turn is TurnState.IDLE and pair.host.quiet


def test_without_lifecycle_a_prompt_sent_during_a_turn_settles_when_no_turn_follows() -> None:
    pair = Pair()
    pair.host.send_user("first")
    pair.cli.say(init())
    pair.carry()
    pair.host.send_user("second, folded into the first turn")
    pair.cli.say(result())
    pair.carry()
    assert pair.host.turn is TurnState.AWAITED
    pair.advance(SETTLE_S)
    assert pair.host.turn is TurnState.IDLE and pair.host.quiet


def test_the_session_id_follows_a_cleared_conversation() -> None:
    pair = Pair()
    pair.cli.say(init())
    pair.cli.say({"type": "conversation_reset", "new_conversation_id": "c2", "session_id": "s1", "uuid": "u"})
    assert kinds(content(pair.to_host())) == ["InitMessage", "ConversationResetMessage"]
    assert pair.host.session_id == "s1"  # the conversation's new id is not the session's (2.1.325)
    pair.cli.say(result(session_id="s2"))
    pair.carry()
    assert pair.host.session_id == "s2"


def test_finish_input_closes_at_once_when_nothing_is_to_be_done() -> None:
    pair = Pair()
    pair.host.finish_input()
    assert kinds(pair.host.events()) == ["InputClosed"]
    assert pair.host.input_closed


def test_finish_input_waits_for_the_result_of_the_prompt() -> None:
    pair = Pair()
    pair.host.send_user("only one")
    pair.host.finish_input()
    with pytest.raises(LocalProtocolError, match="no further prompt"):
        pair.host.send_user("too late")
    pair.cli.say(init())
    pair.carry()
    assert not pair.host.input_closed
    pair.cli.say(result())
    assert kinds(pair.to_host()) == ["ResultMessage", "TurnClosed", "InputClosed"]


def test_finish_input_waits_for_an_open_permission_request() -> None:
    pair = Pair()
    request_id = pair.cli.request("can_use_tool", tool_name="Bash", input={})
    pair.carry()
    pair.host.finish_input()
    assert not pair.host.input_closed
    pair.host.answer(request_id, {"behavior": "allow"})
    assert pair.host.input_closed
    assert b'"behavior":"allow"' in pair.host.outgoing()


def test_finish_input_does_not_wait_for_ever_for_a_cli_that_never_calls_itself_idle() -> None:
    pair = Pair()
    pair.host.send_user("only one")
    for line in (system("session_state_changed", state="running"), init(), result()):
        pair.cli.say(line)
    pair.host.finish_input()
    pair.carry()
    pair.advance(IDLE_WAIT_S - 1)
    pair.cli.say(system("session_state_changed", state="running"))  # it is alive, so the time begins anew
    pair.carry()
    pair.advance(IDLE_WAIT_S - 1)
    assert not pair.host.input_closed
    assert pair.host.next_deadline() == pair.clock.now + 1
    pair.advance(1)
    assert pair.host.input_closed
    assert pair.host.next_deadline() is None


def test_finish_input_waits_for_background_tasks_and_the_turn_after_them() -> None:
    pair = Pair()
    pair.host.send_user("run it in the background", uuid="p1")
    task = {"task_id": "b1", "task_type": "local_bash", "description": "x"}
    for line in (
        lifecycle("p1", "started"),
        init(),
        system("background_tasks_changed", tasks=[task]),
        result(),
        lifecycle("p1", "completed"),
    ):
        pair.cli.say(line)
    pair.host.finish_input()
    pair.carry()
    assert pair.host.background_tasks == {"b1"}
    pair.advance(60)
    assert not pair.host.input_closed
    ended = {"task_id": "b1", "status": "completed", "output_file": "/tmp/o", "summary": "done"}
    pair.cli.say(system("task_notification", **ended))
    pair.cli.say(system("background_tasks_changed", tasks=[]))
    pair.carry()
    assert not pair.host.input_closed
    pair.cli.say(init())
    pair.carry()
    pair.advance(60)
    assert not pair.host.input_closed
    pair.cli.say(result())
    pair.carry()
    assert pair.host.input_closed


def test_finish_input_does_not_wait_for_ever_for_a_turn_after_a_task() -> None:
    pair = Pair()
    ended = {"task_id": "b1", "status": "completed", "output_file": "/tmp/o", "summary": "done"}
    pair.cli.say(system("task_notification", **ended))
    pair.carry()
    pair.host.finish_input()
    assert not pair.host.input_closed
    pair.advance(SETTLE_S)
    assert pair.host.input_closed


def test_finish_input_believes_a_cli_that_says_it_is_running() -> None:
    pair = Pair()
    pair.host.send_user("go")
    for line in (system("session_state_changed", state="running"), init(), result()):
        pair.cli.say(line)
    pair.host.finish_input()
    pair.carry()
    assert not pair.host.input_closed
    pair.cli.say(system("session_state_changed", state="idle"))
    pair.carry()
    assert pair.host.input_closed
