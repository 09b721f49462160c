"""A session that starts another, on a host that is killed by SIGKILL: ``dying_parent.py MOMENT FOLDER CWD CLI``.

The moments: ``created``, right after the child is in the log; ``answered``, right after the log has the answer to the
parent; ``waiting``, while the parent waits for its child. The environment of the CLI comes as JSON on stdin.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from decimal import Decimal
from typing import Any

from quarterdeck.host import Host
from quarterdeck.host.bodies import decode_body
from quarterdeck.host.requests import CreateSession, HostTools, ListSessions, ReadEvents
from quarterdeck.store.commits import Commit, PutSession
from quarterdeck.store.sqlite import SqliteStore
from quarterdeck.timeline.events import ToolCalled

TOOLS = "mcp__quarterdeck__"
ALLOWED = {"allowed_tools": [TOOLS + "start_session", TOOLS + "wait_for_session"]}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def is_created(commit: Commit) -> bool:
    return any(isinstance(change, PutSession) and decode_body(change.record).is_child for change in commit.changes)


def is_answered(commit: Commit) -> bool:
    receipt = commit.receipt
    return receipt is not None and receipt.scope.startswith("session ") and "\ncreate_session\n" in receipt.scope


def die_after(moment: str) -> None:
    kept = SqliteStore.commit

    async def commit(self: SqliteStore, wanted: Commit) -> Any:
        done = await kept(self, wanted)
        if {"created": is_created, "answered": is_answered}[moment](wanted):
            die()
        return done

    SqliteStore.commit = commit  # type: ignore[method-assign]


async def is_waited_for(host: Host, parent: str) -> bool:
    sessions = (await host.list_sessions(ListSessions())).sessions
    frames = (await host.read_events(ReadEvents(session_id=parent, limit=10_000))).frames
    called = [event.name for frame in frames for event in frame.events if isinstance(event, ToolCalled)]
    return TOOLS + "wait_for_session" in called and any(one.parent_id and one.state == "running" for one in sessions)


async def main(moment: str, folder: str, cwd: str, cli: str) -> None:
    async with Host(folder, agents={"claude": cli}, env=json.load(sys.stdin)) as host:
        create = CreateSession(
            cwd=cwd,
            prompt="lead",
            name="parent",
            host_tools=HostTools(sessions=1),
            options=ALLOWED,
            budget_usd=Decimal(50),
        )
        parent = (await host.create_session(create)).id
        while not await is_waited_for(host, parent):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        die()


if __name__ == "__main__":
    if sys.argv[1] != "waiting":
        die_after(sys.argv[1])
    asyncio.run(main(*sys.argv[1:5]))
