"""The keyboard: keys are read one by one, without echo, and the terminal is restored whatever happens."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import fcntl
import os
import select
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from quarterdeck.cli.common import sanitize

from .keys import ESCAPE_WAIT_S, Keys
from .surface import RESTORE

READ_BYTES = 65_536
PASTE_MARKS, NO_PASTE_MARKS = "\x1b[?2004h", "\x1b[?2004l"
"""Bracketed paste, so that a pasted newline is not taken for Enter."""


class Keyboard:
    """Reads keys from the terminal; a context manager for as long as we draw.

    Ctrl-C stays a signal. Keys are read only while there is a question (``listening``). Until then they wait in the
    terminal, unseen, and the shell gets them afterwards. What was typed before a question does not answer it: it is put
    back at the end, or shown where the kernel does not allow that.
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
        self._saved: list[Any] | None = None
        self._opened = False
        self._listens = False
        self._early = b""
        """Typed before a question."""

    def __enter__(self) -> Keyboard:
        self._open()
        if self._descriptor >= 0:
            self._take_over()
            atexit.register(self.restore)
            asyncio.get_running_loop().add_signal_handler(signal.SIGTSTP, self._suspend)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor < 0:
            return
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTSTP)
        self._put_back()
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

    @contextlib.contextmanager
    def listening(self) -> Iterator[bool]:
        """Read keys one by one. What was typed so far is set aside; True if that does not end with Enter."""
        if self._descriptor < 0:
            yield False
            return
        loop = asyncio.get_running_loop()
        self._listens = True
        self._take_over()
        waiting = self._waiting()
        self._early += waiting
        self._keys = Keys()
        loop.add_reader(self._descriptor, self._readable)
        try:
            yield bool(waiting) and not waiting.endswith((b"\r", b"\n"))
        finally:
            loop.remove_reader(self._descriptor)
            if self._settle is not None:
                self._settle.cancel()
                self._settle = None
            self._listens = False
            with contextlib.suppress(termios.error, OSError):  # the terminal may be gone
                self._take_over()

    def _take_over(self) -> None:
        """No echo. With a question also no line editing, and Ctrl-S has no effect. Ctrl-C and Ctrl-Z work."""
        if self._saved is None:
            self._saved = termios.tcgetattr(self._descriptor)
        modes: list[Any] = [*self._saved[:6], [*self._saved[6]]]
        modes[3] &= ~termios.ECHO
        if self._listens:
            modes[0] &= ~(termios.IXON | termios.ICRNL)
            modes[3] &= ~(termios.ICANON | termios.IEXTEN)
            modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, modes)
        self._say(PASTE_MARKS if self._listens else NO_PASTE_MARKS)

    def _waiting(self) -> bytes:
        """What was typed and not read yet."""
        typed = b""
        while select.select([self._descriptor], [], [], 0)[0]:
            try:
                piece = os.read(self._descriptor, READ_BYTES)
            except OSError:
                break
            if not piece:
                break
            typed += piece
        return typed

    def _put_back(self) -> None:
        """Give what was typed before a question to whoever reads next."""
        early, self._early = self._early, b""
        try:
            for byte in early:
                fcntl.ioctl(self._descriptor, termios.TIOCSTI, bytes([byte]))
        except OSError:  # Linux can be told to refuse this, as other systems do
            shown = sanitize(early.decode(errors="replace"), one_line=True)
            if shown:
                print(f"  typed before a question, not used: {shown}", flush=True)

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
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, saved)
            self._say(RESTORE)

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
