"""Many sessions in one program: a durable log, approvals, and watchers that can come back.

With ``keeper=True``, the default, processes outlive the program: started again, it goes on in the middle of a turn.
"""

import asyncio
from pathlib import Path

from _where import HOST
from quarterdeck.host import Host
from quarterdeck.host.events import ApprovalChanged, StatusChange
from quarterdeck.host.requests import CreateSession, Decide, Decision, WatchSession
from quarterdeck.remote import RemoteHost
from quarterdeck.timeline.events import TextCompleted


async def main() -> None:
    async with RemoteHost(HOST) if HOST else Host(Path("state"), keeper=False) as host:
        session = await host.create_session(CreateSession(cwd=".", prompt="Make a folder."))
        async for frame in host.watch_session(WatchSession(session_id=session.id, previews=False)):
            for event in frame.events:
                match event:
                    case ApprovalChanged(approval=asked) if asked.state == "pending":
                        print("asked:", asked.tool, asked.input["command"])
                        await host.decide(Decide(approval_id=asked.id, decision=Decision(decision="allow")))
                    case TextCompleted(text=text):
                        print("said:", text)
                    case StatusChange(state="idle", before="running"):
                        return


asyncio.run(main())
