"""Clients in two languages: the examples do what they say, and side by side they see the same and one decision wins."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor

from gateways.grpc.kit import Watching, served
from gateways.grpc.npm import node_env
from host.kit import ASKS, LIMIT_S

EXAMPLES = Path(__file__).parents[3] / "examples" / "grpc"
WATCHER = Path(__file__).with_name("watcher.js")


async def printed(command: list[str], env: dict[str, str]) -> list[str]:
    """What a program prints, if it ends well."""
    process = await asyncio.create_subprocess_exec(*command, env=env, stdout=asyncio.subprocess.PIPE)
    try:
        out, _ = await asyncio.wait_for(process.communicate(), LIMIT_S)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0
    return out.decode().splitlines()


@pytest.mark.parametrize("language", ["python", "node"])
async def test_an_example_holds_a_conversation(tmp_path: Path, language: str) -> None:
    env = {**os.environ, **(node_env() if language == "node" else {})}
    program = (
        [sys.executable, str(EXAMPLES / "client.py")] if language == "python" else ["node", EXAMPLES / "client.js"]
    )
    async with served(tmp_path, turns=[ASKS, "It is there."]) as there:
        words = [there.address, str(there.place.cwd), "Make a file."]
        lines = await printed([*program, *words], {**env, "QUARTERDECK_TOKEN": str(there.admin.secret)})
        assert lines[0].startswith("allowing Bash: ")
        assert lines[1] == "It is there."
        assert lines[2].startswith("cost $")
        assert len(lines) == 3
        assert (there.place.cwd / "made.txt").exists()


def test_there_is_an_example_for_each_language() -> None:
    assert sorted(path.name for path in EXAMPLES.iterdir()) == ["client.js", "client.py"]


async def test_node_and_python_see_the_same_and_one_decision_wins(tmp_path: Path) -> None:
    env = node_env()
    async with served(tmp_path, turns=[ASKS, "Done."]) as there:
        session = await there.session(None)
        secret = str((await there.token("operate", name="node")).secret)
        node = await asyncio.create_subprocess_exec(
            *("node", str(WATCHER), there.address, session),
            env={**env, "QUARTERDECK_TOKEN": secret},
            stdout=asyncio.subprocess.PIPE,
        )
        assert node.stdout is not None
        try:
            assert json.loads(await node.stdout.readline()) == {"hello": session}
            watching = Watching(there.client().watch(session))
            await watching.next()
            await there.client().ask("send_prompt", session_id=session, content={"text": "go"})
            asked = await watching.until("approval_changed")
            won = await decided(there.client(), asked.approval_changed.approval.id)
            await watching.until("turn_ended")
            rest, _ = await asyncio.wait_for(node.communicate(), LIMIT_S)
            lines = [json.loads(line) for line in rest.splitlines()]
            last = max(line["event"]["seq"] for line in lines if "event" in line)
            while watching.seen[-1].seq < last:
                await watching.next()
        finally:
            if node.returncode is None:
                node.kill()
                await node.wait()
    (theirs,) = [line for line in lines if "won" in line]
    assert {won, theirs["won"]} == {True, False}
    if won:
        assert theirs["code"] == grpc.StatusCode.ALREADY_EXISTS.value[0]
    else:
        assert theirs["by"] == "node"
    told = [without_presence(line["event"]) for line in lines if "event" in line]
    assert told == [as_node_has_it(event) for event in watching.seen if not event.preview and event.seq <= last]
    assert {"turn_ended", "approval_changed", "usage_report"} <= {event["event"] for event in told}


def as_node_has_it(message: Any) -> dict[str, Any]:
    """A message as the loader of ``@grpc/proto-loader`` makes an object of it."""
    shown: dict[str, Any] = {}
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            held = field.message_type.fields_by_name["value"]
            shown[field.name] = {str(key): _shown(held, one) for key, one in value.items()}
        elif field.is_repeated:
            shown[field.name] = [_shown(field, one) for one in value]
        else:
            shown[field.name] = _shown(field, value)
            if field.containing_oneof is not None and not field.containing_oneof.name.startswith("_"):
                shown[field.containing_oneof.name] = field.name
    return shown


def _shown(field: FieldDescriptor, value: Any) -> Any:
    if field.message_type is not None:
        return as_node_has_it(value)
    if field.enum_type is not None:
        return field.enum_type.values_by_number[value].name
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def without_presence(told: Any) -> Any:
    """Without what the loader adds to say that an optional field is set."""
    if isinstance(told, dict):
        return {name: without_presence(value) for name, value in told.items() if not name.startswith("_")}
    return [without_presence(one) for one in told] if isinstance(told, list) else told


async def decided(client: Any, approval_id: str) -> bool:
    """Whether this decision was the one that counts."""
    try:
        await client.ask("decide", approval_id=approval_id, decision={"decision": 1})
    except grpc.aio.AioRpcError as error:
        assert error.code() == grpc.StatusCode.ALREADY_EXISTS
        return False
    return True
