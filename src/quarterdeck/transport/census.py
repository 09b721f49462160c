"""Finds the processes that carry a mark. A scan takes milliseconds, so concurrent callers share one.

Sessions often close at the same time. A caller that arrives during a scan waits for the next one, which answers
everyone waiting.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, InvalidStateError

from .marks import MARK, Mark, carried_by, names_a_dead_program, namespace, number_of, process_ids, start_of, text_of

NO_TEXT, NO_NUMBER = "-", -1
"""Values that match no process, for a mark of which only one half is known."""


class Census:
    """All processes that carry a mark."""

    def __init__(self) -> None:
        self.by_text: dict[str, list[int]] = {}
        self.by_number: dict[int, list[int]] = {}
        for pid in process_ids():
            with contextlib.suppress(OSError):  # already gone, or another user's
                text = text_of(pid)
                if text:
                    self.by_text.setdefault(text, []).append(pid)
                elif number := number_of(pid):
                    self.by_number.setdefault(number, []).append(pid)

    def carriers(self, mark: Mark) -> list[int]:
        return [*self.by_text.get(mark.text, ()), *self.by_number.get(mark.number, ())]


class _Looks:
    """Scans in its own thread, which ends when nobody needs it."""

    _wanted: list[tuple[Mark, Future[list[int]]]]

    def __init__(self) -> None:
        self.start_over()

    def start_over(self) -> None:
        """Reset, also after a fork: the thread and its waiters belong to the parent."""
        self._lock = threading.Lock()
        self._wanted = []
        self._looking = False

    def look(self, mark: Mark) -> Future[list[int]]:
        found: Future[list[int]] = Future()
        with self._lock:
            self._wanted.append((mark, found))
            if self._looking:
                return found
            self._looking = True
        try:
            threading.Thread(target=self._run, name="quarterdeck-census", daemon=True).start()
        except RuntimeError:  # no more threads
            self._run()
        return found

    def _run(self) -> None:
        while True:
            with self._lock:
                asked, self._wanted = self._wanted, []
                self._looking = bool(asked)
            if not asked:
                return
            census = Census()
            for mark, found in asked:
                with contextlib.suppress(InvalidStateError):  # cancelled: nobody waits any more
                    found.set_result(census.carriers(mark))


_looks = _Looks()
look = _looks.look
"""Return a future for the next scan: the processes that carry a mark."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_looks.start_over)


def carriers(mark: Mark) -> list[int]:
    """Return the processes that carry the mark now."""
    return look(mark).result()


def signal_carriers(mark: Mark, number: int) -> int:
    """Signal each process that carries the mark as soon as it is found; returns how many there were."""
    return sum(_signal(pid, mark, number) for pid in carriers(mark))


def _signal(pid: int, mark: Mark, number: int) -> bool:
    """Holds the process by a descriptor and checks again, so that its ID can't be reused in between."""
    if pid == os.getpid():
        return False
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):  # no such call, a sandbox that refuses it, or the process is gone
        descriptor = -1
    try:
        if mark.text != text_of(pid) and mark.number != number_of(pid):
            return False
        if descriptor >= 0:
            signal.pidfd_send_signal(descriptor, number)
        else:
            os.kill(pid, number)
    except OSError:  # it ended, or belongs to another user by now (sudo)
        return False
    finally:
        if descriptor >= 0:
            os.close(descriptor)
    return True


def orphaned() -> Iterator[Mark]:
    """Return the marks in use whose owner in this PID namespace is dead. Never our own mark."""
    own, here, found = carried_by(os.getpid()), namespace(), Census()
    if here == "0":
        return
    for text in found.by_text:
        match text.split("."):
            case [space, pid, started, _] if space == here and pid.isdigit() and started.isdigit():
                if text not in (own[0], os.environ.get(MARK)) and start_of(int(pid)) != int(started):
                    yield Mark(text, NO_NUMBER)
    for number, pids in found.by_number.items():
        if number != own[1] and names_a_dead_program(number) and any(namespace(pid) == here for pid in pids):
            yield Mark(NO_TEXT, number)
