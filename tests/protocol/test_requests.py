from __future__ import annotations

from typing import Any

import pytest

from protocol.pair import Pair, init, kinds
from protocol.samples import sample
from quarterdeck.protocol import (
    AnswerReceived,
    CancelReceived,
    LocalProtocolError,
    RequestFailed,
    RequestReceived,
    RequestRefused,
    Unexpected,
)
from quarterdeck.wire import INCOMING_REQUESTS, OUTGOING_REQUESTS, ControlResponse, UnknownRequest

PERMISSION: dict[str, Any] = {"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t1"}


@pytest.mark.parametrize("subtype", OUTGOING_REQUESTS)
def test_every_request_to_the_cli_arrives_and_its_answer_comes_back(subtype: str) -> None:
    pair = Pair(cut=7)
    request = sample(OUTGOING_REQUESTS[subtype])
    request_id = pair.host.request(request)
    (asked,) = pair.to_cli()
    assert isinstance(asked, RequestReceived)
    assert asked.request == request
    assert asked.message is not None and asked.message.subtype == subtype
    pair.cli.answer(request_id, {"anything": "goes"})
    (answered,) = pair.to_host()
    assert isinstance(answered, AnswerReceived)
    assert (answered.request_id, answered.request) == (request_id, request)
    assert answered.answer is None or answered.answer["anything"] == "goes"


@pytest.mark.parametrize("subtype", INCOMING_REQUESTS)
def test_every_request_of_the_cli_arrives_or_is_refused_and_its_answer_comes_back(subtype: str) -> None:
    pair = Pair(cut=7)
    request = sample(INCOMING_REQUESTS[subtype])
    request_id = pair.cli.request(request)
    host_events, cli_events = pair.carry()
    (asked,) = host_events
    if isinstance(asked, RequestRefused):
        assert subtype == "sdk_control_interrupt"  # told of by one specification; no CLI asks it
        assert kinds(cli_events) == ["RequestFailed"]
        return
    assert isinstance(asked, RequestReceived)
    assert asked.request == request
    pair.host.answer(request_id, {"behavior": "allow"})
    (answered,) = pair.to_cli()
    assert isinstance(answered, AnswerReceived)
    assert answered.answer == {"behavior": "allow"}


def test_a_request_with_fields_we_do_not_know_is_sent_whole() -> None:
    pair = Pair()
    pair.host.request("interrupt", brand_new={"deep": [1]})
    (asked,) = pair.to_cli()
    assert isinstance(asked, RequestReceived) and asked.message is not None
    assert asked.message.data["request"] == {"subtype": "interrupt", "brand_new": {"deep": [1]}}


def test_an_unknown_request_to_the_cli_is_answered_with_its_error() -> None:
    pair = Pair()
    pair.host.request("totally_unknown_subtype")
    host_events, cli_events = pair.carry()
    assert kinds(cli_events) == ["RequestRefused"]
    (failed,) = host_events
    assert isinstance(failed, RequestFailed)
    assert failed.error == "Unsupported control request subtype: totally_unknown_subtype"
    assert failed.error_code == "unsupported_request"


def test_an_unknown_request_of_the_cli_is_refused_at_once_and_shown() -> None:
    pair = Pair()
    pair.cli.request("ask_the_oracle", depth=3)
    host_events, cli_events = pair.carry()
    (refused,) = host_events
    assert isinstance(refused, RequestRefused)
    assert isinstance(refused.request, UnknownRequest)
    assert refused.message.data["request"] == {"subtype": "ask_the_oracle", "depth": 3}
    assert kinds(cli_events) == ["RequestFailed"]
    assert pair.host.open_requests() == {}


def test_a_known_request_without_a_required_field_is_refused_with_the_reason() -> None:
    pair = Pair()
    pair.cli.request("can_use_tool", input={})
    host_events, cli_events = pair.carry()
    (refused,) = host_events
    assert isinstance(refused, RequestRefused)
    assert "tool_name" in refused.reason
    assert kinds(cli_events) == ["RequestFailed"]


def test_a_new_subtype_is_served_when_the_host_says_so() -> None:
    pair = Pair(serves={"ask_the_oracle"})
    request_id = pair.cli.request("ask_the_oracle", depth=3)
    (asked,) = pair.to_host()
    assert isinstance(asked, RequestReceived)
    assert asked.request["depth"] == 3
    pair.host.answer(request_id, {"word": "42"})
    (answered,) = pair.to_cli()
    assert isinstance(answered, AnswerReceived)


def test_a_second_answer_is_a_local_error_that_names_the_request() -> None:
    pair = Pair()
    request_id = pair.cli.request("can_use_tool", **PERMISSION)
    pair.carry()
    pair.host.answer(request_id, {"behavior": "allow", "updatedInput": {}})
    with pytest.raises(LocalProtocolError, match=rf"{request_id} \(can_use_tool Bash\) was already answered"):
        pair.host.answer(request_id, {"behavior": "allow", "updatedInput": {}})
    with pytest.raises(LocalProtocolError, match="was already answered"):
        pair.host.refuse(request_id, "no")
    assert kinds(pair.to_cli()) == ["AnswerReceived"]


def test_an_answer_after_a_cancel_is_a_local_error_and_nothing_is_sent() -> None:
    pair = Pair()
    request_id = pair.cli.request("can_use_tool", **PERMISSION)
    pair.carry()
    pair.cli.cancel(request_id)
    host_events, cli_events = pair.carry()
    (cancelled,) = host_events
    assert isinstance(cancelled, CancelReceived)
    assert cancelled.request_id == request_id
    assert kinds(cli_events) == ["RequestFailed"]
    with pytest.raises(LocalProtocolError, match="was withdrawn by the peer"):
        pair.host.answer(request_id, {})
    assert pair.host.outgoing() == b""


def test_an_answer_that_crosses_a_cancel_is_noted_by_the_cli_and_does_no_harm() -> None:
    pair = Pair()
    request_id = pair.cli.request("can_use_tool", **PERMISSION)
    pair.carry()
    pair.host.answer(request_id, {"behavior": "allow"})
    pair.cli.cancel(request_id)
    host_events, cli_events = pair.carry()
    assert kinds(cli_events) == ["RequestFailed", "Unexpected"]
    (late,) = host_events
    assert isinstance(late, Unexpected)
    assert f"a cancel of request {request_id}, which is not open" in late.reason


def test_an_answer_to_a_request_never_asked_is_a_local_error() -> None:
    with pytest.raises(LocalProtocolError, match="never asked a request nope"):
        Pair().host.answer("nope", {})


def test_an_answer_after_the_end_of_the_stream_is_a_local_error_that_names_the_request() -> None:
    pair = Pair()
    request_id = pair.cli.request("can_use_tool", **PERMISSION)
    pair.carry()
    pair.host.receive_eof()
    pair.host.exited(0)
    with pytest.raises(LocalProtocolError, match=r"can_use_tool Bash\) was lost when the stream ended"):
        pair.host.answer(request_id, {})


def test_a_request_after_the_end_of_the_stream_is_a_local_error() -> None:
    pair = Pair()
    pair.host.receive_eof()
    with pytest.raises(LocalProtocolError, match="mcp_status would never be answered"):
        pair.host.request("mcp_status")


def test_a_response_with_an_unknown_id_is_kept_and_ignored() -> None:
    pair = Pair()
    stray = {"type": "control_response", "response": {"subtype": "success", "request_id": "who", "response": {}}}
    pair.cli.say(stray)
    (event,) = pair.to_host()
    assert isinstance(event, Unexpected)
    assert event.reason == "an answer to request who, which was never sent"
    assert event.message.data == stray


def test_a_second_response_to_our_request_is_noted_and_ignored() -> None:
    pair = Pair()
    request_id = pair.host.request("mcp_status")
    pair.carry()
    pair.cli.answer(request_id, {"mcpServers": []})
    pair.cli.say({"type": "control_response", "response": {"subtype": "error", "request_id": request_id, "error": "x"}})
    answered, second = pair.to_host()
    assert isinstance(answered, AnswerReceived)
    assert isinstance(second, Unexpected)
    assert "was already answered" in second.reason


def test_our_own_answer_echoed_back_is_recognised() -> None:
    pair = Pair()
    request_id = pair.cli.request("can_use_tool", **PERMISSION)
    pair.carry()
    pair.host.answer(request_id, {"behavior": "deny", "message": "no"})
    (answered,) = pair.to_cli()
    assert isinstance(answered, AnswerReceived)
    pair.cli.say(answered.message)
    (echo,) = pair.to_host()
    assert isinstance(echo, Unexpected) and isinstance(echo.message, ControlResponse)
    assert echo.reason == f"an echo of our answer to request {request_id}"


def test_requests_of_both_directions_with_the_same_id_do_not_mix() -> None:
    pair = Pair(new_id=lambda: "same")
    pair.host.request("mcp_status")
    pair.cli.request("can_use_tool", **PERMISSION)
    pair.carry()
    pair.host.answer("same", {"behavior": "allow"})
    pair.cli.answer("same", {"mcpServers": []})
    host_events, cli_events = pair.carry()
    assert kinds(host_events) == kinds(cli_events) == ["AnswerReceived"]


def test_a_repeated_id_is_served_each_time_by_the_cli() -> None:
    pair = Pair()
    line = b'{"type":"control_request","request_id":"dup","request":{"subtype":"mcp_status"}}\n'
    pair.cli.receive(line * 3)
    assert kinds(pair.cli.events()) == ["RequestReceived"] * 3
    for number in range(3):
        pair.cli.answer("dup", {"mcpServers": [], "number": number})
    assert pair.cli.outgoing().count(b'"request_id":"dup"') == 3
    with pytest.raises(LocalProtocolError, match="already answered"):
        pair.cli.answer("dup", {})


def test_a_request_without_an_id_is_answered_without_one() -> None:
    pair = Pair()
    pair.cli.receive(b'{"type":"control_request","request":{"subtype":"mcp_status"}}\n')
    (asked,) = pair.cli.events()
    assert isinstance(asked, RequestReceived)
    pair.cli.answer(asked.request_id, {"mcpServers": []})
    line = b'{"type":"control_response","response":{"subtype":"success","response":{"mcpServers":[]}}}\n'
    assert pair.cli.outgoing() == line


def test_several_requests_are_answered_in_any_order() -> None:
    pair = Pair(cut=11)
    wanted = [pair.host.request("mcp_status"), pair.host.request("list_models"), pair.host.request("get_session_cost")]
    pair.carry()
    for request_id in reversed(wanted):
        pair.cli.answer(request_id, {})
    answered = [event.request_id for event in pair.to_host() if isinstance(event, AnswerReceived)]
    assert answered == wanted[::-1]


def test_an_old_cli_that_ignores_a_request_is_covered_by_the_deadline() -> None:
    pair = Pair()
    request_id = pair.host.request("mcp_toggle", serverName="x", enabled=True, timeout_s=5)
    pair.carry()
    pair.advance(4.9)
    assert pair.host.events() == []
    pair.advance(0.2)
    (failed,) = pair.host.events()
    assert isinstance(failed, RequestFailed)
    assert (failed.request_id, failed.kind) == (request_id, "timeout")
    assert pair.host.next_deadline() is None
    assert pair.host.outgoing() == b""  # a cancel would end CLIs up to 2.1.25


def test_an_expired_request_is_taken_back_from_a_cli_known_to_understand_it() -> None:
    pair = Pair()
    pair.cli.say(init(claude_code_version="2.1.52"))
    pair.carry()
    pair.host.request("mcp_status", timeout_s=5)
    pair.carry()
    pair.advance(5)
    assert kinds(pair.to_cli()) == ["CancelReceived"]


@pytest.mark.parametrize("version", ["2.0.77", "2.1.25", "odd", "2.1"])
def test_nothing_that_would_end_an_old_cli_is_sent_to_it(version: str) -> None:
    pair = Pair()
    pair.cli.say(init(claude_code_version=version))
    pair.carry()
    request_id = pair.host.request("side_question", question="?")
    pair.carry()
    pair.host.cancel(request_id)
    assert pair.host.outgoing() == b""
    if version != "2.1.25":
        with pytest.raises(LocalProtocolError, match="too old"):
            pair.host.update_environment({"A": "b"})


def test_a_late_answer_to_an_expired_request_is_noted() -> None:
    pair = Pair()
    request_id = pair.host.request("mcp_status", timeout_s=1)
    pair.carry()
    pair.cli.answer(request_id, {})
    pair.advance(2)
    pair.host.receive(pair.cli.outgoing())
    failed, late = pair.host.events()
    assert isinstance(failed, RequestFailed)
    assert isinstance(late, Unexpected) and "has expired" in late.reason


def test_progress_on_a_request_starts_its_time_anew() -> None:
    pair = Pair()
    request_id = pair.host.request("side_question", question="?", timeout_s=10)
    pair.carry()
    pair.advance(9)
    progress = {
        "type": "system",
        "subtype": "control_request_progress",
        "request_id": request_id,
        "status": "api_retry",
    }
    pair.cli.say({**progress, "session_id": "s", "uuid": "u"})
    assert kinds(pair.to_host()) == ["ControlRequestProgressMessage"]
    pair.advance(9)
    assert pair.host.events() == []
    pair.cli.answer(request_id, {"response": "fine", "synthetic": False})
    assert kinds(pair.to_host()) == ["AnswerReceived"]


def test_cancelling_our_own_request_tells_the_cli_and_fails_it_here() -> None:
    pair = Pair()
    pair.cli.say(init())
    pair.carry()
    request_id = pair.host.request("side_question", question="?")
    pair.carry()
    pair.host.cancel(request_id)
    host_events, cli_events = pair.carry()
    (failed,) = host_events
    assert isinstance(failed, RequestFailed) and failed.kind == "cancelled"
    (cancelled,) = cli_events
    assert isinstance(cancelled, CancelReceived)
    with pytest.raises(LocalProtocolError, match="is not open"):
        pair.host.cancel(request_id)


def test_a_cancel_of_an_unknown_request_is_ignored_by_the_cli() -> None:
    pair = Pair()
    pair.cli.receive(b'{"type":"control_cancel_request","request_id":"nope"}\n')
    assert kinds(pair.cli.events()) == ["Unexpected"]
    assert pair.cli.outgoing() == b""


def test_closed_requests_are_remembered_only_up_to_a_bound() -> None:
    pair = Pair()
    answers = []
    for _ in range(5000):
        request_id = pair.cli.request("can_use_tool", **PERMISSION)
        pair.host.receive(pair.cli.outgoing())
        pair.host.answer(request_id, {})
        answers.append(pair.host.outgoing())
    pair.host.events()
    pair.host.receive(b"".join(answers))
    echoes = ["an echo of our answer" in event.reason for event in pair.host.events() if isinstance(event, Unexpected)]
    assert len(echoes) == 5000
    assert 1024 <= sum(echoes) <= 2048
    assert echoes == sorted(echoes)
