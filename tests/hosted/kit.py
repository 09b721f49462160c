"""A host served in a thread, for commands that are run beside it: in the test's process or in a terminal."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from host.kit import Place, pending
from quarterdeck.cli import main
from quarterdeck.cli.serve import own_token
from quarterdeck.gateways.http import Gateway, Server
from quarterdeck.host import Host
from quarterdeck.host.requests import CreateSession, Decide, Decision, ListSessions, OfSession, Wait
from quarterdeck.host.resources import Approval, Session
from terminal.kit import LIMIT_S, Term

T = TypeVar("T")
Work = Callable[[Host], Coroutine[Any, Any, T]]


class ServedHost:
    """On its socket and on a port, until it is closed. Its sessions play what ``claude.play`` was told before."""

    def __init__(self, root: Path, **more: Any) -> None:
        """``more``: for the host itself, in place of what it has here, e.g. other agents."""
        self._more = more
        self._place = Place(root, keeper=False)
        self.claude = self._place.claude
        self.state = self._place.folder
        self.cwd = self._place.cwd
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._host: Host | None = None
        self._ready, self._over = threading.Event(), asyncio.Event()
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._terms: list[Term] = []

    def start(self) -> ServedHost:
        self._thread.start()
        assert self._ready.wait(LIMIT_S)
        if self._problem is not None:
            raise self._problem
        return self

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:  # noqa: BLE001  # raised in the test
            self._problem = error
        finally:
            self._loop.close()
            self._ready.set()

    async def _serve(self) -> None:
        env = {**self.claude.env, "QUARTERDECK_SIM_APART": "1"}
        async with self._place.host(**{"env": env, **self._more}) as host, Server(Gateway(host)) as server:
            self._host = host
            address = await server.listen_tcp("127.0.0.1", 0)
            self.url = "http://{}:{}".format(*address)
            await server.listen_unix(self.state / "host.sock")
            await own_token(host, self.state)
            self._ready.set()
            await self._over.wait()
            for session in (await host.list_sessions(ListSessions(limit=100))).sessions:
                await host.stop(OfSession(session_id=session.id))

    def close(self) -> None:
        for term in self._terms:
            term.close()
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(LIMIT_S)
        if self._problem is not None:
            raise self._problem

    # What the test does

    def do(self, work: Work[T]) -> T:
        """Something with the host itself; bounded."""
        host = self._host
        assert host is not None
        return asyncio.run_coroutine_threadsafe(asyncio.wait_for(work(host), LIMIT_S), self._loop).result(LIMIT_S + 5)

    def created(self, name: str = "", prompt: str | None = "go", **more: Any) -> Session:
        return self.do(
            lambda host: host.create_session(CreateSession(cwd=str(self.cwd), name=name, prompt=prompt, **more))
        )

    def asking(self, name: str, **more: Any) -> Approval:
        """What a new session of this name asks."""
        session = self.created(name, **more)
        return self.do(lambda host: pending(host, session.id))[0]

    def decide(self, approval: Approval, word: str = "allow") -> None:
        decision = Decision(decision=word)  # type: ignore[arg-type]
        self.do(lambda host: host.decide(Decide(approval_id=approval.id, decision=decision)))

    def idle(self, session: Session) -> Session:
        return self.do(lambda host: host.wait(Wait(session_id=session.id)))

    def session(self, session_id: str) -> Session:
        return self.do(lambda host: host.get_session(OfSession(session_id=session_id)))

    def term(self, *words: str, columns: int = 90, rows: int = 32) -> Term:
        """A command in a terminal of its own."""
        home = self.state.with_name("home")
        home.mkdir(exist_ok=True)
        env = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "QUARTERDECK_HOST": str(self.state),
            **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
        }
        term = Term([sys.executable, "-m", "quarterdeck", *words], self.cwd, env, columns, rows)
        self._terms.append(term)
        return term


class Shell:
    """Runs commands in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.error = ""

    def __call__(self, *words: str, code: int = 0) -> str:
        """What it prints; it must end with this exit code."""
        self._capsys.readouterr()
        try:
            got = main(list(words))
        except SystemExit as left:
            got = int(left.code or 0)
        shown = self._capsys.readouterr()
        self.error = shown.err
        assert got == code, f"{words}: {got}\n{shown.out}\n{shown.err}"
        return shown.out

    def json(self, *words: str) -> list[Any]:
        return [json.loads(line) for line in self(*words, "--json").splitlines()]
