"""Unix sockets: the file of one that a dead host has left makes room for a new one."""

from __future__ import annotations

import errno
import socket
from pathlib import Path


def make_room_for_socket(place: Path) -> None:
    """Raises ``OSError`` if something answers there."""
    if not place.is_socket():
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knocking:
        try:
            knocking.connect(str(place))
        except ConnectionRefusedError:
            place.unlink()
            return
    raise OSError(errno.EADDRINUSE, "Another program is listening there", str(place))
