"""Starts a process with three pipes in its own session, or raises an error that says why it can't."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .capabilities import Capabilities
from .errors import CLINotFoundError, StartFailed

PR_SET_PDEATHSIG = 1
ADOPTED = -1


class ChildCommand(NamedTuple):
    """What to run, where, and as whom."""

    argv: Sequence[str]
    cwd: str | os.PathLike[str] | None = None
    env: Mapping[str, str] | None = None
    user: str | int | None = None


class Child:
    """A running process and our ends of its pipes: raw descriptors with one owner each."""

    __slots__ = ("process", "stderr", "stdin", "stdout")

    def __init__(self, process: subprocess.Popen[bytes], stdin: int, stdout: int, stderr: int) -> None:
        self.process = process
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr

    def close_descriptors(self) -> None:
        """Close the descriptors that nobody has adopted."""
        for descriptor in (self.stdin, self.stdout, self.stderr):
            if descriptor != ADOPTED:
                os.close(descriptor)


def spawn(command: ChildCommand, env: Mapping[str, str], capabilities: Capabilities) -> Child:
    """Start a process. If it raises ``CLINotFoundError`` or ``StartFailed``, nothing stays open."""
    _check_directory(command)
    with contextlib.ExitStack() as on_failure, contextlib.ExitStack() as theirs:
        child_stdin, stdin = _pipe(theirs, on_failure)
        stdout, child_stdout = _pipe(on_failure, theirs)
        stderr, child_stderr = _pipe(on_failure, theirs)
        options: dict[str, Any] = {"user": command.user} if command.user is not None else {}
        try:
            process = subprocess.Popen(
                list(command.argv),
                stdin=child_stdin,
                stdout=child_stdout,
                stderr=child_stderr,
                cwd=command.cwd,
                env=dict(env),
                preexec_fn=_parent_death_signal(capabilities),
                **_separation(capabilities),
                **options,
            )
        except (OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
            raise _explain(command, error, env) from error
        on_failure.pop_all()
    return Child(process, stdin, stdout, stderr)


def _pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    read_end, write_end = os.pipe()
    reader.callback(os.close, read_end)
    writer.callback(os.close, write_end)
    return read_end, write_end


def _check_directory(command: ChildCommand) -> None:
    if command.cwd is not None and not Path(command.cwd).is_dir():
        what = "is not a directory" if Path(command.cwd).exists() else "does not exist"
        raise StartFailed(f"Working directory {what}: {os.fspath(command.cwd)}. Create it or pass another cwd.")


def _separation(capabilities: Capabilities) -> dict[str, Any]:
    """A process group of its own: Ctrl-C in the terminal doesn't reach it, and we can end it as a whole."""
    if capabilities.process_groups:
        return {"start_new_session": True}
    return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}


def _parent_death_signal(capabilities: Capabilities) -> Callable[[], None] | None:
    """Fallback on Linux without a shell for the watchdog. Otherwise nothing runs between fork and exec."""
    if capabilities.posix_shell or not sys.platform.startswith("linux"):
        return None
    import ctypes

    prctl = ctypes.CDLL(None).prctl  # loaded before the fork: after it only the call itself is safe
    parent = os.getpid()

    def arrange() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before it could be watched
            os.kill(os.getpid(), signal.SIGKILL)

    return arrange


def _explain(command: ChildCommand, error: Exception, env: Mapping[str, str]) -> CLINotFoundError | StartFailed:
    program = command.argv[0] if command.argv else ""
    number = getattr(error, "errno", None)
    if number == errno.ENOENT:
        if not Path(program).exists():
            return CLINotFoundError("Claude Code not found: no executable at", cli_path=program)
        return StartFailed(
            "the file exists, but its interpreter does not (the one in its first line, or the loader for a binary "
            "built with another C library). Reinstall Claude Code for this system.",
            program,
        )
    if number == errno.E2BIG:
        size = sum(len(os.fsencode(word)) + 1 for word in (*command.argv, *env, *env.values()))
        return StartFailed(
            f"arguments and environment are too long for the operating system ({size} bytes in all; Linux also refuses "
            "a single one over 128 KiB). Pass large values in files, and check for a very large environment variable.",
            program,
        )
    if number in (errno.EACCES, errno.EPERM):
        return StartFailed(f"{error}. Check that the file is executable, and check the user and cwd options.", program)
    if number == errno.ENOEXEC:
        return StartFailed("it is not an executable for this system. Point cli_path at the claude executable.", program)
    return StartFailed(f"{error}. Fix this and try again.", program)
