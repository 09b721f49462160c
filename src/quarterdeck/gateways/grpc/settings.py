"""How the gRPC gateway serves: how large, how many, how patient."""

from __future__ import annotations

from quarterdeck.gateways.common.settings import AccessSettings

MIB = 1024 * 1024


class Settings(AccessSettings, frozen=True, kw_only=True):
    """All have a default that suits one machine."""

    streams_per_token: int = 1_000
    """More than over HTTP: streams share a connection here."""
    requests_per_s: float = 2_000.0
    """Per token; bursts of four times as many are fine."""
    message_bytes: int = 16 * MIB
    """Of a request; an upload may have what the host takes, if that is more."""
    metadata_bytes: int = 16 * 1024
    calls: int = 4_000
    """Under way at once, streams included; the next one is refused."""
    calls_per_connection: int = 2_000
    event_bytes: int = 3 * MIB
    """A larger event is only named, unless the client asks for more: clients take messages of 4 MiB by default."""
    largest_event_bytes: int = 128 * MIB
    """What a client may ask for."""
    commands: int = 64
    """Of one conversation, under way at once; the next one is read when one has ended."""

    # Connections
    ping_s: float = 30.0
    """An idle connection is asked whether it is there …"""
    ping_timeout_s: float = 20.0
    """… and given up when it does not answer."""
    shortest_ping_s: float = 5.0
    """A client that pings more often than this is sent away."""
    idle_s: float = 3_600.0
    """A connection without calls is closed after this."""
    health_s: float = 5.0
    """How often those who watch the health are told the news."""
