"""A CLI that the calling program starts itself: in a container, on another machine, under a wrapper.

The program passes a function that starts the process. This transport moves its bytes and ends it in the same steps as a
local process: end of input, then ``terminate()``, then ``kill()``, each with its own timeout. It can't reach what the
process starts on another machine: the program's ``kill()`` must end that too.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import os
import subprocess
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias

import msgspec

from .base import DEFAULT_GRACE, FLOOD_BYTES, LOW_MARK, READ_SIZE, WRITE_LIMIT, ExitStatus, Grace, Receiver
from .errors import StartFailed, TransportClosed, WriteOverflow
from .exit_watch import ThreadWatch
from .latch import Latch
from .spawn import ChildCommand
from .stderr import StderrTail

logger = logging.getLogger(__name__)


class SpawnOptions(msgspec.Struct, frozen=True):
    """What to start: the argument of the ``spawn_claude_code_process`` function."""

    command: str
    args: list[str]
    cwd: str | None
    env: dict[str, str]
    """The whole environment, including inherited variables."""
    signal: asyncio.Event
    """Set just before ``terminate()``, if the process hasn't exited after its input was closed."""

    def __repr__(self) -> str:
        return f"SpawnOptions({self.command}, {len(self.args)} args, cwd={self.cwd})"  # the environment has secrets


class SpawnedInput(Protocol):
    """Like :class:`asyncio.StreamWriter`."""

    def write(self, data: bytes, /) -> None: ...
    async def drain(self) -> None: ...
    def close(self) -> None: ...


class SpawnedOutput(Protocol):
    """Like :class:`asyncio.StreamReader`."""

    async def read(self, n: int = -1, /) -> bytes:
        """Read some bytes; empty at the end."""
        ...


class SpawnedProcess(Protocol):
    """What the function returns: an :class:`asyncio.subprocess.Process` with pipes, or anything that acts like one.

    ``stderr`` (a :class:`SpawnedOutput`) and ``pid`` are used if present.
    """

    @property
    def stdin(self) -> Any:
        """A :class:`SpawnedInput`."""

    @property
    def stdout(self) -> Any:
        """A :class:`SpawnedOutput`."""

    async def wait(self) -> int | None:
        """Wait for the exit; returns the exit code, or a negative signal number."""

    def terminate(self) -> None:
        """Ask it to end."""

    def kill(self) -> None:
        """End it."""


SpawnClaudeCodeProcess: TypeAlias = Callable[
    [SpawnOptions],
    "SpawnedProcess | subprocess.Popen[bytes] | Awaitable[SpawnedProcess | subprocess.Popen[bytes]]",
]


class SpawnedTransport:
    """A ``ByteTransport`` over a process that the calling program started."""

    def __init__(
        self,
        spawn: SpawnClaudeCodeProcess,
        command: ChildCommand,
        *,
        on_stderr_line: Callable[[str], None] | None = None,
    ) -> None:
        self._spawn = spawn
        self._command: ChildCommand | None = command
        self._stderr = StderrTail(on_stderr_line, self._report_stderr_error)
        self._signal = asyncio.Event()
        self._process: SpawnedProcess | None = None
        self._receiver: Receiver | None = None
        self._outbox: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._unsent = 0
        self._sent = asyncio.Event()
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._status: ExitStatus | None = None
        self._input_closed = self._closing = self._discarding = False
        self._discarded_bytes = 0
        self._gone, self._read_all, self._errors_read, self._done = Latch(), Latch(), Latch(), Latch()
        self._waited_enough = Latch()
        """After the input was closed: the process has exited, or won't exit on its own."""
        self._jobs: list[asyncio.Task[None]] = []

    @property
    def pid(self) -> int | None:
        pid = getattr(self._process, "pid", None)
        return pid if isinstance(pid, int) else None

    @property
    def stderr_tail(self) -> str:
        return self._stderr.text

    async def start(self, receiver: Receiver) -> None:
        """Call the program's function to start the process. Raises ``StartFailed`` if that fails."""
        command, self._command = self._command, None
        if command is None or self._closing:
            raise TransportClosed("This transport was already started or closed; create a new one for a new process.")
        self._receiver = receiver
        self._process = process = await self._spawned(command)
        loop = asyncio.get_running_loop()
        stderr = getattr(process, "stderr", None)
        work = [self._read(process, receiver), self._send(process), self._watch(process)]
        self._jobs = [loop.create_task(one) for one in work]
        if stderr is None:
            self._errors_read.set()
        else:
            self._jobs.append(loop.create_task(self._read_errors(stderr)))

    async def _spawned(self, command: ChildCommand) -> SpawnedProcess:
        cwd = None if command.cwd is None else os.fspath(command.cwd)
        env = dict(os.environ if command.env is None else command.env)
        options = SpawnOptions(command.argv[0], list(command.argv[1:]), cwd, env, self._signal)
        try:
            made = self._spawn(options)
            process: Any = await made if inspect.isawaitable(made) else made
        except Exception as error:
            raise StartFailed(f"spawn_claude_code_process raised {type(error).__name__}: {error}") from error
        if isinstance(process, subprocess.Popen):
            process = await _PipedProcess.of(process)
        if process is None or process.stdin is None or process.stdout is None:
            raise StartFailed("spawn_claude_code_process must return a process with pipes as its stdin and stdout.")
        return process  # type: ignore[no-any-return]

    # Receiving

    async def _read(self, process: SpawnedProcess, receiver: Receiver) -> None:
        try:
            while data := await process.stdout.read(READ_SIZE):
                await self._may_read.wait()
                if self._discarding:
                    self._discard(data)
                else:
                    receiver.bytes_received(data)
        except (OSError, ValueError) as error:
            self._stderr.feed(f"{type(error).__name__}: {error}\n".encode())
        self._read_all.set()

    def _discard(self, data: bytes) -> None:
        self._discarded_bytes += len(data)
        if self._discarded_bytes > FLOOD_BYTES:
            self._waited_enough.set()

    async def _read_errors(self, stderr: SpawnedOutput) -> None:
        with contextlib.suppress(OSError, ValueError):
            while data := await stderr.read(READ_SIZE):
                self._stderr.feed(data)
        self._stderr.end()
        self._errors_read.set()

    async def _watch(self, process: SpawnedProcess) -> None:
        """Notify the receiver once the process has exited and its output was read."""
        try:
            code = await process.wait()
        except Exception as error:  # noqa: BLE001  # the program's code: what cannot be waited for is over
            self._stderr.feed(f"wait() of the spawned process raised {error!r}\n".encode())
            code = None
        self._status = ExitStatus() if code is None else ExitStatus.from_returncode(code)
        self._gone.set()
        self._waited_enough.set()
        self._sent.set()
        await self._errors_read.within(DEFAULT_GRACE.output_s)
        while not await self._read_all.within(DEFAULT_GRACE.output_s):
            if self._may_read.is_set() or self._closing:
                break  # another process keeps the pipe open
        self._tell_exit()

    def _tell_exit(self) -> None:
        if self._done.is_set() or self._receiver is None:
            return
        self._status = self._status or ExitStatus()
        self._done.set()
        self._sent.set()
        self._receiver.eof_received()
        self._receiver.exited(self._status)

    def pause_reading(self) -> None:
        if self._closing:
            self._discarding = True
        else:
            self._may_read.clear()

    def resume_reading(self) -> None:
        self._discarding = False
        self._may_read.set()

    # Sending

    def write(self, data: bytes) -> None:
        if self._process is None or self._input_closed or self._gone.is_set():
            raise TransportClosed("Claude Code accepts no more input: start a new session.")
        if self._unsent > WRITE_LIMIT:
            raise WriteOverflow(f"{self._unsent} bytes are waiting to be sent: the process does not read its input")
        self._unsent += len(data)
        self._sent.clear()
        self._outbox.put_nowait(data)

    async def _send(self, process: SpawnedProcess) -> None:
        stdin: SpawnedInput = process.stdin
        try:
            while (data := await self._outbox.get()) is not None:
                stdin.write(data)
                await stdin.drain()
                self._unsent -= len(data)
                if self._unsent <= LOW_MARK:
                    self._sent.set()
        except (OSError, ValueError, RuntimeError):  # the end of the process says why
            self._input_closed = True
            self._sent.set()
        finally:
            with contextlib.suppress(OSError, ValueError, RuntimeError):
                stdin.close()

    async def drain(self) -> None:
        if self._unsent > LOW_MARK:
            await self._sent.wait()
            if self._unsent > LOW_MARK:
                raise TransportClosed("Claude Code accepts no more input: start a new session.")

    def close_input(self) -> None:
        if not self._input_closed:
            self._input_closed = True
            self._outbox.put_nowait(None)

    # Ending

    async def wait(self) -> ExitStatus:
        await self._done.wait()
        return self._status or ExitStatus()

    async def close(self, grace: Grace = DEFAULT_GRACE) -> ExitStatus:
        if self._process is None or self._closing:
            self._closing = True
            if self._process is not None:
                await self._done.wait()
            return self._status or ExitStatus()
        self._closing = True
        self._discarding = not self._may_read.is_set()
        self._may_read.set()
        try:
            await self._escalate(self._process, grace)
        finally:
            self.abandon()
        return self._status or ExitStatus()

    async def _escalate(self, process: SpawnedProcess, grace: Grace) -> None:
        self.close_input()
        await self._waited_enough.within(grace.eof_s)
        for harder, seconds in ((process.terminate, grace.term_s), (process.kill, grace.kill_s)):
            if self._gone.is_set():
                break
            self._signal.set()
            self._end(harder)
            await self._gone.within(seconds)
        if not self._gone.is_set():
            logger.error("the spawned process did not end although it was killed")
        await self._done.within(grace.output_s * 2)

    def _end(self, way: Callable[[], None]) -> None:
        try:
            way()
        except ProcessLookupError:
            pass  # it has just ended
        except Exception:
            logger.exception("the spawned process could not be ended")

    def abandon(self) -> None:
        self._closing = True
        if self._process is None:
            return
        if not self._gone.is_set():
            self._signal.set()
            self._end(self._process.kill)
        for job in self._jobs:
            job.cancel()
        with contextlib.suppress(Exception):
            self._process.stdin.close()
        self._tell_exit()

    def _report_stderr_error(self, error: Exception) -> None:
        context = {"message": "the callback for lines of stderr raised", "exception": error, "transport": self}
        asyncio.get_running_loop().call_exception_handler(context)


class _PipedProcess:
    """A :class:`subprocess.Popen` with the streams and the ``wait`` of asyncio's."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._over = Latch()
        self._watch = ThreadWatch(asyncio.get_running_loop(), process, self._over.set)
        self.pid = process.pid
        self.terminate, self.kill = process.terminate, process.kill
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None

    @classmethod
    async def of(cls, process: subprocess.Popen[bytes]) -> _PipedProcess:
        made, loop = cls(process), asyncio.get_running_loop()
        if process.stdin is not None:
            pipe, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, process.stdin)
            made.stdin = asyncio.StreamWriter(pipe, protocol, None, loop)
        made.stdout = await _reader(process.stdout)
        made.stderr = await _reader(process.stderr)
        return made

    async def wait(self) -> int | None:
        await self._over.wait()
        return self._process.returncode


async def _reader(pipe: Any) -> asyncio.StreamReader | None:
    if pipe is None:
        return None
    reader, loop = asyncio.StreamReader(), asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader
