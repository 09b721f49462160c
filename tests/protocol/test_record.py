"""A conversation taken back from its record: the same state, nothing said, and on from there."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest

from conversations import Recording, all_recordings
from quarterdeck.protocol import Handshake, HostSide, LocalProtocolError, RequestFailed, RequestReceived, TurnState
from quarterdeck.protocol.snapshot import restore, snapshot
from quarterdeck.wire import (
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    ControlSuccess,
    InitializeRequest,
    UserMessage,
    decode,
)

from .pair import Pair, init, result

NOW = 1_000.0


def new_side() -> HostSide:
    return HostSide(new_id=lambda: "new", clock=lambda: NOW)


def take(side: HostSide, direction: str, line: bytes, at: float) -> None:
    if direction == "in":
        side.sent(line, at)
    else:
        side.received(decode(line), at)


def lines_of(recording: Recording) -> list[tuple[str, bytes, float]]:
    return [(one.direction, one.line, one.t) for one in recording.entries if not one.eof and one.line.strip()]


def restored(data: bytes) -> HostSide:
    return restore(data, new_id=lambda: "new", clock=lambda: NOW)


def test_every_recording_cut_at_every_entry_gives_the_same_state() -> None:
    for recording in all_recordings():
        whole, before = new_side(), 0.0
        whole.sent(b'{"type":"keep_alive"}', before)
        for number, (direction, line, at) in enumerate(lines_of(recording)):
            again, before = restored(snapshot(whole, before)), at
            take(whole, direction, line, at)
            take(again, direction, line, at)
            assert whole.events() == []
            assert whole.outgoing() == b""
            assert snapshot(again, at) == snapshot(whole, at), (recording.id, number)


def test_a_record_ends_with_what_the_cli_still_waits_for() -> None:
    for recording in all_recordings():
        side = new_side()
        for direction, line, at in lines_of(recording):
            take(side, direction, line, at)
        still_open = side.open_requests()
        side.rebase()
        told = [event.request_id for event in side.events() if isinstance(event, RequestReceived)]
        refused = [json.loads(line)["response"]["request_id"] for line in side.outgoing().splitlines()]
        assert told + refused == list(still_open), recording.id


# Live and taken back


def replayed(pair: Pair, *, until: int | None = None) -> HostSide:
    side = new_side()
    for direction, line in pair.wire[:until]:
        take(side, direction, line, NOW)
    return side


def test_the_state_of_a_live_conversation_is_that_of_its_record() -> None:
    pair = Pair()
    pair.host.initialize()
    (asked_first,) = pair.to_cli()
    pair.cli.answer(asked_first.request_id, {"commands": []})
    pair.carry()
    uuid = pair.host.send_user("hi")
    pair.carry()
    pair.cli.say(init())
    asked = pair.cli.request("can_use_tool", tool_name="Bash", input={}, tool_use_id="t", timeout_s=None)
    pair.carry()
    assert state(replayed(pair)) == state(pair.host)
    pair.host.answer(asked, {"behavior": "deny", "message": "no"})
    pair.carry()
    assert state(replayed(pair)) == state(pair.host)
    pair.cli.say(result())
    pair.carry()
    after = replayed(pair)
    assert state(after) == state(pair.host)
    assert uuid
    assert after.turn is TurnState.IDLE


class Everything:
    """Serves any request."""

    def __contains__(self, _: object) -> bool:
        return True


class Live:
    """A program that holds a recorded conversation again, at the recorded times."""

    def __init__(self) -> None:
        self.now = 0.0
        self.side = HostSide(new_id=lambda: "new", clock=lambda: self.now, serves=Everything())

    def go_on(self, direction: str, line: bytes, at: float) -> None:
        self.now = max(self.now, at)
        self.side.tick()
        if direction == "out":
            self.side.receive(line + b"\n")
        else:
            with contextlib.suppress(LocalProtocolError):  # recordings also hold what no program of ours would say
                self._say(line)

    def _say(self, line: bytes) -> None:
        match decode(line):
            case UserMessage():
                self.side.send_user_line(json.loads(line))
            case ControlRequest(request_id=request_id, request=request):
                self.side.name_next(request_id)
                ask = self.side.initialize if isinstance(request, InitializeRequest) else self.side.request
                ask(request, timeout_s=None)  # type: ignore[operator]
            case ControlResponse(response=ControlSuccess() as success):
                self.side.answer(success.request_id, success.response)
            case ControlResponse(response=failure):
                self.side.refuse(failure.request_id, failure.error)  # type: ignore[union-attr]
            case ControlCancelRequest(request_id=request_id):
                self.side.cancel(request_id)


def asks_without_id(line: bytes) -> bool:
    """As no program of ours does."""
    message = decode(line)
    return isinstance(message, ControlRequest) and not message.request_id


def test_a_side_rebuilt_at_any_entry_of_any_recording_is_the_one_that_was_there() -> None:
    for recording in all_recordings():
        if any(asks_without_id(line) for line in recording.lines("in")):
            continue
        live, rebuilt = Live(), new_side()
        for number, (direction, line, at) in enumerate(lines_of(recording)):
            live.go_on(direction, line, at)
            take(rebuilt, direction, line, at)
            assert state(rebuilt) == state(live.side), (recording.id, number)
            assert list(rebuilt.open_requests()) == list(live.side.open_requests()), (recording.id, number)


def state(side: HostSide) -> dict[str, Any]:
    """All but when it settles, which only time tells."""
    return {name: value for name, value in json.loads(snapshot(side, NOW)).items() if name != "settles_in_s"}


# What used to go wrong


def line(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


def test_an_answer_after_the_cli_took_its_request_back_is_no_error() -> None:
    side = new_side()
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}, "tool_use_id": "t"}
    side.received(decode(line("control_request", request_id="r", request=request)), 1.0)
    side.received(decode(line("control_cancel_request", request_id="r")), 2.0)
    side.sent(line("control_response", response={"subtype": "success", "request_id": "r", "response": {}}), 3.0)
    side.rebase()
    assert side.open_requests() == {}
    assert side.events() == []
    assert side.quiet


def test_a_request_of_ours_whose_caller_is_gone_is_answered_as_usual() -> None:
    side = new_side()
    side.sent(line("control_request", request_id="q", request={"subtype": "mcp_status"}), 1.0)
    side.rebase()
    assert not side.quiet
    side.receive(line("control_response", response={"subtype": "success", "request_id": "q", "response": {}}) + b"\n")
    assert side.quiet


@pytest.mark.parametrize("ends", ["answered", "timeout"])
def test_a_handshake_whose_caller_is_gone_does_not_keep_the_conversation_busy_for_ever(ends: str) -> None:
    side = new_side()
    side.sent(line("control_request", request_id="q", request={"subtype": "initialize"}), 1.0)
    side.rebase()
    assert side.handshake is Handshake.ASKED
    if ends == "answered":
        answer = {"subtype": "success", "request_id": "q", "response": {"commands": []}}
        side.receive(line("control_response", response=answer) + b"\n")
        assert side.handshake is Handshake.DONE
    else:
        deadline = side.next_deadline()
        assert deadline is not None
        side.tick(deadline)
        assert [type(event) for event in side.events()] == [RequestFailed]
        assert side.handshake is Handshake.FAILED
    assert side.quiet


def test_times_of_the_record_count_and_not_the_clock() -> None:
    """A prompt that no turn came for is settled a second after the result, in the record's time too."""
    side = new_side()
    side.sent(line("user", message={"role": "user", "content": "a"}, uuid="a"), 1.0)
    side.received(decode(json.dumps(init()).encode()), 1.1)
    side.sent(line("user", message={"role": "user", "content": "b"}, uuid="b"), 1.2)
    side.received(decode(json.dumps(result()).encode()), 1.3)
    assert side.turn is TurnState.AWAITED
    side.received(decode(line("keep_alive")), 9.0)
    assert side.turn is TurnState.IDLE


def test_what_is_left_of_a_wait_is_waited_for_after_the_record() -> None:
    side = new_side()
    side.sent(line("user", message={"role": "user", "content": "a"}, uuid="a"), 1.0)
    side.received(decode(json.dumps(init()).encode()), 1.1)
    side.sent(line("user", message={"role": "user", "content": "b"}, uuid="b"), 1.2)
    side.received(decode(json.dumps(result()).encode()), 1.3)
    side.rebase()
    assert side.next_deadline() == NOW + 1.0


def test_a_snapshot_that_cannot_be_read_is_an_error_that_says_so() -> None:
    for data in (b"", b"{}", b"[1]", b'{"format": 99}'):
        with pytest.raises(LocalProtocolError, match="snapshot"):
            restored(data)
    good = json.loads(snapshot(new_side(), 0.0))
    with pytest.raises(LocalProtocolError, match="format 99"):
        restored(json.dumps({**good, "format": 99}).encode())
