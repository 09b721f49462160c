"""The host over HTTP: REST, server-sent events and one WebSocket, for people and programs, here or over a network.

>>> async with Host(folder) as host, Server(Gateway(host)) as server:   # doctest: +SKIP
...     await server.listen_tcp("127.0.0.1", 8787)
...     await server.listen_unix(folder / "host.sock")
...     await server.wait()
"""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from .app import Gateway
    from .server import Server
    from .settings import Settings

__all__: list[str] = []
_names = LazyNames(globals())
_names.of(".app")
__all__ += ["Gateway"]
_names.of(".server")
__all__ += ["Server"]
_names.of(".settings")
__all__ += ["Settings"]
