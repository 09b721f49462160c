"""The chaos test of the host, with clients elsewhere: on WebSockets and SSE, through a network that cuts and stalls.

``quarterdeck serve`` is killed and started again while they go on; each ends with exactly the log.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import soak
from gateways.http.kit import Client
from gateways.http.rest_host import RestHost
from host.chaos_host import Work
from host.test_chaos import KILLS, LIMIT_S, PAUSE_S, Chaos, check_all
from quarterdeck.host.requests import CreateToken
from quarterdeck.remote import Patience, RemoteHost
from remote.proxy import Proxy, proxied

CLIENTS = soak.cases(4, in_soak=20)
SILENCES = soak.cases(0, in_soak=3)
"""How often the connections of all WebSocket clients fall silent. Each time they notice it by missing heartbeats."""
GENTLE = (100_000, 3_000_000)
"""Bytes after which a connection that reads whole logs has trouble."""
FULL = (2_000, 200_000)
"""The same for WebSockets: a message has up to 64 KiB, and must get through whole."""
PATIENT = Patience(first_wait_s=0.01, longest_wait_s=0.5, give_up_s=LIMIT_S)


class ServedChaos(Chaos):
    """``quarterdeck serve`` in the place of a host of this program."""

    def __init__(self, root: Path, seed: int) -> None:
        super().__init__(root, seed)
        self.plan["watchers"] = CLIENTS
        self._log = root / "serve.log"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.tcp: tuple[str, int] = free.getsockname()

    @property
    def token(self) -> str:
        return (self.place.folder / "token").read_text().strip()

    def start(self) -> None:
        place, (address, port) = self.place, self.tcp
        words = ["--state", str(place.folder), "--listen", f"{address}:{port}", "--agent", str(self._cli)]
        with self._log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "quarterdeck", "serve", *words],
                env={**os.environ, **place.claude.env},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        assert self.process.stdout.readline().startswith("ready http://"), self.said()

    def said(self) -> str:
        return self._log.read_text()

    def kills(self) -> list[str]:
        kills = super().kills() + ["network"] * SILENCES
        self.chance.shuffle(kills)
        return kills

    async def kill_and_restart(self, network: Proxy) -> None:
        """Everything that is killed, one after the other; then it is enough."""
        for kind in self.kills():
            await asyncio.sleep(self.chance.uniform(*PAUSE_S))
            if kind == "network":
                network.stall()
            else:
                await asyncio.to_thread(self.kill, kind)
        self.enough.touch()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


class WorkElsewhere(Work):
    """Each watcher has a token and a connection of its own."""

    def __init__(self, host: Any, cwd: str, plan: dict[str, Any], clients: list[Any]) -> None:
        super().__init__(host, cwd, plan)
        self._clients = clients

    def host_of(self, watcher: int) -> Any:
        return self._clients[watcher]


async def test_clients_of_a_bad_network_end_with_the_log_and_nothing_happens_twice(tmp_path: Path) -> None:
    chaos = ServedChaos(tmp_path, soak.SEED)
    faults = random.Random(soak.SEED)
    await asyncio.to_thread(chaos.start)
    try:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(asyncio.timeout(LIMIT_S))
            gentle = await stack.enter_async_context(proxied(chaos.tcp, faults, lasts=GENTLE))
            rough = await stack.enter_async_context(proxied(chaos.tcp, faults))
            silent = await stack.enter_async_context(proxied(chaos.tcp, faults, lasts=FULL))
            host = await stack.enter_async_context(RemoteHost(gentle.url, token=chaos.token, patience=PATIENT))
            clients: list[Any] = []
            for number in range(CLIENTS):
                secret = (await host.create_token(CreateToken(name=f"client {number}", scope="operate"))).secret
                if number // 2 % 2:
                    clients.append(RestHost(Client(("127.0.0.1", rough.port), secret)))
                else:
                    far = RemoteHost(silent.url, token=secret, patience=PATIENT)
                    clients.append(await stack.enter_async_context(far))
            work = WorkElsewhere(host, str(chaos.place.cwd), chaos.plan, clients)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(chaos.kill_and_restart(silent))
                tasks.create_task(work.run())
            ends = await work.run()  # what was killed last is resumed, and told to all
            assert rough.cuts + silent.cuts > CLIENTS
            assert any(client.cuts for client in clients if isinstance(client, RestHost))
            assert chaos.killed == KILLS
        chaos.process.terminate()
        assert await asyncio.to_thread(chaos.process.wait, LIMIT_S) == 0
    finally:
        chaos.end()
    await check_all(chaos, ends, CLIENTS)
