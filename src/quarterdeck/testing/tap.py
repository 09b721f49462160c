"""The tap: sits between a host and a CLI, in place of the CLI, and records the traffic.

Three threads move bytes with plain blocking reads and writes (so back-pressure is that of the pipes), the main thread
waits for signals and for the child, and a forked process writes the recording. Nothing here interprets the bytes.

The host sees the child: its bytes, its end-of-files, its exit code or the signal that killed it. Signals sent to the
tap are forwarded to the child. When the tap itself is killed, the recorder kills the child, because that was the
intent.

Starting must be cheap, so this module imports little: no asyncio, no msgspec, and json only in the recorder.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time

from .tap_spool import CLOSE_LIMIT_S, TapSpool

READ_SIZE = 64 * 1024
"""What a Linux pipe holds."""
FORWARDED = frozenset(
    {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH}
)
SENT_BY_KERNEL = 0x80
"""``si_code`` of a signal from the terminal: the whole group already has it."""
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
"""Python ignores these, and a child would inherit that."""
LEFT_OPEN_S = 0.1
"""How long to wait in silence when the child is gone but a process it started still holds its output open."""
SWITCH_S = 0.0001
"""How long a thread that moves bytes waits for the spooling thread to release the interpreter."""
NOT_FOUND, NOT_EXECUTABLE = 127, 126
PROBES = frozenset({"-v", "--version", "-h", "--help"})
"""SDKs ask for the version before they start a conversation; that is passed on and not recorded."""


def run(command: list[str], *, out: str, redact: bool = False, patterns: tuple[str, ...] = ()) -> int:
    """Run the command and record it in ``out``. Returns its exit code; if a signal killed it, dies by it too."""
    if PROBES.intersection(command[1:]):
        return _become(command)
    _open_missing_descriptors()
    # Before any thread exists: each would inherit the mask, and take signals that the main thread waits for
    before = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED | {signal.SIGCHLD})
    signal.signal(signal.SIGCHLD, lambda *_: None)  # a parent may have left it ignored, and then nobody can wait
    recorder = _start_recorder(command, out, redact, patterns)
    try:
        child = _Child(command, before)
    except OSError as error:
        code = _cannot_start(command, error)
        recorder.finish(code)
        return code
    recorder.started(child.pid)
    sys.setswitchinterval(SWITCH_S)
    outputs = [_Pump(b"o", child.stdout, 1, recorder), _Pump(b"e", child.stderr, 2, recorder)]
    for pump in (_Pump(b"i", 0, child.stdin, recorder), *outputs):
        pump.start()
    returncode = _wait(child.pid)
    for pump in outputs:
        pump.drain()
    _forget_output()
    if trouble := recorder.finish(returncode):
        _complain(f"the recording {out} is incomplete: {trouble}")
    return _die_alike(returncode)


class _Child:
    def __init__(self, command: list[str], signal_mask: set[int]) -> None:
        theirs_in, self.stdin = os.pipe()
        self.stdout, theirs_out = os.pipe()
        self.stderr, theirs_err = os.pipe()
        try:
            self.pid = os.posix_spawnp(
                command[0],
                command,
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, end, n) for n, end in enumerate((theirs_in, theirs_out, theirs_err))
                ],
                setsigmask=signal_mask,
                setsigdef=IGNORED_BY_PYTHON,
            )
        finally:
            for end in (theirs_in, theirs_out, theirs_err):
                os.close(end)


class _Pump(threading.Thread):
    """One direction: bytes, end-of-file, and the news that the reader is gone."""

    def __init__(self, kind: bytes, source: int, target: int, recorder: _Recorder) -> None:
        super().__init__(daemon=True)
        self._kind = kind
        self._source = source
        self._target = target
        self._recorder = recorder
        self._writing = False
        self._open = True
        self._closing = threading.Lock()

    def run(self) -> None:
        poller = select.poll()
        poller.register(self._source, select.POLLIN)
        poller.register(self._target, 0)  # only: the reader is gone
        source, target, kind, put = self._source, self._target, self._kind, self._recorder.put
        while True:
            if any(fd == target for fd, _ in poller.poll()):
                break
            try:
                data = os.read(source, READ_SIZE)
            except BlockingIOError:
                continue
            except OSError:  # a socket that was reset
                data = b""
            put(kind, data)  # first: whatever this causes must come later in the recording
            if not data:
                break
            self._writing = True
            if not _write_all(target, data):
                break
            self._writing = False
        self._writing = False
        with self._closing:
            self._open = False
            _let_go(source)
            _let_go(target)

    def drain(self) -> None:
        """The child is gone: wait for the rest of its output, as long as the host takes to read it."""
        quiet_since = time.monotonic()
        while self.is_alive() and time.monotonic() - quiet_since < LEFT_OPEN_S:
            self.join(LEFT_OPEN_S / 4)
            if self._writing or self._has_more():
                quiet_since = time.monotonic()

    def _has_more(self) -> bool:
        with self._closing:
            return self._open and bool(select.select([self._source], [], [], 0)[0])


class _Recorder:
    """The process that writes the recording, seen from the tap. Without a spool there is only the reason."""

    def __init__(self, spool: TapSpool | None, report: int, trouble: str = "") -> None:
        self._spool = spool
        self._report = report
        self._trouble = trouble
        if spool is not None:
            spool.start_writing()
        self.put = spool.put if spool is not None else lambda kind, data: None

    def started(self, pid: int) -> None:
        if self._spool is not None:
            self._spool.counters["child"] = pid

    def finish(self, returncode: int) -> str:
        """Let it finish, for a bounded time (then it continues alone). Returns what it could not record."""
        if self._spool is None:
            return self._trouble
        counters = self._spool.counters
        counters["code"], counters["signal"] = (returncode, 0) if returncode >= 0 else (-1, -returncode)
        self._spool.close()
        said, deadline = b"", time.monotonic() + CLOSE_LIMIT_S
        while select.select([self._report], [], [], max(0.0, deadline - time.monotonic()))[0]:
            more = os.read(self._report, 4096)
            said += more
            if not more:
                return "" if said == b"ok" else said.decode() or "its writer was killed"
        return ""


def _start_recorder(command: list[str], out: str, redact: bool, patterns: tuple[str, ...]) -> _Recorder:
    """Fork before there are threads, and before the child: so it can see the end of everything."""
    try:
        spool = TapSpool()
        report, says = os.pipe()
        pid = os.fork()
    except OSError as error:
        return _Recorder(None, -1, error.strerror or str(error))
    if pid == 0:
        try:
            os.nice(19)  # the CLI is starting in parallel, and someone waits for it
            os.setsid()  # a signal for our group is for the conversation; the recording of its end is still to come
            os.close(report)
            nothing = os.open(os.devnull, os.O_RDWR)
            for descriptor in range(3):  # held open here, they would hide the end-of-file from the host
                os.dup2(nothing, descriptor)
            from .tap_recorder import record

            record(spool, command, out, redact=redact, patterns=patterns, report=says)
        except Exception as error:  # noqa: BLE001  # whatever it is: the tap tells it
            os.write(says, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(says)
    return _Recorder(spool, report)


def _wait(pid: int) -> int:
    """Wait for the child to end, forwarding signals; its return code, negative for a signal."""
    awaited = FORWARDED | {signal.SIGCHLD}
    while True:
        number, from_terminal = _next_signal(awaited)
        if number == signal.SIGCHLD:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done == pid:
                return os.waitstatus_to_exitcode(status)
        elif not from_terminal:
            os.kill(pid, number)  # not waited for yet, so the number is still its own


def _next_signal(awaited: frozenset[int] | set[int]) -> tuple[int, bool]:
    if sys.platform == "darwin":
        return signal.sigwait(awaited), False
    info = signal.sigwaitinfo(awaited)
    return info.si_signo, info.si_code == SENT_BY_KERNEL


def _write_all(target: int, data: bytes) -> bool:
    """False when the reader is gone."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(target, rest) :]
        except BlockingIOError:  # the host gave us a descriptor that does not block
            select.select([], [target], [])
        except OSError:
            return False
    return True


def _let_go(descriptor: int) -> None:
    """Close; but 0 and 1 keep their numbers, or the next file opened would get them. 2 is kept, to complain."""
    if descriptor > 2:
        os.close(descriptor)
    elif descriptor < 2:
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, descriptor)
        os.close(nothing)


def _forget_output() -> None:
    """Let the host see the end of the output now, even if something the child started still holds the pipe."""
    _let_go(1)


def _open_missing_descriptors() -> None:
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one


def _become(command: list[str]) -> int:
    for number in IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606  # the command is what the user gave
    except OSError as error:
        return _cannot_start(command, error)


def _cannot_start(command: list[str], error: OSError) -> int:
    """What a shell would say and return."""
    _complain(f"cannot start {command[0]}: {error.strerror}")
    return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE


def _die_alike(returncode: int) -> int:
    if returncode >= 0:
        return returncode
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one dump, the child's, is enough
    number = -returncode
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    return 128 + number


def _complain(text: str) -> None:
    _write_all(2, f"quarterdeck tap: {text}\n".encode())
