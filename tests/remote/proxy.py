"""A network that misbehaves: a TCP proxy whose connections are cut, fall silent or end in the middle of a message."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from random import Random
from typing import Any


class _Way:
    """One of the two directions of a connection."""

    def __init__(self, *, is_back: bool) -> None:
        """``is_back``: from the host to its client."""
        self.is_back = is_back
        self.passes = asyncio.Event()
        self.passes.set()


class Proxy:
    """Passes bytes on to an address, until it does not."""

    def __init__(
        self, target: tuple[str, int], faults: Random | None = None, lasts: tuple[int, int] = (2_000, 40_000)
    ) -> None:
        """With ``faults``, each way of a connection has trouble after so many bytes."""
        self.target = target
        self._lasts = lasts
        self.port = 0
        self.cuts = 0
        """Connections that were cut."""
        self.accepted = 0
        """Connections that there were."""
        self.accepting = True
        self._faults = faults
        self._open: set[asyncio.Task[None]] = set()
        self._ways: set[_Way] = set()
        self._background: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """All connections there are, now."""
        for task in list(self._open):
            task.cancel()

    def stall(self, *, answers_only: bool = False) -> None:
        """The connections there are pass nothing on any more, and nobody is told."""
        for way in self._ways:
            if way.is_back or not answers_only:
                way.passes.clear()

    def in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """What happens to the network while its users go on."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
        there, back = _Way(is_back=False), _Way(is_back=True)
        self._ways |= {there, back}
        passing = [
            asyncio.ensure_future(self._pass(reader, there_writer, there)),
            asyncio.ensure_future(self._pass(there_reader, writer, back)),
        ]
        try:
            await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._ways -= {there, back}
            for one in passing:
                one.cancel()
            there_writer.transport.abort()
            await asyncio.gather(*passing, return_exceptions=True)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: _Way) -> None:
        """Until an end, or what the faults say: after so many bytes nothing for a while, and then often the end."""
        faults = self._faults
        left = faults.randrange(*self._lasts) if faults else None
        with contextlib.suppress(OSError):
            while data := await reader.read(64 * 1024):
                await way.passes.wait()
                if faults is not None and left is not None and len(data) >= left:
                    writer.write(data[:left])
                    await writer.drain()
                    await asyncio.sleep(faults.choice((0.0, 0.0, 0.05, 0.3)))
                    if faults.random() < 0.75:
                        self.cuts += 1
                        return
                    data, left = data[left:], faults.randrange(*self._lasts)
                left = None if left is None else left - len(data)
                writer.write(data)
                await writer.drain()


@asynccontextmanager
async def proxied(target: tuple[str, int], faults: Random | None = None, **more: Any) -> AsyncIterator[Proxy]:
    proxy = Proxy(target, faults, **more)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        proxy.accepting = False
        for task in proxy._background:
            task.cancel()
        server.close()
        for _ in range(3):  # connections that were accepted, and not served yet
            await asyncio.sleep(0)
        while proxy._open:
            proxy.cut()
            await asyncio.gather(*proxy._open, return_exceptions=True)
        await server.wait_closed()
