"""The simulator and our own client core, joined in memory."""

from __future__ import annotations

import asyncio
import itertools
import time
from pathlib import Path
from typing import Any

from quarterdeck.protocol import HostSide, RequestReceived, TurnClosed
from quarterdeck.testing.sim import Scenario, SimulatedCli, Tool
from quarterdeck.transport import ExitStatus, MemoryTransport, memory_pair
from testing.sim.harness import FLAGS

LIMIT_S = 10.0


class Client:
    """A ``HostSide`` on one end of a pair; allows every tool."""

    def __init__(self, transport: MemoryTransport) -> None:
        numbers = itertools.count()
        self.side = HostSide(new_id=lambda: f"h{next(numbers)}", clock=time.monotonic)
        self.transport = transport
        self.events: list[Any] = []
        self.turn_ended = asyncio.Event()
        self.status: ExitStatus | None = None

    def flush(self) -> None:
        if data := self.side.outgoing():
            self.transport.write(data)

    def bytes_received(self, data: bytes) -> None:
        self.side.receive(data)
        for event in self.side.events():
            self.events.append(event)
            if isinstance(event, RequestReceived):
                self.side.answer(event.request_id, {"behavior": "allow"})
            elif isinstance(event, TurnClosed):
                self.turn_ended.set()
        self.flush()

    def eof_received(self) -> None:
        self.side.receive_eof()

    def exited(self, status: ExitStatus) -> None:
        self.status = status


def test_a_turn_with_a_permission_request_passes_between_the_two_cores(tmp_path: Path) -> None:
    step = Tool("Bash", {"command": "touch made.txt"})

    async def work() -> None:
        ours, theirs = memory_pair()
        scenario = Scenario(turns=[["I need a tool.", step, "Done."]])
        cli = SimulatedCli(FLAGS, scenario=scenario, cwd=tmp_path, env={"HOME": str(tmp_path)})
        exit_code = cli.attach(theirs)
        client = Client(ours)
        await ours.start(client)
        client.side.initialize()
        client.side.send_user("make it")
        client.flush()
        async with asyncio.timeout(LIMIT_S):
            await client.turn_ended.wait()
            await ours.close()
            assert await exit_code == 0
        asked = [event.request.tool_name for event in client.events if isinstance(event, RequestReceived)]
        ended = [event.result.result for event in client.events if isinstance(event, TurnClosed)]
        assert (asked, ended) == (["Bash"], ["Done."])
        assert (tmp_path / "made.txt").exists()

    asyncio.run(work())
