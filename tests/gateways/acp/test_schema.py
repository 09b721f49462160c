"""The structs of the protocol are those of the published schema, and each can be read."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from benchmarks._npm import SDK_VERSION
from jsonschema import ValidationError

from gateways.acp import published
from gateways.acp.editor import editor
from gateways.acp.generate_schema import OUTPUT, generate
from gateways.acp.published import official_sdk
from quarterdeck.gateways.acp import schema


@pytest.fixture(scope="module")
def schema_file() -> bytes:
    return (official_sdk() / "schema/v1/schema.unstable.json").read_bytes()


def test_the_structs_are_those_of_the_published_schema(schema_file: bytes) -> None:
    assert hashlib.sha256(schema_file).hexdigest() == schema.SCHEMA_SHA256
    assert generate(schema_file, SDK_VERSION) == Path(OUTPUT).read_text("utf-8")


@pytest.mark.parametrize("table", ["AGENT_METHODS", "AGENT_ANSWERS", "CLIENT_METHODS", "CLIENT_ANSWERS"])
def test_every_message_can_be_read(table: str) -> None:
    structs: dict[str, Any] = getattr(schema, table)
    for method, struct in structs.items():
        msgspec.json.Decoder(struct)
        assert method


def test_fields_have_the_names_of_the_wire_and_nothing_that_was_not_said_is_written() -> None:
    update = schema.SessionNotification(
        session_id="s",
        update=schema.SessionUpdateToolCallUpdate(tool_call_id="t", raw_input={"a_b": 1}, meta={"x": 1}),
    )
    written = msgspec.json.decode(msgspec.json.encode(update))
    assert written == {
        "sessionId": "s",
        "update": {"sessionUpdate": "tool_call_update", "toolCallId": "t", "rawInput": {"a_b": 1}, "_meta": {"x": 1}},
    }
    assert msgspec.json.decode(msgspec.json.encode(update), type=schema.SessionNotification) == update


def test_unknown_fields_are_ignored() -> None:
    read = msgspec.json.decode(b'{"sessionId":"s","modeId":"plan","later":1}', type=schema.SetSessionModeRequest)
    assert read == schema.SetSessionModeRequest(session_id="s", mode_id="plan")


BENT = {
    "an answer against the schema": {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "one"}},
    "an error without a code": {"jsonrpc": "2.0", "id": 1, "error": {"message": "no"}},
    "no version of JSON-RPC": {"id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {}}},
    "both a result and an error": {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1, "message": "no"}},
    "an update against the schema": {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": 1}},
}


@pytest.mark.parametrize("frame", BENT.values(), ids=BENT)
async def test_the_editor_of_these_tests_accepts_no_frame_that_is_wrong(frame: dict[str, Any]) -> None:
    source = f"print({json.dumps(json.dumps(frame))}, flush=True)\ninput()\ninput()"
    with pytest.raises((ValidationError, AssertionError, KeyError)):  # also when it ends
        async with editor(env={}, command=(sys.executable, "-c", source)) as ed:
            await ed.initialize()


def test_what_cannot_be_had_is_skipped_with_the_reason_and_fails_on_a_build_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(published, "sdk_folder", lambda: None)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="npm is missing"):
        published.official_sdk()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="npm is missing"):
        published.official_sdk()
