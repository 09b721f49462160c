"""Resolves folders named by callers, checks whether one contains another, and opens files inside one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from .errors import HostError

SHOWN_CHARS = 200


def as_path(given: str, field: str = "cwd", *, absolute: bool = False) -> Path:
    """Resolve links and ``~``, even if the path doesn't exist. Raises ``HostError`` for an invalid path.

    ``absolute``: reject relative paths, because callers may not know the folder the host was started in.
    """
    try:
        path = Path(given).expanduser()
        if absolute and not path.is_absolute():
            raise ValueError("must be absolute or start with ~")
        path.is_dir()  # the system refuses names that are too long
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: no such user, or a cycle of links
        raise HostError("invalid", f"{given[:SHOWN_CHARS]!r} is not a path: {error}"[:500], field=field) from error


def existing_folder(given: str, field: str = "cwd") -> Path:
    """Resolve an existing folder. Raises ``HostError`` if it doesn't exist."""
    path = as_path(given, field)
    if not path.is_dir():
        raise HostError("invalid", f"There is no folder {given}.", field=field)
    return path


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is one of these folders, or below one. All are resolved."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def open_inside(top: Path, parts: Sequence[str | bytes], flags: int, mode: int = 0o600) -> int:
    """Open a file below a folder, one component at a time, so that no link leads outside. Doesn't block on a pipe."""
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            if flags & os.O_CREAT:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=folder)
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(parts[-1], flags | os.O_NOFOLLOW | os.O_NONBLOCK, mode, dir_fd=folder)
    finally:
        os.close(folder)
