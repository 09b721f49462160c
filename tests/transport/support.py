"""Small stand-ins for the CLI, a receiver that writes down what it is told, and waits with a bound."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quarterdeck.transport import ExitStatus

PATIENCE_S = 20.0


def python(source: str, *arguments: str) -> list[str]:
    """A command that runs this program, without the site packages: it starts in 10 ms."""
    return [sys.executable, "-S", "-E", "-u", "-c", textwrap.dedent(source), *arguments]


def echo() -> list[str]:
    return python("""
        import os
        while data := os.read(0, 65536):
            os.write(1, data)
    """)


DEAF = """
    import os, signal, sys, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.write(1, b"ready\\n")
    while True:
        time.sleep(60)
"""


@dataclass
class Recorder:
    """What a receiver was told, in order; consecutive bytes are one entry."""

    told: list[Any] = field(default_factory=list)
    chunks: int = 0
    largest: int = 0

    def bytes_received(self, data: bytes) -> None:
        self.chunks += 1
        self.largest = max(self.largest, len(data))
        if self.told and isinstance(self.told[-1], bytearray):
            self.told[-1] += data
        else:
            self.told.append(bytearray(data))

    def eof_received(self) -> None:
        self.told.append("eof")

    def exited(self, status: ExitStatus) -> None:
        self.told.append(status)

    @property
    def output(self) -> bytes:
        return bytes(self.told[0]) if self.told and isinstance(self.told[0], bytearray) else b""


class Counter(Recorder):
    """Counts bytes and keeps none."""

    received = 0

    def bytes_received(self, data: bytes) -> None:
        self.received += len(data)


async def until(condition: Callable[[], object], what: str = "the condition") -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {PATIENCE_S} s for {what}"
        await asyncio.sleep(0.005)


def until_blocking(condition: Callable[[], object], what: str = "the condition") -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {PATIENCE_S} s for {what}"
        time.sleep(0.005)


def group_is_gone(pgid: int) -> bool:
    """No process of the group is left, but for zombies that only the first process of the machine could reap."""
    try:
        os.killpg(pgid, 0)
    except ProcessLookupError:
        return True
    return not any(fields[2] == str(pgid) and fields[0] != "Z" for fields in _stats())


def process_is_gone(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def _stats() -> list[list[str]]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                found.append((entry / "stat").read_text(errors="replace").rpartition(")")[2].split())
    return found


class CancelAt:
    """Awaits something and cancels it at its n-th suspension: ``cancelled`` says whether it had that many."""

    def __init__(self, awaitable: Awaitable[Any], step: int) -> None:
        self._awaitable = awaitable
        self._step = step
        self.cancelled = False

    def __await__(self) -> Generator[Any, Any, Any]:
        inner = self._awaitable.__await__()
        step = 0
        try:
            waited_for = next(inner)
            while True:
                if step == self._step:
                    self.cancelled = True
                    inner.throw(asyncio.CancelledError())
                    raise AssertionError("it went on after its cancellation")
                step += 1
                try:
                    yield waited_for
                except BaseException as error:  # noqa: BLE001  # passed on: a timeout of its own, for instance
                    waited_for = inner.throw(error)
                else:
                    waited_for = next(inner)
        except StopIteration as finished:
            return finished.value
