"""Streams approvals across reconnects: first the list, then the host's changes after its position.

The host's approval stream has no cursor. Its stream of all changes does, so nothing is lost or reported twice when we
reconnect.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from quarterdeck.host.requests import ListApprovals, OfApproval, OfSession, WatchHost
from quarterdeck.host.resources import Approval

OPEN = ("pending", "decided", "delivered")
"""States that aren't final."""

if TYPE_CHECKING:
    from .remote_host import RemoteHost


async def watched_approvals(host: RemoteHost, request: ListApprovals) -> AsyncGenerator[Approval, None]:
    session = request.session
    if session is not None:
        session = (await host.get_session(OfSession(session_id=session))).id
    known: dict[str, Approval] = {}

    def is_new(approval: Approval) -> bool:
        if known.get(approval.id) == approval:
            return False
        known[approval.id] = approval
        return True

    async with aclosing(host.watch_host(WatchHost())) as changes:
        async for change in changes:
            kind, told = change.details["kind"], change.details.get("approval")
            if kind in ("hello", "gap"):
                async for approval in _listed(host, request, known):
                    if is_new(approval):
                        yield approval
            elif kind == "approval" and told is not None:
                approval = msgspec.convert(told, Approval)
                wanted = session in (None, approval.session_id) and (not request.kind or approval.kind in request.kind)
                if wanted and is_new(approval):
                    yield approval


async def _listed(
    host: RemoteHost, request: ListApprovals, known: dict[str, Approval]
) -> AsyncGenerator[Approval, None]:
    """List the requested approvals, and the outcome of those reported before."""
    seen: set[str] = set()
    page = request
    while True:
        found = await host.list_approvals(page)
        for approval in found.approvals:
            seen.add(approval.id)
            yield approval
        if found.next_cursor is None:
            break
        page = msgspec.structs.replace(page, cursor=found.next_cursor)
    for one in list(known.values()):
        if one.id not in seen and one.state in OPEN:
            yield await host.get_approval(OfApproval(approval_id=one.id))
