"""Hooks, tools and permissions of a program whose network or host fails, or which dies: asked once, answered once.

On the real CLI with a scripted model, and on the simulator.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.stage import Stage, bash
from host.kit import LIMIT_S, frames_until, told
from host.staged import BOTH, stage_in
from quarterdeck import (
    ClaudeAgentOptions,
    HookMatcher,
    PermissionResultAllow,
    Session,
    connect,
    create_sdk_mcp_server,
    tool,
)
from quarterdeck.host import Host
from quarterdeck.host.events import RawLine
from quarterdeck.host.requests import ListSessions, ReadEvents
from quarterdeck.keeper import KeeperClient
from quarterdeck.remote import RemoteHost
from quarterdeck.testing.model import ToolUse
from quarterdeck.timeline.events import ToolEnded
from remote.kit import QUICK, Elsewhere, elsewhere
from remote.proxy import Proxy, proxied

ADDS = ToolUse("mcp__sums__add", {"a": 20, "b": 22})


@pytest.fixture(params=BOTH)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    with stage_in(tmp_path / "stage", request.param) as stage:
        yield stage


class Program:
    """Callbacks that allow everything; what happens while each of them thinks is up to the test."""

    def __init__(self, meanwhile: Callable[[str], Awaitable[None]]) -> None:
        self.asked: list[str] = []
        self._meanwhile = meanwhile

    def options(self, stage: Stage) -> ClaudeAgentOptions:
        @tool
        async def add(a: int, b: int) -> str:
            """Adds two numbers."""
            await self._think("tool")
            return str(a + b)

        return Elsewhere.there(
            stage.options(
                hooks={"PreToolUse": [HookMatcher(matcher="Bash", hooks=[self._guard])]},
                can_use_tool=self._may_run,
                mcp_servers={"sums": create_sdk_mcp_server("sums", tools=[add])},
            )
        )

    async def _think(self, what: str) -> None:
        self.asked.append(what)
        await self._meanwhile(what)

    async def _guard(self, *_: Any) -> dict[str, Any]:
        await self._think("hook")
        return {}

    async def _may_run(self, *_: Any) -> PermissionResultAllow:
        await self._think("permission")
        return PermissionResultAllow()


async def played(stage: Stage, program: Program, session: Session) -> None:
    """One turn in which the program is asked for everything it has, exactly once."""
    stage.reply(bash("echo once >> log.txt"))
    stage.reply(ADDS)
    stage.reply("It is 42.")
    assert (await session.prompt("go")).result == "It is 42."
    assert program.asked == ["hook", "permission", "permission", "tool"]
    assert (stage.cwd / "log.txt").read_text() == "once\n"
    assert "42" in stage.heard[-1].text


async def until(condition: Callable[[], object]) -> None:
    """Bounded by the test's own limit."""
    while not condition():  # noqa: ASYNC110  # the condition is another object's state
        await asyncio.sleep(0.01)


async def test_callbacks_that_are_cut_off_before_they_answer_are_called_once(stage: Stage) -> None:
    async def cut(_: str) -> None:
        connections = network.accepted
        network.cut()
        await until(lambda: network.accepted > connections)

    program = Program(cut)
    async with (
        asyncio.timeout(LIMIT_S),
        elsewhere(stage.options(), stage.folder / "state") as there,
        proxied(there.tcp) as network,
        RemoteHost(network.url, token=there.token, patience=QUICK) as host,
        connect(program.options(stage), host=host) as session,
    ):
        await played(stage, program, session)
        assert network.cuts >= 4


async def answers_in_log(host: Host) -> int:
    """How many of its requests Claude Code has been answered."""
    (session,) = (await host.list_sessions(ListSessions())).sessions
    read = await host.read_events(ReadEvents(session_id=session.id, view="raw"))
    lines = [event for frame in read.frames for event in frame.events if isinstance(event, RawLine)]
    return sum(line.direction == "sent" and '"control_response"' in line.line for line in lines)


async def cut_once_answered(network: Proxy, host: Host) -> None:
    """The next answer reaches the host, but the program does not learn of it."""
    before = await answers_in_log(host)
    network.stall(answers_only=True)

    async def cut() -> None:
        while await answers_in_log(host) == before:  # noqa: ASYNC110  # another program's log
            await asyncio.sleep(0.01)
        network.cut()

    network.in_background(cut())


async def test_callbacks_that_are_cut_off_after_they_answered_are_answered_once(stage: Stage) -> None:
    async def answer_and_cut(_: str) -> None:
        await cut_once_answered(network, there.host)

    program = Program(answer_and_cut)
    async with (
        asyncio.timeout(LIMIT_S),
        elsewhere(stage.options(), stage.folder / "state") as there,
        proxied(there.tcp) as network,
        RemoteHost(network.url, token=there.token, patience=QUICK) as host,
        connect(program.options(stage), host=host) as session,
    ):
        await played(stage, program, session)
        assert network.cuts >= 4


PROGRAM = """
import asyncio, sys
from quarterdeck import ClaudeAgentOptions, HookMatcher, connect

async def guard(*_):
    print("asked", flush=True)
    await asyncio.Event().wait()

async def main(url, token, cwd):
    hooks = {"PreToolUse": [HookMatcher(matcher="Bash", hooks=[guard], timeout=5)]}
    options = ClaudeAgentOptions(cwd=cwd, hooks=hooks, allowed_tools=["Bash"])
    async with connect(options, host=url, token=token) as session:
        await session.prompt("go")

asyncio.run(main(*sys.argv[1:]))
"""


async def test_what_a_program_that_was_killed_should_have_guarded_is_refused_and_the_log_says_why(
    stage: Stage,
) -> None:
    stage.reply(bash("touch unguarded.txt"))
    stage.reply("I could not.")
    async with asyncio.timeout(LIMIT_S), elsewhere(stage.options(), stage.folder / "state") as there:
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", PROGRAM, there.url, there.token, str(stage.cwd)), stdout=asyncio.subprocess.PIPE
        )
        try:
            assert program.stdout is not None
            assert await program.stdout.readline() == b"asked\n"
        finally:
            program.kill()
            await program.wait()
        (session,) = (await there.host.list_sessions(ListSessions())).sessions
        frames = await frames_until(there.host, session.id, "idle")
        (end,) = told(frames, ToolEnded)
        assert end.status == "denied"
        late = "did not respond before its timeout"  # on a machine too busy to say it in time, Claude Code does
        assert "no program was attached" in str(end.output) or late in str(end.output)
        assert not (stage.cwd / "unguarded.txt").exists()
        assert "refused" in stage.heard[-1].text or late in stage.heard[-1].text


class Served:
    """``quarterdeck serve`` for a stage, with a keeper, at an address that stays the same."""

    def __init__(self, stage: Stage) -> None:
        options = stage.options()
        self.state = stage.folder / "state"
        self._env = {**os.environ, **options.env}
        self._agent = stage.folder / "agent"
        words = options.cli_path if isinstance(options.cli_path, list) else [str(options.cli_path)]
        self._agent.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in words) + ' "$@"\n')
        self._agent.chmod(0o755)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = "{}:{}".format(*free.getsockname())
        self.starts = 0

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    @property
    def token(self) -> str:
        return (self.state / "token").read_text().strip()

    def start(self) -> None:
        words = ["--state", str(self.state), "--listen", self.address, "--agent", str(self._agent)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "quarterdeck", "serve", *words],
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline().startswith("ready ")
        self.starts += 1

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    async def restart(self) -> None:
        await asyncio.to_thread(self.kill)
        await asyncio.to_thread(self.start)

    async def end(self) -> None:
        await asyncio.to_thread(self.kill)
        async with await KeeperClient.open(self.state / "keeper", take_over=True) as keeper:
            await keeper.stop()


async def test_callbacks_stay_open_when_the_host_is_killed_and_started_again(stage: Stage) -> None:
    """Whoever is asked then answers the host that comes after."""
    served = Served(stage)
    await asyncio.to_thread(served.start)

    async def restart(_: str) -> None:
        await served.restart()

    program = Program(restart)
    try:
        async with (
            asyncio.timeout(LIMIT_S * 2),
            RemoteHost(served.url, token=served.token, patience=QUICK) as host,
            connect(program.options(stage), host=host) as session,
        ):
            await played(stage, program, session)
            assert served.starts == 5
    finally:
        await served.end()
