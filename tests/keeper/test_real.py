"""The real CLI in a keeper: a session as with a process of one's own, and turns that survive their host."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import soak
from client.real_cli import Place, place
from e2e.kit import LIMIT_S
from keeper.cli_command import cli_command
from keeper.support import Home, keeper_gone
from needs import real_cli
from quarterdeck import PermissionResultAllow, Session
from quarterdeck.testing.model import Stall, ToolUse
from transport.support import until, until_blocking

pytestmark = pytest.mark.real
PROGRAM = Path(__file__).parent / "turn_program.py"


@pytest.fixture
def stage(tmp_path: Path) -> Any:
    real_cli()
    with place(tmp_path) as made:
        yield made


def bash(command: str) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": "do it"})


async def test_a_session_over_the_keeper_takes_its_turns(home: Home, stage: Place) -> None:
    asked: list[str] = []

    async def allow(name: str, *_: object) -> PermissionResultAllow:
        asked.append(name)
        return PermissionResultAllow()

    options = stage.options(can_use_tool=allow, settings={"env": {"FROM_SETTINGS": "yes"}})
    command, files = cli_command(options)
    stage.model.reply(bash("echo $FROM_SETTINGS > made.txt"))
    stage.model.reply("done")
    stage.model.reply("again")
    async with asyncio.timeout(LIMIT_S), home.client() as client:
        transport = client.start("one", command, files=files)
        async with Session(options, transport=transport) as session:
            assert (await session.prompt("make it")).result == "done"
            assert (await session.prompt("more")).result == "again"
            assert session.pid == transport.pid
        assert (stage.cwd / "made.txt").read_text() == "yes\n"
        assert asked == ["Bash"]
        assert await client.list() == []
        await client.stop()
    await keeper_gone(client)


class Turn:
    """One turn of the real CLI, taken by programs that are killed."""

    def __init__(self, home: Home, stage: Place) -> None:
        self._home = home
        self._store = stage.cwd.parent / "store"
        self._spelled = stage.cwd.parent / "command.json"
        command, _ = cli_command(stage.options(can_use_tool=lambda *_: PermissionResultAllow()))
        described = {"argv": list(command.argv), "env": dict(command.env or {}), "cwd": str(command.cwd)}
        self._spelled.write_text(json.dumps(described))

    def program(self, *more: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(PROGRAM), str(self._home.folder), str(self._store), str(self._spelled), *more]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def killed_when(self, moment: Callable[[str], bool], *more: str) -> None:
        with self.program(*more) as host:
            assert host.stdout is not None
            assert any(moment(line.strip()) for line in host.stdout), "it ended before"
            host.kill()

    def killed_after(self, moment_s: float) -> None:
        with self.program() as host:
            try:
                host.wait(moment_s)
            except subprocess.TimeoutExpired:
                host.kill()

    def finished(self) -> list[str]:
        with self.program() as host:
            told, _ = host.communicate(timeout=LIMIT_S)
            assert host.returncode == 0
            return told.splitlines()

    def types(self) -> list[str]:
        return [json.loads(line)["type"] for line in (self._store / "output").read_bytes().splitlines()]


@pytest.fixture
def turn(home: Home, stage: Place) -> Turn:
    return Turn(home, stage)


def test_killed_while_a_permission_waits_the_next_host_answers_it(stage: Place, turn: Turn) -> None:
    stage.model.reply("Here: ", bash("echo once >> made.txt"))
    stage.model.reply("done")
    turn.killed_when(lambda line: line == "asked", "hold")
    assert not (stage.cwd / "made.txt").exists()
    assert turn.finished() == ["up", "asked", "result done"]
    assert (stage.cwd / "made.txt").read_text() == "once\n"
    assert (turn.types().count("result"), len(stage.model.conversation)) == (1, 2)


def test_killed_while_a_tool_runs_the_next_host_gets_the_result(stage: Place, turn: Turn) -> None:
    stage.model.reply(bash("echo once >> made.txt; until test -e go; do sleep 0.05; done"))
    stage.model.reply("done")

    def running(line: str) -> bool:
        if line == "asked":
            until_blocking((stage.cwd / "made.txt").exists, "the tool to run")
        return line == "asked"

    turn.killed_when(running)
    (stage.cwd / "go").touch()
    assert turn.finished() == ["up", "result done"]
    assert (stage.cwd / "made.txt").read_text() == "once\n"
    assert (turn.types().count("result"), len(stage.model.conversation)) == (1, 2)


def test_killed_while_text_streams_the_next_host_gets_the_rest(stage: Place, turn: Turn) -> None:
    gate = stage.model.gate()
    stage.model.reply("a text in pieces", Stall(after=3, until=gate))

    def streaming(line: str) -> bool:
        return line == "up" and gate.wait_reached(LIMIT_S)

    turn.killed_when(streaming)
    gate.open()
    assert turn.finished() == ["up", "result a text in pieces"]
    assert len(stage.model.conversation) == 1


def test_killed_again_and_again_each_tool_runs_once_and_no_line_is_lost(stage: Place, turn: Turn) -> None:
    rng, tools = random.Random(soak.SEED), soak.cases(4, in_soak=60)
    for number in range(tools):
        stage.model.reply(bash(f"echo {number} >> made.txt"))
    stage.model.reply("done")
    for _ in range(soak.cases(5, in_soak=120)):
        turn.killed_after(0.3 + rng.random() * 0.6)
    told = turn.finished()
    assert told == [] or told[-1] == "result done"  # nothing, if an earlier one had come to the end
    assert (stage.cwd / "made.txt").read_text() == "".join(f"{number}\n" for number in range(tools))
    types = turn.types()
    assert (types.count("result"), types.count("control_request")) == (1, tools)
    assert len(stage.model.conversation) == tools + 1


async def test_a_killed_keeper_takes_the_cli_and_its_tools_along(home: Home, stage: Place) -> None:
    async def allow(*_: object) -> PermissionResultAllow:
        return PermissionResultAllow()

    options = stage.options(can_use_tool=allow)
    command, files = cli_command(options)
    stage.model.reply(bash("touch runs; exec tail -F /nonexistent/for-the-keeper-test"))
    async with asyncio.timeout(LIMIT_S), home.client() as client:
        transport = client.start(
            "one", command._replace(env={**(command.env or {}), **home.command([]).env}), files=files
        )
        session = await Session(options, transport=transport).open()
        await session.send("run it")
        await until(lambda: (stage.cwd / "runs").exists(), "the tool to run")
        os.kill(client.pid, 9)
        await until(lambda: not home.left_running(), "the CLI and its tool to end")
        await session.close()
