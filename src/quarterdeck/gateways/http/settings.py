"""How the gateway serves: limits, names it answers to, proxies it believes."""

from __future__ import annotations

import msgspec

MIB = 1024 * 1024


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All have a default that suits one machine."""

    # Who it is
    hosts: tuple[str, ...] = ()
    """Names in ``Host`` beyond loopback's: those under which it is reached, or which a proxy passes on."""
    base_path: str = ""
    """What a reverse proxy puts before every path, e.g. ``/quarterdeck``."""
    proxies: tuple[str, ...] = ()
    """Addresses or networks whose ``X-Forwarded-…`` headers count; ``unix`` is whoever uses the Unix socket."""

    # How much it takes
    body_bytes: int = 16 * MIB
    """Of a JSON body; uploads have the host's own limit."""
    header_bytes: int = 64 * 1024
    header_s: float = 10.0
    """A request line and its headers must come within this time: a slow sender holds a connection, not more."""
    body_s: float = 60.0
    keep_alive_s: float = 30.0
    connections: int = 1_000
    connections_per_client: int = 500
    streams_per_token: int = 200
    requests_per_s: float = 200.0
    """Per token; bursts of four times as many are fine."""
    message_bytes: int = 16 * MIB
    """Of a WebSocket message, all its fragments together."""
    subscriptions: int = 1_000
    """Of one WebSocket."""
    commands: int = 64
    """Of one WebSocket, under way at once; the next one is read when one has ended."""

    # Streams
    heartbeat_s: float = 15.0
    outbox_bytes: int = 256 * 1024
    """What may wait for one client. A subscription that finds it full waits, and reads the log later."""
    stalled_s: float = 60.0
    """A client that takes nothing for this long is gone."""
    drain_s: float = 10.0
    """What is being answered when the gateway stops has this long."""

    # Failed attempts
    attempts: int = 5
    """Failures of one client within a minute that cost it nothing."""
    slowest_s: float = 4.0
    delayed: int = 64
    """Answers that are held back at once; beyond that they are refused at once."""

    compress_bytes: int = 1_400
    """Answers from this size on are compressed where the client takes it; smaller ones fit a packet anyway."""
    compress_messages: bool = False
    """Compress WebSocket messages: for slow networks, at the cost of memory per client."""
