"""The recorder: a process next to the tap that turns spooled bytes into a recording, at its own pace."""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from quarterdeck._version import __version__

from . import simulated
from .recording import Direction, Entry, Header, Trailer, end_line, entry_line, header_line
from .redaction import Redactor, is_secret_name
from .tap_spool import KINDS, TapSpool

IDLE_S = 0.2
"""A line that stays incomplete for this long is written as far as it came."""
PIECE_BYTES = 1024 * 1024
"""A line longer than this is written in pieces."""
KEPT_BYTES = 4096
"""With redaction, the end of a piece waits for more: a secret up to this long is found wherever the cut falls."""
SHOWN_VARIABLES = ("CLAUDE", "ANTHROPIC_", "DISABLE_", "MCP_", *simulated.VARIABLES)
IGNORED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE)


def record(spool: TapSpool, argv: list[str], out: str, *, redact: bool, patterns: tuple[str, ...], report: int) -> None:
    """Record until the tap is done or dead. The trailer and ``report`` say what could not be recorded."""
    for number in IGNORED:  # the end of the conversation ends this process, and nothing else
        signal.signal(number, signal.SIG_IGN)
    redactor = Redactor(patterns=patterns, environment=os.environ) if redact else None
    file = _RecordingFile(out)
    file.write(header_line(_header(argv, redactor, time.monotonic() - spool.start)))
    assemblers: dict[bytes, _Assembler] = {kind: _Assembler(name, redactor) for kind, name in KINDS.items()}  # type: ignore[arg-type]  # the names are the directions
    for chunk in spool.chunks(IDLE_S, orphaned=_kill):
        if chunk is None:
            lines = [entry for assembler in assemblers.values() for entry in assembler.idle()]
        else:
            t, kind, data = chunk
            lines = assemblers[kind].feed(t - spool.start, data)
        if lines:
            file.write(b"".join(map(entry_line, lines)))
    end = _end(spool, time.monotonic() - spool.start, file.trouble)
    rest = [entry for assembler in assemblers.values() for entry in assembler.finish()]
    file.write(b"".join(map(entry_line, rest)))
    file.finish(end)
    os.write(report, "; ".join(end.trouble or file.trouble).encode() or b"ok")


class _Assembler:
    """Chunks of one direction to lines, or to pieces of long ones."""

    def __init__(self, direction: Direction, redactor: Redactor | None) -> None:
        self._direction = direction
        self._redactor = redactor
        self._pending = b""
        self._t = 0.0

    def feed(self, t: float, data: bytes) -> list[Entry]:
        if not data:
            return [*self.finish(), Entry(t, self._direction, b"", eof=True)]
        self._t = t
        *lines, self._pending = (self._pending + data).split(b"\n") if self._pending else data.split(b"\n")
        entries = [self._entry(line) for line in lines]
        if len(self._pending) >= PIECE_BYTES:
            entries.append(self._piece())
        return entries

    def idle(self) -> list[Entry]:
        """Nothing came for some time. With redaction a torn line keeps waiting: its secret may be torn, too."""
        return [] if self._redactor else self.finish()

    def finish(self) -> list[Entry]:
        pending, self._pending = self._pending, b""
        return [self._entry(pending, newline=False)] if pending else []

    def _piece(self) -> Entry:
        cut = len(self._pending)
        if self._redactor is not None:
            cut = self._redactor.safe_cut(self._pending, cut - KEPT_BYTES) or cut
        cut = _character_border(self._pending, cut)
        piece, self._pending = self._pending[:cut], self._pending[cut:]
        return self._entry(piece, newline=False)

    def _entry(self, line: bytes, *, newline: bool = True) -> Entry:
        redactions = 0
        if self._redactor is not None:
            line, redactions = self._redactor.redact(line)
        return Entry(self._t, self._direction, line, newline, redactions=redactions)


class _RecordingFile:
    """The file, or the reason why there is none. Trouble ends the recording, and nothing else."""

    def __init__(self, out: str) -> None:
        self.trouble: list[str] = []
        self._size = 0
        self._file = -1
        try:
            self._file = _open(out)
        except OSError as error:
            self._give_up(error)

    def write(self, data: bytes) -> None:
        if not self.trouble:
            self._append(data)

    def finish(self, end: Trailer) -> None:
        if self._file >= 0:
            self._append(end_line(end))
            os.close(self._file)

    def _append(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
            self._size += len(data)
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        where = f"{error.filename}: " if error.filename else ""
        self.trouble.append(where + (error.strerror or str(error)))
        if self._file >= 0:
            _truncate(self._file, self._size)  # no half lines


def _open(out: str) -> int:
    """The file to write, locked; where another tap is still writing it, the same name with a number."""
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    named = Path(out.replace("{pid}", str(os.getppid())).replace("{time}", now))
    named.parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        path = named if number == 1 else named.with_name(f"{named.stem}-{number}{named.suffix}")
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            number += 1
            continue
        _truncate(file, 0)
        return file


def _truncate(file: int, size: int) -> None:
    if stat.S_ISREG(os.fstat(file).st_mode):  # and not a device or a pipe
        os.ftruncate(file, size)


def _header(argv: list[str], redactor: Redactor | None, age_s: float) -> Header:
    env = {
        name: "[redacted]" if is_secret_name(name) else value
        for name, value in sorted(os.environ.items())
        if name.startswith(SHOWN_VARIABLES)
    }
    if redactor is not None:
        argv = [word.decode(errors="replace") for word in redactor.redact_words(map(os.fsencode, argv))[0]]
    started = (datetime.now(UTC) - timedelta(seconds=age_s)).isoformat(timespec="milliseconds")
    return Header(
        argv=argv, env=env, started=started, recorder=f"quarterdeck tap {__version__}", redacted=redactor is not None
    )


def _end(spool: TapSpool, t: float, trouble: list[str]) -> Trailer:
    counters = spool.counters
    trouble = list(trouble)
    if lost := counters["lost"]:
        why = os.strerror(counters["errno"]) if counters["errno"] else "the recorder could not keep up"
        trouble.append(f"{lost} bytes were not recorded: {why}")
    if not counters["ended"]:
        trouble.append("the tap was killed")
        return Trailer(t, None, None, trouble)
    number, code = counters["signal"], counters["code"]
    return Trailer(t, None if code < 0 else code, signal.Signals(number).name if number else None, trouble)


def _kill(pid: int) -> None:
    """Whoever killed the tap wanted to kill the CLI."""
    if pid > 0:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return  # it has seen the end of its input, and was faster


def _character_border(data: bytes, at: int) -> int:
    """The last place up to ``at`` that is not inside a UTF-8 character, so that both sides stay readable."""
    for back in range(1, min(4, at + 1)):
        byte = data[at - back]
        if byte >= 0xC0:  # a character begins here
            width = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return at - back if width > back else at
        if byte < 0x80:
            break
    return at
