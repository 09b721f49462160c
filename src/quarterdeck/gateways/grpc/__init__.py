"""The host over gRPC, for every language: ``proto/quarterdeck/v1`` says what there is.

>>> async with Host(folder) as host, Server(host) as server:   # doctest: +SKIP
...     await server.listen("127.0.0.1:8788")
...     await server.wait()

``quarterdeck.gateways.grpc.v1`` has the generated messages and stubs, for clients in Python.
"""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from .server import Server
    from .settings import Settings

__all__: list[str] = []
_names = LazyNames(globals())
_names.of(".server")
__all__ += ["Server"]
_names.of(".settings")
__all__ += ["Settings"]
