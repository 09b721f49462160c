"""Which sessions there are."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from .glance import session_info, windows
from .places import SUFFIX, is_session_id, places_of, projects_dir, projects_of, subfolders
from .types import SDKSessionInfo


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


def transcripts_in(folder: str, project: str | None = None) -> Iterator[Found]:
    """The transcripts in one folder, in the order of the disk. What cannot be read is not there."""
    try:
        entries = os.scandir(folder)
    except OSError:
        return
    with entries:
        for entry in entries:
            session_id = entry.name.removesuffix(SUFFIX)
            if len(session_id) == len(entry.name) or not is_session_id(session_id):
                continue
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
    projects: Iterable[tuple[str, str | None]]
    if directory:
        projects = projects_of(directory, include_worktrees=include_worktrees)
    else:
        projects = ((folder, None) for folder in subfolders(projects_dir()))
    shown = _newest_first(found for folder, project in projects for found in transcripts_in(folder, project))
    skipped = max(offset, 0)
    end = skipped + limit if limit is not None and limit > 0 else None
    return list(islice(shown, skipped, end))


def _newest_first(transcripts: Iterable[Found]) -> Iterator[SDKSessionInfo]:
    """Looks into one after the other. Where a session is in two folders, the newer file counts."""
    place: dict[str, int] = {}
    ordered = list(transcripts)
    for index, found in enumerate(ordered):
        place.setdefault(found.session_id, index)
    ordered.sort(key=lambda found: (-found.mtime, place[found.session_id]), reverse=True)
    seen: set[str] = set()
    while ordered:
        found = ordered.pop()
        if found.session_id not in seen and (info := look_into(found)) is not None:
            seen.add(found.session_id)
            yield info


def look_into(found: Found) -> SDKSessionInfo | None:
    data = windows(found.path, found.size)
    if data is None:
        return None
    return session_info(found.session_id, data, mtime=found.mtime, size=found.size, project=found.project)


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
