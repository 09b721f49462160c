"""The floor: what is left of a client without all that makes it one, for the loads of ``client.py``.

``msgspec``, an event loop, and the least that lies between them. It keeps no line, bounds nothing, checks neither
options nor answers, types no request, watches no process and survives no odd line. Whatever a client does beyond this,
it adds to these numbers.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from typing import Any

import msgspec

READ_SIZE = 64 * 1024


class Message(msgspec.Struct, gc=False):
    pass


class StreamEvent(Message, tag="stream_event"):
    event: dict[str, Any]
    uuid: str | None = None
    session_id: str | None = None
    parent_tool_use_id: str | None = None


class AssistantMessage(Message, tag="assistant"):
    message: dict[str, Any]

    @property
    def content(self) -> list[Any]:
        content: list[Any] = self.message["content"]
        return content


class UserMessage(Message, tag="user"):
    message: dict[str, Any]


class SystemMessage(Message, tag="system"):
    subtype: str


class ResultMessage(Message, tag="result"):
    result: str | None = None


class ControlRequest(Message, tag="control_request"):
    request: dict[str, Any]
    request_id: str


class ControlResponse(Message, tag="control_response"):
    response: dict[str, Any]


decode_lines = msgspec.json.Decoder(
    StreamEvent | AssistantMessage | UserMessage | SystemMessage | ResultMessage | ControlRequest | ControlResponse
).decode_lines
encode = msgspec.json.Encoder().encode
CONTROL = frozenset({ControlRequest, ControlResponse})


class ClaudeAgentOptions:
    can_use_tool: Any = None
    hooks: Any = None

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)


class PermissionResultAllow:
    pass


class HookMatcher:
    def __init__(self, hooks: list[Any]) -> None:
        self.hooks = hooks


class ClaudeSDKClient:
    def __init__(self, options: Any) -> None:
        self._options = options
        self._ready: list[Message] = []
        self._pending = b""
        self._arrived: asyncio.Future[None] | None = None

    async def __aenter__(self) -> ClaudeSDKClient:
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.disconnect()

    async def connect(self) -> None:
        options = self._options
        words = [options.cli_path, "--output-format", "stream-json", "--input-format", "stream-json", "--verbose"]
        env = {**os.environ, **options.env}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, env=env, bufsize=0)  # noqa: ASYNC220
        self._input, self._output = self._process.stdin.fileno(), self._process.stdout.fileno()  # type: ignore[union-attr]
        os.set_blocking(self._output, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._output, self._read)
        self._answered = self._loop.create_future()
        hooks = {"PreToolUse": [{"matcher": None, "hookCallbackIds": ["hook_0"]}]} if options.hooks else None
        request = {"subtype": "initialize", "hooks": hooks}
        self._write({"type": "control_request", "request_id": "1", "request": request})
        await self._answered

    def _write(self, *lines: dict[str, Any]) -> None:
        os.write(self._input, b"".join([encode(line) + b"\n" for line in lines]))

    def _read(self) -> None:
        data = os.read(self._output, READ_SIZE)
        end = data.rfind(b"\n") + 1
        messages = decode_lines(self._pending + data[:end])
        self._pending = data[end:]
        if not CONTROL.isdisjoint(map(type, messages)):
            messages = self._serve(messages)
        self._ready += messages
        if self._arrived is not None and messages:
            self._arrived.set_result(None)
            self._arrived = None

    def _serve(self, messages: list[Any]) -> list[Any]:
        """Requests of the CLI, by callbacks that do not wait."""
        answers = []
        for message in messages:
            if type(message) is ControlRequest:
                try:
                    self._call(message.request).send(None)
                except StopIteration as done:
                    answer = {"subtype": "success", "request_id": message.request_id, "response": done.value}
                    answers.append({"type": "control_response", "response": answer})
            elif type(message) is ControlResponse:
                self._answered.set_result(None)
        if answers:
            self._write(*answers)
        return [message for message in messages if type(message) not in CONTROL]

    async def _call(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["subtype"] == "can_use_tool":
            await self._options.can_use_tool(request["tool_name"], request["input"], None)
            return {"behavior": "allow", "updatedInput": request["input"], "toolUseID": request["tool_use_id"]}
        hook = self._options.hooks["PreToolUse"][0].hooks[0]
        answer: dict[str, Any] = await hook(request["input"], request["tool_use_id"], None)
        return answer

    async def query(self, prompt: str) -> None:
        self._write({"type": "user", "message": {"role": "user", "content": prompt}})

    async def receive_response(self) -> AsyncIterator[Message]:
        while True:
            batch, self._ready = self._ready, []
            for message in batch:
                yield message
                if type(message) is ResultMessage:
                    return
            if not self._ready:
                self._arrived = self._loop.create_future()
                await self._arrived

    async def disconnect(self) -> None:
        self._loop.remove_reader(self._output)
        os.close(self._output)
        self._process.stdin.close()  # type: ignore[union-attr]
        self._process.wait()


async def query(*, prompt: str, options: Any) -> AsyncIterator[Message]:
    async with ClaudeSDKClient(options) as client:
        await client.query(prompt)
        async for message in client.receive_response():
            yield message
