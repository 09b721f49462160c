"""Options that may contain secrets (environment, MCP servers, settings): one file per session, and one for all presets;
never in the log.

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
    """The private options of all sessions, by session, and of the presets."""

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
        kept = self.read(session)
        try:
            return {name: kept[name] for name in names}
        except KeyError as error:
            raise HostError(
                "conflict",
                f"Session {session} had options that are stored outside the log, and they are missing: "
                f"{', '.join(names)}.",
                hint="Create a session that resumes its transcript, with these options.",
            ) from error

    def read(self, session: str) -> dict[str, Any]:
        """Read all options; none if they are gone."""
        try:
            return msgspec.json.decode(self._path(session).read_bytes(), type=dict[str, Any])
        except (OSError, msgspec.MsgspecError):
            return {}

    def forget_others(self, beginning: str, but: str) -> None:
        """Remove what has a name with this beginning, except one."""
        for path in self._folder.glob(f"{beginning}*.json"):
            if path != self._path(but):
                path.unlink(missing_ok=True)

    def forget(self, session: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._path(session).unlink()

    def _path(self, session: str) -> Path:
        return self._folder / f"{session}.json"
