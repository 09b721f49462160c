"""A host that is served, and sessions on it that tests of local sessions can be run with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from e2e.conftest import stage_in
from e2e.kit import Running, Stage
from quarterdeck import ClaudeAgentOptions, Session, connect
from quarterdeck.gateways.http import Gateway, Server
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
async def elsewhere(options: ClaudeAgentOptions, folder: Path, *, keeper: bool = False) -> AsyncIterator[Elsewhere]:
    """A host for the Claude Code of these options."""
    cli = options.cli_path
    agents: Any = {"claude": cli if isinstance(cli, list) else str(cli)}
    async with Host(folder, keeper=keeper, agents=agents, env=options.env) as host:
        token = await host.create_token(CreateToken(name="program", scope="admin", may_bypass=True))
        async with Server(Gateway(host)) as server:
            tcp = await server.listen_tcp("127.0.0.1", 0)
            yield Elsewhere(host, tcp, str(token.secret))
            for session in (await host.list_sessions(ListSessions(limit=1_000))).sessions:
                await host.stop(OfSession(session_id=session.id))


class StageElsewhere(Stage):
    """A stage whose sessions run on a host. The host is there while one of them is."""

    _hosts: AsyncExitStack | None = None
    _place: Elsewhere
    _sessions = 0

    @asynccontextmanager
    async def session(self, **options: Any) -> AsyncIterator[Session]:
        async with asyncio.timeout(LIMIT_S), self._host() as there:
            own, wanted = self.options().env, self.options(**options)
            more = {name: value for name, value in wanted.env.items() if own.get(name) != value}
            async with connect(there.there(wanted, more), host=there.url, token=there.token) as session:
                yield session

    @asynccontextmanager
    async def _host(self) -> AsyncIterator[Elsewhere]:
        if self._hosts is None:
            self._hosts = AsyncExitStack()
            self._place = await self._hosts.enter_async_context(elsewhere(self.options(), self.folder / "state"))
        self._sessions += 1
        try:
            yield self._place
        finally:
            self._sessions -= 1
            if not self._sessions:
                hosts, self._hosts = self._hosts, None
                await hosts.aclose()


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
