"""The MCP servers that run in this process: connecting them to a session's CLI, and closing them."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from quarterdeck.wire import InitializeRequest
from quarterdeck.wire._base import plain

from .calls import ControlCalls
from .errors import QuarterdeckError

if TYPE_CHECKING:
    from .tools.adapters import ServerConnection

CLOSE_S = 2.0
"""How long a server may take to close."""


class InProcessServers:
    """The servers of one session, by name."""

    __slots__ = ("_calls", "_connected", "_run")

    def __init__(
        self,
        connected: dict[str, ServerConnection],
        calls: ControlCalls,
        run: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """``connected`` is where the dispatcher looks servers up; ``run`` runs a coroutine in the background."""
        self._connected = connected
        self._calls = calls
        self._run = run

    def connect(self, servers: Mapping[str, Any]) -> None:
        """Connect each server, replacing one of the same name."""
        from .tools.adapters import adapt_server

        for name, instance in servers.items():
            if (replaced := self._connected.get(name)) is not None:
                self._run(replaced.aclose())
            self._connected[name] = adapt_server(instance).connect(functools.partial(self._notify, name))

    def _notify(self, name: str, message: dict[str, Any]) -> None:
        """Pass on what a server says unasked."""
        with contextlib.suppress(QuarterdeckError):  # the session is ending: nobody to notify
            self._calls.post("mcp_message", server_name=name, message=message)

    async def announced_in(self, initialize: InitializeRequest) -> InitializeRequest:
        """The request with what the servers offer: saves the CLI (2.1.325) asking each of them."""
        listed = [(name, await server.manifest()) for name, server in self._connected.items()]
        manifests = {name: manifest for name, manifest in listed if manifest is not None}
        if not manifests:
            return initialize
        return msgspec.structs.replace(initialize, sdk_mcp_server_manifests=manifests)

    async def remove(self, names: Iterable[str]) -> None:
        """Close these servers if connected."""
        for name in names:
            if (removed := self._connected.pop(name, None)) is not None:
                await removed.aclose()

    async def close(self) -> None:
        """Close all, each within ``CLOSE_S``."""
        while self._connected:
            _, server = self._connected.popitem()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await server.aclose()


def split_configs(configs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The in-process servers by name, and all configurations as sent on the wire."""
    mine = {name: config["instance"] for name, config in configs.items() if config.get("type") == "sdk"}
    on_wire = {
        name: {"type": "sdk", "name": name} if name in mine else plain(config) for name, config in configs.items()
    }
    return mine, on_wire
