"""``Session``: one running Claude Code, to prompt, follow, steer and end.

>>> async with connect(ClaudeAgentOptions(model="sonnet")) as session:   # doctest: +SKIP
...     async for message in session.prompt("What is in this folder?"):
...         print(message)

Its parts are classes of their own: ``session_lifecycle`` starts and ends it, ``session_prompts`` sends prompts,
``session_reading`` reads messages, ``controls`` has a method for each control request.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

from quarterdeck.transport import ByteTransport
from quarterdeck.wire import OutgoingRequest, WireObject

from .controls import Controls
from .dispatch import RequestHandler
from .either_loop import under_trio
from .errors import CLIConnectionError
from .journal import JournalEntry
from .mcp_servers import split_configs
from .options import ClaudeAgentOptions
from .session_lifecycle import Resumed, SessionLifecycle
from .session_prompts import Content, SessionPrompts
from .session_reading import SessionReading

if TYPE_CHECKING:
    from quarterdeck.remote.remote_host import RemoteHost
    from quarterdeck.wire import McpSetServersResult

__all__ = ["Content", "Place", "Session", "connect"]

Place: TypeAlias = "str | os.PathLike[str] | RemoteHost"
"""Where a host is: a URL, a Unix socket, a state folder, or a connection that the program has."""

_LASTING = frozenset({"set_model", "set_permission_mode", "set_max_thinking_tokens"})
"""Control requests to repeat when the session continues in another process."""


class Session(SessionLifecycle, SessionPrompts, SessionReading, Controls):
    """One conversation with one CLI process. Use it as an async context manager."""

    # Opening and closing

    async def __aenter__(self) -> Session:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        if self._connection is not None and not self._closed:
            warnings.warn(f"{self!r} was never closed: use `async with`", ResourceWarning, source=self, stacklevel=2)
            self._connection.abandon()

    async def open(self) -> Session:
        """Start the CLI and initialize the session. If that fails, nothing is left running."""
        if self._connection is not None:
            raise CLIConnectionError("this session was already opened: create a new one")
        if under_trio():
            from .trio_session import adopt

            return await adopt(self).open()
        await self._start()
        return self

    async def attach(self, record: Iterable[JournalEntry], *, snapshot: bytes | None = None) -> Session:
        """Take over a running conversation instead of opening one; the transport must be connected to its process.

        ``record`` contains every line that its process and its host have exchanged; with the ``snapshot`` of an earlier
        state (``protocol.snapshot``), every line since. Nothing is sent again: a second handshake would cancel the
        hooks that the CLI waits for. Its open requests are served, with the callbacks of the options, which must
        be those it was started with.
        """
        if self._connection is not None:
            raise CLIConnectionError("this session was already opened: create a new one")
        await self._start(Resumed(tuple(record), snapshot))
        return self

    # Control

    async def request(
        self, request: OutgoingRequest | WireObject | str, /, *, timeout_s: float | None = None, **fields: Any
    ) -> Any:
        """Any control request by its subtype and wire field names: for requests that have no method yet."""
        answer = await self._link.calls.call(request, timeout_s=timeout_s, **fields)
        subtype = request if isinstance(request, str) else str(request.get("subtype"))
        if subtype in _LASTING:
            self._lasting[subtype] = (request, fields)
        return answer

    async def answer_to(self, request_id: str, /) -> Any:
        """The answer to a control request sent before this session took over the conversation."""
        return await self._link.calls.answer_to(request_id)

    def update_environment(self, variables: Mapping[str, str]) -> None:
        """Change environment variables of the running CLI. 2.1.325 takes its tokens, and ignores all others."""
        self._link.update_environment(variables)

    async def set_mcp_servers(self, servers: Mapping[str, Any], **more: Any) -> McpSetServersResult:
        result = await super().set_mcp_servers(servers, **more)
        await self._servers.remove(set(result.removed or ()) - set(servers))
        return result

    set_mcp_servers.__doc__ = Controls.set_mcp_servers.__doc__

    def _adopt_servers(self, servers: Mapping[str, Any]) -> dict[str, Any]:
        """Server configurations for the wire; those in this process are connected here."""
        mine, on_wire = split_configs(servers)
        if mine:
            self._servers.connect(mine)
        return on_wire

    # The CLI's requests

    def on_request(self, subtype: str, handler: RequestHandler, /) -> None:
        """Serve requests of the CLI of a subtype that this version does not know."""
        self._dispatch.register(subtype, handler)


def connect(
    options: ClaudeAgentOptions | None = None,
    *,
    transport: ByteTransport | None = None,
    host: Place | None = None,
    token: str | None = None,
    attach: str | None = None,
) -> Session:
    """A session, for ``async with connect(options) as session:``.

    With a ``host`` (a URL, a Unix socket, a state folder, or a ``RemoteHost``), Claude Code runs there; see
    ``docs/remote.md``. ``attach`` is the id of a session on the host to continue.
    """
    if host is not None:
        options = options or ClaudeAgentOptions()
        transport = transport_to(host, options, token, attach=attach)
    elif attach is not None:
        raise ValueError("attach needs host=")
    return Session(options, transport=transport)


def transport_to(
    host: Place, options: ClaudeAgentOptions, token: str | None = None, *, attach: str | None = None
) -> ByteTransport:
    """The transport to a session on a host."""
    from quarterdeck.remote.transport import RemoteTransport

    return RemoteTransport(options, host, token=token, attach=attach)
