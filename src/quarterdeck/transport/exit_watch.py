"""Watches for a process's exit without polling and without a signal handler.

SIGCHLD belongs to the program that uses us, and asyncio's child watchers differ by version, loop and thread. So we use
a pidfd, which is an ordinary file descriptor, or a waiting thread if there is none.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import threading
from collections.abc import Callable
from contextvars import Context

from .gather import Watcher


class PidfdWatch:
    __slots__ = ("_descriptor", "_on_exit", "_process", "_watcher")

    def __init__(
        self, watcher: Watcher, context: Context, process: subprocess.Popen[bytes], on_exit: Callable[[], None]
    ) -> None:
        self._watcher = watcher
        self._process = process
        self._on_exit = on_exit
        self._descriptor = os.pidfd_open(process.pid)
        watcher.add(self._descriptor, self._ready, context)

    def _ready(self) -> None:
        if self._process.poll() is not None:
            self.close()
            self._on_exit()

    def close(self) -> None:
        self._watcher.remove(self._descriptor)
        self.disown()

    def disown(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


class ThreadWatch:
    def __init__(
        self, loop: asyncio.AbstractEventLoop, process: subprocess.Popen[bytes], on_exit: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._process = process
        self._on_exit: Callable[[], None] | None = on_exit
        threading.Thread(target=self._run, name="quarterdeck-wait", daemon=True).start()

    def _run(self) -> None:
        self._process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody left to notify
            self._loop.call_soon_threadsafe(self._ended)

    def _ended(self) -> None:
        if self._on_exit is not None:
            self._on_exit()

    def close(self) -> None:
        self._on_exit = None

    def disown(self) -> None:
        self._on_exit = None
