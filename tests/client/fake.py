"""A CLI in this process, written turn by turn in the test: the other end of a session."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from itertools import count
from typing import Any, TypeVar

from protocol.pair import init, result
from quarterdeck import ClaudeAgentOptions, Session
from quarterdeck.protocol import CliSide, Event, RequestReceived
from quarterdeck.transport import ExitStatus, memory_pair
from quarterdeck.wire import UserMessage

T = TypeVar("T")


async def until(condition: Callable[[], Any]) -> None:
    """Let the loop run until something is so; bounded."""
    async with asyncio.timeout(WAIT_S):
        while not condition():  # noqa: ASYNC110  # the condition is another object's state
            await asyncio.sleep(0)


WAIT_S = 30.0


class FakeCli:
    """``say`` and ``ask`` write to the session; ``expect`` waits, bounded, for what it writes."""

    def __init__(self) -> None:
        numbers = count(1)
        self.near, self._transport = memory_pair()
        self.side = CliSide(new_id=lambda: f"cli-{next(numbers)}", clock=asyncio.get_running_loop().time)
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self.answers_initialize = True

    async def start(self) -> None:
        await self._transport.start(self)

    def bytes_received(self, data: bytes) -> None:
        self.side.receive(data)
        for event in self.side.events():
            if self.answers_initialize and _is_initialize(event):
                self.side.answer(event.request_id, {"commands": [], "claude_code_version": "2.1.325"})
                self.flush()
            else:
                self._events.put_nowait(event)

    def eof_received(self) -> None:
        self.side.receive_eof()
        for event in self.side.events():
            self._events.put_nowait(event)
        self.end()

    def exited(self, status: ExitStatus) -> None:
        pass

    def flush(self) -> None:
        if data := self.side.outgoing():
            self._transport.write(data)

    def say(self, *lines: Any) -> None:
        for line in lines:
            self.side.say(line)
        self.flush()

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def ask(self, subtype: str, **fields: Any) -> str:
        request_id = self.side.request(subtype, timeout_s=None, **fields)
        self.flush()
        return request_id

    def prepare_to_ask(self, number: int) -> str:
        """May Read run? Told apart by the number in its input; sent with the next ``flush``."""
        fields = {"tool_name": "Read", "input": {"n": number}, "tool_use_id": str(number)}
        return self.side.request("can_use_tool", timeout_s=None, **fields)

    def answer(self, request_id: str, payload: dict[str, Any] | None = None) -> None:
        self.side.answer(request_id, payload)
        self.flush()

    def cancel(self, request_id: str) -> None:
        self.side.cancel(request_id)
        self.flush()

    def write_stderr(self, text: str) -> None:
        self._transport.write_stderr(text)

    async def next_event(self) -> Event:
        return await self._events.get()

    def nothing_came(self) -> bool:
        return self._events.empty()

    async def expect(self, kind: type[T]) -> T:
        """The next event of that kind; others before it are dropped."""
        async with asyncio.timeout(WAIT_S):
            while True:
                event = await self.next_event()
                if isinstance(event, kind):
                    return event

    async def turn(self, *lines: Any, **of_result: Any) -> UserMessage:
        """Wait for a prompt and play a whole turn for it."""
        prompt = await self.expect(UserMessage)
        self.say(init(), *lines, result(**of_result))
        return prompt

    def end(self, code: int = 0) -> None:
        """Exit, as a process does."""
        self._transport.exit(ExitStatus(code=code))


def _is_initialize(event: Event) -> bool:
    return isinstance(event, RequestReceived) and event.request.get("subtype") == "initialize"


@contextlib.asynccontextmanager
async def session_and_cli(options: ClaudeAgentOptions | None = None) -> AsyncIterator[tuple[Session, FakeCli]]:
    cli = FakeCli()
    await cli.start()
    async with Session(options, transport=cli.near) as session:
        yield session, cli
