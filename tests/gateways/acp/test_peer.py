"""The JSON-RPC peer: what it serves, what it asks, and what it makes of input that is not what it should be."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from looping import for_each
from quarterdeck.gateways.acp import jsonrpc
from quarterdeck.gateways.acp.jsonrpc import RpcError
from quarterdeck.gateways.acp.peer import Peer


class Ends:
    """A peer and what it has written."""

    def __init__(self, **limits: Any) -> None:
        self.lines: list[dict[str, Any]] = []
        self.told: list[tuple[str, Any]] = []
        self.written = asyncio.Event()
        self.hold = asyncio.Event()
        self.peer = Peer(self._write, serve=self._serve, notice=self._notice, **limits)

    def _write(self, line: bytes) -> None:
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        self.lines.append(json.loads(line))
        self.written.set()

    async def _serve(self, method: str, params: bytes) -> Any:
        match method:
            case "echo":
                return json.loads(params)
            case "wait":
                await self.hold.wait()
                return "waited"
            case "fail":
                raise ValueError("it broke")
        raise RpcError(jsonrpc.METHOD_NOT_FOUND, f"no {method}")

    def _notice(self, method: str, params: bytes) -> None:
        self.told.append((method, json.loads(params)))

    def says(self, *messages: Any) -> None:
        self.peer.receive(b"".join(json.dumps(one).encode() + b"\n" for one in messages))

    async def until(self, count: int) -> list[dict[str, Any]]:
        async with asyncio.timeout(10):
            while len(self.lines) < count:
                self.written.clear()
                await self.written.wait()
        return self.lines


def call(id_: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


async def test_a_request_is_answered_with_its_id_whatever_kind_that_is() -> None:
    ends = Ends()
    ends.says(call(1, "echo", a=1), call("x", "echo"), call(None, "echo"))
    lines = await ends.until(3)
    assert lines == [
        {"jsonrpc": "2.0", "id": 1, "result": {"a": 1}},
        {"jsonrpc": "2.0", "id": "x", "result": {}},
        {"jsonrpc": "2.0", "id": None, "result": {}},
    ]


async def test_lines_are_read_however_they_are_cut() -> None:
    ends = Ends()
    data = b"".join(json.dumps(call(n, "echo", text="ü" * n)).encode() + b"\r\n" for n in range(20))
    for start in range(0, len(data), 7):
        ends.peer.receive(data[start : start + 7])
    lines = await ends.until(20)
    assert [line["id"] for line in lines] == list(range(20))


async def test_requests_are_served_side_by_side() -> None:
    ends = Ends()
    ends.says(call(1, "wait"), call(2, "echo"))
    assert [line["id"] for line in await ends.until(1)] == [2]
    ends.hold.set()
    assert (await ends.until(2))[1] == {"jsonrpc": "2.0", "id": 1, "result": "waited"}


async def test_a_request_that_is_cancelled_is_answered_once() -> None:
    ends = Ends()
    cancel = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}
    ends.says(call(1, "wait"), cancel, cancel)
    lines = await ends.until(1)
    assert lines[0]["id"] == 1
    assert lines[0]["error"]["code"] == jsonrpc.REQUEST_CANCELLED
    ends.says(cancel, {"method": "$/cancel_request", "params": {}}, call(2, "echo"))
    assert [line["id"] for line in await ends.until(2)] == [1, 2]


BAD_LINES: list[tuple[str, bytes, Any, int]] = [
    ("no JSON", b"hello", None, jsonrpc.PARSE_ERROR),
    ("half a message", b'{"jsonrpc":"2.0","id":1,', None, jsonrpc.PARSE_ERROR),
    ("not text", b'{"id":1,"method":"echo","params":{"a":"\xff\xfe', None, jsonrpc.PARSE_ERROR),
    ("a batch", b'[{"jsonrpc":"2.0","id":1,"method":"echo"}]', None, jsonrpc.INVALID_REQUEST),
    ("a number", b"42", None, jsonrpc.INVALID_REQUEST),
    ("null", b"null", None, jsonrpc.INVALID_REQUEST),
    ("a method that is no text", b'{"id":7,"method":5}', 7, jsonrpc.INVALID_REQUEST),
    ("an id that is a list", b'{"id":[1],"method":"echo"}', None, jsonrpc.INVALID_REQUEST),
    ("nothing", b"{}", None, jsonrpc.INVALID_REQUEST),
    ("an id alone", b'{"id":"a"}', "a", jsonrpc.INVALID_REQUEST),
    ("deeply nested", b"[" * 200_000, None, jsonrpc.PARSE_ERROR),
    ("unknown method", b'{"id":3,"method":"nope"}', 3, jsonrpc.METHOD_NOT_FOUND),
    ("a handler that fails", b'{"id":4,"method":"fail"}', 4, jsonrpc.INTERNAL_ERROR),
]


@for_each("case", BAD_LINES, ids=lambda case: case[0])
async def test_what_is_no_request_gets_the_right_error_and_the_next_one_is_served(
    case: tuple[str, bytes, Any, int],
) -> None:
    _, line, id_, code = case
    ends = Ends()
    ends.peer.receive(line + b"\n")
    ends.says(call(99, "echo"))
    lines = await ends.until(2)
    by_id = {json.dumps(one.get("id")): one for one in lines}
    assert by_id[json.dumps(id_)]["error"]["code"] == code
    assert by_id["99"]["result"] == {}


async def test_a_lone_surrogate_is_text_all_the_same() -> None:
    ends = Ends()
    ends.peer.receive(b'{"id":1,"method":"echo","params":{"a":"\\ud800!"}}\n')
    assert (await ends.until(1))[0]["result"] == {"a": "?!"}
    ends.peer.notify("update", {"text": "\ud800!"})
    assert (await ends.until(2))[1]["params"] == {"text": "?!"}


async def test_a_line_that_is_too_long_is_refused_and_not_kept() -> None:
    ends = Ends(line_limit_bytes=1000)
    for _ in range(50):
        ends.peer.receive(b"x" * 100)
    ends.peer.receive(b"\n")
    ends.says(call(1, "echo"))
    lines = await ends.until(2)
    assert lines[0]["error"]["code"] == jsonrpc.INVALID_REQUEST
    assert lines[1]["id"] == 1


async def test_an_id_that_is_in_use_is_refused() -> None:
    ends = Ends()
    ends.says(call(1, "wait"), call(1, "echo"))
    assert (await ends.until(1))[0]["error"]["code"] == jsonrpc.INVALID_REQUEST
    ends.hold.set()
    assert (await ends.until(2))[1]["result"] == "waited"


async def test_a_notification_is_never_answered() -> None:
    ends = Ends()
    ends.says({"method": "hello", "params": {"a": 1}}, {"method": "hello"}, call(1, "echo"))
    assert [line["id"] for line in await ends.until(1)] == [1]
    assert ends.told == [("hello", {"a": 1}), ("hello", {})]


async def test_our_request_is_written_at_once_and_in_order() -> None:
    ends = Ends()
    ends.peer.notify("first", {})
    made = ends.peer.call("ask", {"a": 1})
    ends.peer.notify("last", {})
    assert [line["method"] for line in ends.lines] == ["first", "ask", "last"]
    ends.says({"jsonrpc": "2.0", "id": ends.lines[1]["id"], "result": {"ok": True}})
    assert json.loads(await made) == {"ok": True}


async def test_an_error_in_answer_to_us_is_raised() -> None:
    ends = Ends()
    made = ends.peer.call("ask", {})
    ends.says({"id": 1, "error": {"code": -32002, "message": "not here", "data": [1]}})
    with pytest.raises(RpcError, match="not here") as caught:
        await made
    assert (caught.value.code, caught.value.data) == (-32002, [1])


async def test_the_other_side_is_told_when_we_no_longer_want_an_answer_and_a_late_one_is_ignored() -> None:
    ends = Ends()
    made = ends.peer.call("ask", {})
    made.cancel()
    lines = await ends.until(2)
    assert lines[1] == {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}
    ends.says({"id": 1, "result": 1}, {"id": 77, "result": 1}, call(5, "echo"))
    assert (await ends.until(3))[2]["id"] == 5


async def test_when_it_ends_everything_open_ends() -> None:
    ends = Ends()
    ends.says(call(1, "wait"))
    made = ends.peer.call("ask", {})
    await ends.peer.close()
    with pytest.raises(RpcError, match="was closed"):
        await made
    with pytest.raises(RpcError, match="was closed"):
        await ends.peer.call("ask", {})
    assert [line["method"] for line in ends.lines] == ["ask"]
