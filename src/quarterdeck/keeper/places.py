"""Where keepers live: one folder each, below the folder of their host.

::

    FOLDER/keepers/            0700
        start.lock             held while a keeper is being started
        NAME/                  one keeper
            lock               held while the keeper lives: this, not the socket, shows that it does
            keeper.json        its identity and socket path
            socket             0600
            log                its log
            sessions/SESSION.GENERATION/   spools and exit statuses

If nobody holds a folder's lock, its keeper is dead: read its spools to the end, then remove it.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from .frames import PROTOCOL

KEEPERS = "keepers"
START_LOCK = "start.lock"
LOCK = "lock"
ABOUT = "keeper.json"
SESSIONS = "sessions"
LOG = "log"
SOCKET_PATH_LIMIT_BYTES = 100
"""Linux allows 107 bytes, macOS 103; if the path is longer, the socket goes elsewhere."""


class KeeperPlace(NamedTuple):
    """A keeper's folder, running or dead."""

    folder: Path
    alive: bool
    pid: int
    protocol: int
    version: str
    socket: str
    retired: bool
    """It starts no more sessions and exits after its last one."""

    def takes_sessions_of(self, version: str) -> bool:
        """Whether a host of this version may start sessions here."""
        return self.alive and not self.retired and self.protocol == PROTOCOL and self.version == version


def private_folder(path: Path) -> Path:
    """Create this folder, or make sure that nobody else can read it. Raises ``PermissionError``."""
    path.mkdir(0o700, parents=True, exist_ok=True)
    facts = path.stat()
    if facts.st_uid != os.getuid():
        raise PermissionError(f"{path} belongs to another user; choose another folder for the host")
    if facts.st_mode & 0o077:
        path.chmod(0o700)
    return path


def find_keepers(folder: Path | str) -> list[KeeperPlace]:
    """List all keepers of this host, including dead ones."""
    keepers = Path(folder) / KEEPERS
    try:
        names = sorted(path for path in keepers.iterdir() if path.is_dir() and not path.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [look_at(path) for path in names]


def look_at(place: Path) -> KeeperPlace:
    alive = _is_locked(place / LOCK)
    about = load_json(place / ABOUT)
    return KeeperPlace(
        folder=place,
        alive=alive and bool(about),
        pid=number_in(about, "pid") or 0,
        protocol=number_in(about, "protocol") or 0,
        version=str(about.get("version", "")),
        socket=str(about.get("socket", place / "socket")),
        retired=bool(about.get("retired")),
    )


def load_json(path: Path) -> dict[str, Any]:
    """The object in this file; empty if it has none: a crash may have left anything."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def number_in(facts: dict[str, Any], name: str) -> int | None:
    value = facts.get(name)
    return value if type(value) is int else None


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


class Claim:
    """A keeper's lock on its own folder."""

    def __init__(self, keepers: Path) -> None:
        """Create the folder, lock it, and only then give it its name."""
        name = os.urandom(4).hex()
        unseen = keepers / f".{name}"
        unseen.mkdir(0o700)
        self._lock = os.open(unseen / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        (unseen / SESSIONS).mkdir(0o700)
        self.folder = unseen.rename(keepers / name)

    def publish(self, about: dict[str, Any]) -> None:
        save_json(self.folder / ABOUT, about)

    def still_ours(self) -> bool:
        """Whether the folder still exists and contains our lock."""
        try:
            there = (self.folder / LOCK).stat()
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self._lock))

    def release(self) -> None:
        os.close(self._lock)


def save_json(path: Path, value: dict[str, Any]) -> None:
    """Write JSON atomically. Raises ``OSError``."""
    new = path.with_name(f"{path.name}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(json.dumps(value).encode())
    new.rename(path)


def remove_tree(folder: Path) -> None:
    """Remove a keeper's folder. Missing files are ignored."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
