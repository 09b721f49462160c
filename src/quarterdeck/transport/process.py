"""Runs one CLI process: starts it, writes to it, reads from it, and always ends it.

The receiver always sees bytes, then the end of output, then the exit. ``exited()`` waits for stdout *and* stderr to
end, so that its error includes the last lines of stderr. A grandchild that keeps a pipe open delays it by at most
``drain_after_exit_s``.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from . import registry, watchdog
from .base import DEFAULT_GRACE, FLOOD_BYTES, WRITE_LIMIT, ExitStatus, Grace, Receiver
from .capabilities import Capabilities, detect
from .errors import TransportClosed
from .exit_watch import PidfdWatch, ThreadWatch
from .family import Family, family_of
from .gather import watcher
from .latch import Latch
from .loop_io import LoopReader, LoopWriter
from .marks import MARK, attach, this_program
from .spawn import ADOPTED, Child, ChildCommand, spawn
from .stderr import StderrTail
from .strays import end_orphans, sweep

if TYPE_CHECKING:
    from .thread_io import ThreadReader, ThreadWriter

logger = logging.getLogger(__name__)

DRAIN_AFTER_EXIT_S = 1.5
"""For a dead process's output to end. Its own bytes are already in the pipe; only a grandchild can delay the end."""
REAP_S = 1.0
"""For a killed group to disappear, without an event loop to wait in."""
REAP_POLL_S = 0.001
GROUP_POLL_S = 0.01
"""Between checks for an empty group: no event reports it, and it takes a few milliseconds at most."""


ORPHANS_AFTER_S = 0.1
"""From the start to the search for processes of dead programs, so that it runs while the CLI starts."""
SWEEP_S = 5.0
"""For a scan of all processes and the end of ours. If it takes longer, the scan hangs."""


class ProcessResource(Protocol):
    """Owns a descriptor, or waits for the process."""

    def close(self) -> None:
        """Stop, and close the descriptor."""

    def disown(self) -> None:
        """In a forked child: close only the descriptor, because the parent shares the loop's selector."""


P = TypeVar("P", bound=ProcessResource)


class ProcessTransport:
    """A ``ByteTransport`` over the pipes of a child process."""

    def __init__(
        self,
        command: ChildCommand | Sequence[str],
        *,
        on_stderr_line: Callable[[str], None] | None = None,
        drain_after_exit_s: float = DRAIN_AFTER_EXIT_S,
        write_limit_bytes: int = WRITE_LIMIT,
        capabilities: Capabilities | None = None,
    ) -> None:
        """``on_stderr_line`` is called with each line of stderr. If it raises, the loop's exception handler gets the
        error."""
        self._command: ChildCommand | None = command if isinstance(command, ChildCommand) else ChildCommand(command)
        """Dropped at the start: it holds a whole environment."""
        self._drain_after_exit_s = drain_after_exit_s
        self._write_limit_bytes = write_limit_bytes
        self._capabilities = capabilities
        self._stderr = StderrTail(on_stderr_line, self._report_stderr_error)
        self._process: subprocess.Popen[bytes] | None = None
        self._status: ExitStatus | None = None
        self._paused = False
        self._closing = False
        self._released = False
        self._eof_told = False
        self._exit_told = False
        self._cut: asyncio.TimerHandle | None = None
        self._resources: list[ProcessResource] = []
        self._discarded_bytes = 0
        self._gone = Latch()
        self._waited_enough = Latch()
        """After the input was closed: the process has exited, or won't exit on its own."""
        self._done = Latch()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def status(self) -> ExitStatus | None:
        """How it ended; ``None`` while it runs."""
        return self._status

    @property
    def stderr_tail(self) -> str:
        return self._stderr.text

    # Starting

    async def start(self, receiver: Receiver) -> None:
        """Start the process. Raises ``CLINotFoundError`` or ``StartFailed``."""
        command, self._command = self._command, None
        if command is None or self._closing:
            raise TransportClosed("This transport was already started or closed; create a new one for a new process.")
        loop = asyncio.get_running_loop()
        capabilities = self._capabilities or detect(loop)
        mark = this_program().mark()
        inherited = os.environ if command.env is None else command.env
        child = spawn(command, {**inherited, MARK: mark.text}, capabilities)
        attach(child.process.pid, mark)
        self._loop = loop
        self._receiver = receiver
        self._process = child.process
        self._proc_files = capabilities.proc_files
        self._family: Family = family_of(child.process, mark, capabilities)
        registry.enter(self)
        if capabilities.process_groups and capabilities.posix_shell:
            watchdog.guard_group(child.process.pid)
        try:
            self._attach(child, capabilities)
        except BaseException:  # out of descriptors or threads: the process must not stay behind unwatched
            self._family.kill()
            child.close_descriptors()
            self._await_death(child.process)
            self._release()
            raise
        if capabilities.proc_files:
            loop.call_later(ORPHANS_AFTER_S, end_orphans)

    def _attach(self, child: Child, capabilities: Capabilities) -> None:
        """Hand each descriptor to its owner."""
        loop = self._loop
        reader: Callable[..., LoopReader | ThreadReader]
        writer: type[LoopWriter | ThreadWriter]
        watch: Callable[..., PidfdWatch | ThreadWatch]
        if capabilities.add_reader:
            pipes, context = watcher(loop, together=capabilities.epoll), copy_context()
            reader, writer = partial(LoopReader, pipes, context), LoopWriter
            watch = partial(PidfdWatch, pipes, context) if capabilities.pidfd else partial(ThreadWatch, loop)
        else:
            from . import thread_io  # for Windows

            reader, writer = partial(thread_io.ThreadReader, loop), thread_io.ThreadWriter
            watch = partial(ThreadWatch, loop)
        self._watch = self._own(watch(child.process, self._process_ended))
        self._output = self._own(reader(child.stdout, on_data=self._receiver.bytes_received, on_end=self._output_ended))
        child.stdout = ADOPTED
        self._errors = self._own(reader(child.stderr, on_data=self._stderr.feed, on_end=self._errors_ended))
        child.stderr = ADOPTED
        self._input = self._own(
            writer(self._loop, child.stdin, closed_error=self._closed_error, limit_bytes=self._write_limit_bytes)
        )
        child.stdin = ADOPTED
        if self._paused:
            self._output.pause()

    def _own(self, resource: P) -> P:
        self._resources.append(resource)
        return resource

    # Sending

    def write(self, data: bytes) -> None:
        if self._process is None:
            raise TransportClosed("Not started yet: await start() first.")
        self._input.write(data)

    async def drain(self) -> None:
        if self._process is not None:
            await self._input.drain()

    def close_input(self) -> None:
        if self._process is not None:
            self._input.finish()

    def _closed_error(self) -> TransportClosed:
        if self._status is None:
            return TransportClosed("Claude Code accepts no more input: its stdin is closed. Start a new session.")
        told = f"\nError output: {self.stderr_tail}" if self.stderr_tail else ""
        return TransportClosed(f"Claude Code accepts no more input: it {self._status}. Start a new session.{told}")

    # Receiving

    def pause_reading(self) -> None:
        self._paused = True
        if self._process is None:
            return
        if self._closing:
            self._discard_output()
        else:
            self._output.pause()

    def resume_reading(self) -> None:
        self._paused = False
        if self._process is not None and not self._released:
            self._output.on_data = self._receiver.bytes_received
            self._output.resume()
            self._settle()

    def _discard_output(self) -> None:
        """Keep reading while we close and the receiver is paused; the process couldn't exit otherwise."""
        self._output.on_data = self._discard
        self._output.resume()

    def _discard(self, data: bytes) -> None:
        self._discarded_bytes += len(data)
        if self._discarded_bytes > FLOOD_BYTES:
            self._waited_enough.set()

    def _output_ended(self) -> None:
        self._tell_eof()
        self._settle()

    def _errors_ended(self) -> None:
        self._stderr.end()
        self._settle()

    def _tell_eof(self) -> None:
        if not self._eof_told:
            self._eof_told = True
            self._receiver.eof_received()

    # The end

    def _process_ended(self) -> None:
        self._learn_status()
        self._input.close()
        self._settle()

    def _learn_status(self) -> None:
        if self._status is None and self._process is not None:
            code = self._process.poll()
            self._status = None if code is None else ExitStatus.from_returncode(code)
        if self._status is not None:
            self._gone.set()
            self._waited_enough.set()

    def _settle(self) -> None:
        """After the process exited: notify the receiver once its output has ended or timed out."""
        if self._status is None or self._exit_told:
            return
        if self._output.ended and self._errors.ended:
            self._tell_exit()
        elif self._cut is None:
            self._cut = self._loop.call_later(self._drain_after_exit_s, self._cut_output)

    def _cut_output(self) -> None:
        """Another process keeps the pipe open: deliver what is there and treat it as the end."""
        self._cut = None
        if self._paused and not self._closing and not self._output.ended:
            return  # the receiver has had no chance to read: resume_reading() restarts the clock
        for reader in (self._output, self._errors):
            reader.take_rest()
            reader.close()
        self._stderr.end()
        self._tell_exit()

    def _tell_exit(self) -> None:
        if self._exit_told:
            return
        self._exit_told = True
        if self._cut is not None:
            self._cut.cancel()
        self._tell_eof()
        self._receiver.exited(self._status or ExitStatus())
        self._done.set()

    async def wait(self) -> ExitStatus:
        if self._process is None:
            raise TransportClosed("Not started yet: await start() first.")
        await self._done.wait()
        return self._status or ExitStatus()

    # Ending it

    async def close(self, grace: Grace = DEFAULT_GRACE) -> ExitStatus:
        """Send end-of-file, then SIGTERM, then SIGKILL, each to the whole group and each with its own timeout.

        Output that a paused receiver hasn't read is dropped, and a process that keeps flooding is terminated early. If
        cancelled, kills before it returns.
        """
        if self._process is None:
            self._closing = True
            return ExitStatus()
        if not self._closing:
            self._closing = True
            if self._proc_files:
                end_orphans()
            try:
                await self._escalate(grace)
            except BaseException:
                self.abandon()
                raise
            self._release()
        else:
            await self._done.wait()
        return self._status or ExitStatus()

    async def _escalate(self, grace: Grace) -> None:
        if not self._proc_files:
            await self._beside(self._family.strays.note)
        self._input.finish()
        if self._paused:
            self._discard_output()
        await self._waited_enough.within(grace.eof_s)
        if not self._gone.is_set():
            self._family.terminate()
            if not await self._gone.within(grace.term_s):
                self._family.kill()
                if not await self._gone.within(grace.kill_s):
                    logger.error("process %s did not end although it was killed", self.pid)
        await self._end_family(grace)
        if not await self._done.within(grace.output_s):
            self._cut_output()

    async def _end_family(self, grace: Grace) -> None:
        """End the rest of the group, then what its tools left running outside it."""
        look = self._family.strays.look()
        if self._family.remains():
            self._family.terminate()
            if await self._family_outlives(grace.group_s):
                self._family.kill()
                await self._family_outlives(grace.kill_s)
        if look is None or await self._answer_of(look):
            await self._beside(partial(sweep, self._family.strays, grace.group_s))

    async def _answer_of(self, look: Future[list[int]]) -> list[int]:
        done, tell = self._told_by_a_thread()
        look.add_done_callback(lambda _: tell())
        await asyncio.wait([done], timeout=SWEEP_S)
        return look.result() if look.done() else []

    async def _beside(self, work: Callable[[], None]) -> None:
        """Run in a thread: reading other processes' environments takes milliseconds, and can hang."""
        done, tell = self._told_by_a_thread()

        def run() -> None:
            try:
                work()
            finally:
                tell()

        try:
            threading.Thread(target=run, name="quarterdeck-sweep", daemon=True).start()
        except RuntimeError:  # no more threads
            work()
            return
        await asyncio.wait([done], timeout=SWEEP_S)

    def _told_by_a_thread(self) -> tuple[asyncio.Future[None], Callable[[], None]]:
        """Return an event to wait for in the loop, and a function with which a thread sets it."""
        done = self._loop.create_future()

        def finish() -> None:
            if not done.done():
                done.set_result(None)

        def tell() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(finish)

        return done, tell

    async def _family_outlives(self, seconds: float) -> bool:
        deadline = self._loop.time() + seconds
        while self._family.remains():
            if self._loop.time() >= deadline:
                return True
            await asyncio.sleep(GROUP_POLL_S)
        return False

    def abandon(self) -> None:
        self._closing = True
        if self._process is None or self._released:
            return
        self._family.kill()
        self._await_death(self._process)
        self._release()
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._after_abandon)

    def _await_death(self, process: subprocess.Popen[bytes]) -> None:
        """After a kill, without the event loop: wait until the group has disappeared (a few milliseconds)."""
        deadline = time.monotonic() + REAP_S
        while process.poll() is None or self._family.remains():
            if time.monotonic() > deadline:
                logger.error("process %d or its group did not end although it was killed", process.pid)
                return
            time.sleep(REAP_POLL_S)

    def _after_abandon(self) -> None:
        self._learn_status()
        self._tell_exit()

    def _release(self) -> None:
        """Release everything; the group is gone, or can't be ended."""
        if self._released:
            return
        self._released = True
        if self._cut is not None:
            self._cut.cancel()
        for resource in self._resources:
            resource.close()
        registry.leave(self)
        if self.pid is not None:
            watchdog.release_group(self.pid)

    # For the registry

    def dismiss(self) -> None:
        self._input.close()
        self._family.terminate()

    def has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def disown(self) -> None:
        self._closing = self._released = True
        for resource in self._resources:
            resource.disown()
        if self._process is not None:
            self._process.returncode = 0  # not our child: keeps Popen from waiting for it and from warning

    def _report_stderr_error(self, error: Exception) -> None:
        context = {"message": "the callback for lines of stderr raised", "exception": error, "transport": self}
        self._loop.call_exception_handler(context)
