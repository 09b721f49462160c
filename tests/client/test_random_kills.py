"""SIGKILL at any moment, of the CLI, the program that owns it, its watchdog or several of them: nothing stays behind.

The CLI is the simulator; beside it a script starts background processes of every kind, one after the other, as tools
do. How many of them there are is the clock of these tests: a kill comes when so many have started.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import soak
from quarterdeck.testing.sim import executable
from quarterdeck.transport.census import Census
from quarterdeck.transport.marks import MARK, namespace, start_of, this_program
from quarterdeck.transport.process_table import stats
from strays import StrayCommands
from transport.support import until_blocking

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="marks are read from /proc")

PROGRAM = """
import asyncio, contextlib, json, sys
from quarterdeck import ClaudeAgentOptions, ClaudeSDKError, Session

async def talk(session):
    while True:
        await session.prompt("hello")

async def main():
    told = asyncio.Event()
    asyncio.get_running_loop().add_reader(0, told.set)
    with contextlib.suppress(ClaudeSDKError):  # the CLI was killed: leaving the block ends what it left
        async with Session(ClaudeAgentOptions(**json.loads(sys.argv[1]))) as session:
            tasks = [asyncio.create_task(talk(session)), asyncio.create_task(told.wait())]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()

asyncio.run(main())
"""
CLI = """#!/bin/bash
echo $$ > {pid_file}
tries=0
while [ "$(ulimit -Sx)" = unlimited ] && [ $tries -lt 400 ]; do sleep 0.005; tries=$((tries + 1)); done
start_all() {{
{starts}
}}
[ "$(ulimit -Sx)" = unlimited ] || start_all < /dev/null > /dev/null 2>&1 &
exec {simulator} "$@"
"""
"""It waits for the number among its limits, which a real CLI has long before it starts anything."""


class Owner:
    """A program with a session whose CLI starts one background process after the other."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.strays = StrayCommands()
        self._pid_file = folder / "pid"
        starts = "\nsleep 0.02\n".join(self.strays.kinds.values())
        cli = folder / "cli"
        simulator = executable(folder=folder / "bin")
        cli.write_text(CLI.format(pid_file=self._pid_file, starts=starts, simulator=simulator))
        cli.chmod(0o755)
        env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        options = {"cli_path": str(cli), "cwd": str(folder), "env": env, "env_allow": []}
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, json.dumps(options)], stdin=subprocess.PIPE, start_new_session=True
        )
        self._mark = f"{namespace()}.{self.process.pid}.{start_of(self.process.pid)}."

    def has_started(self, count: int) -> bool:
        return len(self.strays.alive()) >= count or self.process.poll() is not None

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def kill(self) -> None:
        self.process.kill()

    def kill_cli(self) -> None:
        """If it has one by now."""
        if self._pid_file.exists() and self._pid_file.read_text().strip():
            os.kill(int(self._pid_file.read_text()), signal.SIGKILL)

    def kill_with_watchdog(self) -> None:
        """Stopped first, so that it does not start another one."""
        self.process.send_signal(signal.SIGSTOP)
        for one in stats():
            if (
                one.ppid == self.process.pid
                and b"quarterdeck-watchdog" in Path(f"/proc/{one.pid}/cmdline").read_bytes()
            ):
                os.kill(one.pid, signal.SIGKILL)
        self.process.kill()

    def left_nothing(self) -> bool:
        marked = any(text.startswith(self._mark) for text in Census().by_text)
        return self.process.poll() is not None and not marked and not self.strays.alive()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Callable[[], Owner]]:
    owners: list[Owner] = []

    def start() -> Owner:
        owners.append(Owner(tmp_path / f"owner{len(owners)}"))
        return owners[-1]

    yield start
    for owner in owners:
        owner.kill()
        owner.close()
        owner.process.wait(60)


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that carries a mark of this program, which lives."""
    env = {"PATH": os.environ["PATH"], MARK: this_program().mark().text}
    with subprocess.Popen(["sleep", "600"], env=env, start_new_session=True) as process:
        yield process
        process.kill()


VICTIMS: dict[str, tuple[Callable[[Owner], None], ...]] = {
    "the CLI": (Owner.kill_cli,),
    "the program": (Owner.kill,),
    "the CLI, then the program": (Owner.kill_cli, Owner.kill),
    "the program, then the CLI": (Owner.kill, Owner.kill_cli),
    "the program while it closes": (Owner.close, Owner.kill),
    "the CLI while the program closes": (Owner.close, Owner.kill_cli),
}


@pytest.mark.parametrize("number", range(soak.cases(1, in_soak=60)))
@pytest.mark.parametrize("victim", VICTIMS)
def test_whoever_is_killed_and_whenever_nothing_with_the_mark_of_the_dead_survives(
    own: Callable[[], Owner], bystander: subprocess.Popen[bytes], victim: str, number: int
) -> None:
    chance = random.Random(f"{soak.SEED} {victim} {number}")
    owner = own()
    moment = chance.randint(0, len(owner.strays.kinds))
    for blow in VICTIMS[victim]:
        until_blocking(lambda count=moment: owner.has_started(count), f"{moment} processes to be started")  # type: ignore[misc]
        blow(owner)
        moment = chance.choice((0, moment))
    if victim == "the CLI" and owner.process.poll() is None:
        owner.close()  # it may have had no CLI yet
    until_blocking(owner.left_nothing, "everything to be gone")
    assert bystander.poll() is None


@pytest.mark.parametrize("number", range(soak.cases(1, in_soak=60)))
def test_what_a_program_leaves_that_was_killed_with_its_watchdog_is_ended_by_the_next_that_starts(
    own: Callable[[], Owner], bystander: subprocess.Popen[bytes], number: int
) -> None:
    chance = random.Random(f"{soak.SEED} {number}")
    former = own()
    count = chance.randint(1, len(former.strays.kinds))
    until_blocking(lambda: former.has_started(count), f"{count} processes to be started")
    former.kill_with_watchdog()
    following = own()
    until_blocking(former.left_nothing, "what the former left to be gone")
    assert following.process.poll() is None
    following.close()
    until_blocking(following.left_nothing, "what the next one started to be gone")
    assert bystander.poll() is None
