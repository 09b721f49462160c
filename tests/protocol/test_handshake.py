from __future__ import annotations

import pytest

from protocol.pair import Pair, init, kinds, result
from quarterdeck.protocol import AnswerReceived, Handshake, RequestFailed, RequestReceived, TurnState
from quarterdeck.protocol.states import INITIALIZE_TIMEOUT_S
from quarterdeck.wire import CanUseToolRequest, InitializeAnswer, InitializeRequest

ANSWER = {
    "commands": [],
    "models": [],
    "account": {},
    "capabilities": ["msg_lifecycle_v1"],
    "claude_code_version": "2.1.325",
}
PERMISSION = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t1"}


def test_initialize_is_answered_and_its_payload_is_typed() -> None:
    pair = Pair()
    request_id = pair.host.initialize(InitializeRequest(title="A title"))
    (asked,) = pair.to_cli()
    assert isinstance(asked, RequestReceived)
    assert asked.request == InitializeRequest(title="A title")
    pair.cli.answer(request_id, ANSWER)
    (event,) = pair.to_host()
    assert isinstance(event, AnswerReceived)
    assert isinstance(event.answer, InitializeAnswer)
    assert event.answer["claude_code_version"] == "2.1.325"
    assert pair.host.handshake is Handshake.DONE
    assert pair.host.version == "2.1.325"
    assert pair.host.capabilities == {"msg_lifecycle_v1"}


@pytest.mark.parametrize("order", ["before", "with", "after"])
def test_initialize_may_come_before_with_or_after_the_first_prompt(order: str) -> None:
    pair = Pair()
    if order == "after":
        pair.host.send_user("hello")
        pair.carry()
    request_id = pair.host.initialize()
    if order == "before":
        pair.carry()
        pair.cli.answer(request_id, ANSWER)
        pair.carry()
    if order != "after":
        pair.host.send_user("hello")
    _, cli_events = pair.carry()
    if order != "before":
        pair.cli.answer(request_id, ANSWER)
    pair.cli.say(init())
    pair.cli.say(result())
    host_events = pair.to_host()
    assert kinds(host_events)[-4:] == ["TurnOpened", "InitMessage", "ResultMessage", "TurnClosed"]
    assert pair.host.handshake is Handshake.DONE
    assert "UserMessage" in kinds(cli_events) or order == "after"


def test_initialize_can_be_repeated() -> None:
    pair = Pair()
    for _ in range(2):
        request_id = pair.host.initialize()
        assert pair.host.handshake is Handshake.ASKED
        pair.carry()
        pair.cli.answer(request_id, ANSWER)
        assert kinds(pair.to_host()) == ["AnswerReceived"]
    assert pair.host.handshake is Handshake.DONE


def test_pending_requests_in_the_handshake_answer_are_dispatched_once() -> None:
    pair = Pair()
    asked_id = pair.cli.request(
        "can_use_tool", timeout_s=None, **{k: v for k, v in PERMISSION.items() if k != "subtype"}
    )
    assert kinds(pair.to_host()) == ["RequestReceived"]
    request_id = pair.host.initialize()
    pair.carry()
    known = {"type": "control_request", "request_id": asked_id, "request": PERMISSION}
    forgotten = {"type": "control_request", "request_id": "c-old", "request": PERMISSION}
    envelope = {
        "subtype": "success",
        "request_id": request_id,
        "response": ANSWER,
        "pending_permission_requests": [known, forgotten],
    }
    pair.cli.say({"type": "control_response", "response": envelope})
    answer, pending = pair.to_host()
    assert isinstance(answer, AnswerReceived)
    assert isinstance(pending, RequestReceived)
    assert pending.request_id == "c-old"
    assert isinstance(pending.request, CanUseToolRequest)
    assert set(pair.host.open_requests()) == {asked_id, "c-old"}


def test_a_refused_initialize_leaves_the_session_usable() -> None:
    pair = Pair()
    request_id = pair.host.initialize()
    pair.carry()
    pair.cli.refuse(request_id, "bad agents", error_code="invalid")
    (event,) = pair.to_host()
    assert isinstance(event, RequestFailed)
    assert (event.kind, event.error, event.error_code) == ("error", "bad agents", "invalid")
    assert pair.host.handshake is Handshake.FAILED
    pair.host.send_user("hello")
    assert pair.host.turn is TurnState.AWAITED


def test_a_cli_that_never_answers_initialize_is_a_timeout() -> None:
    pair = Pair()
    request_id = pair.host.initialize()
    pair.carry()
    assert pair.host.next_deadline() == pair.clock.now + INITIALIZE_TIMEOUT_S
    pair.advance(INITIALIZE_TIMEOUT_S)
    (event,) = pair.host.events()
    assert isinstance(event, RequestFailed)
    assert (event.request_id, event.kind) == (request_id, "timeout")
    assert "initialize" in event.error
