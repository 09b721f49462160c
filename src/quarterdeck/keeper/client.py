"""The host's connection to a keeper, in its event loop."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from quarterdeck.transport.base import DEFAULT_GRACE, ExitStatus, Grace
from quarterdeck.transport.errors import StartFailed
from quarterdeck.transport.spawn import ChildCommand

from .connection import ANSWER_S, KeeperConnection
from .errors import KeeperLost, KeeperRefused, KeeperUnavailable
from .frames import FRAME_LIMIT_BYTES, PART_BYTES
from .launch import ensure_keeper
from .places import KeeperPlace
from .settings import KeeperSettings
from .starting import PrivateFile

if TYPE_CHECKING:
    from .transport import KeeperTransport

COMMAND_LIMIT = FRAME_LIMIT_BYTES // 6 - 1024
"""Characters of arguments and environment: JSON needs at most six bytes per character."""
POLL_S = 0.01
SWEEP_S = 10.0
"""For scanning all processes at the end of a session, on top of the time for each step."""


class KeptSession(msgspec.Struct, frozen=True, kw_only=True):
    """A process owned by the keeper, running or ended."""

    session: str
    generation: int
    pid: int
    running: bool
    finished: bool
    """It has exited and all its output is in the spool."""
    returncode: int | None
    fault: str | None
    """Why the keeper ended it on its own."""
    first: int
    """The first offset that can be read."""
    acknowledged: int
    end: int
    """One past the last byte it has written so far."""
    accepted: int
    """The highest input number that the keeper has received; don't resend anything up to it."""
    written: int
    """The highest input number written to the pipe."""
    input_open: bool
    stalled: str | None
    """Why the spool can't be written; the process isn't read meanwhile."""
    attached: bool

    @property
    def status(self) -> ExitStatus | None:
        return None if self.returncode is None else ExitStatus.from_returncode(self.returncode)


class KeeperClient(KeeperConnection):
    """A host's API to its keeper."""

    # Opening and closing

    @classmethod
    async def open(
        cls,
        folder: str | os.PathLike[str],
        *,
        take_over: bool = False,
        settings: KeeperSettings | None = None,
    ) -> KeeperClient:
        """Connect to the keeper of this folder that accepts new sessions, and start one if there is none.

        Raises ``KeeperOccupied`` if another host uses it and ``take_over`` isn't set, and ``KeeperUnavailable`` or
        ``KeeperRefused`` if none can be used.
        """
        deadline = asyncio.get_running_loop().time() + ANSWER_S
        while True:
            place = await asyncio.to_thread(ensure_keeper, folder, settings=settings)
            try:
                return await cls.connect(place, take_over=take_over)
            except (KeeperLost, KeeperUnavailable):  # it exited after it was found
                if asyncio.get_running_loop().time() > deadline:
                    raise
            await asyncio.sleep(POLL_S)

    @classmethod
    async def connect(cls, place: KeeperPlace, *, take_over: bool = False) -> KeeperClient:
        """Connect to this keeper (see ``find_keepers``), which may be older or retired."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            async with asyncio.timeout(ANSWER_S):
                await _connect(connection, place.socket)
        except (OSError, TimeoutError) as error:
            connection.close()
            raise KeeperUnavailable(f"The keeper {place.pid} cannot be reached: {error}") from error
        client = cls(place, connection)
        try:
            await client._greet(take_over=take_over)
        except BaseException:
            await client.close()
            raise
        return client

    async def close(self) -> None:
        """Disconnect. The sessions keep running; their transports end without an exit status."""
        self._end(KeeperLost("This connection to the keeper was closed."))

    async def __aenter__(self) -> KeeperClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Sessions

    def start(
        self,
        session: str,
        command: ChildCommand,
        *,
        generation: int = 1,
        files: Sequence[PrivateFile] = (),
        durable: bool = False,
        **more: Any,
    ) -> KeeperTransport:
        """Create a transport that will start this process. ``more`` are further arguments of ``KeeperTransport``."""
        from .transport import KeeperTransport

        launch = (command, tuple(files))
        return KeeperTransport(self, session, generation=generation, launch=launch, durable=durable, **more)

    def attach(
        self,
        session: str,
        generation: int | None = None,
        from_offset: int | None = None,
        *,
        durable: bool = False,
        **more: Any,
    ) -> KeeperTransport:
        """Create a transport for a running process, from this offset or from the first unacknowledged byte."""
        from .transport import KeeperTransport

        return KeeperTransport(self, session, generation=generation, from_offset=from_offset, durable=durable, **more)

    async def list(self) -> list[KeptSession]:
        """List all processes of the keeper, in start order."""
        answer = await self.request("list")
        return msgspec.convert(answer["sessions"], list[KeptSession])

    async def find(self, session: str, generation: int | None = None) -> KeptSession | None:
        """Find a session's process, by default of its newest generation."""
        found = [one for one in await self.list() if one.session == session and generation in (None, one.generation)]
        return max(found, key=lambda one: one.generation, default=None)

    async def written(self, session: str, generation: int | None = None) -> int:
        """The highest input number written to the pipe of this session's process."""
        found = await self.find(session, generation)
        if found is None:
            raise KeeperRefused("unknown_session", f"The keeper has no session {session!r}.")
        return found.written

    async def acknowledge(self, session: str, offset: int, generation: int | None = None) -> None:
        """Acknowledge output of a session that isn't attached (if it is, use ``KeeperTransport.acknowledge``)."""
        await self.request("acknowledge", session=session, generation=generation, offset=offset)

    async def read(self, session: str, offset: int, generation: int | None = None, *, size: int = PART_BYTES) -> bytes:
        """Read part of the spool; empty only at its end."""
        call = self._call("read", {"session": session, "generation": generation, "offset": offset, "size": size})
        return bytes((await self._answer(call, ANSWER_S))[1])

    async def end(self, session: str, generation: int | None = None, *, grace: Grace = DEFAULT_GRACE) -> KeptSession:
        """End a process and everything it started; returns when all are gone."""
        steps = {name: getattr(grace, name) for name in ("eof_s", "term_s", "group_s", "kill_s")}
        limit_s = sum(steps.values()) + grace.group_s + grace.kill_s + SWEEP_S
        answer = await self.request("end", timeout_s=limit_s, session=session, generation=generation, **steps)
        return msgspec.convert(answer, KeptSession)

    async def drop(self, session: str, generation: int | None = None) -> None:
        """Forget an ended process and remove its files. Call this once you have its output and exit status."""
        await self.request("drop", session=session, generation=generation)

    async def retire(self) -> None:
        """Start no more sessions, and exit when the last one is dropped."""
        await self.request("retire")

    async def stop(self, grace: Grace = DEFAULT_GRACE) -> None:
        """End all sessions and then the keeper."""
        steps = {name: getattr(grace, name) for name in ("eof_s", "term_s", "group_s", "kill_s")}
        await self.request("stop", timeout_s=2 * sum(steps.values()) + SWEEP_S, **steps)

    # For transports

    async def launch(
        self,
        command: ChildCommand,
        files: Sequence[PrivateFile],
        *,
        session: str,
        generation: int | None,
        on_reply: Callable[[dict[str, Any]], None],
    ) -> None:
        """For ``KeeperTransport``."""
        _check_size(command)
        for file in files:
            self._send_file(file)
        fields = {"session": session, "generation": generation, **_spelled_out(command)}
        await self._answer(self._call("start", fields, on_reply=on_reply), ANSWER_S)

    def _send_file(self, file: PrivateFile) -> None:
        for start in range(0, max(len(file.content), 1), PART_BYTES):
            part = file.content[start : start + PART_BYTES]
            self._call("file", {"flag": file.flag, "name": file.name, "more": start > 0}, part)

    async def rejoin(self, key: dict[str, Any], on_reply: Callable[[dict[str, Any]], None]) -> None:
        """For ``KeeperTransport``."""
        await self._answer(self._call("attach", key, on_reply=on_reply), ANSWER_S)


async def _connect(connection: socket.socket, path: str) -> None:
    """Connect, retrying while the backlog is full: a Unix socket fails at once, and nothing signals room."""
    while True:
        try:
            connection.connect(path)
        except BlockingIOError:
            await asyncio.sleep(POLL_S)
        else:
            return


def _check_size(command: ChildCommand) -> None:
    """Reject a frame that is too long: it would break the connection of all sessions."""
    env = os.environ if command.env is None else command.env
    size = sum(len(word) for word in (*command.argv, *env, *env.values()))
    if size > COMMAND_LIMIT:
        raise StartFailed(f"arguments and environment are too long ({size} characters)", command.argv[0])


def _spelled_out(command: ChildCommand) -> dict[str, Any]:
    """Resolve a command so that it means the same in a process with another environment and folder."""
    env = dict(os.environ if command.env is None else command.env)
    cwd = Path.cwd() if command.cwd is None else Path(command.cwd).absolute()
    return {"argv": list(command.argv), "env": env, "cwd": str(cwd), "user": command.user}
