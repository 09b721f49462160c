"""Whether a session's process, or something it started, is at the other end of a connection within this machine.

Best effort: an agent runs as the same user, so it can read the token. It carries a mark that it does not lose by
accident (``transport.marks``). A Unix socket names the process at its other end. A TCP connection does not: on Linux,
its socket is searched for among those of the processes that carry a mark. That takes a look at all processes, so it
happens in a thread, once per connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import socket
import struct
import sys
from collections.abc import Iterator
from typing import Any, TypeAlias

from quarterdeck.transport import marks

Address: TypeAlias = tuple[str, int]
Pair: TypeAlias = tuple[Address, Address]
"""Our end of a connection and the other one."""

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
GONE = 0
"""The socket of a connection that no process holds any more."""


def is_agent(connection: Any) -> bool:
    """For a Unix socket; False for every other."""
    if connection is None or connection.family != getattr(socket, "AF_UNIX", None):
        return False
    if not hasattr(socket, "SO_PEERCRED"):
        return False
    size = struct.calcsize("3i")
    pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return pid > 0 and any(marks.carried_by(pid))


def local_pair(connection: Any) -> Pair | None:
    """The two ends of a TCP connection within this machine whose process can be looked for."""
    if connection is None or not sys.platform.startswith("linux"):
        return None
    if connection.family not in (socket.AF_INET, socket.AF_INET6):
        return None
    try:
        own, peer = connection.getsockname()[:2], connection.getpeername()[:2]
        address = ipaddress.ip_address(peer[0].partition("%")[0])
    except (OSError, ValueError):
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return (own, peer) if own[0] == peer[0] or (mapped or address).is_loopback else None


class AgentLooks:
    """Looks for the processes of connections; whoever asks while it looks shares the next look."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Pair, asyncio.Future[bool]]] = []
        self._looking: asyncio.Task[None] | None = None

    async def is_agent(self, pair: Pair) -> bool:
        """Whether a marked process holds the other end. Also if nobody does any more: it cannot be told who it was."""
        found: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((pair, found))
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        return await found

    async def _look(self) -> None:
        try:
            while self._waiting:
                asked, self._waiting = self._waiting, []
                agents = await asyncio.to_thread(pairs_of_agents, {pair for pair, _ in asked})
                for pair, found in asked:
                    if not found.done():
                        found.set_result(pair in agents)
        finally:
            self._looking = None
            for _, found in self._waiting:
                found.cancel()


def pairs_of_agents(pairs: set[Pair]) -> set[Pair]:
    """Those whose other end is a marked process's, or nobody's."""
    sockets = _sockets(pairs)
    theirs = {pair: number for pair, number in sockets.items() if number != GONE}
    held = _held_by_agents(set(theirs.values())) if theirs else set()
    return {pair for pair, number in sockets.items() if number == GONE or number in held}


def _sockets(pairs: set[Pair]) -> dict[Pair, int]:
    """Pair → the number of the socket at its other end. Without those that the system's tables do not know."""
    seen_from: dict[tuple[str, str], tuple[Pair, bool]] = {}
    for own, peer in pairs:
        for ours in _written(own):
            for theirs in _written(peer):
                seen_from[theirs, ours] = (own, peer), True
                seen_from[ours, theirs] = (own, peer), False
    found: dict[Pair, int] = {}
    known: set[Pair] = set()
    for local, remote, number in _connections():
        pair, is_theirs = seen_from.get((local, remote), (None, False))
        if pair is not None and is_theirs:
            found[pair] = number
        elif pair is not None:
            known.add(pair)
    return {pair: found.get(pair, GONE) for pair in known | set(found)}


def _connections() -> Iterator[tuple[str, str, int]]:
    """Local end, remote end, socket."""
    for table in TABLES:
        with contextlib.suppress(OSError), open(table) as lines:  # noqa: PTH123  # read line by line
            next(lines, None)
            for line in lines:
                fields = line.split()
                yield fields[1], fields[2], int(fields[9])


def _written(address: Address) -> list[str]:
    """An address as the system's tables write it; one of IPv4 may be in both."""
    ip, port = ipaddress.ip_address(address[0].partition("%")[0]), address[1]
    forms = {ip.packed}
    if isinstance(ip, ipaddress.IPv4Address):
        forms.add(b"\0" * 10 + b"\xff\xff" + ip.packed)
    elif ip.ipv4_mapped is not None:
        forms.add(ip.ipv4_mapped.packed)
    return ["".join(f"{word:08X}" for (word,) in struct.iter_unpack("=I", form)) + f":{port:04X}" for form in forms]


def _held_by_agents(sockets: set[int]) -> set[int]:
    """Which of these sockets a marked process has open."""
    wanted = {f"socket:[{number}]": number for number in sockets}
    held: set[int] = set()
    for pid in marks.process_ids():
        if not any(marks.carried_by(pid)):
            continue
        folder = f"/proc/{pid}/fd"
        with contextlib.suppress(OSError):  # it is gone, or another user's
            for name in os.listdir(folder):  # noqa: PTH208  # half the time of Path
                with contextlib.suppress(OSError):
                    link = os.readlink(f"{folder}/{name}")  # noqa: PTH115
                    if link in wanted:
                        held.add(wanted[link])
    return held
