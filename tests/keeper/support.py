"""A host for tests: a folder, clients that are closed, a look at what is left running; and stand-ins for the CLI."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from chaos.kit import MARK, marked_processes
from quarterdeck.keeper import KeeperClient, KeeperSettings, KeeperTransport, find_keepers, frames
from quarterdeck.keeper.places import look_at
from quarterdeck.transport import ChildCommand
from transport.support import Recorder, python, until, until_blocking

QUICK = KeeperSettings(linger_s=20.0)
"""As it is, but for a keeper that no test has ended: it does not stay long."""

TALKER = """
    import os, sys
    sizes = [int(word) for word in sys.argv[1:]]
    for number, size in enumerate(sizes):
        data = (b"%d " % number) + b"x" * (size - 3 - len(str(number))) + b".\\n"
        view = memoryview(data)
        while view:
            view = view[os.write(1, view):]
"""


class Home:
    """Where a test's keepers live, and everything that they start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = uuid.uuid4().hex
        self.expects_no_faults = True

    def command(self, argv: list[str], **more: Any) -> ChildCommand:
        env = {"PATH": os.environ["PATH"], MARK: self.mark, **more.pop("env", {})}
        return ChildCommand(argv, cwd=more.pop("cwd", "/"), env=env, **more)

    def python(self, source: str, *arguments: str) -> ChildCommand:
        return self.command(python(source, *arguments))

    @contextlib.asynccontextmanager
    async def client(self, *, take_over: bool = False, settings: KeeperSettings = QUICK) -> AsyncIterator[KeeperClient]:
        client = await KeeperClient.open(self.folder, take_over=take_over, settings=settings)
        try:
            yield client
        finally:
            await client.close()

    def keeper_pids(self) -> list[int]:
        return [place.pid for place in find_keepers(self.folder) if place.alive]

    def faults(self) -> str:
        """What the keepers that are still there have complained about."""
        logs = (place.folder / "log" for place in find_keepers(self.folder))
        return "".join(log.read_text() for log in logs if log.exists())

    def left_running(self) -> list[str]:
        return marked_processes(self.mark)


async def started(transport: KeeperTransport) -> Recorder:
    recorder = Recorder()
    await transport.start(recorder)
    return recorder


async def said(recorder: Recorder, what: bytes) -> None:
    await until(lambda: what in recorder.output, f"{what!r} to arrive")


async def ended(recorder: Recorder) -> None:
    await until(lambda: recorder.told and recorder.told[-1] != "eof" and len(recorder.told) >= 2, "the end")


class RawPeer:
    """A connection that says whatever a test wants it to say."""

    def __init__(self, client: KeeperClient) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(client.place.socket)
        self.socket.settimeout(20)
        self._reader = frames.FrameReader(frames.FRAME_LIMIT_BYTES)
        self.frames: list[tuple[int, bytes]] = []

    def send(self, *buffers: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(b"".join(buffers))

    def hello(self, **more: Any) -> dict[str, Any]:
        self.send(frames.json_frame(frames.HELLO, {"protocol": frames.PROTOCOL, "pid": os.getpid(), **more}))
        return json.loads(self.next(frames.WELCOME))

    def request(self, name: str, **fields: Any) -> dict[str, Any]:
        self.send(frames.call_frame(frames.REQUEST, 7, {"request": name, **fields}))
        return frames.parse_call(memoryview(self.next(frames.REPLY)))[1]

    def next(self, kind: int) -> bytes:
        """The next frame of that kind; others are kept."""
        while True:
            for at, (found, body) in enumerate(self.frames):
                if found == kind:
                    del self.frames[at]
                    return body
            data = self.socket.recv(65536)
            if not data:
                raise ConnectionError("closed")
            self.frames += [(kind, bytes(body)) for kind, body in self._reader.feed(data)]

    def is_closed(self) -> bool:
        """Wait until the other end has closed it; what it says before does not matter."""
        with contextlib.suppress(ConnectionResetError):
            while self.socket.recv(65536):
                pass
        return True

    def close(self) -> None:
        self.socket.close()


async def keeper_gone(client: KeeperClient) -> None:
    await until(lambda: not look_at(client.place.folder).alive, "the keeper to leave")


def run_python(source: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", source, *arguments]


async def in_thread(function: Any, *arguments: Any) -> Any:
    return await asyncio.to_thread(function, *arguments)


def check(home: Home) -> None:
    """Nothing went wrong unseen; and nothing is left, once its keepers are asked to end."""
    assert not home.expects_no_faults or home.faults() == ""
    for pid in home.keeper_pids():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGTERM)
    until_blocking(lambda: not home.keeper_pids(), "all keepers to leave")
    until_blocking(lambda: not home.left_running(), "all processes to end")
