"""Control requests of the host: one handler per subtype, answered immediately or, if slow, in parallel
with the turn."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from quarterdeck.protocol import RequestReceived
from quarterdeck.protocol.ledger import subtype_of

if TYPE_CHECKING:
    from quarterdeck.testing.sim.simulator import SimulatedCli

UNSUPPORTED = "unsupported_request"
Handler = Callable[["SimulatedCli", dict[str, Any]], Any]
MODULES = ("session", "conversation", "state", "dialogs", "files", "mcp")


class RefusedRequest(Exception):  # noqa: N818  # an answer, not an error of ours
    """What a handler raises to answer with an error envelope that has this text."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


class Answered:
    """Returned by a handler that has already answered."""


def handler_of(subtype: str) -> Handler | None:
    """Imports the modules one by one, as far as needed: the handshake, which comes first, is in the first."""
    for name in MODULES:
        handlers: dict[str, Handler] = import_module(f"{__name__}.{name}").HANDLERS
        if subtype in handlers:
            return handlers[subtype]
    return None


class Control:
    def __init__(self, cli: SimulatedCli) -> None:
        self._cli = cli
        self._running: dict[str, asyncio.Task[None]] = {}

    @property
    def busy(self) -> bool:
        return bool(self._running)

    def take(self, event: RequestReceived) -> None:
        request: dict[str, Any] = event.request.to_dict()
        subtype = subtype_of(event.request)
        handler = handler_of(subtype)
        if handler is None:
            self._cli.host.refuse(event.request_id, f"Unsupported control request subtype: {subtype}", UNSUPPORTED)
            return
        self._start(event.request_id, handler, request | {"request_id": event.request_id})

    def _start(self, request_id: str, handler: Handler, request: dict[str, Any]) -> None:
        try:
            result = handler(self._cli, request)
        except RefusedRequest as error:
            self._cli.host.refuse(request_id, str(error), error.code)
            return
        if not inspect.isawaitable(result):
            self._answer(request_id, result)
            return
        task = asyncio.ensure_future(self._finish(request_id, result))
        self._running[request_id] = task
        task.add_done_callback(lambda _: self._ended(request_id, task))
        self._cli.watch_task(task)

    async def _finish(self, request_id: str, work: Any) -> None:
        try:
            result = await work
        except RefusedRequest as error:
            self._cli.host.refuse(request_id, str(error), error.code)
        else:
            self._answer(request_id, result)

    def _answer(self, request_id: str, result: Any) -> None:
        if isinstance(result, Answered):
            return
        self._cli.host.answer(request_id, result)

    def _ended(self, request_id: str, task: asyncio.Task[None]) -> None:
        if self._running.get(request_id) is task:
            del self._running[request_id]

    def cancel(self, request_id: str) -> None:
        """The host took its request back."""
        task = self._running.get(request_id)
        if task is not None:
            task.cancel()
            error = {"subtype": "error", "request_id": request_id, "error": "Side question cancelled"}
            self._cli.say_raw({"type": "control_response", "response": error})

    async def stop(self) -> None:
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
