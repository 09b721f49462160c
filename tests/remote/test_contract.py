"""A client in another language that has read nothing but ``openapi.json`` works with a host."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from conformance.stage import bash
from host.staged import BOTH, host_over, stage_in
from host.test_hostile_git import made as make_repository
from needs import from_npm
from quarterdeck.gateways.http import Gateway, Server
from quarterdeck.host.requests import CreateToken

CLIENT = Path(__file__).parent / "contract_client.mjs"
WS_VERSION = "8.18.3"
LIMIT_S = 120.0


REFUSED = {
    "adopt_transcript": 404,
    "answer_callback": 410,
    "reconnect_mcp_server": 424,
    "stop_task": 404,
}
"""Writes whose example is about something that is not there."""
CONNECTS = {"enable_mcp_server": 424}
"""The real CLI connects to a server when it is enabled, and the example's does not answer."""


@pytest.mark.parametrize("kind", BOTH)
async def test_a_javascript_client_that_knows_only_the_openapi_document_runs_a_conversation(
    tmp_path: Path, kind: str
) -> None:
    packages = await asyncio.to_thread(from_npm, "ws", WS_VERSION)
    with stage_in(tmp_path / "stage", kind) as stage:
        await asyncio.to_thread(make_repository, stage.cwd)
        stage.reply("I need a file.", bash("touch made.txt"))
        for _ in range(20):
            stage.reply("Done.")
        async with host_over(stage, keeper=False) as host, Server(Gateway(host)) as server:
            address, port = await server.listen_tcp("127.0.0.1", 0)
            admin = await host.create_token(CreateToken(name="admin", scope="admin", may_bypass=True))
            said = await run_client(f"http://{address}:{port}", str(admin.secret), str(stage.cwd), str(packages))
    check(said, REFUSED | (CONNECTS if kind == "real" else {}))


async def run_client(*words: str) -> Any:
    node = await asyncio.create_subprocess_exec(
        "node", str(CLIENT), *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            out, err = await node.communicate()
    finally:
        if node.returncode is None:
            node.kill()
            await node.wait()
    assert node.returncode == 0, err.decode()
    return json.loads(out)


def check(said: Any, not_done: dict[str, int]) -> None:
    assert said["repeated"] == [201, "true", True]
    assert said["decided"] == [200, 409, "already_decided"]
    assert said["seqs"] == list(range(1, said["last"] + 1))
    assert said["websocket"] == list(range(1, len(said["websocket"]) + 1))
    assert {"hello", "frame", "session", "approval", "ok", "error"} <= set(said["ops"])
    assert said["errors"] == ["not_found", 404, "not_found"]
    assert said["stopped"] == 200
    assert len(said["followed"]) > 10
    refused = {name for name, status in said["followed"].items() if status != 200}
    assert refused <= {"get_diff"}, "its folder is not a repository"
    assert said["written"] == ["renamed", 202, True, 201, 200]
    assert {"get_host", "get_timeline", "get_info", "list_audit", "get_usage", "read_events", "wait"} <= set(
        said["checked"]
    )
    refused = {name: status for name, status in said["writes"].items() if status >= 300}
    assert refused == not_done
    assert len(said["writes"]) > 30
