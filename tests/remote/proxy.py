"""A network that misbehaves: a TCP proxy whose connections are cut, stall or end in the middle of a message."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random


class Proxy:
    """Passes bytes on to an address, until it does not."""

    def __init__(self, target: tuple[str, int], faults: Random | None = None) -> None:
        self.target = target
        self.port = 0
        self.cuts = 0
        """Connections that were cut."""
        self.accepted = 0
        """Connections that there were."""
        self.accepting = True
        self._faults = faults
        self._open: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """All connections there are, now."""
        for task in list(self._open):
            task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.accepting:
            writer.transport.abort()
            return
        self.accepted += 1
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            there_reader, there_writer = await asyncio.open_connection(*self.target)
            await self._pass_both(reader, writer, there_reader, there_writer)
        except OSError:
            pass
        except asyncio.CancelledError:
            self.cuts += 1
        finally:
            writer.transport.abort()
            self._open.discard(task)

    async def _pass_both(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        there_reader: asyncio.StreamReader,
        there_writer: asyncio.StreamWriter,
    ) -> None:
        """Until one of the two ways has ended."""
        ways = [
            asyncio.ensure_future(self._pass(reader, there_writer)),
            asyncio.ensure_future(self._pass(there_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            there_writer.transport.abort()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until an end, or what the faults say: cut after so many bytes, or pass nothing more for a while."""
        left = self._faults.randrange(2_000, 40_000) if self._faults else None
        stall_s = self._faults.choice((0.0, 0.0, 0.05, 0.3)) if self._faults else 0.0
        with contextlib.suppress(OSError):
            while data := await reader.read(64 * 1024):
                if left is not None and len(data) >= left:
                    writer.write(data[:left])
                    await writer.drain()
                    await asyncio.sleep(stall_s)
                    self.cuts += 1
                    return
                left = None if left is None else left - len(data)
                writer.write(data)
                await writer.drain()


@asynccontextmanager
async def proxied(target: tuple[str, int], faults: Random | None = None) -> AsyncIterator[Proxy]:
    proxy = Proxy(target, faults)
    server = await asyncio.start_server(proxy._serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        proxy.accepting = False
        server.close()
        for _ in range(3):  # connections that were accepted, and not served yet
            await asyncio.sleep(0)
        while proxy._open:
            proxy.cut()
            await asyncio.gather(*proxy._open, return_exceptions=True)
        await server.wait_closed()
