"""Carry a conversation by other means than a local process: a remote machine, a container, a test double.

``Transport`` is the official SDK's interface: parsed messages in, lines out. (``quarterdeck.transport.ByteTransport``
is ours: bytes both ways, and much faster.) This one plays an agent that says everything back.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from quarterdeck import ResultMessage, Transport, query


class Echo(Transport):
    def __init__(self) -> None:
        self._messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    async def connect(self) -> None:
        print("connected")

    async def write(self, data: str) -> None:
        line = json.loads(data)
        if line["type"] == "control_request":
            answer = {"subtype": "success", "request_id": line["request_id"], "response": {}}
            self._messages.put_nowait({"type": "control_response", "response": answer})
        elif line["type"] == "user":
            said = line["message"]["content"]
            self._messages.put_nowait({"type": "result", "subtype": "success", "session_id": "echo", "result": said})

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while (message := await self._messages.get()) is not None:
            yield message

    def is_ready(self) -> bool:
        return True

    async def end_input(self) -> None:
        self._messages.put_nowait(None)

    async def close(self) -> None:
        print("closed")


async def main() -> None:
    async for message in query(prompt="Is anybody there?", transport=Echo()):
        if isinstance(message, ResultMessage):
            print("answer:", message.result)


asyncio.run(main())
