"""What a Bash tool call leaves in the background ends with the session, however the session ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

from e2e.kit import LIMIT_S, Stage, until
from quarterdeck import Session
from quarterdeck.testing.model import ToolUse
from strays import StrayCommands

pytestmark = pytest.mark.real

PROGRAM = """
import asyncio, json, sys
from quarterdeck import ClaudeAgentOptions, PermissionResultAllow, Session
from quarterdeck.transport import watchdog

async def allow(*_):
    return PermissionResultAllow()

async def main():
    async with Session(ClaudeAgentOptions(can_use_tool=allow, **json.loads(sys.argv[1]))) as session:
        await session.prompt("start them")
        print(session.pid, watchdog._watchdog.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def strays() -> StrayCommands:
    return StrayCommands()


@pytest.fixture
def bystanders() -> StrayCommands:
    return StrayCommands()


def script(stage: Stage, strays: StrayCommands, **more: Any) -> None:
    stage.model.reply(ToolUse("Bash", {"command": strays.script, "description": "start them", **more}))
    stage.model.reply("They run.")


@asynccontextmanager
async def with_strays(stage: Stage, strays: StrayCommands, **more: Any) -> AsyncIterator[Session]:
    """A session whose Bash tool has started one of each kind."""
    script(stage, strays, **more)
    async with stage.session(can_use_tool=stage.allow) as session:
        await session.prompt("start them")
        await until(strays.all_started)
        yield session


@pytest.mark.parametrize("in_background", [False, True])
async def test_close_ends_what_tools_left_running_and_nothing_of_another_session(
    stage: Stage, strays: StrayCommands, bystanders: StrayCommands, in_background: bool
) -> None:
    async with with_strays(stage, bystanders):
        async with with_strays(stage, strays, run_in_background=in_background):
            pass
        assert strays.alive() == []
        assert bystanders.all_started()
    assert bystanders.alive() == []


async def test_closing_a_stopped_cli_ends_what_its_tools_left_running(stage: Stage, strays: StrayCommands) -> None:
    async with with_strays(stage, strays) as session:
        os.kill(session.pid or 0, signal.SIGSTOP)
    assert strays.alive() == []


async def test_a_cli_that_is_killed_leaves_nothing_after_close(stage: Stage, strays: StrayCommands) -> None:
    async with with_strays(stage, strays) as session:
        os.kill(session.pid or 0, signal.SIGKILL)
    assert strays.alive() == []


@contextmanager
def another_program(stage: Stage, strays: StrayCommands) -> Iterator[subprocess.Popen[str]]:
    """With a session of its own, whose Bash tool starts one of each kind."""
    script(stage, strays)
    made = stage.options()
    options = {"cli_path": made.cli_path, "cwd": str(made.cwd), "env": made.env, "env_allow": []}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(options)], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        yield process
        process.kill()


def told_by(program: subprocess.Popen[str]) -> tuple[int, int]:
    """The process IDs of its CLI and of its watchdog, once its tools have run."""
    assert program.stdout is not None
    cli, watchdog = map(int, program.stdout.readline().split())
    return cli, watchdog


@pytest.fixture
def program(stage: Stage, strays: StrayCommands) -> Iterator[subprocess.Popen[str]]:
    with another_program(stage, strays) as process:
        yield process


@pytest.mark.parametrize("stopped", [False, True])
async def test_a_killed_program_leaves_nothing_and_the_others_keep_what_is_theirs(
    stage: Stage, strays: StrayCommands, bystanders: StrayCommands, program: subprocess.Popen[str], stopped: bool
) -> None:
    cli, _ = told_by(program)
    await until(strays.all_started)
    async with with_strays(stage, bystanders):
        if stopped:
            os.kill(cli, signal.SIGSTOP)
        program.kill()
        program.wait(LIMIT_S)
        await until(lambda: strays.alive() == [])
        assert bystanders.all_started()
    assert bystanders.alive() == []


async def test_what_a_former_program_and_its_watchdog_left_is_ended_by_the_next_start_and_nothing_of_a_live_one(
    stage: Stage, strays: StrayCommands, bystanders: StrayCommands, program: subprocess.Popen[str]
) -> None:
    cli, watchdog = told_by(program)
    await until(strays.all_started)
    async with with_strays(stage, bystanders):
        os.kill(program.pid, signal.SIGSTOP)  # it would start another watchdog
        for pid in (watchdog, program.pid, cli):
            os.kill(pid, signal.SIGKILL)
        program.wait(LIMIT_S)
        following = StrayCommands()
        with another_program(stage, following) as next_program:
            told_by(next_program)
            await until(lambda: strays.alive() == [])
            await until(following.all_started)
            assert bystanders.all_started()
        await until(lambda: following.alive() == [])
        assert bystanders.all_started()
    assert bystanders.alive() == []
