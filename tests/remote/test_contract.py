"""A client in another language that has read nothing but ``openapi.json`` works with a host."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from benchmarks._npm import package

from gateways.http.kit import served
from host.kit import ASKS

CLIENT = Path(__file__).parent / "contract_client.mjs"
WS_VERSION = "8.18.3"
LIMIT_S = 120.0


async def test_a_javascript_client_that_knows_only_the_openapi_document_runs_a_conversation(tmp_path: Path) -> None:
    packages = await asyncio.to_thread(package, "ws", WS_VERSION)
    if packages is None:
        pytest.skip("node or npm is missing, or ws cannot be installed")
    async with served(tmp_path, turns=[ASKS, "Done."]) as there:
        address, port = there.tcp
        words = [str(CLIENT), f"http://{address}:{port}", str(there.admin.secret), str(there.place.cwd), str(packages)]
        node = await asyncio.create_subprocess_exec(
            "node", *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        try:
            async with asyncio.timeout(LIMIT_S):
                out, err = await node.communicate()
        finally:
            if node.returncode is None:
                node.kill()
                await node.wait()
        assert node.returncode == 0, err.decode()
    said = json.loads(out)
    assert said["repeated"] == [201, "true", True]
    assert said["decided"] == [200, 409, "already_decided"]
    assert said["seqs"] == list(range(1, said["last"] + 1))
    assert said["websocket"] == list(range(1, len(said["websocket"]) + 1))
    assert said["errors"] == ["not_found", 404, "not_found"]
    assert said["stopped"] == 200
    assert len(said["followed"]) > 10
    refused = {name for name, status in said["followed"].items() if status != 200}
    assert refused <= {"get_diff"}, "its folder is not a repository"
    assert said["written"] == ["renamed", 202, True, 201, 200]
    assert {"get_host", "get_timeline", "get_info", "list_audit", "get_usage", "read_events", "wait"} <= set(
        said["checked"]
    )
