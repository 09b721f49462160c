"""Folders as callers name them, and which lies below which."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .errors import HostError


def existing_folder(given: str) -> str:
    """The folder without links. Raises ``HostError`` if it is not there."""
    if not Path(given).expanduser().is_dir():
        raise HostError("invalid", f"There is no folder {given}.", field="cwd")
    return resolved(given)


def resolved(path: str) -> str:
    """The path without links and ``~``, whether it is there or not."""
    return str(Path(path).expanduser().resolve())


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is one of these folders, or below one. All are resolved."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
