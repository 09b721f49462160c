"""The ways into what public objects keep to themselves, for tests that watch it or break it on purpose.

A caller needs none of it: a session says what it did, a host has operations. A test that a buffer stays small, that
nobody works on a session any more, or that a fault between two layers is survived has to look inside. It does so by
these functions, so that whoever changes the inside finds one place.
"""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.client import Session
from quarterdeck.client.connection import Connection
from quarterdeck.client.warm import WarmPool
from quarterdeck.host import Host
from quarterdeck.host.actor import SessionActor
from quarterdeck.host.fanout import Fanout
from quarterdeck.wire import codec


def connection_of(session: Session) -> Connection:
    """What serves a session's requests and keeps its unread messages."""
    return session._link


def in_memory(host: Host) -> dict[str, SessionActor]:
    """The sessions that a host has not left to its store, by id."""
    return host._actors


def worked_on(host: Host) -> list[str]:
    """The sessions that a host does something with by itself at the moment."""
    return list(host._busy)


def recent_frames(fanout: Fanout) -> int:
    """How many frames are kept for those who watch."""
    return len(fanout._recent)


def warm_places(host: Host) -> Any:
    """Where processes wait for sessions."""
    return host._warm._places


def idle_sessions(pool: WarmPool) -> list[Session]:
    """Those that nobody has taken yet."""
    return [one.session for one in pool._idle]


def classes_are_inspected() -> bool:
    """Whether the one decoder for all messages has been built."""
    return codec._for_all is not None


def forget_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a program that has decoded nothing yet."""
    monkeypatch.setattr(codec, "_for_all", None)


def tables_of(store: Any) -> Any:
    """The tables that a SQLite store's writer works on; None while it has none open."""
    return store._writer._tables


def writing_connection(store: Any) -> Any:
    """The database connection of a SQLite store's writer."""
    return tables_of(store).connection
