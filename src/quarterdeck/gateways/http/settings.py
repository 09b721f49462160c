"""Settings of the HTTP gateway: limits, accepted host names, trusted proxies."""

from __future__ import annotations

from quarterdeck.gateways.common.authentication import AccessSettings

MIB = 1024 * 1024


class Settings(AccessSettings, frozen=True, kw_only=True):
    """The defaults suit a single machine."""

    # Who it is
    hosts: tuple[str, ...] = ()
    """Host names to accept in ``Host`` besides loopback: its public names, or those a proxy passes on."""
    base_path: str = ""
    """The path prefix that a reverse proxy adds, e.g. ``/quarterdeck``."""
    proxies: tuple[str, ...] = ()
    """Addresses or networks whose ``X-Forwarded-…`` headers to trust; ``unix`` stands for clients of the Unix socket.
    """

    # Limits
    body_bytes: int = 16 * MIB
    """For JSON bodies; uploads have the host's own limit."""
    header_bytes: int = 64 * 1024
    header_s: float = 10.0
    """The request line and headers must arrive within this time."""
    body_s: float = 60.0
    keep_alive_s: float = 30.0
    connections: int = 1_000
    connections_per_client: int = 500
    message_bytes: int = 16 * MIB
    """For a WebSocket message with all its fragments."""
    subscriptions: int = 1_000
    """Per WebSocket."""
    commands: int = 64
    """Concurrent calls per WebSocket. Further ones wait, except those that others may be waiting for."""
    waiting_commands: int = 1_000
    """So many, or ``message_bytes`` of them; then nothing more is read."""

    # Streams
    heartbeat_s: float = 15.0

    compress_bytes: int = 1_400
    """Compress responses from this size on, if the client accepts it. Smaller ones fit into a packet anyway."""
    compress_messages: bool = False
    """Compress WebSocket messages: for slow networks, at the cost of memory per client."""
