"""Processes and bytes: finds and starts the CLI, moves bytes, and ends it. Doesn't interpret the bytes."""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
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
    from .spawned import (
        SpawnClaudeCodeProcess,
        SpawnedInput,
        SpawnedOutput,
        SpawnedProcess,
        SpawnedTransport,
        SpawnOptions,
    )

__all__: list[str] = []
_names = LazyNames(globals())
_names.of(".base")
__all__ += ["DEFAULT_GRACE", "ByteTransport", "ExitStatus", "Grace", "Receiver"]
_names.of(".capabilities")
__all__ += ["Capabilities", "detect"]
_names.of(".environment")
__all__ += ["child_environment"]
_names.of(".errors")
__all__ += ["CLIConnectionError", "CLINotFoundError", "ClaudeSDKError", "CliNotFound", "ProcessError", "ProcessExited"]
__all__ += ["QuarterdeckError", "StartFailed", "TransportClosed", "WriteOverflow"]
_names.of(".find")
__all__ += ["find_cli"]
_names.of(".memory")
__all__ += ["MemoryTransport", "memory_pair"]
_names.of(".process")
__all__ += ["ProcessTransport"]
_names.of(".scratch")
__all__ += ["PrivateFiles"]
_names.of(".spawn")
__all__ += ["ChildCommand"]
_names.of(".spawned")
__all__ += ["SpawnClaudeCodeProcess", "SpawnOptions", "SpawnedInput", "SpawnedOutput", "SpawnedProcess"]
__all__ += ["SpawnedTransport"]
