"""A program that answers the callbacks of a session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from quarterdeck.host import Caller, Host
from quarterdeck.host.requests import AnswerCallback, AttachCallbacks
from quarterdeck.host.resources import Accepted, Call

NAME = "robot"


class Program:
    """Attached to one session; what it is asked waits in ``told``."""

    def __init__(self, host: Host, session_id: str) -> None:
        self.host = host
        self.session_id = session_id
        self.caller = Caller(name=NAME, scope="operate", may_bypass=False)
        self.told: asyncio.Queue[Call | None] = asyncio.Queue()
        """None when its stream has ended."""

    async def run(self) -> None:
        request = AttachCallbacks(session_id=self.session_id)
        async with aclosing(self.host.attach_callbacks(request, self.caller)) as calls:
            async for call in calls:
                self.told.put_nowait(call)
        self.told.put_nowait(None)

    async def asked(self, kind: str = "hook") -> Call:
        """The next call; it must be of this kind."""
        call = await self.told.get()
        assert call is not None, "the stream has ended"
        assert call.kind == kind, call
        return call

    async def answer(self, call: Call, result: dict[str, Any] | None = None, key: str | None = None) -> Accepted:
        request = AnswerCallback(session_id=self.session_id, call_id=call.call_id, result=result)
        return await self.host.answer_callback(request, self.caller, key=key)

    async def fail(self, call: Call, error: str) -> Accepted:
        request = AnswerCallback(session_id=self.session_id, call_id=call.call_id, error=error)
        return await self.host.answer_callback(request, self.caller)


@asynccontextmanager
async def attached(host: Host, session_id: str) -> AsyncIterator[Program]:
    program = Program(host, session_id)
    running = asyncio.get_running_loop().create_task(program.run())
    try:
        yield program
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def decides(decision: str, **more: Any) -> dict[str, Any]:
    """What a ``PreToolUse`` hook says."""
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}}


def text(value: str) -> dict[str, Any]:
    """The result of a tool."""
    return {"content": [{"type": "text", "text": value}]}
