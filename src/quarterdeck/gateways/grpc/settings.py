"""Settings of the gRPC gateway: sizes, limits and timeouts."""

from __future__ import annotations

from quarterdeck.gateways.common.authentication import AccessSettings

MIB = 1024 * 1024


class Settings(AccessSettings, frozen=True, kw_only=True):
    """The defaults suit a single machine."""

    streams_per_token: int = 1_000
    """More than over HTTP: streams share a connection here."""
    requests_per_s: float = 2_000.0
    """Per token, with bursts of up to four times as many."""
    message_bytes: int = 16 * MIB
    """For requests. Uploads can have the host's limit, if that is higher."""
    metadata_bytes: int = 16 * 1024
    calls: int = 4_000
    """Concurrent calls, including streams. Further ones are refused."""
    calls_per_connection: int = 2_000
    event_bytes: int = 3 * MIB
    """Larger events are only named, unless the client asks for more: clients accept 4 MiB by default."""
    largest_event_bytes: int = 128 * MIB
    """The most a client can ask for."""
    commands: int = 64
    """Concurrent requests per conversation. Further ones wait."""
    open_s: float = 10.0
    """The first message of a call must arrive within this time."""

    # Connections
    connections: int = 500
    """Per address, if there are descriptors for that many. Further ones are closed."""
    ping_s: float = 30.0
    """Ping an idle connection after this time …"""
    ping_timeout_s: float = 20.0
    """… and close it if there is no response within this time."""
    shortest_ping_s: float = 5.0
    """Clients that ping more often are disconnected."""
    idle_s: float = 3_600.0
    """Close a connection without calls after this time."""
    health_s: float = 5.0
    """How often health watchers are updated."""
