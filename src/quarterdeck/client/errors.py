"""Every error of the client, as one tree grouped by what the caller can do.

::

    QuarterdeckError (= ClaudeSDKError)
    ├── CLIConnectionError            fix what the message says, then start again
    │   ├── CLINotFoundError          install the CLI, or say where it is
    │   ├── CLITooOld                 update the CLI
    │   ├── StartFailed               the operating system refused to start it
    │   ├── TransportClosed           the session is over: connect again, with resume to keep the conversation
    │   └── WriteOverflow             the CLI does not read
    ├── ProcessError
    │   ├── ProcessExited             the CLI ended in the middle: connect again with resume
    │   └── ResultError               the CLI ran and reports a failure: see its attributes
    ├── ControlError                  the CLI refused a control request: ``code`` says why
    │   └── ControlTimeout            it did not answer in time (old CLIs ignore what they do not know)
    ├── LocalProtocolError            the program asked for something impossible at this point
    ├── Aborted                       the program ended it itself
    ├── RetryRefused                  a turn failed after tools had run (in ``retry``): look at what they did
    ├── CLIJSONDecodeError            never raised here (bad lines are ``BadLine`` messages); for ``except`` clauses
    └── MessageParseError             never raised here (odd messages are ``UnknownMessage``); likewise
"""

from __future__ import annotations

from typing import Any

from quarterdeck._errors import QuarterdeckError
from quarterdeck.protocol import LocalProtocolError
from quarterdeck.transport.errors import (
    ClaudeSDKError,
    CLIConnectionError,
    CLINotFoundError,
    ProcessError,
    ProcessExited,
    StartFailed,
    TransportClosed,
    WriteOverflow,
)
from quarterdeck.wire.result import ResultMessage

__all__ = [
    "Aborted",
    "CLIConnectionError",
    "CLIJSONDecodeError",
    "CLINotFoundError",
    "CLITooOld",
    "ClaudeSDKError",
    "ControlError",
    "ControlTimeout",
    "LocalProtocolError",
    "MessageParseError",
    "ProcessError",
    "ProcessExited",
    "QuarterdeckError",
    "ResultError",
    "StartFailed",
    "TransportClosed",
    "WriteOverflow",
]


class CLITooOld(CLIConnectionError):  # noqa: N818  # says what happened
    """The CLI lacks something the options ask for."""


class ControlError(QuarterdeckError):
    """The CLI answered a control request with an error.

    ``subtype`` is the request's, ``code`` the CLI's word for the kind of error where it gives one (2.1.325:
    ``unsupported_request``, ``invalid_mode``, ``bypass_not_launched`` …), ``session_id`` the session.
    """

    def __init__(self, subtype: str, error: str, code: str | None = None, session_id: str | None = None) -> None:
        super().__init__(subtype, error, code, session_id)
        self.subtype = subtype
        self.error = error
        self.code = code
        self.session_id = session_id
        self.add_note(self._circumstances())

    def __str__(self) -> str:
        """The CLI's text alone, as in the official SDK; a traceback shows the circumstances below it."""
        return self.error

    def _circumstances(self) -> str:
        kind = f" [{self.code}]" if self.code else ""
        return f"Claude Code refused {self.subtype}{kind}{self._where()}."

    def _where(self) -> str:
        return f" in session {self.session_id}" if self.session_id else ""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.subtype, self.error, self.code, self.session_id)


class ControlTimeout(ControlError):  # noqa: N818  # says what happened
    """The CLI did not answer a control request in time. CLIs older than 2.1.52 ignore requests they do not know."""

    def __str__(self) -> str:
        return f"Control request timeout: {self.subtype}"

    def _circumstances(self) -> str:
        advice = "Give it more time (timeout_s), or update a CLI that may not know the request."
        return f"{self.error}{self._where()}. {advice}"


class ResultError(ProcessError):
    """The CLI reported a failed run in its ``result`` message: turn or budget limit, API failure, refused start."""

    def __init__(self, message: str, data: dict[str, Any] | None = None, exit_code: int | None = None) -> None:
        self.data = data if isinstance(data, dict) else {}
        self.subtype: str | None = self._text("subtype")
        self.result: str | None = self._text("result")
        self.terminal_reason: str | None = self._text("terminal_reason")
        self.session_id: str | None = self._text("session_id")
        status = self.data.get("api_error_status")
        self.api_error_status: int | None = status if isinstance(status, int) else None
        errors = self.data.get("errors")
        listed = [errors] if isinstance(errors, str) else errors if isinstance(errors, list) else []
        self.errors: list[str] = [text.strip() for text in listed if isinstance(text, str) and text.strip()]
        super().__init__(message, exit_code=exit_code)

    def _text(self, key: str) -> str | None:
        value = self.data.get(key)
        return value if isinstance(value, str) else None

    @classmethod
    def of(cls, result: ResultMessage, exit_code: int | None = None) -> ResultError:
        """The error for an error result. API failures come as ``success`` with ``is_error`` (2.0.77 to 2.1.325)."""
        error = cls("", result.data, exit_code)
        status = error.api_error_status
        said = "; ".join(error.errors) or (error.result or "").strip()
        said = said or (result.subtype if result.subtype != "success" else "")
        said = said or ("unknown error" if status is None else f"API error (HTTP {status})")
        return cls(f"Claude Code returned an error result: {said}", result.data, exit_code)


class Aborted(QuarterdeckError):  # noqa: N818  # says what happened
    """The program ended the session while something was still waiting for it."""


class JournalError(QuarterdeckError):
    """A required reader of the session's journal failed, so the session was ended: nothing may happen unrecorded."""


class CLIJSONDecodeError(QuarterdeckError):
    """A line was not JSON. Here such lines are ``BadLine`` messages; the class exists for ``except`` clauses."""

    def __init__(self, line: str, original_error: Exception) -> None:
        self.line = line
        self.original_error = original_error
        super().__init__(f"Failed to decode JSON: {line[:100]}...")


class MessageParseError(QuarterdeckError):
    """A message was malformed. Here such messages are ``UnknownMessage``; the class exists for ``except`` clauses."""

    def __init__(self, message: str, data: dict[str, Any] | None = None) -> None:
        self.data = data
        super().__init__(message)
