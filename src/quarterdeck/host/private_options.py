"""Options that may contain secrets (environment, MCP servers, settings): one file per session, never in the log.

Only the user can read the file. It is in the host's folder, which no session may read, and isn't part of backups or
exports of the log.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec

from .errors import HostError


class PrivateOptions:
    """The private options of all sessions, by session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, session: str, options: dict[str, Any]) -> None:
        """Store a session's options, before the session is logged. Raises ``HostError`` for values that aren't JSON."""
        if not options:
            return
        try:
            body = msgspec.json.encode(options)
        except TypeError as error:
            raise HostError(
                "invalid", f"An option cannot be saved: {error}.", hint="Options must be plain JSON.", field="options"
            ) from error
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(session)
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())

    def of(self, session: str, names: Collection[str]) -> dict[str, Any]:
        """Read the options with these names. Raises ``HostError`` if they are gone: the session can't run without
        them."""
        if not names:
            return {}
        try:
            kept: dict[str, Any] = msgspec.json.decode(self._path(session).read_bytes(), type=dict[str, Any])
            return {name: kept[name] for name in names}
        except (OSError, KeyError, msgspec.MsgspecError) as error:
            raise HostError(
                "conflict",
                f"Session {session} had options that are stored outside the log, and they are missing: "
                f"{', '.join(names)}.",
                hint="Create a session that resumes its transcript, with these options.",
            ) from error

    def forget(self, session: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._path(session).unlink()

    def _path(self, session: str) -> Path:
        return self._folder / f"{session}.json"
