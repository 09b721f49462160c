"""Errors between us and the process.

::

    QuarterdeckError (= ClaudeSDKError)
    ├── CLIConnectionError          there is no usable process
    │   ├── CLINotFoundError        … because no CLI was found              (= CliNotFound)
    │   ├── StartFailed             … because the operating system refused to start it
    │   ├── TransportClosed         … because it was closed, or has ended
    │   └── WriteOverflow           … because it does not read what we send
        └── ProcessError                the process failed
                └── ProcessExited           … with this code or signal, and this stderr

Errors that the official SDK also has keep its names, arguments and attributes.
"""

from __future__ import annotations

import signal as signals
from typing import Any

from quarterdeck._errors import QuarterdeckError

__all__ = [
    "CLIConnectionError",
    "CLINotFoundError",
    "ClaudeSDKError",
    "CliNotFound",
    "ProcessError",
    "ProcessExited",
    "QuarterdeckError",
    "StartFailed",
    "TransportClosed",
    "WriteOverflow",
    "describe_exit",
]

ClaudeSDKError = QuarterdeckError


class CLIConnectionError(QuarterdeckError):
    """There is no usable Claude Code process to talk to."""


class CLINotFoundError(CLIConnectionError):
    """No Claude Code CLI was found."""

    def __init__(self, message: str = "Claude Code not found", cli_path: str | None = None) -> None:
        self.cli_path = cli_path
        super().__init__(f"{message}: {cli_path}" if cli_path else message)


CliNotFound = CLINotFoundError


class StartFailed(CLIConnectionError):  # noqa: N818  # says what happened
    """The operating system refused to start the CLI."""

    def __init__(self, reason: str, cli_path: str | None = None) -> None:
        self.reason = reason
        self.cli_path = cli_path
        super().__init__(f"Could not start {cli_path}: {reason}" if cli_path else reason)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.cli_path), self.__dict__


class TransportClosed(CLIConnectionError):  # noqa: N818  # says what happened
    """The process accepts no more input: it was closed, or it has ended."""


class WriteOverflow(CLIConnectionError):  # noqa: N818  # says what happened
    """Too many bytes are waiting for the process to read them."""


class ProcessError(QuarterdeckError):
    """The process failed."""

    def __init__(self, message: str, exit_code: int | None = None, stderr: str | None = None) -> None:
        self.exit_code = exit_code
        self.stderr = stderr
        if exit_code is not None:
            message = f"{message} (exit code: {exit_code})"
        if stderr:
            message = f"{message}\nError output: {stderr}"
        super().__init__(message)


class ProcessExited(ProcessError):  # noqa: N818  # says what happened
    """The process ended while it was still needed.

    ``exit_code`` is negative for a signal, as in :mod:`subprocess` and as the official SDK reports it; ``code`` and
    ``signal`` tell them apart.
    """

    def __init__(self, code: int | None = None, signal: int | None = None, stderr: str | None = None) -> None:
        self.code = code
        self.signal = signal
        self.exit_code = -signal if signal is not None else code
        self.stderr = stderr
        number = "" if self.exit_code is None else f" (exit code: {self.exit_code})"
        text = f"Claude Code {describe_exit(code, signal)} before it was done{number}. {_advice(signal)}"
        Exception.__init__(self, f"{text}\nError output: {stderr}" if stderr else text)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.signal, self.stderr), self.__dict__


def describe_exit(code: int | None, signal: int | None) -> str:
    """Describe how a process ended, as part of a sentence."""
    if signal is not None:
        return f"was terminated by {_signal_name(signal)}"
    return "ended with an unknown exit code" if code is None else f"exited with code {code}"


def _signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _advice(signal: int | None) -> str:
    if signal is None:
        return "See its error output for the reason. Start a new session, with resume to keep the conversation."
    return (
        "Something outside killed it (SIGKILL often means that the system ran out of memory). Start a new session, "
        "with resume to keep the conversation."
    )
