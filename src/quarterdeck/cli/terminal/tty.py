"""The terminal while it is ours: keys come one by one and unseen, and it is given back whatever happens."""

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
"""The terminal brackets what is pasted, so that a pasted newline is not taken for Enter."""


class Keyboard:
    """Reads keys from a terminal, as an (async) context manager around all the time that we draw on it.

    Ctrl-C stays a signal. What is typed while nobody asks is thrown away: a key meant for something else must not
    answer a question that has just appeared.
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
        """Standard input, or the terminal itself where the prompt comes through a pipe."""
        if sys.stdin is not None and sys.stdin.isatty():
            self._descriptor = sys.stdin.fileno()
            return
        with contextlib.suppress(OSError):
            self._descriptor, self._opened = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY), True

    def _take_over(self) -> None:
        """No echo, no line editing; Ctrl-C and Ctrl-Z work, Ctrl-S does not stop us."""
        if self._saved is None:
            self._saved = termios.tcgetattr(self._descriptor)
        modes = termios.tcgetattr(self._descriptor)
        modes[0] &= ~(termios.IXON | termios.ICRNL)
        modes[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
        modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, modes)
        self._say(PASTE_MARKS)

    def _suspend(self) -> None:
        """Ctrl-Z: the shell gets its terminal back, and in the foreground again we take it anew."""
        self._on_suspend()
        self.restore()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._take_over()
        self._on_resume()

    def restore(self) -> None:
        """As it was. Also called at the end of the interpreter, if nothing else was."""
        if self._saved is not None:
            saved, self._saved = self._saved, None
            with contextlib.suppress(termios.error, OSError):  # the terminal may be gone
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, saved)  # type: ignore[arg-type]
            self._say(RESTORE)

    def forget(self) -> None:
        """Drop what was typed so far."""
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
        if not data:  # the terminal is gone; SIGHUP tells the rest
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
