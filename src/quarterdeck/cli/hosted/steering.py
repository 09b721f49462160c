"""Interrupt or stop several sessions, and wait for one."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Literal

from quarterdeck.cli.common import FAILED, OK, Look, ReportedError, sanitize
from quarterdeck.cli.wait import ASKS, ENDED, TIMED_OUT
from quarterdeck.host import HostError
from quarterdeck.host.requests import OfSession, Wait
from quarterdeck.host.resources import Session

from .naming import find_session
from .showing import print_json

if TYPE_CHECKING:
    from quarterdeck.remote import RemoteHost

LONGEST_WAIT_S = 60.0
"""One request: the connection may have its own idea of how long a request lasts."""


async def for_each(
    host: RemoteHost, given: argparse.Namespace, operation: Literal["interrupt", "stop"], *, done: str
) -> int:
    """Resolves all of them before doing anything; failures are reported, and the rest continues."""
    sessions = [await find_session(host, wanted) for wanted in given.sessions]
    look, code = Look.of(sys.stdout), OK
    for session in {one.id: one for one in sessions}.values():
        try:
            await getattr(host, operation)(OfSession(session_id=session.id))
        except HostError as error:
            code = FAILED
            print(f"quarterdeck {operation}: {sanitize(f'{shown(session)}: {error}')}", file=sys.stderr)
            continue
        if given.json:
            print_json(await host.get_session(OfSession(session_id=session.id)))
        else:
            print(f"{look.paint('cyan', shown(session))}  {done}")
    return code


def shown(session: Session) -> str:
    """Its name if it has one, and enough of its id."""
    return f"{session.id[:8]} {sanitize(session.name, one_line=True)}".strip()


async def wait_for(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck wait``: the exit code says what happened."""
    session = await find_session(host, given.session)
    wanted = given.states or ["idle"]
    deadline = None if given.timeout is None else time.monotonic() + given.timeout
    asked = sorted({*wanted, "waiting"}) if given.asks else sorted(set(wanted))
    while True:
        left = LONGEST_WAIT_S if deadline is None else min(deadline - time.monotonic(), LONGEST_WAIT_S)
        session = await host.wait(Wait(session_id=session.id, for_=asked, timeout_s=max(left, 0.0)))
        code = _code(session.state, wanted, asked)
        if code is not None:
            return _told(session, code, given)
        if deadline is not None and time.monotonic() >= deadline:
            return _told(session, TIMED_OUT, given)


def _code(state: str, wanted: list[str], asked: list[str]) -> int | None:
    if state in wanted:
        return OK
    if state in ("stopped", "crashed", "parked"):
        return ENDED
    return ASKS if state == "waiting" and state in asked else None


def _told(session: Session, code: int, given: argparse.Namespace) -> int:
    if given.json:
        print_json(session)
    elif code == ASKS:
        raise ReportedError(
            f"{shown(session)} is waiting for an answer", "Run quarterdeck approvals --watch.", code=code
        )
    elif code == ENDED:
        why = f": {session.state_reason}" if session.state_reason else ""
        raise ReportedError(f"{shown(session)} is {session.state}{why}", "Run quarterdeck log ID.", code=code)
    elif code == TIMED_OUT:
        raise ReportedError(f"{shown(session)} is still {session.state}", "Wait longer with --timeout.", code=code)
    return code
