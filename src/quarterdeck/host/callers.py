"""Who asks something of a host."""

from __future__ import annotations

import msgspec

from .resources import Scope


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, and through which face. The default is the program that has the host."""

    name: str = "program"
    via: str = "library"
    scope: Scope = "admin"
    token_id: str | None = None
    may_bypass: bool = True
    """May have sessions in ``bypassPermissions``."""
    folders: tuple[str, ...] = ()
    """Sees only sessions in these folders and below; empty: all."""
    session_id: str | None = None
    """The session that asks, where one does through its tools: what it starts are its children."""
    children_outlive: bool = False
    """They go on when it has ended."""
    expires_at: float | None = None
    """When its token ends, by the host's clock. Whoever streams to the caller ends the stream then."""


PROGRAM = Caller()
