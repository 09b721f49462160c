"""Limits of a host, and the folders in which sessions are allowed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from .errors import HostError
from .folders import existing_folder


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Requests beyond a limit are refused. None: no limit."""

    sessions: int | None = None
    """Sessions that are not archived."""
    processes: int | None = 200
    """Running Claude Code processes."""
    queue: int = 100
    """Queued prompts per session."""
    upload_bytes: int = 32 * 1024 * 1024
    import_bytes: int = 4 * 1024 * 1024 * 1024
    """Size of one imported file, in total, and of all that are incomplete."""


class Folders:
    """The folders in which sessions may start, including subfolders; any folder, if none are given."""

    def __init__(self, allowed: Iterable[str | os.PathLike[str]] | None) -> None:
        self.allowed = None if allowed is None else [Path(one).expanduser().resolve() for one in allowed]

    def check(self, given: str, field: str = "cwd") -> str:
        """Resolve an allowed folder. Raises ``HostError``."""
        resolved = existing_folder(given, field)
        if not self.allows(resolved):
            raise HostError(
                "folder_not_allowed",
                f"Sessions are not allowed in {given}.",
                hint="List the folders to see where they are allowed.",
                field=field,
            )
        return str(resolved)

    def allows(self, folder: Path) -> bool:
        return self.allowed is None or any(folder.is_relative_to(one) for one in self.allowed)

    def below(self, prefix: str, limit: int = 200) -> list[str]:
        """Complete a prefix to allowed folders: one level at a time, hidden ones on request."""
        if not prefix:
            return [str(one) for one in self.allowed or [Path.home()]]
        try:
            start = Path(prefix).expanduser()
            if not start.is_absolute():
                return []
            parent, beginning = (start, "") if prefix.endswith("/") else (start.parent, start.name)
            entries = sorted(entry.name for entry in os.scandir(parent) if entry.is_dir())
        except (OSError, RuntimeError, ValueError):
            return []
        found = (
            parent / name
            for name in entries
            if name.startswith(beginning) and (beginning.startswith(".") or not name.startswith("."))
        )
        return [str(one) for one in found if self._leads_to_allowed(one.resolve())][:limit]

    def _leads_to_allowed(self, folder: Path) -> bool:
        return self.allows(folder) or any(one.is_relative_to(folder) for one in self.allowed or ())
