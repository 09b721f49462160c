"""A host that is killed in a turn: ``python dying_host.py MOMENT FOLDER CWD CLI keeper|alone`` (env as JSON on stdin).

Prints the session's id, and dies by SIGKILL at the moment it was told.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from quarterdeck.host import Host
from quarterdeck.host.actor import SessionActor
from quarterdeck.host.events import ApprovalChanged
from quarterdeck.host.folding import Preview
from quarterdeck.host.policies import SessionPolicy
from quarterdeck.host.requests import CreateSession, Decide, Decision, WatchSession
from quarterdeck.timeline.events import TextAdded


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def main(moment: str, folder: str, cwd: str, cli: str, owner: str, env: dict[str, str]) -> None:
    if moment == "decided":
        SessionActor.deliver = die  # type: ignore[method-assign]
    if moment == "hook":
        SessionPolicy.restrain = die  # type: ignore[method-assign]
    async with Host(folder, agents={"claude": json.loads(cli)}, env=env, keeper=owner == "keeper") as host:
        session = await host.create_session(CreateSession(cwd=cwd, prompt="go"))
        print(session.id, flush=True)
        async for one in host.watch_session(WatchSession(session_id=session.id)):
            for event in one.events:
                if moment == "text" and isinstance(one, Preview) and isinstance(event, TextAdded):
                    die()
                if isinstance(event, ApprovalChanged):
                    if moment == "permission":
                        die()
                    if event.approval.state == "pending":
                        choice = Decision(decision="allow")
                        await host.decide(Decide(approval_id=event.approval.id, decision=choice))
                    elif event.approval.state == "delivered" and moment == "tool":
                        while not (Path(cwd) / "log.txt").exists():  # noqa: ASYNC110
                            await asyncio.sleep(0.005)
                        die()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:6], env=json.load(sys.stdin)))
