"""One process of one session, with what the keeper holds for it: pipes, family, spool, private files.

It has finished when the process is reaped and its output is in the spool. The exit status stays in memory and in its
folder until the host drops the session.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from quarterdeck.transport import watchdog
from quarterdeck.transport.spawn import ADOPTED, Child

from .ending import AT_ONCE, EndingGrace, end_process, end_rest
from .inputs import InputQueue
from .loop import Loop, Timer
from .output import Lane, ProcessOutput
from .places import save_json
from .spool import Spool
from .starting import Started, remove_folder
from .stderr_pipe import StderrPipe

logger = logging.getLogger(__name__)

DRAIN_AFTER_EXIT_S = 1.5
"""For a dead process's output to end. Its own bytes are already in the pipe; only a grandchild can delay the end."""
ABOUT = "about.json"
EXIT = "exit.json"


class HostLane(Lane, Protocol):
    """Sends the host everything about a process except its output."""

    def send_written(self, channel: int, number: int) -> None:
        """Send the number of the last input written to the pipe."""

    def send_stderr(self, channel: int, data: bytes) -> None:
        """Send stderr output; dropped if there is no room."""

    def send_event(self, event: dict[str, Any]) -> None:
        """Send any other event."""


class KeptProcess:
    """A running process and, once it has ended, its result."""

    def __init__(
        self,
        loop: Loop,
        started: Started,
        *,
        session: str,
        generation: int,
        channel: int,
        spool_limit_bytes: int,
    ) -> None:
        """Takes ownership of ``started``; if this raises, the caller keeps it."""
        self.session = session
        self.generation = generation
        self.channel = channel
        self.pid = started.child.process.pid
        self.returncode: int | None = None
        self.fault: str | None = None
        """Why the keeper ended it."""
        self.finished = False
        """The process is reaped and its output is in the spool."""
        self.swept = False
        """Everything it started is gone."""
        self._loop = loop
        self._folder = started.folder
        self._process = started.child.process
        self._family = started.family
        self._files = started.files
        self._gone = threading.Event()
        self._waited_enough = threading.Event()
        self._cut: Timer | None = None
        self._lane: HostLane | None = None
        self._ending = False
        self._exit_told = False
        self._when_gone: list[Callable[[], None]] = []
        self._when_over: list[Callable[[], None]] = []
        self._adopt(started.child, started.spool, spool_limit_bytes)
        self._save(ABOUT, {"session": session, "generation": generation, "pid": self.pid})

    def _adopt(self, child: Child, spool: Spool, limit_bytes: int) -> None:
        """Hand each descriptor to its owner."""
        self.input = InputQueue(
            self._loop,
            child.stdin,
            on_written=self._input_written,
            on_broken=partial(self._tell, "input_closed"),
            on_fault=self.fail,
        )
        child.stdin = ADOPTED
        self.output = ProcessOutput(
            self._loop,
            child.stdout,
            spool,
            channel=self.channel,
            limit_bytes=limit_bytes,
            on_change=self._output_changed,
            on_fault=self.fail,
        )
        child.stdout = ADOPTED
        self._errors = StderrPipe(
            self._loop,
            child.stderr,
            self._folder,
            on_data=self._stderr_came,
            on_end=self._settle,
            on_fault=self.fail,
        )
        child.stderr = ADOPTED

    # The host

    def attach(self, lane: HostLane, offset: int) -> None:
        self._lane = lane
        self._exit_told = False
        self.output.attach(lane, offset)
        self._tell_exit()

    def detach(self) -> None:
        self._lane = None
        self.output.detach()
        self.input.forget_parts()

    @property
    def attached(self) -> bool:
        return self._lane is not None

    def describe(self) -> dict[str, Any]:
        spool = self.output.spool
        return {
            "session": self.session,
            "generation": self.generation,
            "pid": self.pid,
            "running": self.returncode is None,
            "finished": self.finished,
            "returncode": self.returncode,
            "fault": self.fault,
            "first": spool.first,
            "acknowledged": spool.acknowledged,
            "end": spool.end,
            "accepted": self.input.accepted,
            "written": self.input.written,
            "input_open": self.input.open,
            "stalled": self.output.stalled,
            "attached": self.attached,
        }

    @property
    def stderr_tail(self) -> str:
        return self._errors.text

    def _tell(self, what: str, **more: Any) -> None:
        if self._lane is not None:
            self._lane.send_event({"event": what, "channel": self.channel, **more})

    def _input_written(self) -> None:
        if self._lane is not None:
            self._lane.send_written(self.channel, self.input.written)

    def _stderr_came(self, data: bytes) -> None:
        if self._lane is not None:
            self._lane.send_stderr(self.channel, data)

    def _output_changed(self) -> None:
        if not self.output.ended:
            self._tell("stalled", reason=self.output.stalled)
        self._settle()
        self._tell_exit()

    # The end

    def look(self) -> None:
        """Check whether this process has exited, after some child did."""
        if self.returncode is not None or (code := self._process.poll()) is None:
            return
        self.returncode = code
        self._gone.set()
        self._waited_enough.set()
        self.input.close()
        self.output.lift_limit()
        self._tell("died", returncode=code)
        if not self._ending:
            self._ending = True
            self._loop.beside(partial(end_rest, self._family, EndingGrace()), self._family_ended, self.fail)
        self._settle()

    def end(self, patience: EndingGrace, then: Callable[[], None]) -> None:
        """End the process and everything it started, then call ``then``.

        Its last output may not be in the spool yet, if there is no room.
        """
        self._when_gone.append(then)
        if self.returncode is None:
            self.input.finish()
        if not self._ending:
            self._ending = True
            work = partial(end_process, self._family, self._gone, self._waited_enough, patience)
            self._loop.beside(work, self._family_ended, self.fail)
        elif self.returncode is None and patience.eof_s == 0:  # a less patient host
            self._waited_enough.set()
            if patience == AT_ONCE:
                self._loop.beside(self._family.kill, lambda: None, self.fail)
        self._check_over()

    def when_over(self, then: Callable[[], None]) -> None:
        """Call ``then`` once the process has finished and its family is gone."""
        self._when_over.append(then)
        self._check_over()

    def _family_ended(self) -> None:
        self.swept = True
        watchdog.release_group(self.pid)
        self._check_over()

    def _settle(self) -> None:
        """After the process exited: finish once its output has ended or timed out."""
        if self.returncode is None or self.finished:
            return
        if self.output.ended and self._errors.ended:
            self._finish()
        elif self._cut is None:
            self._cut = self._loop.call_later(DRAIN_AFTER_EXIT_S, self._cut_output, self.fail)

    def _cut_output(self) -> None:
        self._cut = None
        self._errors.cut()
        self.output.cut()
        self._settle()  # the disk is full: retry in a moment

    def _finish(self) -> None:
        self.finished = True
        if self._cut is not None:
            self._cut.cancel()
        self._files.remove()
        self._save(EXIT, {"returncode": self.returncode, "written": self.input.written, "fault": self.fault})
        self._tell_exit()
        self._check_over()

    def _tell_exit(self) -> None:
        if self.finished and self.output.told_all and not self._exit_told:
            self._exit_told = True
            self._tell("exited", returncode=self.returncode, fault=self.fault, stderr=self.stderr_tail)

    def _check_over(self) -> None:
        if self.returncode is None or not self.swept:
            return
        waiting, self._when_gone = self._when_gone, []
        if self.finished:
            waiting += self._when_over
            self._when_over = []
        for then in waiting:
            then()

    def fail(self, error: Exception) -> None:
        """End this session after a fault in the keeper; the others continue."""
        logger.error("session %s failed", self.session, exc_info=error)
        if self.fault is None:
            self.fault = f"the keeper failed: {error!r}"
            self.input.close()
            self.output.abort()
            self._errors.close()
            self.end(AT_ONCE, lambda: None)
        self._settle()

    def close(self) -> None:
        """Close the files; the folder stays."""
        self.detach()
        self.output.spool.close()

    def remove(self) -> None:
        """Remove the folder once the host has everything."""
        self.detach()
        self.output.spool.remove()
        remove_folder(self._folder)

    def _save(self, name: str, value: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # no room: a host that connects is told anyway
            save_json(self._folder / name, value)
