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
from pathlib import Path
from types import TracebackType
from typing import Any

from quarterdeck.cli.common import sanitize

from .keys import ESCAPE_WAIT_S, Keys
from .surface import RESTORE

READ_BYTES = 65_536
ESCAPE = b"\x1b"
PASTE_MARKS, NO_PASTE_MARKS = "\x1b[?2004h", "\x1b[?2004l"
"""Bracketed paste, so that a pasted newline is not taken for Enter."""


class Keyboard:
    """Reads keys from the terminal; a context manager for as long as we draw.

    Ctrl-C stays a signal. Keys are read only while there is a question (``listening``). Until then they wait in the
    terminal, unseen, and the shell gets them afterwards. Esc is the exception: the terminal ends a line there, so that
    we can read it, with what was typed before it. So does ``escape_key``, another key that means the same if it is the
    only one.

    What we have read and did not use, we put back at the end, or show where the kernel does not allow that.
    """

    def __init__(
        self,
        on_key: Callable[[str], None],
        *,
        on_escape: Callable[[], object] = lambda: None,
        escape_key: str = "",
        on_suspend: Callable[[], None] = lambda: None,
        on_resume: Callable[[], None] = lambda: None,
    ) -> None:
        self._on_key = on_key
        self._on_escape = on_escape
        self._escape_key = escape_key.encode()
        self._on_suspend = on_suspend
        self._on_resume = on_resume
        self._keys = Keys()
        self._settle: asyncio.TimerHandle | None = None
        self._descriptor = -1
        self._saved: list[Any] | None = None
        self._opened = False
        self._listens = False
        self._unused = b""
        """Read, but neither an answer nor Esc alone."""
        self._sequence = b""
        """Esc and the bytes after it."""

    def __enter__(self) -> Keyboard:
        self._open()
        if self._descriptor >= 0:
            self._take_over()
            self._watch(self._line_readable)
            atexit.register(self.restore)
            asyncio.get_running_loop().add_signal_handler(signal.SIGTSTP, self._suspend)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor < 0:
            return
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTSTP)
        self._watch(None)
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
        """Read single keys. Earlier input is set aside; returns True if it does not end with Enter."""
        if self._descriptor < 0:
            yield False
            return
        self._listens = True
        self._watch(self._key_readable)
        self._take_over()
        waiting = self._waiting()
        self._unused += waiting
        self._keys = Keys()
        try:
            yield bool(waiting) and not waiting.endswith((b"\r", b"\n"))
        finally:
            self._listens = False
            self._watch(self._line_readable)
            with contextlib.suppress(termios.error, OSError):  # the terminal may be gone
                self._take_over()

    def _watch(self, readable: Callable[[], None] | None) -> None:
        """Call this when there is something to read. What the former one was waiting for is over."""
        loop = asyncio.get_running_loop()
        if self._settle is not None:
            self._settle.cancel()
            self._settle = None
        self._unused, self._sequence = self._unused + self._sequence, b""
        if readable is None:
            loop.remove_reader(self._descriptor)
        else:
            loop.add_reader(self._descriptor, readable)

    def _take_over(self) -> None:
        """No echo. With a question also no line editing, and Ctrl-S has no effect. Ctrl-C and Ctrl-Z work.

        Without one, lines end with Esc and not with Enter, which stays in the terminal as it is typed.
        """
        if self._saved is None:
            self._saved = termios.tcgetattr(self._descriptor)
        modes: list[Any] = [*self._saved[:6], [*self._saved[6]]]
        modes[0] &= ~termios.ICRNL
        modes[3] &= ~termios.ECHO
        if self._listens:
            modes[0] &= ~termios.IXON
            modes[3] &= ~(termios.ICANON | termios.IEXTEN)
            modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
        else:
            disabled = bytes([os.fpathconf(self._descriptor, "PC_VDISABLE") & 0xFF])
            modes[6][termios.VEOL], modes[6][termios.VEOF] = ESCAPE, disabled
            modes[6][termios.VEOL2] = self._escape_key or disabled
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, modes)
        self._say(PASTE_MARKS if self._listens else NO_PASTE_MARKS)

    def _waiting(self) -> bytes:
        """Input that has not been read, complete lines or not. The terminal is left without line editing."""
        typed = b""
        try:
            modes = termios.tcgetattr(self._descriptor)
            modes[3] &= ~termios.ICANON
            modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
            termios.tcsetattr(self._descriptor, termios.TCSANOW, modes)
        except termios.error:  # the terminal is gone
            return typed
        while select.select([self._descriptor], [], [], 0)[0]:
            piece = self._read()
            if not piece:
                break
            typed += piece
        return typed

    def _may_put_back(self) -> bool:
        """Linux can be configured to refuse it."""
        with contextlib.suppress(OSError):
            return Path("/proc/sys/dev/tty/legacy_tiocsti").read_text().strip() == "1"
        return True

    def _put_back(self) -> None:
        """Return what we have read, and what follows it, to the next reader."""
        unused = self._unused + (self._waiting() if self._may_put_back() else b"")
        self._unused = b""
        if self._saved is None or not unused:
            return
        try:
            modes: list[Any] = [*self._saved]
            modes[3] &= ~termios.ECHO  # what reads it shows it
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, modes)
            for byte in unused:
                fcntl.ioctl(self._descriptor, termios.TIOCSTI, bytes([byte]))
        except (termios.error, OSError):
            shown = sanitize(unused.decode(errors="replace"), one_line=True)
            print(f"  typed while running, not used: {shown}", flush=True)

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

    def _read(self) -> bytes:
        with contextlib.suppress(OSError):
            return os.read(self._descriptor, READ_BYTES)
        return b""

    def _key_readable(self) -> None:
        """There is a question, and a key for it."""
        data = self._read()
        if not data:  # the terminal is gone; SIGHUP follows
            self._watch(None)
            return
        self._hand_out(self._keys.feed(data))
        self._settle_later(self._keys.waiting, lambda: self._hand_out(self._keys.settle()))

    def _line_readable(self) -> None:
        """There is no question, and a line ended with Esc. Other keys also start with Esc, so wait for the rest."""
        data = self._read()
        if not data:
            self._watch(None)
            return
        if self._escape_key and data == self._escape_key:
            self._on_escape()
            return
        if self._sequence:
            self._sequence += data
        else:
            typed, escape, _ = data.partition(ESCAPE)
            self._unused, self._sequence = self._unused + typed, escape
        self._settle_later(bool(self._sequence), self._escape_settled)

    def _escape_settled(self) -> None:
        sequence, self._sequence = self._sequence + self._waiting(), b""
        with contextlib.suppress(termios.error, OSError):  # the terminal may be gone
            self._take_over()
        self._unused += sequence.removesuffix(ESCAPE)
        if sequence.endswith(ESCAPE):
            self._on_escape()

    def _settle_later(self, wanted: bool, settle: Callable[[], None]) -> None:
        if self._settle is not None:
            self._settle.cancel()
        self._settle = asyncio.get_running_loop().call_later(ESCAPE_WAIT_S, settle) if wanted else None

    def _hand_out(self, keys: list[str]) -> None:
        for key in keys:
            self._on_key(key)
