"""Processes and bytes: find the CLI, start it, move bytes, end it. Knows nothing of what the bytes mean."""

from .base import DEFAULT_GRACE, ByteTransport, ExitStatus, Grace, Receiver
from .capabilities import Capabilities, detect
from .environment import child_environment
from .errors import (
    ClaudeSDKError,
    CLIConnectionError,
    CliNotFound,
    CLINotFoundError,
    ProcessError,
    ProcessExited,
    QuarterdeckError,
    StartFailed,
    TransportClosed,
    WriteOverflow,
)
from .find import find_cli
from .memory import MemoryTransport, memory_pair
from .process import ProcessTransport
from .scratch import PrivateFiles
from .spawn import ChildCommand

__all__ = [
    "DEFAULT_GRACE",
    "ByteTransport",
    "CLIConnectionError",
    "CLINotFoundError",
    "Capabilities",
    "ChildCommand",
    "ClaudeSDKError",
    "CliNotFound",
    "ExitStatus",
    "Grace",
    "MemoryTransport",
    "PrivateFiles",
    "ProcessError",
    "ProcessExited",
    "ProcessTransport",
    "QuarterdeckError",
    "Receiver",
    "StartFailed",
    "TransportClosed",
    "WriteOverflow",
    "child_environment",
    "detect",
    "find_cli",
    "memory_pair",
]
