"""The context of a running tool call."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from .connection import ToolConnection
    from .server import ToolServer

LogLevel: TypeAlias = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class ToolContext:
    """One running tool call. A handler gets it by having a parameter annotated ``ToolContext``.

    Every method may be called from any thread: a handler that is a plain function runs in one.
    """

    __slots__ = ("_cancelled", "_connection", "_running", "_task", "meta", "request_id", "tool_name")

    def __init__(
        self,
        connection: ToolConnection,
        *,
        tool_name: str,
        request_id: str | int,
        meta: dict[str, Any],
        task: asyncio.Task[Any],
    ) -> None:
        self._connection = connection
        self._task = task
        self._cancelled = False
        self._running = True
        self.tool_name = tool_name
        self.request_id = request_id
        self.meta = meta
        """The call's ``_meta``, unchanged."""

    @property
    def server(self) -> ToolServer:
        """The server the tool belongs to."""
        return self._connection.server

    @property
    def tool_use_id(self) -> str | None:
        """The id of the model's ``tool_use`` block; None if the call is not from the model."""
        return self.meta.get("claudecode/toolUseId")

    @property
    def cancelled(self) -> bool:
        """The caller no longer wants the result. A handler in a thread cannot be stopped, so it should check this."""
        return self._cancelled

    async def progress(self, value: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress. Values must increase; without ``total`` they are just a count.

        CLI 2.0.77 and 2.1.25 do not ask for progress, so nothing is sent to them.
        """
        self.report(value, total, message)

    def report(self, value: float, total: float | None = None, message: str | None = None) -> None:
        """``progress`` for handlers that are plain functions."""
        token = self.meta.get("progressToken")
        if token is None or not self._running:  # nobody asked, or the call is over: MCP then forbids it
            return
        params: dict[str, Any] = {"progressToken": token, "progress": value}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        self._connection.notify("notifications/progress", params)

    def log(self, level: LogLevel, data: Any) -> None:
        """Send a log message to the client, if it wants this level."""
        self._connection.log(level, data, logger=self.tool_name)

    def cancel(self) -> None:
        """Stop the handler; its call gets an error that says so. Call it only from the loop that runs the handler."""
        if self._running and not self._cancelled:
            self._cancelled = True
            self._task.cancel()

    def finish(self) -> None:
        """The handler has ended: what it left running can no longer report."""
        self._running = False
