"""Which sessions there are."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from .archive import is_archived
from .places import SUFFIX, is_session_id, places_of, projects_of
from .summary import session_info
from .types import SDKSessionInfo
from .windows import WindowFacts, open_file, windows


class ListedTranscript(NamedTuple):
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


def _entries(folder: str, with_folder: set[str] | None = None) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """(session id, entry) for every name that looks like a transcript's, in disk order.

    Sessions with a folder next to their transcript are added to ``with_folder``: only these can have more than the
    transcript, and checking ten thousand missing folders takes longer than listing.
    """
    try:
        entries = os.scandir(folder)
    except OSError:
        return
    with entries:
        for entry in entries:
            name = entry.name
            if name.endswith(SUFFIX) and is_session_id(name[: -len(SUFFIX)]):
                yield name[: -len(SUFFIX)], entry
            elif with_folder is not None and is_session_id(name):
                with_folder.add(name)


def transcripts_in(folder: str, project: str | None = None) -> Iterator[ListedTranscript]:
    """The transcripts in one folder, in disk order. Unreadable ones are skipped."""
    for session_id, entry in _entries(folder):
        try:
            status = entry.stat()
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode) and status.st_size:
            yield ListedTranscript(session_id, folder, modified_ms(status), status.st_size, project)


def list_sessions(
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
    include_worktrees: bool = True,
    *,
    include_programmatic: bool = True,
) -> list[SDKSessionInfo]:
    """The stored sessions, newest first: of one folder and the worktrees of its repository, or of all folders.

    Without ``include_programmatic``, only sessions that a person had in a terminal or an editor, as in ``/resume``.
    With a ``limit``, only as many transcripts are opened as it takes.
    """
    projects = projects_of(directory, include_worktrees=include_worktrees)
    skipped = max(offset, 0)
    if limit is None or limit <= 0:
        return _all(projects, include_programmatic)[skipped:]
    found = (found for folder, project in projects for found in transcripts_in(folder, project))
    return list(islice(_newest_first(found, include_programmatic), skipped, skipped + limit))


def _all(projects: Iterable[tuple[str, str | None]], include_programmatic: bool) -> list[SDKSessionInfo]:
    """In the order of the disk, sorted afterwards: what is opened anyway need not be looked up by its path before."""
    shown: dict[str, SDKSessionInfo] = {}
    for folder, project in projects:
        with_folder: set[str] = set()
        listed: list[SDKSessionInfo] = []
        for session_id, entry in _entries(folder, with_folder):
            info = _open_entry(session_id, entry, project, include_programmatic)
            if info is not None:
                listed.append(info)
        for info in listed:
            session_id = info.session_id
            if session_id in with_folder:
                _note_archived(info, folder)
            known = shown.get(session_id)
            if known is None or info.last_modified > known.last_modified:
                shown[session_id] = info
    return sorted(shown.values(), key=attrgetter("last_modified"), reverse=True)


def _note_archived(info: SDKSessionInfo, folder: str) -> None:
    archived = is_archived(f"{folder}{os.sep}{info.session_id}{SUFFIX}")
    if archived is not None:
        info.archived = archived


def _open_entry(
    session_id: str, entry: os.DirEntry[str], project: str | None, include_programmatic: bool
) -> SDKSessionInfo | None:
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
        return _look(file, session_id, modified_ms(status), status.st_size, project, include_programmatic)
    except OSError:
        return None
    finally:
        os.close(file)


def _newest_first(transcripts: Iterable[ListedTranscript], include_programmatic: bool) -> Iterator[SDKSessionInfo]:
    """Opens one after another. If a session is in two folders, the newer file wins, otherwise the first."""
    ordered = list(transcripts)
    ordered.reverse()
    place = {found.session_id: index for index, found in enumerate(ordered)}
    ordered.sort(key=lambda found: (found.mtime, place[found.session_id]))
    seen: set[str] = set()
    while ordered:
        found = ordered.pop()
        if found.session_id not in seen and (info := look_into(found, include_programmatic)) is not None:
            seen.add(found.session_id)
            yield info


def look_into(found: ListedTranscript, include_programmatic: bool = True) -> SDKSessionInfo | None:
    try:
        file = open_file(found.path)
    except OSError:
        return None
    try:
        info = _look(file, found.session_id, found.mtime, found.size, found.project, include_programmatic)
    finally:
        os.close(file)
    if info is not None:
        _note_archived(info, found.folder)
    return info


def _look(
    file: int, session_id: str, mtime: int, size: int, project: str | None, include_programmatic: bool
) -> SDKSessionInfo | None:
    data = windows(file, size)
    if data is None:
        return None
    facts = WindowFacts(*data)
    if not include_programmatic and facts.is_programmatic():
        return None
    return session_info(session_id, facts, mtime=mtime, size=size, project=project)


def get_session_info(session_id: str, directory: str | None = None) -> SDKSessionInfo | None:
    """The summary of one session, as in a list; None if it does not exist or has nothing to show."""
    if not is_session_id(session_id):
        return None
    for folder, project in places_of(directory):
        try:
            status = os.stat(f"{folder}{os.sep}{session_id}{SUFFIX}")  # noqa: PTH116
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode) and status.st_size:
            return look_into(ListedTranscript(session_id, folder, modified_ms(status), status.st_size, project))
    return None
