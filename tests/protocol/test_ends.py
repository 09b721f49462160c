from __future__ import annotations

import pytest

from protocol.pair import Pair, init, kinds, result
from quarterdeck.protocol import Exited, Fatal, LocalProtocolError, RequestFailed
from quarterdeck.protocol.states import END_WAIT_S
from quarterdeck.wire import BadLine


def test_end_of_stream_with_three_open_requests_fails_each_with_the_exit_and_the_last_stderr() -> None:
    pair = Pair()
    sent = [pair.host.request("mcp_status"), pair.host.request("list_models"), pair.host.interrupt()]
    pair.host.receive_eof()
    assert kinds(pair.host.events()) == ["OutputEnded"]
    pair.host.exited(None, signal=9, stderr="killed by a test\n")
    *failed, exited = pair.host.events()
    assert [event.request_id for event in failed if isinstance(event, RequestFailed)] == sent
    for event in failed:
        assert isinstance(event, RequestFailed) and event.kind == "ended"
        assert "signal 9" in event.error and "killed by a test" in event.error
    assert exited == Exited(code=None, signal=9, stderr="killed by a test\n", expected=False)


def test_end_of_stream_without_an_exit_fails_open_requests_after_a_bounded_wait() -> None:
    pair = Pair()
    pair.host.request("mcp_status", timeout_s=None)
    pair.host.receive_eof()
    assert pair.host.next_deadline() == pair.clock.now + END_WAIT_S
    pair.advance(END_WAIT_S)
    assert kinds(pair.host.events()) == ["OutputEnded", "RequestFailed"]


def test_end_of_stream_and_exit_are_each_told_once() -> None:
    pair = Pair()
    pair.host.receive_eof()
    pair.host.receive_eof()
    pair.host.exited(0)
    pair.host.exited(1)
    assert kinds(pair.host.events()) == ["OutputEnded", "Exited"]


def test_an_exit_without_an_end_of_stream_implies_it() -> None:
    pair = Pair()
    pair.host.exited(0)
    assert kinds(pair.host.events()) == ["OutputEnded", "Exited"]
    assert pair.host.input_closed
    with pytest.raises(LocalProtocolError, match="closed"):
        pair.host.send_user("anyone there?")


@pytest.mark.parametrize(
    ("last_result_is_error", "code", "signal", "expected"),
    [
        (False, 0, None, True),
        (True, 1, None, True),
        (False, 1, None, False),
        (True, 0, None, True),
        (False, 143, None, False),
        (False, None, 15, False),
    ],
)
def test_an_exit_code_is_expected_when_it_repeats_the_last_result(
    last_result_is_error: bool, code: int | None, signal: int | None, expected: bool
) -> None:
    pair = Pair()
    pair.cli.say(init())
    pair.cli.say(result(is_error=last_result_is_error))
    pair.carry()
    pair.host.exited(code, signal=signal)
    event = pair.host.events()[-1]
    assert isinstance(event, Exited) and event.expected is expected
    assert pair.cli.exit_code == int(last_result_is_error)


def test_a_last_line_without_a_newline_still_counts() -> None:
    pair = Pair()
    pair.cli.say(result())
    pair.host.receive(pair.cli.outgoing().rstrip(b"\n"))
    assert pair.host.events() == []
    pair.host.receive_eof()
    assert kinds(pair.host.events()) == ["ResultMessage", "TurnClosed", "OutputEnded"]


def test_a_torn_last_line_is_a_bad_line_and_the_end_is_still_told() -> None:
    pair = Pair()
    pair.host.receive(b'{"type":"assis')
    pair.host.receive_eof()
    bad, _ = pair.host.events()
    assert isinstance(bad, BadLine) and bad.head == b'{"type":"assis'


def test_closing_the_input_while_a_permission_is_pending_fails_it_on_the_cli_side() -> None:
    pair = Pair()
    request_id = pair.cli.request("can_use_tool", tool_name="Bash", input={}, timeout_s=None)
    pair.carry()
    pair.host.close_input()
    pair.host.close_input()
    assert kinds(pair.host.events()) == ["InputClosed"]
    pair.cli.receive_eof()
    _, failed = pair.cli.events()
    assert isinstance(failed, RequestFailed)
    assert "stream closed before response received" in failed.error
    pair.cli.say(result())
    assert kinds(pair.to_host()) == ["ResultMessage", "TurnClosed"]
    with pytest.raises(LocalProtocolError, match="closed"):
        pair.host.answer(request_id, {})


@pytest.mark.parametrize(
    ("line", "stderr"),
    [
        (b"{not json\n", "Error parsing streaming input line (type=unknown, 9 chars): SyntaxError"),
        (
            b'{"type":"keep_alive"}{"type":"keep_alive"}\n',
            "Error parsing streaming input line (type=unknown, 42 chars): SyntaxError",
        ),
        (b"null\n", "Error parsing streaming input line (type=unknown, 4 chars): TypeError"),
        (b'{"type":"user"}\n', "Error: Expected message role 'user', got 'undefined'"),
        (
            b'{"type":"user","message":{"role":"assistant","content":"x"}}\n',
            "Error: Expected message role 'user', got 'assistant'",
        ),
        (b'{"type":"control_request","request_id":"r"}\n', "Error: Missing request on control_request"),
    ],
)
def test_the_cli_side_gives_up_where_the_real_one_does(line: bytes, stderr: str) -> None:
    pair = Pair()
    pair.cli.receive(line)
    (event,) = pair.cli.events()
    assert isinstance(event, Fatal)
    assert (event.exit_code, event.stderr) == (1, stderr)
    assert pair.cli.exit_code == 1


@pytest.mark.parametrize(
    "line",
    [
        b"[1,2]\n",
        b'"word"\n',
        b'{"no":"type"}\n',
        b'{"type":"never_heard_of"}\n',
        b'{"type":"system","subtype":"init"}\n',
        b'{"type":"assistant","message":{"role":"assistant","content":[],"model":"m"}}\n',
        b'{"type":"keep_alive"}\r\n',
        b'{"type":"update_environment_variables","variables":{"A":"b"}}\n',
        b'{"type":"user","message":{"role":"user","content":"\xe2\x80\xa8"},"session_id":"wrong"}\n',
        b'{"type":"user","message":{"role":"user","content":"\\ud800"}}\n',
        b'{"type":"user","message":{"role":"user","content":"\xff\xfe"}}\n',
    ],
)
def test_the_cli_side_goes_on_where_the_real_one_does(line: bytes) -> None:
    pair = Pair()
    pair.cli.receive(b"\n \n" + line)
    (event,) = pair.cli.events()
    assert not isinstance(event, Fatal)
