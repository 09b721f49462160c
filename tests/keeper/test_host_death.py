"""The host is killed at random moments: the process goes on, gets every line once, and no byte of it is lost."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import soak
from chaos.kit import MARK
from keeper.host_program import line_of
from keeper.support import Home, said, started
from quarterdeck.keeper import KeeperLost
from quarterdeck.transport import ExitStatus, strays
from transport.support import echo, python

PROGRAM = Path(__file__).parent / "host_program.py"
LIMIT_S = 60.0

CLI = """
    import sys, os
    def say(data):
        view = memoryview(data)
        while view:
            view = view[os.write(1, view):]
    for line in sys.stdin.buffer:
        number = int(line.split(b" ", 1)[0])
        say(b"%d %d %s\\n" % (number, len(line), b"o" * (number * 7919 % 5000)))
    say(b"end\\n")
    os._exit(7)
"""


def expected(lines: int) -> bytes:
    told = (b"%d %d %s\n" % (one, len(line_of(one)), b"o" * (one * 7919 % 5000)) for one in range(1, lines + 1))
    return b"".join(told) + b"end\n"


@contextlib.contextmanager
def program(home: Home, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program of the host's, killed at the end of the test if it is not yet gone."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, MARK: home.mark}
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def host_of(home: Home, store: Path, lines: int) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    command = [sys.executable, str(PROGRAM), str(home.folder), str(store), str(lines)]
    return program(home, *command, *python(CLI))


def first_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


def work_for(host: subprocess.Popen[bytes], moment_s: float) -> None:
    """Let it go on for a moment; or it has done all there was to do."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        host.wait(moment_s)


def test_killed_again_and_again_every_line_arrives_once_and_every_byte_is_committed(home: Home, tmp_path: Path) -> None:
    rng, store = random.Random(soak.SEED), tmp_path / "store"
    kills, lines = soak.cases(10, in_soak=400), soak.cases(3000, in_soak=60_000)
    for _ in range(kills):
        with host_of(home, store, lines) as host:
            first_line(host)
            work_for(host, rng.random() * 0.06)
    with host_of(home, store, lines) as host:
        assert host.wait(LIMIT_S if not soak.ON else 3600) == 0
    assert (store / "output").read_bytes() == expected(lines)
    assert (store / "exit").read_text() == "7"


def test_killed_before_it_is_up_nothing_is_started_twice(home: Home, tmp_path: Path) -> None:
    rng, store = random.Random(soak.SEED + 1), tmp_path / "store"
    for _ in range(soak.cases(6, in_soak=300)):
        with host_of(home, store, 50) as host:
            work_for(host, 0.05 + rng.random() * 0.5)
    with host_of(home, store, 50) as host:
        assert host.wait(LIMIT_S) == 0
    assert (store / "output").read_bytes() == expected(50)


async def test_how_a_process_ended_is_kept_until_a_host_has_heard_of_it(home: Home) -> None:
    source = "import os\nos.write(1, b'last')\nos.write(2, b'words')\nos.read(0, 1)\nos._exit(5)"
    async with home.client() as client:
        transport = client.start("one", home.python(source), durable=True)
        recorder = await started(transport)
        await said(recorder, b"last")
        transport.write(b"x")
        await transport.wait()
    for _ in range(2):
        async with home.client() as client:
            (kept,) = await client.list()
            assert (kept.running, kept.finished, kept.status) == (False, True, ExitStatus(code=5))
            again = client.attach("one", from_offset=0, durable=True)
            recorder = await started(again)
            assert await again.wait() == ExitStatus(code=5)
            assert (recorder.told, again.stderr_tail) == ([b"last", "eof", ExitStatus(code=5)], "words")
    async with home.client() as client:
        await client.drop("one")
        assert await client.list() == []


async def test_what_a_process_says_while_nobody_is_connected_is_there_for_the_next_host(home: Home) -> None:
    async with home.client() as client:
        transport = client.start(
            "one", home.python("import os\nos.read(0, 9)\nos.write(1, b'x' * 50000)\n"), durable=True
        )
        await started(transport)
        transport.write(b"go\n")
        transport.detach()
    async with home.client() as client:
        again = client.attach("one", 1, 0)
        recorder = await started(again)
        assert await again.wait() == ExitStatus(code=0)
        assert recorder.output == b"x" * 50000


async def test_the_sweep_for_orphans_spares_what_a_living_keeper_owns(home: Home, tmp_path: Path) -> None:
    with host_of(home, tmp_path / "store", 100_000) as host:
        await asyncio.to_thread(first_line, host)
        host.kill()
        await asyncio.to_thread(host.wait, LIMIT_S)
    await asyncio.to_thread(strays._end_orphans)
    async with home.client() as client:
        (kept,) = await client.list()
        assert kept.running
        await client.end("only")


FORKING = """
import asyncio, os, sys
from quarterdeck.keeper import KeeperClient
from quarterdeck.transport import ChildCommand, TransportClosed

class Quiet:
    def bytes_received(self, data): pass
    def eof_received(self): pass
    def exited(self, status): pass

async def main():
    client = await KeeperClient.open(sys.argv[1])
    transport = client.start("one", ChildCommand(["cat"], cwd="/", env=dict(os.environ)), durable=True)
    await transport.start(Quiet())
    if os.fork() == 0:
        try:
            transport.write(b"from the child\\n")
        except TransportClosed:
            os.write(1, b"refused\\n")
        os.read(0, 1)
        os._exit(0)
    transport.write(b"from the parent\\n")
    await transport.drain()
    os.write(1, b"up\\n")
    await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_a_child_that_the_host_forked_says_nothing_and_holds_nothing(home: Home) -> None:
    with program(home, sys.executable, "-c", FORKING, str(home.folder)) as host:
        lines = {await asyncio.to_thread(first_line, host) for _ in range(2)}
        assert lines == {b"refused\n", b"up\n"}
        host.kill()  # its child lives until we close its input
        await asyncio.to_thread(host.wait, LIMIT_S)
        async with home.client() as client:
            recorder = await started(client.attach("one", from_offset=0))
            await said(recorder, b"from the parent\n")
            assert recorder.output == b"from the parent\n"
            await client.end("one")


async def test_a_stopped_host_is_taken_over_and_learns_of_it(home: Home, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with host_of(home, store, 100_000) as host:
        await asyncio.to_thread(first_line, host)
        os.kill(host.pid, signal.SIGSTOP)
        async with home.client(take_over=True) as client:
            transport = client.attach("only")
            recorder = await started(transport)
            transport.write(b"777 from another host\n")
            await said(recorder, b"777 22 ")
            await transport.close()
            assert await client.list() == []
        os.kill(host.pid, signal.SIGCONT)
        assert await asyncio.to_thread(host.wait, LIMIT_S) != 0


async def test_a_host_that_left_can_come_back_to_all_its_sessions(home: Home) -> None:
    async with home.client() as client:
        transports = [client.start(f"s{number}", home.command(echo()), durable=True) for number in range(5)]
        recorders = [await started(transport) for transport in transports]
        for number, transport in enumerate(transports):
            transport.write(b"%d\n" % number)
        for number, recorder in enumerate(recorders):
            await said(recorder, b"%d\n" % number)
    assert isinstance(client.why_lost, KeeperLost)
    async with home.client() as client:
        assert [one.session for one in await client.list()] == [f"s{number}" for number in range(5)]
        again = [client.attach(f"s{number}") for number in range(5)]
        recorders = [await started(transport) for transport in again]
        for transport in again:
            transport.write(b"again\n")
        for number, recorder in enumerate(recorders):
            await said(recorder, b"%d\nagain\n" % number)
        for transport in again:
            await transport.close()
