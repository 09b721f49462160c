"""Who is at the other end of a connection, and whether it may be there.

The socket is in a private folder, so other users cannot reach it; we check anyway. An agent runs as the same user and
could: it is recognized by the mark of its family (``transport.marks``). That is best effort, not a wall: a program that
sets out to lose its mark can. It needs ``/proc``; elsewhere the folder has to be enough.
"""

from __future__ import annotations

import os
import socket
import struct

from quarterdeck.transport.marks import carried_by

_CREDENTIALS = struct.Struct("3i")


def peer_process(peer: socket.socket) -> tuple[int, int]:
    """Process and user at the other end; 0 and our own user where the system does not say."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return 0, os.getuid()
    pid, user, _ = _CREDENTIALS.unpack(peer.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))
    return pid, user


def why_refused(pid: int, user: int) -> str | None:
    """Why this process may not be the host; None if it may."""
    if user != os.getuid():
        return "it belongs to another user"
    if not pid:
        return None
    text, number = carried_by(pid)
    own_text, own_number = carried_by(os.getpid())
    # We may be part of a family ourselves if our host is run by an agent: then its other members are equals.
    if (text and text != own_text) or (number and number != own_number):
        return "it was started by an agent"
    return None
