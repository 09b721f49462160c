"""The scripted model, asked over plain HTTP; one test asks through the real CLI."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from needs import real_cli
from quarterdeck.testing.model import (
    ApiRequest,
    Cut,
    Error,
    ModelServer,
    RawBlock,
    RedactedThinking,
    Reply,
    Stall,
    StreamError,
    Text,
    Thinking,
    ToolUse,
    Usage,
)
from quarterdeck.testing.model.server import UNSCRIPTED_TEXT

LIMIT_S = 10.0
TOOLS = [{"name": "Bash", "input_schema": {"type": "object"}}]


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(seed="test") as server:
        yield server


def connect(model: ModelServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(model.base_url.removeprefix("http://"), timeout=LIMIT_S)


def body(text: str = "hello", **extra: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    return {"model": "claude-opus-5-5", "max_tokens": 100, "messages": messages, "tools": TOOLS, **extra}


def post(connection: http.client.HTTPConnection, payload: Any, path: str = "/v1/messages?beta=true") -> tuple[int, Any]:
    connection.request("POST", path, json.dumps(payload), {"Content-Type": "application/json"})
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def ask(model: ModelServer, payload: Any | None = None, path: str = "/v1/messages?beta=true") -> tuple[int, Any]:
    connection = connect(model)
    try:
        return post(connection, body() if payload is None else payload, path)
    finally:
        connection.close()


def parse_events(data: bytes) -> list[dict[str, Any]]:
    events = []
    for part in data.decode().strip().split("\n\n"):
        name, text = part.split("\n", 1)
        event = json.loads(text.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        events.append(event)
    return events


def stream(model: ModelServer, payload: Any | None = None) -> list[dict[str, Any]]:
    connection = connect(model)
    try:
        connection.request("POST", "/v1/messages", json.dumps((payload or body()) | {"stream": True}))
        response = connection.getresponse()
        assert response.getheader("Content-Type") == "text/event-stream; charset=utf-8"
        return parse_events(response.read())
    finally:
        connection.close()


def text_of(answer: Any) -> str:
    return "".join(block["text"] for block in answer["content"] if block["type"] == "text")


def test_a_plain_request_gets_the_whole_message_as_json(model: ModelServer) -> None:
    usage = Usage(input_tokens=7, output_tokens=3, cache_creation_input_tokens=1, cache_read_input_tokens=2)
    model.reply(
        Thinking("hm", signature="sig"), "I look", ToolUse("Bash", {"command": "ls"}, id="toolu_1"), usage=usage
    )
    status, answer = ask(model)
    assert status == 200
    assert answer.pop("id").startswith("msg_01")
    assert answer == {
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "I look"},
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 7,
            "cache_creation_input_tokens": 1,
            "cache_read_input_tokens": 2,
            "output_tokens": 3,
            "service_tier": "standard",
        },
    }


def test_a_stream_brings_text_in_pieces_of_the_chosen_size(model: ModelServer) -> None:
    model.reply("abcdefg", delta_size=3, usage=Usage(10, 4), model="claude-other")
    events = stream(model)
    assert events[0]["message"].pop("id").startswith("msg_01")
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message: dict[str, Any] = {"type": "message", "role": "assistant", "model": "claude-other", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None}
    message |= {"usage": usage | {"output_tokens": 1, "service_tier": "standard"}}
    assert events == [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "abc"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "def"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "g"}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": usage | {"output_tokens": 4, "service_tier": "standard"},
        },
        {"type": "message_stop"},
    ]


def test_a_stream_brings_thinking_tools_and_other_blocks(model: ModelServer) -> None:
    raw = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    model.reply(
        Thinking("deep thought", signature="sig"),
        RedactedThinking("hidden"),
        ToolUse("Bash", {"command": "ls"}, id="toolu_1"),
        RawBlock(raw),
        delta_size=9,
    )
    events = stream(model)
    by_block = [[e for e in events if e.get("index") == index] for index in range(4)]
    starts = [block[0]["content_block"] for block in by_block]
    assert starts == [
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "redacted_thinking", "data": "hidden"},
        {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}},
        raw,
    ]
    deltas = [[e["delta"] for e in block if e["type"] == "content_block_delta"] for block in by_block]
    assert deltas[0] == [
        {"type": "thinking_delta", "thinking": "deep thou"},
        {"type": "thinking_delta", "thinking": "ght"},
        {"type": "signature_delta", "signature": "sig"},
    ]
    assert [delta["type"] for delta in deltas[2]] == ["input_json_delta"] * len(deltas[2])
    assert json.loads("".join(delta["partial_json"] for delta in deltas[2])) == {"command": "ls"}
    assert (deltas[1], deltas[3]) == ([], [])
    assert [block[-1]["type"] for block in by_block] == ["content_block_stop"] * 4
    assert events[-2]["delta"]["stop_reason"] == "tool_use"


def test_a_refusal_says_why_in_both_forms(model: ModelServer) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "no"}
    for _ in range(2):
        model.reply("I", stop_reason="refusal", stop_details=details)
    assert stream(model)[-2]["delta"] == {"stop_reason": "refusal", "stop_sequence": None, "stop_details": details}
    answer = ask(model)[1]
    assert (answer["stop_reason"], answer["stop_details"]) == ("refusal", details)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ],
)
def test_an_error_has_the_status_and_the_body_of_the_api(model: ModelServer, status: int, kind: str) -> None:
    model.reply(Error(status, "because", headers={"retry-after": "3"}))
    connection = connect(model)
    connection.request("POST", "/v1/messages", json.dumps(body()))
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    assert (response.status, response.getheader("retry-after")) == (status, "3")
    assert answer.pop("request_id").startswith("req_01")
    assert answer == {"type": "error", "error": {"type": kind, "message": "because"}}


def test_an_error_is_a_turn_of_its_own(model: ModelServer) -> None:
    with pytest.raises(ValueError, match="whole turn"):
        model.reply("text", Error(500))


def test_deltas_need_a_size() -> None:
    with pytest.raises(ValueError, match="delta_size"):
        Reply(delta_size=0)


def test_a_cut_stream_ends_in_the_middle(model: ModelServer) -> None:
    model.reply("abcdef", Cut(after=4), delta_size=2)
    connection = connect(model)
    connection.request("POST", "/v1/messages", json.dumps(body(stream=True)))
    with pytest.raises(http.client.IncompleteRead) as caught:
        connection.getresponse().read()
    connection.close()
    assert [e["type"] for e in parse_events(caught.value.partial)] == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
    ]
    model.wait_for(lambda requests: requests[0].outcome == "cut")


def test_a_cut_before_the_first_event_sends_no_byte(model: ModelServer) -> None:
    model.reply("never", Cut(after=0))
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        ask(model)


@pytest.mark.parametrize(
    ("after", "before"), [(0, []), (3, ["message_start", "content_block_start", "ping"])], ids=["first", "later"]
)
def test_an_error_event_ends_the_stream(model: ModelServer, after: int, before: list[str]) -> None:
    model.reply("abcdef", StreamError(after=after, message="too busy"))
    *events, last = stream(model)
    assert [event["type"] for event in events] == before
    assert last == {"type": "error", "error": {"type": "overloaded_error", "message": "too busy"}}


def test_a_stalled_stream_waits_at_its_gate(model: ModelServer) -> None:
    gate = model.gate()
    model.reply("abcdef", Stall(after=3, until=gate))
    seen: list[dict[str, Any]] = []
    asker = threading.Thread(target=lambda: seen.extend(stream(model)))
    asker.start()
    assert gate.wait_reached(LIMIT_S)
    assert (seen, model.requests[0].outcome) == ([], "pending")
    gate.open()
    asker.join(LIMIT_S)
    assert seen[-1] == {"type": "message_stop"}


def test_a_stall_without_a_gate_ends_by_itself(model: ModelServer) -> None:
    model.reply("abc", Stall(after=1, seconds=0.01))
    assert stream(model)[-1] == {"type": "message_stop"}


def test_a_slow_stream_is_whole(model: ModelServer) -> None:
    model.reply("abc", delta_size=1, delay_s=0.001)
    pieces = [e["delta"]["text"] for e in stream(model) if e["type"] == "content_block_delta"]
    assert pieces == ["a", "b", "c"]


def test_closing_ends_stalled_streams_and_all_threads() -> None:
    before = set(threading.enumerate())

    def asking(server: ModelServer) -> None:
        # Closing breaks the stream, or lets its last events out just before.
        with contextlib.suppress(http.client.HTTPException, OSError):
            stream(server)

    with ModelServer() as server:
        gate = server.gate()
        server.reply("abc", Stall(after=1, until=gate))
        asker = threading.Thread(target=asking, args=(server,))
        asker.start()
        assert gate.wait_reached(LIMIT_S)
        idle = connect(server)
        idle.request("HEAD", "/")
        idle.getresponse().read()
    asker.join(LIMIT_S)
    idle.close()
    assert set(threading.enumerate()) == before
    server.close()


def test_a_server_is_started_once(model: ModelServer) -> None:
    with pytest.raises(RuntimeError, match="started only once"):
        model.start()
    with pytest.raises(RuntimeError, match="no address"):
        _ = ModelServer().base_url


def test_one_connection_serves_many_requests(model: ModelServer) -> None:
    model.reply("one")
    model.reply("two")
    connection = connect(model)
    answers = [text_of(post(connection, body())[1]) for _ in range(2)]
    connection.request("POST", "/v1/messages", json.dumps(body(stream=True)))
    events = parse_events(connection.getresponse().read())
    answers.append(text_of(post(connection, body())[1]))
    connection.close()
    assert answers == ["one", "two", UNSCRIPTED_TEXT]
    assert events[-1] == {"type": "message_stop"}


def test_a_chunked_request_body_is_read(model: ModelServer) -> None:
    text = json.dumps(body("in chunks")).encode()
    connection = connect(model)
    connection.request("POST", "/v1/messages", iter([text[:20], text[20:]]), encode_chunked=True)
    connection.getresponse().read()
    connection.close()
    assert model.requests[0].last_user_text == "in chunks"


def test_a_body_over_the_limit_is_refused_unread(model: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quarterdeck.testing.model._http.BODY_LIMIT_BYTES", 10)
    status, answer = ask(model)
    assert (status, answer["error"]["type"]) == (413, "request_too_large")
    assert model.requests == []


def test_unscripted_requests_are_answered_and_marked(model: ModelServer) -> None:
    assert text_of(ask(model)[1]) == UNSCRIPTED_TEXT
    assert [(r.kind, r.answered_by) for r in model.requests] == [("main", "unscripted")]


def test_rules_beat_the_queue_as_often_as_they_may(model: ModelServer) -> None:
    model.reply("from the queue")
    rule = model.on(lambda request: "title" in request.text, "from the rule", times=1)
    answers = [text_of(ask(model, body("a title please"))[1]) for _ in range(2)]
    assert answers == ["from the rule", "from the queue"]
    assert [r.answered_by for r in model.requests] == ["rule", "queue"]
    assert [r.number for r in rule.requests] == [1]
    assert model.queued == 0


def test_a_turn_can_be_made_when_the_request_is_there(model: ModelServer) -> None:
    def echo(request: ApiRequest) -> Reply:
        return Reply(blocks=(Text(request.last_user_text.upper()),))

    model.reply_with(echo)
    model.on_with(lambda request: "rule" in request.text, echo)
    assert text_of(ask(model, body("queue"))[1]) == "QUEUE"
    assert text_of(ask(model, body("rule"))[1]) == "RULE"


def test_a_script_that_raises_is_told_to_the_child_and_to_the_test() -> None:
    def broken(request: ApiRequest) -> Reply:
        raise LookupError(f"no answer to {request.last_user_text}")

    with pytest.raises(LookupError, match="no answer to hello"), ModelServer() as model:
        model.reply_with(broken)
        status, answer = ask(model)
        assert (status, answer["error"]["type"]) == (500, "api_error")
        assert "no answer to hello" in answer["error"]["message"]


def test_a_request_can_be_looked_at(model: ModelServer) -> None:
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "file.txt"}]}
    messages = [
        {"role": "user", "content": "list"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}]},
        {"role": "user", "content": [result, {"type": "text", "text": "and?"}]},
    ]
    ask(model, body(messages=messages, system=[{"type": "text", "text": "Be brief."}]))
    (request,) = model.conversation
    assert (request.method, request.path, request.model) == ("POST", "/v1/messages?beta=true", "claude-opus-5-5")
    assert (request.system, request.tool_names, request.stream) == ("Be brief.", ["Bash"], False)
    assert request.text == "list\n\nfile.txt\nand?"
    assert request.last_user_text == "file.txt\nand?"
    assert request.tool_results == {"toolu_1": "file.txt"}
    assert request.headers["content-type"] == "application/json"
    assert json.loads(request.body) == request.json
    assert request.agent_id == ""


ERRANDS: dict[str, dict[str, Any]] = {
    "warmup": body("Warmup"),
    "compact": body("Write an <analysis> block, then a <summary> block."),
    "side_question": body("<system-reminder>This is a side question from the user. …</system-reminder>"),
    "suggestion": body("[SUGGESTION MODE: say what the user would type]"),
    "title": body(tools=[], system="You are naming a coding session."),
    "helper": body("<tools-used-before-summary>Bash</tools-used-before-summary>", tools=[]),
}


@pytest.mark.parametrize("kind", ERRANDS)
def test_an_errand_of_the_cli_leaves_the_queue_alone(model: ModelServer, kind: str) -> None:
    model.reply("for the conversation")
    status, _ = ask(model, ERRANDS[kind])
    assert (status, model.queued) == (200, 1)
    assert [(r.kind, r.answered_by) for r in model.requests] == [(kind, "errand")]
    assert model.conversation == []


def test_a_small_model_without_tools_is_an_errand(model: ModelServer) -> None:
    ask(model, body(tools=[], model="claude-haiku-4-5"))
    ask(model, body(model="claude-haiku-4-5"))
    assert [r.kind for r in model.requests] == ["helper", "main"]


def test_a_request_for_a_json_answer_without_tools_is_an_errand(model: ModelServer) -> None:
    def wants(**properties: Any) -> dict[str, Any]:
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        return body(tools=[], output_config={"format": {"type": "json_schema", "schema": schema}})

    title = ask(model, wants(title={"type": "string"}))[1]
    verdict = ask(
        model,
        wants(
            ok={"type": "boolean"},
            why={"type": "string"},
            how={"enum": ["fast", "slow"]},
            often={"type": "integer"},
            files={"type": "array"},
        ),
    )[1]
    ask(model, body(tools=[], output_config={"effort": "medium"}))
    assert json.loads(text_of(title)) == {"title": "Scripted session"}
    assert json.loads(text_of(verdict)) == {"ok": True, "why": "ok", "how": "fast", "often": 0, "files": []}
    assert [r.kind for r in model.requests] == ["title", "helper", "main"]


def test_sub_agents_are_known_by_header_or_system_prompt(model: ModelServer) -> None:
    connection = connect(model)
    connection.request("POST", "/v1/messages", json.dumps(body()), {"X-Claude-Code-Agent-Id": "a1"})
    connection.getresponse().read()
    post(connection, body(system="You are an agent for Claude Code, …"))
    connection.close()
    assert [(r.kind, r.agent_id) for r in model.conversation] == [("subagent", "a1"), ("subagent", "")]


def test_probes_and_token_counts_are_answered(model: ModelServer) -> None:
    connection = connect(model)
    for method in ("HEAD", "GET"):
        connection.request(method, "/")
        response = connection.getresponse()
        assert (response.status, response.read()) == (200, b"" if method == "HEAD" else b"{}")
    status, counted = post(connection, body(), "/v1/messages/count_tokens?beta=true")
    assert (status, list(counted)) == (200, ["input_tokens"])
    assert counted["input_tokens"] > 0
    assert post(connection, {}, "/v1/other")[0] == 404
    assert post(connection, [1])[0] == 400
    connection.close()
    assert [r.kind for r in model.requests] == ["probe", "probe", "count_tokens", "probe", "main"]


def test_waiting_for_a_request_is_bounded(model: ModelServer) -> None:
    with pytest.raises(TimeoutError, match="requests so far"):
        model.wait_for(lambda requests: len(requests) == 1, timeout_s=0.01)


def test_the_same_seed_gives_the_same_ids() -> None:
    def ids() -> list[str]:
        with ModelServer(seed="fixed") as model:
            return [ask(model)[1]["id"] for _ in range(2)]

    first = ids()
    assert first == ids()
    assert len(set(first)) == 2


@pytest.mark.real
def test_the_real_cli_holds_a_turn_with_the_scripted_model(tmp_path: Path) -> None:
    cli = real_cli()
    user = {"type": "user", "message": {"role": "user", "content": "Say hello"}, "parent_tool_use_id": None}
    flags = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"]
    with ModelServer() as model:
        model.reply("Hello from the script.", usage=Usage(input_tokens=11, output_tokens=5))
        done = subprocess.run(
            [*cli.argv, *flags],
            input=json.dumps(user) + "\n",
            env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], **model.env()},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    result = messages[-1]
    assert (done.returncode, done.stderr) == (0, "")
    assert (result["type"], result["subtype"], result["result"]) == ("result", "success", "Hello from the script.")
    assert (result["usage"]["input_tokens"], result["usage"]["output_tokens"]) == (11, 5)
    assert model.conversation[0].last_user_text.endswith("Say hello")
    assert model.queued == 0
