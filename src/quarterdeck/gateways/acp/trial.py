"""An editor in memory: asks an agent what every editor asks, to see whether it can."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import msgspec

from .agent import EditorAgent
from .front import Front
from .jsonrpc import RpcError
from .peer import Peer


class Trial(msgspec.Struct):
    """What an editor would find."""

    commands: int
    models: list[str]
    account: dict[str, Any]
    authenticated: bool


async def tried(make: Callable[[Peer], EditorAgent], cwd: str) -> Trial:
    """Connect, begin a session in a folder, and wait until Claude Code is there. Raises ``RpcError``."""
    editor = _EditorInMemory(make)
    try:
        await editor.call("initialize", protocolVersion=1, clientCapabilities={})
        session = (await editor.call("session/new", cwd=cwd, mcpServers=[]))["sessionId"]
        account = await editor.call("_quarterdeck/account", sessionId=session)
        state = (await editor.call("auth/status"))["state"]
        commands = editor.last("available_commands_update").get("availableCommands", [])
        options = {one["id"]: one for one in editor.last("config_option_update").get("configOptions", [])}
    finally:
        await editor.front.close()
    models = [one["value"] for one in options["model"]["options"]] if "model" in options else []
    return Trial(len(commands), models, account, state == "authenticated")


class _EditorInMemory:
    def __init__(self, make: Callable[[Peer], EditorAgent]) -> None:
        self.front = Front(self._read, make)
        self._updates: dict[str, dict[str, Any]] = {}
        self._answers: dict[int, asyncio.Future[Any]] = {}

    async def call(self, method: str, **params: Any) -> Any:
        number = len(self._answers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.front.peer.receive(json.dumps(request).encode() + b"\n")
        return await answer

    def last(self, kind: str) -> dict[str, Any]:
        return self._updates.get(kind, {})

    def _read(self, line: bytes) -> None:
        said = json.loads(line)
        if said.get("method") == "session/update":
            update = said["params"]["update"]
            self._updates[update["sessionUpdate"]] = update
        elif "method" not in said and not (answer := self._answers[said["id"]]).done():
            if "error" in said:
                answer.set_exception(RpcError(said["error"]["code"], said["error"]["message"]))
            else:
                answer.set_result(said["result"])
