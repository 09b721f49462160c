"""The methods of the TypeScript SDK's ``Query``, called on a client and on its session: the same answers or errors."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from client.real_cli import place
from client.test_controls_real import ECHO_SERVER, LIMIT_S
from compat.test_typescript import QUERY_METHODS
from quarterdeck import ClaudeSDKClient, ControlError
from quarterdeck.wire._base import plain

Call = Callable[[Any], Any]
PROMPT_UUID = "11111111-1111-4111-8111-111111111111"
CALLS: dict[str, Call] = {
    "interrupt": lambda c: c.interrupt(),
    "set_permission_mode": lambda c: c.set_permission_mode("acceptEdits"),
    "set_mcp_permission_mode_override": lambda c: c.set_mcp_permission_mode_override("st", "default"),
    "set_model": lambda c: c.set_model("haiku"),
    "set_max_thinking_tokens": lambda c: c.set_max_thinking_tokens(1024),
    "apply_settings": lambda c: c.apply_settings({"outputStyle": "Concise"}),
    "update_settings": lambda c: c.update_settings("localSettings", {"outputStyle": "default"}),
    "server_info": lambda c: c.server_info,
    "reinitialize": lambda c: c.reinitialize(),
    "commands": lambda c: c.commands(),
    "models": lambda c: c.models(),
    "agents": lambda c: c.agents(),
    "mcp_status": lambda c: c.mcp_status(),
    "context_usage": lambda c: c.context_usage(),
    "usage": lambda c: c.usage(skip_behaviors=True),
    "read_file": lambda c: c.read_file("f.txt"),
    "reload_plugins": lambda c: c.reload_plugins(),
    "reload_skills": lambda c: c.reload_skills(),
    "reload_output_styles": lambda c: c.reload_output_styles(),
    "account": lambda c: c.account(),
    "rewind_files": lambda c: c.rewind_files(PROMPT_UUID),
    "seed_read_state": lambda c: c.seed_read_state("f.txt", 0),
    "reconnect_mcp_server": lambda c: c.reconnect_mcp_server("st"),
    "toggle_mcp_server": lambda c: c.toggle_mcp_server("st", True),
    "read_mcp_resource": lambda c: c.read_mcp_resource("st", "mem://x"),
    "set_mcp_servers": lambda c: c.set_mcp_servers({}),
    "stop_task": lambda c: c.stop_task("unknown"),
    "background_tasks": lambda c: c.background_tasks(),
}
REFUSED = {"read_mcp_resource"}
"""Its error is compared."""


async def outcome(target: Any, call: Call) -> tuple[str, Any]:
    try:
        answer = call(target)
        answer = await answer if inspect.isawaitable(answer) else answer
    except ControlError as error:
        return "refused", str(error)
    return type(answer).__name__, _without_durations(plain(answer))


def _without_durations(answer: Any) -> Any:
    if not isinstance(answer, dict):
        return answer
    return {key: _without_durations(value) for key, value in answer.items() if "duration" not in key}


@pytest.mark.real
async def test_every_query_method_does_the_same_on_the_client_as_on_its_session(tmp_path: Path) -> None:
    assert set(CALLS) == {name for name in QUERY_METHODS.values() if isinstance(name, str)}
    with place(tmp_path) as stage:
        (stage.cwd / "f.txt").write_text("hello\n")
        stage.model.reply("hello")
        server = tmp_path / "server.py"
        server.write_text(ECHO_SERVER)
        servers = {"st": {"command": sys.executable, "args": [str(server)]}}
        options = stage.options(mcp_servers=servers, enable_file_checkpointing=True)
        async with asyncio.timeout(LIMIT_S), ClaudeSDKClient(options) as client:
            await client.query(_one_prompt())
            assert [type(message).__name__ async for message in client.receive_response()][-1] == "ResultMessage"
            different: dict[str, Any] = {}
            refused: set[str] = set()
            for name, call in CALLS.items():
                on_client, on_session = await outcome(client, call), await outcome(client.session, call)
                if on_client != on_session:
                    different[name] = on_client, on_session
                if on_client[0] == "refused":
                    refused.add(name)
            session = client.session
        assert (different, refused) == ({}, REFUSED)
        assert session.exit_status is not None


async def _one_prompt() -> AsyncIterator[dict[str, Any]]:
    yield {"type": "user", "message": {"role": "user", "content": "hi"}, "uuid": PROMPT_UUID}
