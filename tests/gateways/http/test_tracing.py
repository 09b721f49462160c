"""Spans of requests: from the client's own to the turn of Claude Code."""

from __future__ import annotations

import json
from pathlib import Path

import grpc
import pytest
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode

from client.spans import Spans
from gateways.grpc.kit import Client as CallClient
from gateways.grpc.kit import serving
from gateways.http.kit import Messages, served
from quarterdeck.host.requests import OfSession, SendPrompt, Wait
from quarterdeck.remote import RemoteHost

CLIENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Spans:
    collected = Spans()
    monkeypatch.setattr(trace, "get_tracer", lambda name, version: collected.provider.get_tracer(name, version))
    return collected


async def test_a_turn_belongs_to_the_request_that_asked_for_it(tmp_path: Path, spans: Spans) -> None:
    async with served(tmp_path) as there:
        session = await there.place.created(there.host, prompt=None)
        reply = await there.client().post(
            f"/v1/sessions/{session.id}/prompts", {"content": "go"}, headers={"traceparent": CLIENT}
        )
        assert reply.status == 202
        await there.host.wait(Wait(session_id=session.id))
        await there.host.stop(OfSession(session_id=session.id))
    asked, turn = spans.one("quarterdeck.send_prompt"), spans.one("invoke_agent claude-code")
    assert asked.parent is not None
    assert f"{asked.parent.span_id:016x}" == CLIENT.split("-")[2]
    assert asked.kind is SpanKind.SERVER
    assert spans.parent(turn.name) == asked.name
    assert turn.context.trace_id == asked.context.trace_id == int(CLIENT.split("-")[1], 16)


@pytest.mark.parametrize("face", ["websocket", "remote", "grpc"])
async def test_other_faces_pass_the_trace_on(tmp_path: Path, spans: Spans, face: str) -> None:
    async with served(tmp_path) as there:
        session = await there.place.created(there.host, prompt=None)
        prompt = {"session_id": session.id, "content": "go"}
        if face == "websocket":
            async with there.client().socket() as socket:
                await socket.send(json.dumps({"op": "send_prompt", "ref": 1, **prompt, "traceparent": CLIENT}))
                await Messages(socket).until("ok")
        elif face == "remote":
            tracer = spans.provider.get_tracer("program")
            async with RemoteHost(there.unix, token=there.admin.secret) as host:
                with tracer.start_as_current_span("program"):
                    await host.send_prompt(SendPrompt(session_id=session.id, content="go"))
        else:
            async with (
                serving(there.host, tmp_path / "claude") as (_, address),
                grpc.aio.insecure_channel(address) as channel,
            ):
                more = {"session_id": session.id, "content": {"text": "go"}}
                client = CallClient(channel, there.admin.secret)
                await client.call("send_prompt", metadata=(("traceparent", CLIENT),), **more)
        await there.host.wait(Wait(session_id=session.id))
        await there.host.stop(OfSession(session_id=session.id))
    asked, turn = spans.one("quarterdeck.send_prompt"), spans.one("invoke_agent claude-code")
    assert asked.parent is not None
    parent = spans.one("program").context.span_id if face == "remote" else int(CLIENT.split("-")[2], 16)
    assert asked.parent.span_id == parent
    assert spans.parent(turn.name) == asked.name


async def test_a_refusal_is_an_error_of_its_span(tmp_path: Path, spans: Spans) -> None:
    async with served(tmp_path) as there:
        assert (await there.client().post("/v1/sessions/none/interrupt")).status == 404
    span = spans.one("quarterdeck.interrupt")
    assert (span.status.status_code, (span.attributes or {})["error.type"]) == (StatusCode.ERROR, "not_found")
