"""Drives the simulator in the event loop of a test: raw lines in, messages out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from quarterdeck.testing.sim import Brain, Scenario, SimulatedCli

FLAGS = (
    "--output-format",
    "stream-json",
    "--verbose",
    "--input-format",
    "stream-json",
    "--permission-prompt-tool",
    "stdio",
)
WAIT_S = 10.0
Message = dict[str, Any]


class Sim:
    """``async with Sim(tmp_path, scenario, "--flag") as sim``: ``send``, ``until``, ``turn``."""

    def __init__(
        self,
        folder: Path,
        scenario: Scenario | None = None,
        *flags: str,
        brain: Brain | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        self.home = folder / "home"
        self.cwd = (folder / "repo").resolve()
        self.cwd.mkdir(exist_ok=True)
        argv = [*FLAGS, *flags]
        environment = {"HOME": str(self.home)} | (env or {})
        self.cli = SimulatedCli(argv, scenario=scenario, brain=brain, cwd=self.cwd, env=environment)
        self.said: list[Message] = []
        self.stderr = ""
        self._cursor = 0
        self._changed = asyncio.Event()
        self._rest = b""

    async def __aenter__(self) -> Self:
        self._running = asyncio.create_task(self.cli.run(self._write, self._write_stderr))
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is None:
            await self.end()
        else:
            self._running.cancel()

    async def end(self) -> int:
        if not self._running.done():
            self.cli.feed_eof()
        async with asyncio.timeout(WAIT_S):
            return await self._running

    async def exited(self) -> int:
        async with asyncio.timeout(WAIT_S):
            return await self._running

    def send(self, message: Message) -> None:
        self.cli.feed(json.dumps(message).encode() + b"\n")

    def user(self, text: str, **more: Any) -> None:
        self.send({"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": None, **more})

    def request(self, subtype: str, request_id: str = "r", **fields: Any) -> None:
        self.send({"type": "control_request", "request_id": request_id, "request": {"subtype": subtype, **fields}})

    def answer(self, asked: Message, payload: Any) -> None:
        response = {"subtype": "success", "request_id": asked["request_id"], "response": payload}
        self.send({"type": "control_response", "response": response})

    async def until(self, wanted: Callable[[Message], bool]) -> Message:
        """The next message that is wanted."""
        async with asyncio.timeout(WAIT_S):
            while True:
                while self._cursor < len(self.said):
                    self._cursor += 1
                    if wanted(self.said[self._cursor - 1]):
                        return self.said[self._cursor - 1]
                self._changed.clear()
                await self._changed.wait()

    async def until_type(self, kind: str, subtype: str | None = None) -> Message:
        return await self.until(lambda m: m["type"] == kind and subtype in (None, m.get("subtype")))

    async def asked(self, subtype: str = "can_use_tool") -> Message:
        return await self.until(lambda m: m["type"] == "control_request" and m["request"]["subtype"] == subtype)

    async def control(self, subtype: str, **fields: Any) -> Message:
        self.request(subtype, **fields)
        answer: Message = (await self.until_type("control_response"))["response"]
        return answer

    async def result(self) -> Message:
        return await self.until_type("result")

    async def turn(self, text: str) -> Message:
        """A prompt and its result; tools are allowed."""
        self.user(text)
        while True:
            message = await self.until(lambda m: m["type"] in ("result", "control_request"))
            if message["type"] == "result":
                return message
            self.answer(message, {"behavior": "allow"})

    def types(self) -> list[str]:
        return [f"{m['type']}/{m['subtype']}" if m.get("subtype") else str(m["type"]) for m in self.said]

    def _write(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        self.said += map(json.loads, lines)
        self._changed.set()

    def _write_stderr(self, text: str) -> None:
        self.stderr += text
