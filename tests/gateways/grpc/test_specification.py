"""Specification 001, whose daemon speaks gRPC: its own flow from the invocation to the result, on the real CLI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import grpc
import pytest

from conformance.scenarios.questions import QUESTION
from conformance.stage import bash
from gateways.grpc.kit import Client, serving
from gateways.grpc.test_converse import Talk
from host.staged import host_over, stage_in
from quarterdeck.gateways.grpc.v1 import events_pb2, resources_pb2
from quarterdeck.host.requests import CreateToken, ReadEvents
from quarterdeck.testing.model import ToolUse

RUNNING = resources_pb2.SESSION_STATE_RUNNING
ALLOW = resources_pb2.DECISION_DECISION_ALLOW


@pytest.mark.real
async def test_the_flow_of_specification_001_from_invocation_to_usage_report_and_idle(tmp_path: Path) -> None:
    with stage_in(tmp_path / "stage", "real") as stage:
        stage.reply("I will build it.", bash("touch built.txt"), delta_size=4)
        stage.reply(ToolUse("AskUserQuestion", {"questions": [QUESTION]}))
        stage.reply("Corn it is.", delta_size=4)
        stage.reply("Tested.")
        async with host_over(stage, keeper=False) as host, serving(host, tmp_path) as (_, address):
            secret = (await host.create_token(CreateToken(name="client", scope="operate"))).secret
            async with grpc.aio.insecure_channel(address) as channel:
                talk = Talk(Client(channel, secret).converse())

                # "Invocation": the daemon starts the CLI with stream-json both ways and partial messages.
                await talk.say(open={"create": {"cwd": str(stage.cwd), "prompt": {"text": "Build it."}}})

                # "1. system (init)": the session's id is kept, tools and model are known.
                while not any("tools" in event.session_changed.changed for event in talk.events.seen):
                    assert await talk.next(), "it ended"
                started = await talk.until("process_changed", state=events_pb2.PROCESS_STATE_RUNNING)
                assert started.process_changed.pid > 0

                # "5. control_request", permission: forwarded to the client, because no rule matches.
                asked = await asked_about(talk, resources_pb2.APPROVAL_KIND_PERMISSION)
                assert asked.tool == "Bash"
                assert json.loads(asked.input_json)["command"] == "touch built.txt"
                assert asked.request_id

                # "4. stream_event": text deltas become TextDelta, "2. assistant": then the whole block.
                said = await talk.until("text_completed")
                pieces = [
                    event.text_delta.text
                    for event in talk.events.seen
                    if event.HasField("text_delta") and event.text_delta.id == said.text_completed.id
                ]
                assert said.text_completed.text.endswith("".join(pieces))  # pieces before we watched are not kept
                assert said.text_completed.text == "I will build it."

                # "1. control_response", allow, with updatedInput.
                edited = {"command": "touch built.txt other.txt", "description": "Both"}
                decision = {"decision": ALLOW, "updated_input_json": json.dumps(edited)}
                await talk.say(ref="allow", decide={"approval_id": asked.id, "decision": decision})
                assert (await talk.answer("allow")).decide.approval.id == asked.id

                # "3. user": the tool's result.
                await talk.until("tool_ended", status=events_pb2.TOOL_STATUS_FINISHED)
                assert (stage.cwd / "other.txt").exists()

                # "AskUserQuestion request": always forwarded; its answer is a map by question.
                question = await talk.until("questions_asked")
                assert [one.text for one in question.questions_asked.request.questions] == ["Which topping?"]
                waiting = await asked_about(talk, resources_pb2.APPROVAL_KIND_QUESTIONS)
                answers = json.dumps({"Which topping?": "Corn"})
                await talk.say(
                    ref="answer",
                    decide={"approval_id": waiting.id, "decision": {"decision": ALLOW, "answers_json": answers}},
                )
                await talk.answer("answer")

                # "4. stream_event" again, now with somebody watching: the deltas are all of the text.
                await talk.until("text_completed", text="Corn it is.")
                streamed = "".join(
                    event.text_delta.text
                    for event in talk.events.seen
                    if event.HasField("text_delta") and event.preview
                )
                assert streamed.endswith("Corn it is.")
                assert "Corn" in stage.heard[-1].text

                # "6. result": UsageReport + StatusChange(IDLE).
                ended = await talk.until("turn_ended")
                usage = await talk.until("usage_report")
                idle = await talk.until("status_change", state=resources_pb2.SESSION_STATE_IDLE, before=RUNNING)
                assert ended.seq <= usage.seq <= idle.seq
                assert ended.turn_ended.turn.result.text == "Corn it is."
                assert usage.usage_report.tokens.output > 0
                assert float(usage.usage_report.cost_usd) > 0

                # "2. user (new prompt)": the conversation goes on in the same process.
                await talk.say(ref="again", send_prompt={"content": {"text": "Now run the tests please."}})
                second = await talk.until("turn_ended", count=2)
                assert second.turn_ended.turn.result.text == "Tested."
                await talk.stream.done_writing()
                while await talk.next():
                    pass
                starts = [one for one in talk.events.seen if one.HasField("process_changed")]
                assert {one.process_changed.generation for one in starts} == {1}

            # "Every line on stdout is a JSON object": the raw log has them all, as they were.
            session = talk.opened.session.id
            raw = (await host.read_events(ReadEvents(session_id=session, view="raw", limit=10_000))).frames
            lines = [event.line for frame in raw for event in frame.events if hasattr(event, "line")]
            assert {"system", "assistant", "user", "control_request", "result"} <= {
                json.loads(one)["type"] for one in lines
            }


async def asked_about(talk: Talk, kind: int) -> Any:
    """The approval of this kind."""
    while True:
        for event in talk.events.seen:
            if event.HasField("approval_changed") and event.approval_changed.approval.kind == kind:
                return event.approval_changed.approval
        assert await talk.next(), "it ended"
