"""Sessions under trio: the same interface, over a session that lives in the loop's thread.

``query``, ``prompt`` and ``ClaudeSDKClient`` use only a session's public methods, so they run under trio unchanged.
``Session.open`` imports this module when it runs under trio; nothing else does.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, cast

from quarterdeck.transport import ExitStatus
from quarterdeck.wire import Message, ResultMessage

from .loop_thread import LOOP_THREAD
from .official_transport import OfficialTransport
from .offload import offload_options, offload_retry
from .options import ClaudeAgentOptions
from .retry import Retry
from .session import Content, Session
from .trio_runner import TrioRunner, TrioTransport, in_loop, shielded
from .turn import Turn

_END = object()


class TrioSession(Session):
    """What a ``Session`` becomes when it is opened under trio. ``adopt`` makes it; most members are added below."""

    _core: Session
    _runner: TrioRunner

    async def open(self) -> Session:
        await in_loop(self._open_core)
        return self

    async def _open_core(self) -> None:
        LOOP_THREAD.opened(self._core)
        await self._core.open()

    async def close(self) -> ExitStatus | None:
        """Completes also in a cancelled scope: it takes bounded time."""
        return await shielded(self._close_core)

    async def _close_core(self) -> ExitStatus | None:
        try:
            return await self._core.close()
        finally:
            LOOP_THREAD.closed(self._core)

    def __del__(self) -> None:
        core = self.__dict__.get("_core")
        if core is not None and core._connection is not None and not core._closed:
            warnings.warn(f"{self!r} was never closed: use `async with`", ResourceWarning, source=self, stacklevel=2)
            LOOP_THREAD.post(core.close)

    def prompt(self, content: Content, /, *, retry: Retry | None = None, **fields: Any) -> Turn:
        chosen = None if retry is None else offload_retry(retry, self._runner)
        return TrioTurn(self._core.prompt(content, retry=chosen, **fields))

    async def reopen(self, options: ClaudeAgentOptions) -> None:
        await in_loop(lambda: self._core.reopen(offload_options(options, self._runner)))
        self.options = options

    async def stream(self, prompts: Any, /) -> None:
        await in_loop(lambda: self._core.stream(self._runner.prompts(prompts)))

    def stream_in_background(self, prompts: Any, /) -> None:
        LOOP_THREAD.call_function(self._core.stream_in_background, self._runner.prompts(prompts))

    def on_request(self, subtype: str, handler: Callable[..., Any], /) -> None:
        LOOP_THREAD.call_function(self._core.on_request, subtype, self._runner.callback(handler))

    async def set_mcp_servers(self, servers: Mapping[str, Any], **more: Any) -> Any:
        return await in_loop(lambda: self._core.set_mcp_servers(self._runner.servers(servers), **more))

    async def _fill(self) -> bool:
        """One round trip to the loop's thread for a whole batch: both sessions share ``_ready``."""
        return await in_loop(self._core._fill)

    @property
    def _ready(self) -> Iterator[Message]:  # type: ignore[override]
        return self._core._ready

    def messages(self) -> Any:
        return TrioMessages(self)

    def response(self) -> Any:
        return TrioMessages(self, end=ResultMessage)

    async def batches(self) -> AsyncIterator[Any]:
        batches = self._core.batches()
        try:
            while (batch := await in_loop(lambda: _next(batches))) is not _END:
                yield batch
        finally:
            await shielded(batches.aclose)  # type: ignore[attr-defined]


class TrioMessages(AsyncIterator[Message]):
    """A session's messages. Not a generator: trio warns about one that is left early, which is fine here."""

    def __init__(self, session: Session, *, end: type[Message] | None = None) -> None:
        self._session = session
        self._end = end
        self._over = False

    async def __anext__(self) -> Message:
        message = None if self._over else next(self._session._ready, None)
        if message is None:
            if self._over or not await self._session._fill():
                raise StopAsyncIteration
            message = next(self._session._ready)
        self._over = type(message) is self._end
        return message

    async def aclose(self) -> None:
        """For programs that close what they iterate over; there is nothing to release."""


class TrioTurn(Turn):
    """A turn that is read under trio. Reading is bridged here; everything else is the inner turn's."""

    def __init__(self, inner: Turn) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def send(self) -> str:
        return await in_loop(self._inner.send)

    async def __anext__(self) -> Message:
        message = await in_loop(lambda: _next(self._inner))
        if message is _END:
            raise StopAsyncIteration
        return cast("Message", message)


async def _next(iterator: AsyncIterator[Any]) -> Any:
    return await anext(iterator, _END)


def _bridged(name: str, member: Any) -> Any:
    """A member of ``Session`` that does the same to the session in the loop's thread."""
    if inspect.iscoroutinefunction(member):

        @functools.wraps(member)
        async def method(self: TrioSession, *args: Any, **kwargs: Any) -> Any:
            return await in_loop(lambda: getattr(self._core, name)(*args, **kwargs))

        return method
    if inspect.isfunction(member):

        @functools.wraps(member)
        def plain(self: TrioSession, *args: Any, **kwargs: Any) -> Any:
            return LOOP_THREAD.call_function(getattr(self._core, name), *args, **kwargs)

        return plain
    return property(lambda self: getattr(self._core, name), doc=getattr(member, "__doc__", None))


def _add_members() -> None:
    """Bridge every public member of ``Session`` but ``options``, which stay as the program gave them."""
    known = dict(inspect.getmembers(Session)) | dict.fromkeys(vars(Session()))
    for name, member in known.items():
        if not name.startswith("_") and name not in vars(TrioSession) and name != "options":
            setattr(TrioSession, name, _bridged(name, member))


_add_members()


def adopt(session: Session) -> Session:
    """Make a session that is not yet open run under trio."""
    runner = TrioRunner()
    transport = session._own_transport
    if isinstance(transport, OfficialTransport):
        transport = OfficialTransport(TrioTransport(transport._inner, runner))
    core = Session.__new__(Session)
    core.__dict__.update(vars(session), options=offload_options(session.options, runner), _own_transport=transport)
    session.__class__ = TrioSession
    session.__dict__.update(_core=core, _runner=runner)
    return session
