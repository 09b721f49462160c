"""The ways into what public objects keep to themselves, for tests that watch it or break it on purpose.

A caller needs none of it: a session says what it did, a host has operations. A test that a buffer stays small, that
nobody works on a session any more, or that a fault between two layers is survived has to look inside. It does so by
these functions, so that whoever changes the inside finds one place.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from quarterdeck.client import Session
from quarterdeck.client.connection import Connection
from quarterdeck.client.journal import Journal
from quarterdeck.client.warm import WarmPool
from quarterdeck.host import Host
from quarterdeck.host.actor import SessionActor
from quarterdeck.host.fanout import Fanout
from quarterdeck.transport.watchdog import Watchdog
from quarterdeck.wire import codec


def connection_of(session: Session) -> Connection:
    """What serves a session's requests and keeps its unread messages."""
    return session._link


def say(session: Session, line: bytes) -> None:
    """Send a line of the protocol that no call of this client would send, and keep a record of it."""
    link = connection_of(session)
    link.side._outgoing.append(line)
    link._pump()


def write_past(session: Session, data: bytes) -> None:
    """Bytes on the CLI's stdin of which the client knows nothing."""
    connection_of(session)._transport.write(data)


def use_journal(session: Session, journal: Journal) -> None:
    """Before anything is read or sent."""
    session.journal = connection_of(session)._journal = journal


@contextmanager
def mute(session: Session) -> Iterator[None]:
    """It takes everything in and answers nothing, as if it died before it could."""
    link = connection_of(session)
    link._write = lambda: None  # type: ignore[method-assign]
    yield
    del link._write


def remembered(dog: Watchdog) -> set[str]:
    """What a watchdog would end and remove."""
    return dog._items


def vanish(dog: Watchdog, limit_s: float) -> None:
    """Wait for a watchdog that sees what it sees when our process is killed: its pipe closes, without a goodbye."""
    process = dog._process
    assert process is not None
    os.close(dog._pipe)
    dog._pipe, dog._process = -1, None
    process.wait(limit_s)


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
