"""JSON-RPC to a tool server, over the host or over a child process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from quarterdeck.wire.jsonrpc import METHOD_NOT_FOUND

from .host import HostChannel

LINE_LIMIT_BYTES = 64 * 1024 * 1024
END_WAIT_S = 2.0
"""How long a tool server may take to leave after its input is closed, before it is killed."""

Asked = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any] | None]]


class LinkError(Exception):
    """The server refused, failed or is gone."""


class SdkLink:
    """A server inside the host: each message is a control request, and its answer the response."""

    def __init__(self, host: HostChannel, name: str) -> None:
        self._host = host
        self._name = name
        self.next_id = 0

    async def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        number, self.next_id = self.next_id, self.next_id + 1
        message = {
            "method": method,
            **({"params": params} if params is not None else {}),
            "jsonrpc": "2.0",
            "id": number,
        }
        answer = await self._host.ask("mcp_message", server_name=self._name, message=message)
        if not answer.ok:
            raise LinkError(answer.error or f"the host does not answer for {self._name}")
        response = answer.payload.get("mcp_response") if isinstance(answer.payload, dict) else None
        return _result(response)

    async def notify(self, method: str) -> None:
        await self._host.ask("mcp_message", server_name=self._name, message={"jsonrpc": "2.0", "method": method})


class StdioLink:
    """A server as a child process: a JSON message per line."""

    def __init__(self, config: dict[str, Any], *, cwd: Path, env: dict[str, str], on_request: Asked) -> None:
        self._command = [str(config.get("command", "")), *map(str, config.get("args", []))]
        self._env = env | {str(key): str(value) for key, value in (config.get("env") or {}).items()}
        self._cwd = cwd
        self._on_request = on_request
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.next_id = 0

    async def start(self) -> None:
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                cwd=self._cwd,
                env=self._env,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=LINE_LIMIT_BYTES,
            )
        except OSError as error:
            raise LinkError(f"{self._command[0]}: {error.strerror}") from None
        if self._process.stdout is not None:
            self._keep(self._read(self._process.stdout))

    async def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        number, self.next_id = self.next_id, self.next_id + 1
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            await self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})
            return await future
        finally:
            self._waiting.pop(number, None)

    async def notify(self, method: str) -> None:
        await self._send({"jsonrpc": "2.0", "method": method})

    async def _send(self, message: dict[str, Any]) -> None:
        process = self._process
        if process is None or process.stdin is None or process.returncode is not None:
            raise LinkError(f"{self._command[0]} has ended")
        try:
            process.stdin.write(json.dumps(message).encode() + b"\n")
            await process.stdin.drain()
        except ConnectionError:
            raise LinkError(f"{self._command[0]} has closed its input") from None

    async def _read(self, stdout: asyncio.StreamReader) -> None:
        async for line in stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue  # a server that prints outside the protocol: the CLI ignores it too
            if isinstance(message, dict):
                self._received(message)
        self._fail_waiting()

    def _received(self, message: dict[str, Any]) -> None:
        if "method" in message:
            if "id" in message:
                self._keep(self._answer(message))
            return
        future = self._waiting.get(message.get("id", -1))
        if future is None or future.done():
            return
        try:
            future.set_result(_result(message))
        except LinkError as error:
            future.set_exception(error)

    async def _answer(self, message: dict[str, Any]) -> None:
        result = await self._on_request(message["method"], message.get("params") or {})
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if result is None:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": f"no such method: {message['method']}"}
        else:
            reply["result"] = result
        await self._send(reply)

    def _keep(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                async with asyncio.timeout(END_WAIT_S):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._fail_waiting()

    def _fail_waiting(self) -> None:
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(LinkError(f"{self._command[0]} has ended"))


def _result(response: Any) -> dict[str, Any]:
    if not isinstance(response, dict):
        raise LinkError("the server gave no JSON-RPC response")
    if "error" in response:
        error = response["error"]
        raise LinkError(str(error.get("message", error)) if isinstance(error, dict) else str(error))
    result = response.get("result")
    return result if isinstance(result, dict) else {}
