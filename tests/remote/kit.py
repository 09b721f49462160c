"""A host that is served, and sessions on it that tests of local sessions can be run with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any

from e2e.conftest import stage_in
from e2e.kit import Running, Stage
from quarterdeck import ClaudeAgentOptions, Session, connect
from quarterdeck.gateways.http import Gateway, Server, Settings
from quarterdeck.host import Host
from quarterdeck.host.requests import CreateToken, ListSessions, OfSession
from quarterdeck.remote import Patience

LIMIT_S = 60.0
QUICK = Patience(first_wait_s=0.01, longest_wait_s=0.1)


@dataclass
class Elsewhere:
    """A host that takes requests."""

    host: Host
    tcp: tuple[str, int]
    token: str

    @property
    def url(self) -> str:
        return f"http://{self.tcp[0]}:{self.tcp[1]}"

    @staticmethod
    def there(options: ClaudeAgentOptions, env: dict[str, str] | None = None) -> ClaudeAgentOptions:
        """The options of a local session without what the host has itself: where Claude Code is, and its home."""
        return replace(options, cli_path=None, env=env or {}, env_allow=None)

    def connect(self, options: ClaudeAgentOptions) -> Session:
        return connect(self.there(options), host=self.url, token=self.token)


@asynccontextmanager
async def elsewhere(
    options: ClaudeAgentOptions, folder: Path, *, keeper: bool = False, settings: Settings | None = None
) -> AsyncIterator[Elsewhere]:
    """A host for the Claude Code of these options."""
    cli = options.cli_path
    agents: Any = {"claude": cli if isinstance(cli, list) else str(cli)}
    async with Host(folder, keeper=keeper, agents=agents, env=options.env) as host:
        token = await host.create_token(CreateToken(name="program", scope="admin", may_bypass=True))
        async with Server(Gateway(host, settings)) as server:
            tcp = await server.listen_tcp("127.0.0.1", 0)
            yield Elsewhere(host, tcp, str(token.secret))
            for session in (await host.list_sessions(ListSessions(limit=1_000))).sessions:
                await host.stop(OfSession(session_id=session.id))


class HostThread:
    """A host in a thread of its own, for tests that know nothing of hosts."""

    def __init__(self, options: ClaudeAgentOptions, folder: Path) -> None:
        self._started: Future[Elsewhere] = Future()
        self._thread = Thread(target=lambda: asyncio.run(self._serve(options, folder)))
        self._thread.start()
        self.place = self._started.result(LIMIT_S)

    async def _serve(self, options: ClaudeAgentOptions, folder: Path) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        try:
            async with elsewhere(options, folder) as place:
                self._started.set_result(place)
                await self._stopping.wait()
        except BaseException as error:
            if not self._started.done():
                self._started.set_exception(error)
            raise

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(LIMIT_S)
        assert not self._thread.is_alive()


class StageElsewhere(Stage):
    """A stage whose sessions run on a host."""

    _host: HostThread | None = None

    def options(self, *, env: dict[str, str] | None = None, **more: Any) -> ClaudeAgentOptions:
        return Elsewhere.there(super().options(**more), env)

    @property
    def at(self) -> dict[str, Any]:
        if self._host is None:
            self._host = HostThread(super().options(), self.folder / "state")
        return {"host": self._host.place.url, "token": self._host.place.token}

    def close(self) -> None:
        if self._host is not None:
            self._host.stop()


@contextmanager
def running_elsewhere(folder: Path, **options: Any) -> Iterator[Running]:
    """A session for several tests, as ``e2e.conftest.running_in`` has it, on a host."""
    with stage_in(folder) as stage, asyncio.Runner() as runner:
        served = elsewhere(stage.options(env=options.pop("env", {})), folder / "state")
        place = runner.run(served.__aenter__())
        running = Running(stage, runner, make=place.connect, **options)
        try:
            runner.run(running.session.open())
            try:
                yield running
            finally:
                runner.run(running.session.close())
        finally:
            runner.run(served.__aexit__(None, None, None))
