"""Finds the running keeper, or starts one. Blocks briefly: in an event loop, use a thread."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from quarterdeck._version import __version__
from quarterdeck.transport.marks import MARK

from .errors import KeeperUnavailable
from .places import KEEPERS, START_LOCK, KeeperPlace, find_keepers, look_at, private_folder
from .settings import KeeperSettings

START_S = 20.0
"""For a keeper to start on a busy machine; normally it takes 0.1 s."""
POLL_S = 0.01
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "LD_LIBRARY_PATH", MARK)
"""The only variables a keeper inherits. Its processes get theirs with their command. The mark stays, so if an agent
runs our host, the keeper doesn't outlive that agent's session."""
_PROGRAM = Path(__file__).with_name("__main__.py")


def ensure_keeper(folder: str | os.PathLike[str], *, settings: KeeperSettings | None = None) -> KeeperPlace:
    """Find the keeper that accepts this host's new sessions, or start one. Raises ``KeeperUnavailable``."""
    if os.name != "posix":
        raise KeeperUnavailable("A keeper needs Unix sockets, which this system does not have.")
    try:
        keepers = private_folder(Path(folder).absolute() / KEEPERS)
        with _start_lock(keepers):
            for place in find_keepers(keepers.parent):
                if place.takes_sessions_of(__version__):
                    return place
            return look_at(keepers / _start(keepers, settings))
    except OSError as error:
        raise KeeperUnavailable(f"Cannot start a keeper in {folder}: {error}") from error


@contextlib.contextmanager
def _start_lock(keepers: Path) -> Iterator[None]:
    """Makes hosts that start at the same time share one keeper."""
    descriptor = os.open(keepers / START_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + START_S
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise KeeperUnavailable(f"Another process has been starting a keeper for {START_S:g} s.") from None
                time.sleep(POLL_S)
        yield
    finally:
        os.close(descriptor)


def _start(keepers: Path, settings: KeeperSettings | None) -> str:
    """Start a keeper; returns its name. It loads no modules from the current folder or environment."""
    numbers = [] if settings is None else [str(value) for value in settings]
    read_end, write_end = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_PROGRAM), str(keepers), *numbers],
            stdin=subprocess.DEVNULL,
            stdout=write_end,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in INHERITED if name in os.environ},
            start_new_session=True,
        )
        os.close(write_end)
        write_end = -1
        said = _first_line(read_end)
        process.wait(START_S)  # it has forked the keeper and exits
    except subprocess.TimeoutExpired as error:
        raise KeeperUnavailable(f"The keeper did not start: {error}") from error
    finally:
        os.close(read_end)
        if write_end >= 0:
            os.close(write_end)
    word, _, rest = said.decode(errors="replace").strip().partition(" ")
    if word != "ready":
        raise KeeperUnavailable(f"The keeper did not start: {rest or 'it exited without output'}")
    return rest


def _first_line(descriptor: int) -> bytes:
    said, deadline = b"", time.monotonic() + START_S
    while not said.endswith(b"\n"):
        ready = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]
        data = os.read(descriptor, 4096) if ready else b""
        if not data:
            break
        said += data
    return said
