"""The spools of a dead keeper, to be read to the end before a session is resumed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from quarterdeck.transport.base import ExitStatus

from .kept import ABOUT, EXIT
from .output import READ_SIZE
from .places import SESSIONS, KeeperPlace, load_json, look_at, number_in, remove_tree
from .spool import SUFFIX
from .stderr_pipe import FILE


class LeftSession(msgspec.Struct, frozen=True):
    """A process that a dead keeper owned. It is dead too, or will be within seconds."""

    folder: Path
    session: str
    generation: int
    pid: int
    """0 if the disk was too full to record it."""
    first: int
    """The first offset that can be read."""
    end: int
    """One past the last byte."""
    status: ExitStatus | None
    """How it ended; None if the keeper died first."""
    written: int | None
    """The last input in its pipe; None if the keeper died first, so we don't know whether the last inputs arrived."""
    stderr_tail: str

    def read(self, offset: int, size: int = READ_SIZE) -> bytes:
        """Read up to ``size`` bytes at this offset; empty only at the end."""
        for start, path in _segments(self.folder):
            if start <= offset < start + path.stat().st_size:
                with path.open("rb") as file:
                    file.seek(offset - start)
                    return file.read(size)
        return b""

    def remove(self) -> None:
        """Remove the session's files, once the host has everything."""
        remove_tree(self.folder)


def left_sessions(place: KeeperPlace) -> list[LeftSession]:
    """List a dead keeper's sessions. Raises ``ValueError`` if the keeper is alive."""
    if look_at(place.folder).alive:
        raise ValueError(f"the keeper {place.pid} is alive: connect to it")
    try:
        folders = sorted((place.folder / SESSIONS).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [left for folder in folders if (left := _left_in(folder)) is not None]


def remove_place(place: KeeperPlace) -> bool:
    """Remove a dead keeper's folder if it contains no session; returns whether it is gone."""
    if look_at(place.folder).alive or left_sessions(place):
        return False
    remove_tree(place.folder)
    return True


def _left_in(folder: Path) -> LeftSession | None:
    about, exit_ = load_json(folder / ABOUT), load_json(folder / EXIT)
    session, _, generation = folder.name.rpartition(".")
    if not session or not generation.isdigit():
        return None  # not one of ours
    segments = list(_segments(folder))
    stderr = b""
    with contextlib.suppress(OSError):
        stderr = (folder / FILE).read_bytes()
    return LeftSession(
        folder=folder,
        session=session,
        generation=int(generation),
        pid=number_in(about, "pid") or 0,
        first=segments[0][0] if segments else 0,
        end=segments[-1][0] + segments[-1][1].stat().st_size if segments else 0,
        status=None if (code := number_in(exit_, "returncode")) is None else ExitStatus.from_returncode(code),
        written=number_in(exit_, "written"),
        stderr_tail=stderr.decode(errors="replace"),
    )


def _segments(folder: Path) -> Iterator[tuple[int, Path]]:
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        if path.stem.isdecimal() and path.is_file():
            yield int(path.stem), path
