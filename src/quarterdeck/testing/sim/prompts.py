"""User messages on their way to a turn."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

import msgspec

from .transcript import text_of


class QueuedPrompt(msgspec.Struct):
    content: Any
    uuid: str | None = None
    """The client's own; only then its life is reported by ``command_lifecycle``."""
    priority: str = "next"
    should_query: bool = True
    origin: dict[str, Any] | None = None
    """For turns that the CLI starts on its own."""
    message: dict[str, Any] = {}

    @classmethod
    def of(cls, message: dict[str, Any]) -> QueuedPrompt:
        uuid = message.get("uuid")
        return cls(
            content=message["message"].get("content", ""),
            uuid=uuid if isinstance(uuid, str) and uuid else None,
            priority=str(message.get("priority") or "next"),
            should_query=message.get("shouldQuery") is not False,
            message=message,
        )

    @property
    def text(self) -> str:
        return text_of(self.content)

    def marks(self) -> dict[str, Any]:
        """How messages say that they answer this prompt."""
        return {"user_message_uuid": self.uuid, "user_message_uuids": [self.uuid]} if self.uuid else {}


class Prompts:
    """The queue. ``now`` goes before ``next``, ``later`` last."""

    def __init__(self) -> None:
        self._queue: deque[QueuedPrompt] = deque()
        self._arrived = asyncio.Event()
        self.closed = False

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, prompt: QueuedPrompt) -> None:
        if prompt.priority == "now":
            self._queue.appendleft(prompt)
        else:
            self._queue.append(prompt)
        self._arrived.set()

    def close(self) -> None:
        """No more will come from outside."""
        self.closed = True
        self._arrived.set()

    def wake(self) -> None:
        self._arrived.set()

    def take(self) -> QueuedPrompt | None:
        for prompt in self._queue:
            if prompt.priority != "later":
                self._queue.remove(prompt)
                return prompt
        return self._queue.popleft() if self._queue else None

    async def wait(self) -> None:
        """Until something happened: a prompt, or the end."""
        await self._arrived.wait()
        self._arrived.clear()

    def take_for_running_turn(self) -> list[QueuedPrompt]:
        taken = [
            prompt
            for prompt in self._queue
            if prompt.priority != "later"
            and prompt.should_query
            and not prompt.text.startswith("/")
            and not prompt.origin
        ]
        for prompt in taken:
            self._queue.remove(prompt)
        return taken

    def cancel(self, uuid: str) -> QueuedPrompt | None:
        for prompt in self._queue:
            if prompt.uuid == uuid:
                self._queue.remove(prompt)
                return prompt
        return None

    def uuids(self) -> list[str]:
        return [prompt.uuid for prompt in self._queue if prompt.uuid]

    def clear(self) -> list[QueuedPrompt]:
        gone = list(self._queue)
        self._queue.clear()
        return gone
