"""A host on the stage of its own tests, asked over the network."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gateways.http.kit import Client
from gateways.http.rest_host import RestHost
from host.staged import Staged, stage_in
from quarterdeck.gateways.http import Gateway, Server
from quarterdeck.host.requests import CreateToken
from quarterdeck.remote import RemoteHost


@contextmanager
def staged_elsewhere(folder: Path, face: str) -> Iterator[Staged]:
    """As ``host.staged.staged_in`` with the real CLI; in the place of the host a ``RemoteHost`` or a ``RestHost``."""
    with stage_in(folder, "real") as stage, asyncio.Runner() as runner:
        staged = Staged(stage, "real", runner, keeper=face == "websocket")
        here = staged.host
        staged.run(here.open())
        server, remote = staged.run(_served(here, face))
        staged.host = remote
        try:
            yield staged
        finally:
            staged.run(remote.close())
            staged.run(server.stop())
            staged.host = here
            staged.run(staged.close())


async def _served(host: Any, face: str) -> tuple[Server, Any]:
    token = await host.create_token(CreateToken(name="remote", scope="admin", may_bypass=True))
    server = await Server(Gateway(host)).__aenter__()
    address, port = await server.listen_tcp("127.0.0.1", 0)
    if face == "rest":
        return server, RestHost(Client((address, port), token.secret))
    return server, await RemoteHost(f"http://{address}:{port}", token=token.secret).open()
