"""Writes to the projects folder without destroying anything.

A record is appended in one write, so that the file is either unchanged or has one complete line more. A new transcript
is written next to its place under another name, and renamed when it is complete and on disk. Nothing is written through
a link that leads out of the projects folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
import uuid
from collections.abc import Iterable

from .errors import SessionExists, SessionNotFound, TranscriptOutside, TranscriptUnwritable
from .places import SUFFIX, find_transcript, projects_dir

_APPEND = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_LOOKS = 3
_BETWEEN_LOOKS_S = 0.01


def transcript_to_change(session_id: str, directory: str | None) -> str:
    """The file of a session, by its real path. Raises ``SessionNotFound`` or ``TranscriptOutside``."""
    found = find_transcript(session_id, directory)
    if found is None:
        raise SessionNotFound(session_id, directory)
    return inside(found[0])


def inside(path: str) -> str:
    """The real path. Raises ``TranscriptOutside`` if it is not below the projects folder."""
    real, root = os.path.realpath(path), os.path.realpath(projects_dir())
    if os.path.commonpath([real, root]) != root:
        raise TranscriptOutside(
            f"{path} is a link to {real}, outside of {root}, and is not changed. Copy the session, or change it there."
        )
    return real


def append_line(path: str, line: bytes) -> None:
    """Append one record. Raises ``TranscriptUnwritable``, and then the file is as it was."""
    try:
        file = os.open(path, _APPEND | _BINARY)
        try:
            _append(file, line)
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        raise TranscriptUnwritable.because(error, f"{path} could not be changed") from error


def _append(file: int, line: bytes) -> None:
    data = (b"\n" if _is_torn(file) else b"") + line + b"\n"
    written = os.write(file, data)
    if written == len(data):
        return
    end = os.lseek(file, 0, os.SEEK_CUR)
    try:
        os.write(file, data[written:])
    except OSError:
        # Half a record at the end would swallow the next one. On a full disk nobody else has appended in the meantime.
        if os.fstat(file).st_size == end:
            os.ftruncate(file, end - written)
        raise


def _is_torn(file: int) -> bool:
    """Whether a writer was stopped in the middle of the last line, which must then stay a line of its own.

    Another process's write that crosses a page shows its first half for a moment: only an end that stays is torn.
    """
    for _ in range(_LOOKS):
        size = os.lseek(file, 0, os.SEEK_END)
        os.lseek(file, max(size - 1, 0), os.SEEK_SET)
        if os.read(file, 1) in (b"", b"\n"):
            return False
        time.sleep(_BETWEEN_LOOKS_S)
    return True


def create_transcript(path: str, lines: Iterable[bytes]) -> None:
    """Create a transcript atomically. Raises ``SessionExists``."""
    folder = os.path.dirname(path)  # noqa: PTH120
    draft = os.path.join(folder, f".{uuid.uuid4()}.draft")  # noqa: PTH118
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        inside(folder)
        try:
            _write_all(draft, lines)
            _publish(draft, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(draft)  # noqa: PTH108
    except SessionExists:
        raise
    except TranscriptOutside:
        raise
    except OSError as error:
        raise TranscriptUnwritable.because(error, f"{path} could not be written") from error


def _write_all(path: str, lines: Iterable[bytes]) -> None:
    with os.fdopen(os.open(path, _CREATE | _BINARY, 0o600), "wb", buffering=1024 * 1024) as file:
        for line in lines:
            file.write(line)
            file.write(b"\n")
        file.flush()
        os.fsync(file.fileno())


def _publish(draft: str, path: str) -> None:
    """Give the draft its name, unless the name is taken."""
    try:
        os.link(draft, path)
    except FileExistsError as error:
        raise SessionExists(f"{path} already exists: nothing was overwritten") from error
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise SessionExists(f"{path} already exists: nothing was overwritten") from None
        os.rename(draft, path)  # noqa: PTH104
    _sync_folder(os.path.dirname(path))  # noqa: PTH120


def _sync_folder(folder: str) -> None:
    if os.name == "nt":
        return  # a folder cannot be opened there
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def remove_transcript(path: str) -> None:
    """Remove a transcript and the session's folder. A link is removed, but not its target."""
    folder = path.removesuffix(SUFFIX)
    try:
        os.unlink(path)  # noqa: PTH108
    except OSError as error:
        raise TranscriptUnwritable.because(error, f"{path} could not be removed") from error
    try:
        if stat.S_ISLNK(os.lstat(folder).st_mode):
            os.unlink(folder)  # noqa: PTH108
        else:
            shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        message = f"the session is removed, but not all of {folder}: remove it by hand"
        raise TranscriptUnwritable(error.errno or 0, message, error.filename) from error
