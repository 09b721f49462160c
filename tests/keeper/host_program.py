"""A host that may be killed at any moment: it commits what it reads and what it sends, and goes on where it was.

``python host_program.py STATE STORE LINES COMMAND…``. The store is two files: ``output``, the committed bytes of the
process, and ``inputs``, the committed lines. A line is committed before it is handed over; its number is its place.
Says ``up`` when it is connected, and writes ``exit`` when the process has ended.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from quarterdeck.keeper import KeeperClient, KeeperSettings
from quarterdeck.transport import ChildCommand, ExitStatus

AT_ONCE = 10


def line_of(number: int) -> bytes:
    return b"%d %s\n" % (number, b"i" * (number * 37 % 900))


class Host:
    def __init__(self, store: Path, lines: int) -> None:
        store.mkdir(exist_ok=True)
        self._store = store
        self._lines = lines
        self._output = os.open(store / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._inputs = os.open(store / "inputs", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self.committed = os.fstat(self._output).st_size

    # As a receiver

    def bytes_received(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._output, view) :]
        self.committed += len(data)
        self.transport.acknowledge(self.committed)

    def eof_received(self) -> None:
        pass

    def exited(self, status: ExitStatus) -> None:
        self.status = status

    # As a host

    async def run(self, folder: str, command: ChildCommand) -> None:
        client = await KeeperClient.open(folder, settings=KeeperSettings(linger_s=20.0))
        if await client.find("only"):
            self.transport = client.attach("only", from_offset=self.committed, durable=True)
        elif (self._store / "exit").exists():
            return
        else:
            self.transport = client.start("only", command, durable=True)
        await self.transport.start(self)
        sys.stdout.write("up\n")
        sys.stdout.flush()
        await self._send()
        await self.transport.wait()
        (self._store / "exit").write_text(repr(self.status.returncode))
        await client.drop("only")
        await client.close()

    async def _send(self) -> None:
        known = self._committed_lines()
        for line in known[self.transport.last_input :]:
            self.transport.write(line)
        for number in range(len(known) + 1, self._lines + 1):
            line = line_of(number)
            os.write(self._inputs, line)
            assert self.transport.send(line) == number
            if number % AT_ONCE == 0:
                await self.transport.drain()
                await asyncio.sleep(0)
        if self.transport.last_input <= self._lines:
            self.transport.close_input()

    def _committed_lines(self) -> list[bytes]:
        """A kill may have cut the last one in the middle of its write: then it was never committed."""
        data = (self._store / "inputs").read_bytes()
        whole = data.rfind(b"\n") + 1
        os.truncate(self._inputs, whole)
        return data[:whole].splitlines(keepends=True)


if __name__ == "__main__":
    state, store, lines, *argv = sys.argv[1:]
    command = ChildCommand(argv, cwd="/", env=dict(os.environ))
    asyncio.run(Host(Path(store), int(lines)).run(state, command))
