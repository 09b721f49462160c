"""Copies the transcripts of parked sessions: such a session exists only in its transcript, which belongs to Claude
Code.

At the next start we compare it with the copy. If it is missing, we restore it; if it is longer, someone continued it
elsewhere, and the log says so.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from quarterdeck.client.transcripts.places import find_transcript, started_with


class Mirrored(msgspec.Struct, frozen=True, omit_defaults=True):
    """A transcript's state when its session was parked."""

    transcript: str
    path: str
    size: int


class Change(NamedTuple):
    """What happened to a transcript."""

    what: Literal["continued", "restored"]
    records: int = 0


class Mirror:
    """The copies of all sessions. All methods block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(
        self, session: str, transcript: str, cwd: str, env: Mapping[str, str], known: Mirrored | None = None
    ) -> Mirrored | None:
        """Copy a transcript and those of its sub-agents; None if there is none. ``known``: the previous copy."""
        try:
            with started_with(env):
                found = find_transcript(transcript, cwd)
        except ValueError:
            return None
        if found is None:
            return None
        source = Path(found[0])
        size = source.stat().st_size
        if known is not None and known.path == str(source) and known.size == size:
            return known
        target = self._folder / session
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        _copy(source, target / source.name)
        below = source.with_suffix("")
        if below.is_dir() and not below.is_symlink():
            for path in sorted(below.rglob("*")):
                if path.is_file() and not path.is_symlink():
                    copy = target / below.name / path.relative_to(below)
                    copy.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                    _copy(path, copy)
        return Mirrored(transcript, str(source), size)

    def compare(self, session: str, mirrored: Mirrored) -> Change | None:
        """Return what has changed since, and restore a missing transcript. None: no change, or unknown."""
        path = Path(mirrored.path)
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            return self._restore(session, path)
        if size <= mirrored.size:
            return None
        with path.open("rb") as file:
            file.seek(mirrored.size)
            added = sum(1 for line in file if line.strip())
        return Change("continued", added) if added else None

    def _restore(self, session: str, path: Path) -> Change | None:
        kept = self._folder / session
        copy = kept / path.name
        if not copy.is_file():
            return None
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _copy(copy, path)
        below = kept / path.stem
        if below.is_dir():
            shutil.copytree(below, path.with_suffix(""), dirs_exist_ok=True)
        return Change("restored")

    def forget(self, session: str) -> None:
        with contextlib.suppress(OSError):
            shutil.rmtree(self._folder / session)


def _copy(source: Path, target: Path) -> None:
    """Copy atomically: readers find the old file or the new one."""
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with (
            source.open("rb") as read,
            os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as written,
        ):
            shutil.copyfileobj(read, written)
            written.flush()
            os.fsync(written.fileno())
        beside.replace(target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
