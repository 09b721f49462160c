"""The standard health service: whether the host takes work, for load balancers and ``grpc_health_probe``."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from grpc_health.v1 import health_pb2
from grpc_health.v1.health import aio

from quarterdeck.host import Caller, Host
from quarterdeck.host.requests import Nothing

from .methods import PACKAGE, SERVICES

NAMES = ("", *(f"{PACKAGE}.{service}" for service in SERVICES))
PROBE = Caller(name="probe", via="grpc", scope="read", may_bypass=False)


class HealthService(aio.HealthServicer):  # type: ignore[misc]  # it comes without types
    """Answers without a token, and only whether."""

    def __init__(self, host: Host, every_s: float) -> None:
        super().__init__()
        self._host = host
        self._every_s = every_s
        self._looking: asyncio.Task[None] | None = None
        self._leaving = False

    def start(self) -> None:
        self._looking = asyncio.get_running_loop().create_task(self._look_often())

    async def leave(self) -> None:
        """Not serving from now on."""
        self._leaving = True
        if self._looking is not None:
            self._looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._looking
        await self.enter_graceful_shutdown()

    async def Check(self, request: Any, context: Any) -> Any:  # noqa: N802  # its name in the protocol
        await self._look()
        return await super().Check(request, context)

    async def _look(self) -> None:
        if self._leaving:
            return
        try:
            ready = (await self._host.get_health(Nothing(), PROBE)).ready
        except Exception:  # noqa: BLE001  # whatever it is, the host is not well
            ready = False
        known = health_pb2.HealthCheckResponse
        for name in NAMES:
            await self.set(name, known.SERVING if ready else known.NOT_SERVING)

    async def _look_often(self) -> None:
        while True:
            await self._look()
            await asyncio.sleep(self._every_s)
