"""The host's calls → the session's own hooks and tools, and their answers back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

from quarterdeck.host.errors import HostError
from quarterdeck.host.requests import AnswerCallback, AttachCallbacks
from quarterdeck.host.resources import Call

from .remote_host import RemoteHost

logger = logging.getLogger("quarterdeck.remote")

Ask = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Sends the session a request as Claude Code would: a subtype and its fields. Raises ``RefusedError``."""


class RefusedError(Exception):
    """The session has no answer: its callback failed, or it is ending."""


class CallbackServer:
    """Answers the calls of one session until cancelled. A call that arrives twice runs once."""

    def __init__(self, host: RemoteHost, session_id: str, hooks: list[str], ask: Ask) -> None:
        self._host = host
        self._session_id = session_id
        self._hooks = hooks
        self._ask = ask
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._numbers = 0

    async def serve(self) -> None:
        """Raises ``HostError`` when the host is lost."""
        request = AttachCallbacks(session_id=self._session_id)
        try:
            async with aclosing(self._host.attach_callbacks(request)) as calls:
                async for call in calls:
                    self._take(call)
            logger.warning("Another program now answers the callbacks of session %s", self._session_id)
        finally:
            for task in list(self._under_way.values()):
                task.cancel()

    def _take(self, call: Call) -> None:
        if call.kind == "cancelled":
            if (task := self._under_way.get(call.call_id)) is not None:
                task.cancel()
        elif call.kind in ("hook", "tool") and call.call_id not in self._under_way:
            task = asyncio.get_running_loop().create_task(self._serve(call))
            self._under_way[call.call_id] = task
            task.add_done_callback(lambda _: self._under_way.pop(call.call_id, None))

    async def _serve(self, call: Call) -> None:
        answer: dict[str, Any]
        try:
            answer = {"result": await (self._hook(call) if call.kind == "hook" else self._tool(call))}
        except RefusedError as error:
            answer = {"error": str(error)}
        request = AnswerCallback(session_id=self._session_id, call_id=call.call_id, **answer)
        try:
            await self._host.answer_callback(request)
        except HostError as error:
            if error.code == "invalid" and "result" in answer:  # otherwise the call would wait for its timeout
                logger.error("The host refused the answer of a %s: %s", call.kind, error)
                failed = AnswerCallback(session_id=self._session_id, call_id=call.call_id, error=str(error))
                await self._host.answer_callback(failed)
            elif error.code != "withdrawn":
                logger.error("The answer of a %s did not reach the host: %s", call.kind, error)

    async def _hook(self, call: Call) -> dict[str, Any]:
        number = -1 if call.hook is None else call.hook
        if not 0 <= number < len(self._hooks):
            raise RefusedError(f"this program has no hook {number}")
        fields = {"callback_id": self._hooks[number], "input": call.input, "tool_use_id": call.tool_use_id}
        return await self._ask("hook_callback", fields)

    async def _tool(self, call: Call) -> dict[str, Any]:
        self._numbers += 1
        params: dict[str, Any] = {"name": call.tool, "arguments": call.input}
        if call.tool_use_id is not None:
            params["_meta"] = {"claudecode/toolUseId": call.tool_use_id}
        message = {"jsonrpc": "2.0", "id": self._numbers, "method": "tools/call", "params": params}
        answer = await self._ask("mcp_message", {"server_name": call.server, "message": message})
        said = answer.get("mcp_response") or {}
        if "result" not in said:
            raise RefusedError(str((said.get("error") or {}).get("message", "the server did not answer")))
        result: dict[str, Any] = said["result"]
        return result
