"""One end of a JSON-RPC connection: serves the other side's requests and makes our own. Knows no pipes.

Feed it bytes with ``receive``; it writes through the function it was given, in the order of the calls, so that a
request never overtakes the notifications before it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import msgspec

from quarterdeck._errors import QuarterdeckError

from . import jsonrpc
from .jsonrpc import Id, Notification, RpcAnswer, RpcError, RpcFault, RpcRequest
from .schema import CancelRequestNotification

logger = logging.getLogger(__name__)

LINE_LIMIT_BYTES = 64 * 1024 * 1024
"""A prompt with several images fits; what is longer is refused without being kept."""
OPEN_LIMIT = 10_000
"""Requests that are being served at a time."""

T = TypeVar("T")
Serve = Callable[[str, bytes], Awaitable[Any]]
"""Method and parameters → the result. Raises ``RpcError``."""
Notice = Callable[[str, bytes], None]


class PendingCall(asyncio.Future[bytes]):
    """A request of ours that waits for its answer."""


class Dialect(Protocol):
    """Translates our messages to another version of the protocol."""

    def notification(self, method: str, params: Any) -> list[tuple[str, Any]]: ...

    def request(self, method: str, params: Any) -> Any: ...

    def asked(self, method: str, params: Any, call: PendingCall) -> None: ...


class Peer:
    """The connection. ``write`` takes whole lines and must not block."""

    def __init__(
        self,
        write: Callable[[bytes], None],
        *,
        serve: Serve,
        notice: Notice,
        line_limit_bytes: int = LINE_LIMIT_BYTES,
    ) -> None:
        self._write = write
        self.write_line = write
        """Takes a notification that is encoded already; nothing once the connection is closed."""
        self._serve, self._notice = serve, notice
        self._limit = line_limit_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self._skipping = False
        self._served: dict[Id, asyncio.Task[None]] = {}
        self._not_begun = 0
        """Requests whose task has not run yet."""
        self._calls: dict[Id, PendingCall] = {}
        self._numbers = 0
        self._closed = False
        self.dialect: Dialect | None = None

    # Reading

    def receive(self, data: bytes) -> None:
        """The next bytes from the other side."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._keep(line)
            self._line_complete()
        self._keep(rest)

    def _keep(self, piece: bytes) -> None:
        if not piece or self._skipping:
            return
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > self._limit:
            self._skipping = True
            self._pieces.clear()

    def _line_complete(self) -> None:
        skipped, line = self._skipping, b"".join(self._pieces).strip()
        self._pieces.clear()
        self._size, self._skipping = 0, False
        if skipped:
            too_long = f"the line is longer than {self._limit:,} bytes"
            self._write(jsonrpc.error(None, RpcError(jsonrpc.INVALID_REQUEST, too_long)))
        elif line:
            self._take(jsonrpc.read(line))

    def _take(self, message: jsonrpc.Incoming) -> None:
        match message:
            case RpcRequest():
                self._begin(message)
            case Notification(method="$/cancel_request"):
                self._cancel(message.params)
            case Notification() if self._not_begun:  # it may be about one of these: a prompt, cancelled at once
                asyncio.get_running_loop().call_soon(self._tell, message)
            case Notification():
                self._tell(message)
            case RpcAnswer():
                self._answered(message)
            case RpcFault():
                self._write(jsonrpc.error(message.id, message.error))

    # Serving

    def _begin(self, message: RpcRequest) -> None:
        if message.id in self._served:
            self._refuse(message.id, jsonrpc.INVALID_REQUEST, "a request with this id is being served")
        elif len(self._served) >= OPEN_LIMIT:
            self._refuse(message.id, jsonrpc.INTERNAL_ERROR, f"more than {OPEN_LIMIT:,} requests are open")
        elif not self._closed:
            self._not_begun += 1
            task = asyncio.get_running_loop().create_task(self._run(message))
            self._served[message.id] = task

    async def _run(self, message: RpcRequest) -> None:
        self._not_begun -= 1
        try:
            line = jsonrpc.result(message.id, await self._serve(message.method, message.params))
        except asyncio.CancelledError:
            line = jsonrpc.error(message.id, RpcError(jsonrpc.REQUEST_CANCELLED, "the request was cancelled"))
        except RpcError as error:
            line = jsonrpc.error(message.id, error)
        except QuarterdeckError as error:
            line = jsonrpc.error(message.id, RpcError(jsonrpc.INTERNAL_ERROR, str(error)))
        except Exception as error:
            logger.exception("%s failed", message.method)
            line = jsonrpc.error(message.id, RpcError(jsonrpc.INTERNAL_ERROR, f"{type(error).__name__}: {error}"))
        finally:
            self._served.pop(message.id, None)
        if not self._closed:
            self._write(line)

    def _refuse(self, id_: Id, code: int, why: str) -> None:
        self._write(jsonrpc.error(id_, RpcError(code, why)))

    def _tell(self, message: Notification) -> None:
        """A notification is not answered, whatever is wrong with it."""
        try:
            self._notice(message.method, message.params)
        except (RpcError, QuarterdeckError) as error:
            logger.warning("%s: %s", message.method, error)
        except Exception:
            logger.exception("%s failed", message.method)

    def _cancel(self, params: bytes) -> None:
        try:
            id_ = msgspec.json.decode(params, type=CancelRequestNotification).request_id
        except msgspec.DecodeError:
            return
        task = self._served.get(id_)
        if task is not None:  # later: a task that is cancelled before it has begun could not answer
            asyncio.get_running_loop().call_soon(task.cancel)

    # Asking

    def notify(self, method: str, params: Any) -> None:
        if self.dialect is None:
            self.write_notification(method, params)
            return
        for each, translated in self.dialect.notification(method, params):
            self.write_notification(each, translated)

    def write_notification(self, method: str, params: Any) -> None:
        """As it is, whatever the dialect."""
        self.write_line(jsonrpc.notification(method, params))

    def call(self, method: str, params: Any) -> PendingCall:
        """Make a request at once; await the call for its result. Cancelling it tells the other side.

        Awaiting raises ``RpcError`` for an error, and when the connection ends first.
        """
        self._numbers += 1
        number = self._numbers
        made = PendingCall()
        if self._closed:
            made.set_exception(_gone())
            return made
        self._calls[number] = made
        made.add_done_callback(lambda _: self._call_done(number, made))
        dialect = self.dialect
        if dialect is None:
            self._write(jsonrpc.request(number, method, params))
            return made
        dialect.asked(method, params, made)
        self._write(jsonrpc.request(number, method, dialect.request(method, params)))
        return made

    def _call_done(self, number: int, made: PendingCall) -> None:
        waited = self._calls.pop(number, None)
        if waited is not None and made.cancelled():
            self.notify("$/cancel_request", CancelRequestNotification(request_id=number))

    def _answered(self, message: RpcAnswer) -> None:
        made = self._calls.pop(message.id, None)
        if made is None or made.done():
            return  # cancelled meanwhile, or an answer to nothing
        if message.error is not None:
            made.set_exception(message.error)
        else:
            made.set_result(message.result or b"null")

    # Ending

    async def close(self) -> None:
        """Nothing is written from here on: everything that is served is cancelled, everything asked fails."""
        self._closed, self.write_line = True, _discard
        calls, self._calls = list(self._calls.values()), {}
        for made in calls:
            if not made.done():
                made.set_exception(_gone())
        tasks = [task for task in self._served.values() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _discard(line: bytes) -> None:
    """Nobody reads any more."""


def _gone() -> RpcError:
    return RpcError(jsonrpc.INTERNAL_ERROR, "the connection was closed")


def decoded(data: bytes, kind: type[T]) -> T:
    """Parameters or a result as a struct. Raises ``RpcError`` that names the field."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise RpcError(jsonrpc.INVALID_PARAMS, f"invalid parameters: {error}") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise RpcError(jsonrpc.INVALID_PARAMS, f"parameters cannot be read: {error}") from error
