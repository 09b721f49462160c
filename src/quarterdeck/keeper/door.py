"""The keeper's listening socket: for our user only, with a path short enough for the system.

It is in a private folder that other users can't reach; we check the peer anyway. An agent runs as the same user, so we
recognize it by its family's mark (``transport.marks``). That is best effort: a program can deliberately lose its mark.
It needs ``/proc``; without it, only the folder protects the socket.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from quarterdeck.transport import watchdog
from quarterdeck.transport.marks import carried_by

from .loop import READ, Loop, OnFault
from .places import SOCKET_PATH_LIMIT_BYTES, remove_tree

BACKLOG = 128
ACCEPT_AGAIN_S = 0.5
"""Before accepting again when the system has run out of descriptors."""
_CREDENTIALS = struct.Struct("3i")


class Door:
    """Listens, and passes on each connection."""

    def __init__(
        self, loop: Loop, folder: Path, *, on_connect: Callable[[socket.socket], None], on_fault: OnFault
    ) -> None:
        self._loop = loop
        self._on_connect = on_connect
        self._on_fault = on_fault
        self._own_folder: Path | None = None
        self.path = folder / "socket"
        if len(os.fsencode(self.path)) > SOCKET_PATH_LIMIT_BYTES:
            self.path = self._short_folder() / "socket"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)  # nobody else may connect, even before the mode is set
        try:
            self._listener.bind(str(self.path))
        finally:
            os.umask(before)
        self._listener.listen(BACKLOG)
        self._listener.setblocking(False)
        self._watch = loop.watch(self._listener.fileno(), lambda _: self._accept(), on_fault)
        self._watch.want(READ)

    def _short_folder(self) -> Path:
        import tempfile  # deferred: a dozen modules that few keepers need

        self._own_folder = Path(tempfile.mkdtemp(prefix="quarterdeck-"))
        watchdog.guard_directory(str(self._own_folder))
        return self._own_folder

    def _accept(self) -> None:
        try:
            peer, _ = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError:  # no descriptor left
            self._watch.want(0)
            self._loop.call_later(ACCEPT_AGAIN_S, lambda: self._watch.want(READ), self._on_fault)
            return
        self._on_connect(peer)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.path.unlink()
        self._listener.detach()
        self._watch.close()
        if self._own_folder is not None:
            remove_tree(self._own_folder)
            watchdog.release_directory(str(self._own_folder))


def peer_process(peer: socket.socket) -> tuple[int, int]:
    """Return the peer's process and user; 0 and our own user if the system doesn't report them."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return 0, os.getuid()
    pid, user, _ = _CREDENTIALS.unpack(peer.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))
    return pid, user


def why_refused(pid: int, user: int) -> str | None:
    """Return why this process may not be the host; None if it may."""
    if user != os.getuid():
        return "it belongs to another user"
    if not pid:
        return None
    text, number = carried_by(pid)
    own_text, own_number = carried_by(os.getpid())
    # If an agent runs our host, we belong to its family ourselves; its other members are equals.
    if (text and text != own_text) or (number and number != own_number):
        return "it was started by an agent"
    return None
