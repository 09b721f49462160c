"""Two sessions of one account at its limit, on a host that is killed: ``dying_limited.py STATE CWD CLI URL NOW``.

The first has a turn that the limit cuts off, the second a prompt that waits for it. ``URL`` is alerted, ``NOW`` is the
time by the host's clock. The environment of the CLI comes as JSON on stdin. Prints the sessions' ids.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys

from quarterdeck.host import Host
from quarterdeck.host.requests import CreateSession, Lifecycle, SendPrompt, Settings, Wait


async def main(state: str, cwd: str, cli: str, url: str, now: str) -> None:
    env = await asyncio.to_thread(json.load, sys.stdin)
    async with Host(state, agents={"claude": cli}, env=env, clock=lambda: float(now)) as host:
        alerts = [{"on": ["limited"], "url": url}]
        await host.set_alerts(Settings(settings={"alerts": alerts, "private_hosts": ["127.0.0.0/8"]}))
        goes_on = Lifecycle(limited="continue")
        first = await host.create_session(CreateSession(cwd=cwd, prompt="the first", lifecycle=goes_on))
        await host.wait(Wait(session_id=first.id, for_=["limited"]))
        second = await host.create_session(CreateSession(cwd=cwd))
        await host.send_prompt(SendPrompt(session_id=second.id, content="the second"))
        await host.wait(Wait(session_id=second.id, for_=["limited"]))
        print(json.dumps([first.id, second.id]), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:6]))
