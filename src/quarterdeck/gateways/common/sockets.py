"""What gateways have in common that listen: Unix sockets that a dead host has left, and how many may connect."""

from __future__ import annotations

import errno
import socket
import sys
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

KEPT_DESCRIPTORS = 200
"""For everything but connections."""


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


def descriptors_for_connections() -> int:
    """The clients' share of the descriptor limit: the store and the sessions need theirs."""
    if resource is None:
        return sys.maxsize
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if limit == resource.RLIM_INFINITY else max(limit - KEPT_DESCRIPTORS, limit // 2)
