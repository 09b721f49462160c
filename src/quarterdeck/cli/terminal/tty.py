"""The keyboard: keys are read one by one, without echo, and the terminal is restored whatever happens."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import sys
import termios
from collections.abc import Callable
from types import TracebackType

from .keys import ESCAPE_WAIT_S, Keys
from .surface import RESTORE

READ_BYTES = 65_536
PASTE_MARKS = "\x1b[?2004h"
"""Bracketed paste, so that a pasted newline is not taken for Enter."""


class Keyboard:
    """Reads keys from the terminal; a context manager for as long as we draw.

    Ctrl-C stays a signal. Keys typed while there is no question are discarded, so that they do not answer the next one.
    """

    def __init__(
        self,
        on_key: Callable[[str], None],
        *,
        on_suspend: Callable[[], None] = lambda: None,
        on_resume: Callable[[], None] = lambda: None,
    ) -> None:
        self._on_key = on_key
        self._on_suspend = on_suspend
        self._on_resume = on_resume
        self._keys = Keys()
        self._settle: asyncio.TimerHandle | None = None
        self._descriptor = -1
        self._saved: list[object] | None = None
        self._opened = False

    def __enter__(self) -> Keyboard:
        self._open()
        if self._descriptor >= 0:
            self._take_over()
            atexit.register(self.restore)
            asyncio.get_running_loop().add_reader(self._descriptor, self._readable)
            asyncio.get_running_loop().add_signal_handler(signal.SIGTSTP, self._suspend)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor < 0:
            return
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._descriptor)
        loop.remove_signal_handler(signal.SIGTSTP)
        if self._settle is not None:
            self._settle.cancel()
        self.restore()
        atexit.unregister(self.restore)
        if self._opened:
            os.close(self._descriptor)
        self._descriptor = -1

    def _open(self) -> None:
        """Standard input, or the terminal if standard input is a pipe."""
        if sys.stdin is not None and sys.stdin.isatty():
            self._descriptor = sys.stdin.fileno()
            return
        with contextlib.suppress(OSError):
            self._descriptor, self._opened = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY), True

    def _take_over(self) -> None:
        """No echo, no line editing. Ctrl-C and Ctrl-Z work; Ctrl-S has no effect."""
        if self._saved is None:
            self._saved = termios.tcgetattr(self._descriptor)
        modes = termios.tcgetattr(self._descriptor)
        modes[0] &= ~(termios.IXON | termios.ICRNL)
        modes[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
        modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, modes)
        self._say(PASTE_MARKS)

    def _suspend(self) -> None:
        """Ctrl-Z: give the terminal back to the shell, and take it over again in the foreground."""
        self._on_suspend()
        self.restore()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._take_over()
        self._on_resume()

    def restore(self) -> None:
        """Restore the terminal. Also runs at interpreter exit."""
        if self._saved is not None:
            saved, self._saved = self._saved, None
            with contextlib.suppress(termios.error, OSError):  # the terminal may be gone
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, saved)  # type: ignore[arg-type]
            self._say(RESTORE)

    def forget(self) -> None:
        """Discard what was typed so far."""
        self._keys = Keys()
        if self._descriptor >= 0:
            with contextlib.suppress(termios.error):
                termios.tcflush(self._descriptor, termios.TCIFLUSH)

    def _say(self, sequence: str) -> None:
        if sys.stdout is not None and sys.stdout.isatty():
            with contextlib.suppress(OSError):
                os.write(sys.stdout.fileno(), sequence.encode())

    def _readable(self) -> None:
        try:
            data = os.read(self._descriptor, READ_BYTES)
        except OSError:
            data = b""
        if not data:  # the terminal is gone; SIGHUP follows
            asyncio.get_running_loop().remove_reader(self._descriptor)
            return
        self._hand_out(self._keys.feed(data))
        if self._settle is not None:
            self._settle.cancel()
            self._settle = None
        if self._keys.waiting:
            later = asyncio.get_running_loop().call_later
            self._settle = later(ESCAPE_WAIT_S, lambda: self._hand_out(self._keys.settle()))

    def _hand_out(self, keys: list[str]) -> None:
        for key in keys:
            self._on_key(key)
