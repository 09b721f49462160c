"""The simulator behind one end of a ``memory_pair()``, in the event loop of the test."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from quarterdeck.transport.base import ExitStatus
from quarterdeck.transport.errors import TransportClosed

if TYPE_CHECKING:
    from quarterdeck.transport import MemoryTransport

    from .simulator import SimulatedCli


class _Receiver:
    """Buffers what arrives before the simulator runs, then passes it on."""

    def __init__(self, cli: SimulatedCli) -> None:
        self._cli = cli

    def bytes_received(self, data: bytes) -> None:
        self._cli.feed(data)

    def eof_received(self) -> None:
        self._cli.feed_eof()

    def exited(self, status: ExitStatus) -> None:
        """The other end is gone for good; nothing more can be sent."""
        self._cli.exit(0)


async def serve(cli: SimulatedCli, transport: MemoryTransport) -> int:
    def write(data: bytes) -> None:
        try:
            transport.write(data)
        except TransportClosed:
            cli.exit(0)

    running = asyncio.create_task(cli.run(write, transport.write_stderr))
    await asyncio.sleep(0)  # it has its ends now; the pair delivers on the next turns of the loop
    await transport.start(_Receiver(cli))
    try:
        code = await running
        transport.exit(ExitStatus(code=code))
    finally:
        await transport.close()
    return code
