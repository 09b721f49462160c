"""How the gateway serves: limits, names it answers to, proxies it believes."""

from __future__ import annotations

from quarterdeck.gateways.common.settings import AccessSettings

MIB = 1024 * 1024


class Settings(AccessSettings, frozen=True, kw_only=True):
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
    message_bytes: int = 16 * MIB
    """Of a WebSocket message, all its fragments together."""
    subscriptions: int = 1_000
    """Of one WebSocket."""
    commands: int = 64
    """Of one WebSocket, under way at once; the next one is read when one has ended."""

    # Streams
    heartbeat_s: float = 15.0

    compress_bytes: int = 1_400
    """Answers from this size on are compressed where the client takes it; smaller ones fit a packet anyway."""
    compress_messages: bool = False
    """Compress WebSocket messages: for slow networks, at the cost of memory per client."""
