"""Each error carries what the official SDK's carries, says what to do, and survives pickling."""

from __future__ import annotations

import pickle

import pytest

from quarterdeck.transport import (
    ClaudeSDKError,
    CLIConnectionError,
    CliNotFound,
    CLINotFoundError,
    ExitStatus,
    ProcessError,
    ProcessExited,
    QuarterdeckError,
    StartFailed,
    TransportClosed,
    WriteOverflow,
)


def test_the_tree_is_the_official_one_with_branches_of_our_own() -> None:
    assert ClaudeSDKError is QuarterdeckError
    assert CliNotFound is CLINotFoundError
    assert {
        kind.__name__: kind.__base__ for kind in (CLINotFoundError, StartFailed, TransportClosed, WriteOverflow)
    } == {
        "CLINotFoundError": CLIConnectionError,
        "StartFailed": CLIConnectionError,
        "TransportClosed": CLIConnectionError,
        "WriteOverflow": CLIConnectionError,
    }
    assert (CLIConnectionError.__base__, ProcessError.__base__) == (QuarterdeckError, QuarterdeckError)
    assert ProcessExited.__base__ is ProcessError


@pytest.mark.parametrize(
    ("error", "text", "attributes"),
    [
        (CLINotFoundError(), "Claude Code not found", {"cli_path": None}),
        (CLINotFoundError("Not there", "/x"), "Not there: /x", {"cli_path": "/x"}),
        (
            ProcessError("Failed", 2, "why"),
            "Failed (exit code: 2)\nError output: why",
            {"exit_code": 2, "stderr": "why"},
        ),
        (ProcessError("Failed"), "Failed", {"exit_code": None, "stderr": None}),
        (StartFailed("no", "/x"), "Could not start /x: no", {"reason": "no", "cli_path": "/x"}),
    ],
)
def test_messages_and_attributes(error: Exception, text: str, attributes: dict[str, object]) -> None:
    assert (str(error), vars(error)) == (text, attributes)


@pytest.mark.parametrize(
    ("returncode", "status", "said"),
    [
        (0, ExitStatus(code=0), "exited with code 0"),
        (1, ExitStatus(code=1), "exited with code 1"),
        (-9, ExitStatus(signal=9), "was terminated by SIGKILL"),
        (-99, ExitStatus(signal=99), "was terminated by signal 99"),
    ],
)
def test_an_exit_status_is_told_as_code_or_signal(returncode: int, status: ExitStatus, said: str) -> None:
    assert ExitStatus.from_returncode(returncode) == status
    assert (status.returncode, str(status)) == (returncode, said)
    error = status.error("last words")
    assert (error.exit_code, error.code, error.signal, error.stderr) == (
        returncode,
        status.code,
        status.signal,
        "last words",
    )
    assert said in str(error)
    assert "Start a new session" in str(error)
    assert str(error).endswith("\nError output: last words")


def test_an_exit_that_could_not_be_learned_says_so() -> None:
    assert (str(ExitStatus()), ExitStatus().returncode) == ("ended with an unknown exit code", None)


@pytest.mark.parametrize(
    "error",
    [
        CLINotFoundError("Not there", "/x"),
        ProcessError("Failed", 2, "why"),
        ProcessExited(None, 9, "why"),
        StartFailed("no", "/x"),
        TransportClosed("closed"),
    ],
)
def test_an_error_survives_pickling(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (type(copy), str(copy).split("\n")[0], vars(copy)) == (type(error), str(error).split("\n")[0], vars(error))
