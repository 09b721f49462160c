"""The root of the error tree, below every room so that each can hang its own errors on it.

Programs written for the official SDK import its errors from the module of this name: they are found here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quarterdeck.client.errors import ClaudeSDKError as ClaudeSDKError
    from quarterdeck.client.errors import CLIConnectionError as CLIConnectionError
    from quarterdeck.client.errors import CLIJSONDecodeError as CLIJSONDecodeError
    from quarterdeck.client.errors import CLINotFoundError as CLINotFoundError
    from quarterdeck.client.errors import MessageParseError as MessageParseError
    from quarterdeck.client.errors import ProcessError as ProcessError
    from quarterdeck.client.errors import ResultError as ResultError


class QuarterdeckError(Exception):
    """The base of every error this package raises on purpose."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name.endswith("Error"):  # and not for what the import system asks
            from importlib import import_module

            errors = import_module("quarterdeck.client.errors")
            if name in errors.__all__:
                return getattr(errors, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
