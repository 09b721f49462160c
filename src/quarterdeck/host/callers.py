"""Who calls an operation."""

from __future__ import annotations

import msgspec

from .resources import Scope


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who calls, and through which interface. The default is the program that runs the host."""

    name: str = "program"
    via: str = "library"
    scope: Scope = "admin"
    token_id: str | None = None
    may_bypass: bool = True
    """May use the mode ``bypassPermissions``."""
    folders: tuple[str, ...] = ()
    """Limits access to sessions in and below these folders; empty: no limit."""
    session_id: str | None = None
    """The calling session, if the call comes from its host tools. Sessions it starts become its children."""
    children_outlive: bool = False
    """Keep the children running when it ends."""
    expires_at: float | None = None
    """When its token expires, by the host's clock. Streams to the caller end then."""


PROGRAM = Caller()
