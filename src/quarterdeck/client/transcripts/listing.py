"""Which sessions there are."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from .places import SUFFIX, is_session_id, places_of, projects_of
from .summary import session_info
from .types import SDKSessionInfo
from .windows import WindowFacts, open_file, windows


class Found(NamedTuple):
    """A transcript, not yet looked into."""

    session_id: str
    folder: str
    mtime: int
    size: int
    project: str | None

    @property
    def path(self) -> str:
        return f"{self.folder}{os.sep}{self.session_id}{SUFFIX}"


def modified_ms(status: os.stat_result) -> int:
    return int(status.st_mtime * 1000)


def _entries(folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """(session id, entry) of what is named as a transcript is, in the order of the disk."""
    try:
        entries = os.scandir(folder)
    except OSError:
        return
    with entries:
        for entry in entries:
            name = entry.name
            if name.endswith(SUFFIX) and is_session_id(name[: -len(SUFFIX)]):
                yield name[: -len(SUFFIX)], entry


def transcripts_in(folder: str, project: str | None = None) -> Iterator[Found]:
    """The transcripts in one folder, in the order of the disk. What cannot be read is not there."""
    for session_id, entry in _entries(folder):
        try:
            status = entry.stat()
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode) and status.st_size:
            yield Found(session_id, folder, modified_ms(status), status.st_size, project)


def list_sessions(
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
    include_worktrees: bool = True,
) -> list[SDKSessionInfo]:
    """The stored sessions, the newest first: of one folder and the work trees of its repository, or of all folders.

    With a ``limit``, only as many transcripts are opened as are needed for it.
    """
    projects = projects_of(directory, include_worktrees=include_worktrees)
    skipped = max(offset, 0)
    if limit is None or limit <= 0:
        return _all(projects)[skipped:]
    found = (found for folder, project in projects for found in transcripts_in(folder, project))
    return list(islice(_newest_first(found), skipped, skipped + limit))


def _all(projects: Iterable[tuple[str, str | None]]) -> list[SDKSessionInfo]:
    """In the order of the disk, sorted afterwards: what is opened anyway need not be looked up by its path before."""
    shown: dict[str, SDKSessionInfo] = {}
    for folder, project in projects:
        for session_id, entry in _entries(folder):
            info = _open_entry(session_id, entry, project)
            if info is None:
                continue
            known = shown.get(session_id)
            if known is None or info.last_modified > known.last_modified:
                shown[session_id] = info
    return sorted(shown.values(), key=attrgetter("last_modified"), reverse=True)


def _open_entry(session_id: str, entry: os.DirEntry[str], project: str | None) -> SDKSessionInfo | None:
    try:
        if not entry.is_file():  # a pipe would make us wait for a writer
            return None
        file = open_file(entry.path)
    except OSError:
        return None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return None  # replaced meanwhile
        return _look(file, session_id, modified_ms(status), status.st_size, project)
    except OSError:
        return None
    finally:
        os.close(file)


def _newest_first(transcripts: Iterable[Found]) -> Iterator[SDKSessionInfo]:
    """Looks into one after the other. Where a session is in two folders, the newer file counts, else the first."""
    ordered = list(transcripts)
    ordered.reverse()
    place = {found.session_id: index for index, found in enumerate(ordered)}
    ordered.sort(key=lambda found: (found.mtime, place[found.session_id]))
    seen: set[str] = set()
    while ordered:
        found = ordered.pop()
        if found.session_id not in seen and (info := look_into(found)) is not None:
            seen.add(found.session_id)
            yield info


def look_into(found: Found) -> SDKSessionInfo | None:
    try:
        file = open_file(found.path)
    except OSError:
        return None
    try:
        return _look(file, found.session_id, found.mtime, found.size, found.project)
    finally:
        os.close(file)


def _look(file: int, session_id: str, mtime: int, size: int, project: str | None) -> SDKSessionInfo | None:
    data = windows(file, size)
    return (
        None if data is None else session_info(session_id, WindowFacts(*data), mtime=mtime, size=size, project=project)
    )


def get_session_info(session_id: str, directory: str | None = None) -> SDKSessionInfo | None:
    """What a list shows of one session; None if there is no such session, or nothing to show of it."""
    if not is_session_id(session_id):
        return None
    for folder, project in places_of(directory):
        try:
            status = os.stat(f"{folder}{os.sep}{session_id}{SUFFIX}")  # noqa: PTH116
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode) and status.st_size:
            return look_into(Found(session_id, folder, modified_ms(status), status.st_size, project))
    return None
