"""A transport of one's own: here one that plays both sides of a conversation."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from _setup import sdk, show


class Canned(sdk.Transport):  # type: ignore[misc]
    def __init__(self) -> None:
        self.lines: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self.ready = False

    async def connect(self) -> None:
        self.ready = True

    async def write(self, data: str) -> None:
        line = json.loads(data)
        if line["type"] == "control_request":
            answer = {"subtype": "success", "request_id": line["request_id"], "response": {"commands": []}}
            self.lines.put_nowait({"type": "control_response", "response": answer})
        elif line["type"] == "user":
            said = f"You said: {line['message']['content']}"
            content = [{"type": "text", "text": said}]
            message = {"role": "assistant", "model": "canned", "content": content}
            self.lines.put_nowait({"type": "assistant", "message": message, "parent_tool_use_id": None})
            times = {"duration_ms": 1, "duration_api_ms": 1, "num_turns": 1}
            self.lines.put_nowait(
                {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "result": said, **times}
            )

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while (line := await self.lines.get()) is not None:
            yield line

    async def close(self) -> None:
        self.ready = False
        self.lines.put_nowait(None)

    def is_ready(self) -> bool:
        return self.ready

    async def end_input(self) -> None:
        self.lines.put_nowait(None)


async def main() -> None:
    async for message in sdk.query(prompt="hello", transport=Canned()):
        show(message)
    transport = Canned()
    async with sdk.ClaudeSDKClient(transport=transport) as client:
        for word in ("one", "two"):
            await client.query(word)
            async for message in client.receive_response():
                show(message)
    print("closed:", not transport.is_ready())


asyncio.run(main())
