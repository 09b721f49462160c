"""Stores files uploaded to a session, atomically and under safe names."""

from __future__ import annotations

import os
import uuid
from pathlib import Path, PurePath

from .errors import HostError

NAME_BYTES = 200
"""File systems allow 255, and we may add a number."""


def checked_name(given: str) -> str:
    """Return the last part of the given path. Raises ``HostError`` if it isn't a valid file name."""
    name = PurePath(given.replace("\\", "/")).name
    is_plain = not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in name)
    if name in ("", ".", "..") or not is_plain or not 0 < _size(name) <= NAME_BYTES:
        raise HostError("invalid", f"{given[:NAME_BYTES]!r} is not a file name.", field="name")
    return name


def keep(folder: Path, name: str, body: bytes, *, again: bool) -> str:
    """Write a file without replacing another. Blocks; raises ``HostError``.

    ``again``: it may have been written before a crash, so reuse a file that is the same or was cut off.
    """
    part = folder / f".{uuid.uuid4().hex}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(body)
        path = _reserved(folder, name, body, again=again)
        part.replace(path)
    except OSError as error:
        raise HostError("storage", f"The file cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)
    return str(path)


def _reserved(folder: Path, name: str, body: bytes, *, again: bool) -> Path:
    number, path = 1, folder / name
    while True:
        try:
            path.open("xb").close()
        except FileExistsError:
            if again and path.is_file() and path.read_bytes() in (b"", body):
                return path
            number += 1
            path = folder / f"{Path(name).stem}-{number}{Path(name).suffix}"
        else:
            return path


def _size(name: str) -> int:
    try:
        return len(name.encode())
    except UnicodeEncodeError:
        return 0
