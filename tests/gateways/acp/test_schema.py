"""The structs of the protocol are those of the published schema, and each can be read."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from benchmarks._npm import SDK_VERSION, sdk_folder

from gateways.acp.generate_schema import OUTPUT, generate
from quarterdeck.gateways.acp import schema


@pytest.fixture(scope="module")
def published() -> bytes:
    folder = sdk_folder()
    if folder is None:
        pytest.skip("npm is missing, or cannot fetch the official ACP library")
    return (folder / "schema/v1/schema.unstable.json").read_bytes()


def test_the_structs_are_those_of_the_published_schema(published: bytes) -> None:
    assert hashlib.sha256(published).hexdigest() == schema.SCHEMA_SHA256
    assert generate(published, SDK_VERSION) == Path(OUTPUT).read_text("utf-8")


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
