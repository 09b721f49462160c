"""Folders as callers name them, and which lies below which."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .errors import HostError

SHOWN_CHARS = 200


def as_path(given: str, field: str = "cwd") -> Path:
    """The path without links and ``~``, whether it is there or not. Raises ``HostError`` for what can be no path."""
    try:
        path = Path(given).expanduser()
        path.is_dir()  # the system refuses names that are too long
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: nobody of that name, or links in a circle
        raise HostError("invalid", f"{given[:SHOWN_CHARS]!r} is not a path: {error}"[:500], field=field) from error


def existing_folder(given: str, field: str = "cwd") -> Path:
    """The folder without links. Raises ``HostError`` if it is not there."""
    path = as_path(given, field)
    if not path.is_dir():
        raise HostError("invalid", f"There is no folder {given}.", field=field)
    return path


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is one of these folders, or below one. All are resolved."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
