"""The list of sessions, once or live."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from quarterdeck.cli.common import OK, Look
from quarterdeck.host.requests import WatchHost
from quarterdeck.host.resources import Session

from .live import show_live
from .naming import all_sessions
from .showing import print_json, sessions_table, total_cost

if TYPE_CHECKING:
    from quarterdeck.remote import RemoteHost

NONE = 'No sessions. Start one with: quarterdeck chat --host, or quarterdeck run "…" --host'


async def list_them(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck ps``."""
    from quarterdeck.cli.terminal.screen import can_draw

    board = Board(host, given)
    await board.load()
    if given.json:
        print_json(board.sessions)
    elif given.quiet:
        print("".join(f"{one.id}\n" for one in board.sessions), end="")
    elif given.once or not (can_draw() and sys.stdin.isatty()):
        print("\n".join(board.lines(Look.of(sys.stdout), 0)))
    else:
        await show_live(board.lines, board.follow)
    return OK


class Board:
    """The sessions that are shown, kept up to date."""

    def __init__(self, host: RemoteHost, given: argparse.Namespace) -> None:
        self._host = host
        self._given = given
        self._known: dict[str, Session] = {}

    async def load(self) -> None:
        self._known = {one.id: one async for one in all_sessions(self._host, archived=self._given.all)}

    @property
    def sessions(self) -> list[Session]:
        """The selected sessions: waiting ones first, then by last activity."""
        wanted = [one for one in self._known.values() if self._wants(one)]
        return sorted(wanted, key=lambda one: (one.state != "waiting", -one.last_activity_at.timestamp(), one.id))

    def _wants(self, session: Session) -> bool:
        given = self._given
        return (
            (given.all or not session.archived)
            and (not given.state or session.state in given.state)
            and all(tag in session.tags for tag in given.tag)
        )

    async def follow(self, changed: Callable[[], None]) -> None:
        """Take in every change."""
        async for told in self._host.watch_host(WatchHost()):
            details = told.details
            match details.get("kind"):
                case "hello" | "gap":  # something may have changed since the list was loaded
                    await self.load()
                case "session" if details.get("session") is None:
                    self._known.pop(str(details.get("id")), None)
                case "session":
                    session = msgspec.convert(details["session"], Session)
                    self._known[session.id] = session
            changed()

    def lines(self, look: Look, rows: int) -> list[str]:
        """All lines, or as many as fit in ``rows``."""
        shown = self.sessions
        if not shown:
            return [look.paint("dim", NONE)]
        waiting = sum(one.pending_approvals for one in shown)
        parts = [f"{len(shown)} session{'s' * (len(shown) != 1)}", total_cost(shown)]
        if waiting:
            parts.append(f"{waiting} waiting for you: quarterdeck approvals --watch")
        room = max(rows - 3, 1) if rows else len(shown)
        hidden = len(shown) - room
        more = [look.paint("dim", f"… {hidden} more")] if hidden > 0 else []
        foot = look.paint("dim", " · ".join(filter(None, parts)))
        if self._host.state != "connected":
            foot = look.paint("yellow", "connection to the host lost; reconnecting …")
        return [*sessions_table(shown[:room], look, now=time.time()), *more, foot]
