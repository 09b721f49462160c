"""Private files for what doesn't belong on a command line: MCP configuration, settings, a system prompt.

Every user of the machine can read a command line, and its size is limited. So we use 0600 files in a 0700 directory,
which is removed when the session closes or fails to start, when the interpreter exits and, by the watchdog, when this
process is killed.
"""

from __future__ import annotations

import atexit
import os
from pathlib import Path
from types import TracebackType

from . import watchdog

LIMIT_BYTES = 64 * 1024 * 1024
"""Per directory: far above any real configuration, far below the size of a temporary file system."""

_live: set[PrivateFiles] = set()


class PrivateFiles:
    """A private directory, created by the first ``write()`` and removed by ``remove()`` or at the end of a ``with``."""

    def __init__(self, *, limit_bytes: int = LIMIT_BYTES, owner: int | None = None) -> None:
        """``owner``: the user ID the CLI will run under, if not ours (needs permission to change owners)."""
        self._limit_bytes = limit_bytes
        self._owner = owner
        self._written_bytes = 0
        self._directory: Path | None = None

    @property
    def exist(self) -> bool:
        """Whether any file exists."""
        return self._directory is not None

    def write(self, name: str, content: str | bytes) -> Path:
        """Create a private file. ``name`` is a plain file name, used once. Raises ``ValueError`` if it is too large."""
        data = content.encode() if isinstance(content, str) else content
        if Path(name).name != name or name in {"", ".."}:
            raise ValueError(f"{name!r} is not a plain file name")
        if self._written_bytes + len(data) > self._limit_bytes:
            raise ValueError(f"with {name}, the private files of this session would exceed {self._limit_bytes} bytes")
        path = self._ensure_directory() / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(descriptor, "wb") as file:
            self._give_away(path)
            file.write(data)
        self._written_bytes += len(data)
        return path

    def remove(self) -> None:
        """Remove the directory and everything in it. Repeatable."""
        directory, self._directory = self._directory, None
        self._written_bytes = 0
        _live.discard(self)
        if directory is not None:
            import shutil

            shutil.rmtree(directory, ignore_errors=True)  # someone else may have cleaned the temporary directory
            watchdog.release_directory(str(directory))

    def _ensure_directory(self) -> Path:
        if self._directory is None:
            import shutil  # noqa: F401  # wanted at the end of the interpreter, when nothing new should be imported
            import tempfile  # many sessions write no file, and these two bring a dozen modules with them

            self._directory = Path(tempfile.mkdtemp(prefix="quarterdeck-"))
            _live.add(self)
            watchdog.guard_directory(str(self._directory))
            self._give_away(self._directory)
        return self._directory

    def _give_away(self, path: Path) -> None:
        if self._owner is not None:
            os.chown(path, self._owner, -1)

    def __enter__(self) -> PrivateFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


@atexit.register
def _remove_all() -> None:
    for files in list(_live):
        files.remove()


def _forget_in_fork() -> None:
    """In a forked child: the files belong to the parent."""
    for files in _live:
        files._directory = None
    _live.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_fork)
