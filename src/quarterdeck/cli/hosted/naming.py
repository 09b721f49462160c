"""Resolves a session, approval or token by its id, a unique prefix, or a session's name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from quarterdeck.cli.common import ReportedError, cut, sanitize
from quarterdeck.cli.common.resolving import LONGER_PREFIX, matching

if TYPE_CHECKING:
    from quarterdeck.host.resources import Approval, Session
    from quarterdeck.remote import RemoteHost

NAMED = 5
"""How many matches to list when there are several."""
PAGE = 200
WHOLE_ID = 36

T = TypeVar("T")


async def find_session(host: RemoteHost, wanted: str) -> Session:
    """Raises ``ReportedError`` if there is no match or more than one."""
    from quarterdeck.host import HostError
    from quarterdeck.host.requests import OfSession

    if len(wanted) >= WHOLE_ID:
        try:
            return await host.get_session(OfSession(session_id=wanted))
        except HostError as error:
            if error.code not in ("not_found", "invalid"):
                raise
    return named_in([one async for one in all_sessions(host, archived=True)], wanted)


def named_in(sessions: Sequence[Session], wanted: str) -> Session:
    """Of several matches, one that is not archived counts."""
    found = matching(wanted, sessions, ids=lambda one: (one.id, one.transcript_id or ""), title=lambda one: one.name)
    if len(found) > 1:  # one that is in use is more likely to be meant than one that is put away
        found = [one for one in found if not one.archived] or found
    rows = [f"{one.id}  {one.state:<8}  {cut(sanitize(one.name or one.cwd, one_line=True), 40)}" for one in found]
    return only(found, rows, f"no such session: {wanted!r}", f"{wanted!r} matches several sessions", "ps --all")


async def all_sessions(host: RemoteHost, *, archived: bool = False, **filters: list[str]) -> AsyncIterator[Session]:
    """Every session, newest first; ``archived`` includes archived ones."""
    from quarterdeck.host.requests import ListSessions

    for put_away in (False, True) if archived else (False,):
        cursor: str | None = None
        while True:
            page = await host.list_sessions(ListSessions(archived=put_away, limit=PAGE, cursor=cursor, **filters))  # type: ignore[arg-type]
            for session in page.sessions:
                yield session
            cursor = page.next_cursor
            if cursor is None:
                break


async def find_approval(host: RemoteHost, wanted: str) -> Approval:
    """A waiting approval by a prefix of its id; or any by its full id: the host then says how it was decided."""
    from quarterdeck.host.requests import OfApproval

    if len(wanted) >= WHOLE_ID:
        return await host.get_approval(OfApproval(approval_id=wanted))
    waiting = [one async for one in all_approvals(host)]
    found = [one for one in waiting if wanted and one.id.startswith(wanted.lower())]
    rows = [f"{one.id}  {cut(sanitize(one.summary, one_line=True), 40)}" for one in found]
    return only(
        found, rows, f"no pending request with the id {wanted!r}", f"{wanted!r} matches several requests", "approvals"
    )


async def all_approvals(host: RemoteHost, **filters: object) -> AsyncIterator[Approval]:
    """Every approval that waits, or as the filters say."""
    from quarterdeck.host.requests import ListApprovals

    cursor: str | None = None
    while True:
        page = await host.list_approvals(ListApprovals(limit=PAGE, cursor=cursor, **filters))  # type: ignore[arg-type]
        for approval in page.approvals:
            yield approval
        cursor = page.next_cursor
        if cursor is None:
            return


class HasId(Protocol):
    """What can be named by its id."""

    @property
    def id(self) -> str: ...


H = TypeVar("H", bound=HasId)


def by_id(listed: Iterable[H], wanted: str, *, kind: str, command: str) -> H:
    """The one whose id begins so; ``command`` lists them all. Raises ``ReportedError`` if none or several do."""
    found = [one for one in listed if wanted and one.id.startswith(wanted.lower())]
    ids = [one.id for one in found]
    return only(found, ids, f"no such {kind}: {wanted!r}", f"{wanted!r} matches several {kind}s", command)


def only(found: Sequence[T], rows: Iterable[str], none: str, several: str, command: str) -> T:
    """The one that was found; ``command`` lists them all. Raises ``ReportedError`` otherwise."""
    if len(found) == 1:
        return found[0]
    if not found:
        raise ReportedError(none, f"Run quarterdeck {command} to list them.")
    listed = [*rows]
    more = "\n    …" if len(listed) > NAMED else ""
    shown = "".join(f"\n    {row}" for row in listed[:NAMED])
    raise ReportedError(f"{several}:{shown}{more}", LONGER_PREFIX)
