"""Much output, slow hosts, full disks: nothing is lost, and no session suffers from another."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from keeper.support import QUICK, TALKER, Home, RawPeer, check, ended, in_thread, said, started
from quarterdeck.keeper import KeeperClient, KeeperTransport, KeptSession, frames
from quarterdeck.keeper.output import WINDOW_BYTES
from quarterdeck.transport import ExitStatus, Grace, StartFailed
from transport.support import Counter, echo, until

MIB = 1024 * 1024
NOW = Grace(eof_s=0.05)
LINE = 64 * MIB
SMALL = QUICK._replace(spool_limit_bytes=300_000, segment_bytes=100_000)

COUNTER = """
    import os, sys
    end = int(sys.argv[1])
    at = 0
    while at < end:
        piece = b"".join(b"%015d\\n" % number for number in range(at // 16, min(at + 65536, end) // 16))
        view = memoryview(piece)
        while view:
            view = view[os.write(1, view):]
        at += len(piece)
"""
"""Writes numbers, sixteen bytes each."""


def numbers(size: int) -> bytes:
    return b"".join(b"%015d\n" % number for number in range(size // 16))


async def one(client: KeeperClient, session: str) -> KeptSession:
    found = await client.find(session)
    assert found is not None
    return found


async def reached(client: KeeperClient, session: str, end: int) -> None:
    """Wait until its spool has grown to this offset."""
    async with asyncio.timeout(30):
        while (await one(client, session)).end < end:  # noqa: ASYNC110  # the keeper tells nobody
            await asyncio.sleep(0.005)


async def settled(client: KeeperClient, session: str) -> KeptSession:
    """Wait until its spool does not grow any more."""
    async with asyncio.timeout(30):
        before = None
        while before != (now := await one(client, session)) or now.end == 0:
            before = now
            await asyncio.sleep(0.1)
    return now


async def test_a_line_of_64_mib_arrives_whole(home: Home) -> None:
    chunks: list[tuple[int, int]] = []
    async with home.client() as client:
        transport = client.start("one", home.python(TALKER, str(LINE)), on_chunk=lambda *at: chunks.append(at))
        counter = Counter()
        await transport.start(counter)
        await until(lambda: transport.status is not None, "the end of the line")
        assert await transport.wait() == ExitStatus(code=0)
        assert (counter.received, transport.offset) == (LINE, LINE)
        assert [start for start, _ in chunks[1:]] == [end for _, end in chunks[:-1]]


async def test_a_line_of_64_mib_is_written_whole_while_others_are_served(home: Home) -> None:
    count = "import sys\nfor line in sys.stdin.buffer: print(len(line), flush=True)"
    async with home.client() as client:
        big, small = client.start("big", home.python(count)), client.start("small", home.python(count))
        told, other = await started(big), await started(small)
        big.write(b"x" * (LINE - 1) + b"\n")
        small.write(b"12345\n")
        await said(other, b"6\n")
        await said(told, b"%d\n" % LINE)
        assert big.written == 1
        await big.close()
        await small.close()


async def test_a_session_that_is_never_read_does_not_slow_another(home: Home) -> None:
    async with home.client() as client:
        stuck = client.start("stuck", home.python(COUNTER, str(64 * MIB)), durable=True)
        recorder = await started(stuck)
        stuck.pause_reading()
        lively = client.start("lively", home.python(COUNTER, str(8 * MIB)))
        counter = Counter()
        await lively.start(counter)
        assert await lively.wait() == ExitStatus(code=0)
        assert counter.received == 8 * MIB
        assert stuck.waiting_bytes + len(recorder.output) <= WINDOW_BYTES
        await stuck.close()


async def test_past_the_limit_of_its_spool_a_process_is_not_read_until_something_is_acknowledged(home: Home) -> None:
    size = 2 * MIB
    async with home.client(settings=SMALL) as client:
        transport = client.start("one", home.python(COUNTER, str(size)), durable=True)
        recorder = await started(transport)
        stopped = await settled(client, "one")
        assert SMALL.spool_limit_bytes <= stopped.end < SMALL.spool_limit_bytes + 65536
        while len(recorder.output) < size:
            await until(lambda: transport.offset > (stopped.acknowledged if transport.offset else -1))
            before = transport.offset
            transport.acknowledge(before)
            if before < size:
                await until(lambda before=before: transport.offset > before, "more output")
        await ended(recorder)
        assert recorder.output == numbers(size)
        spools = list((home.folder / "keepers").rglob("*.spool"))
        assert sum(path.stat().st_size for path in spools) <= SMALL.spool_limit_bytes + 65536 + SMALL.segment_bytes


async def test_without_a_host_it_spools_up_to_the_limit_and_loses_nothing(home: Home) -> None:
    size = 1 * MIB
    async with home.client(settings=SMALL) as client:
        transport = client.start(
            "one", home.python("import os\nos.read(0, 9)\n" + COUNTER.replace("\n    ", "\n"), str(size))
        )
        await started(transport)
        transport.write(b"go\n")
        await transport.drain()
        transport.detach()
    async with home.client() as client:
        stopped = await settled(client, "one")
        assert SMALL.spool_limit_bytes <= stopped.end < SMALL.spool_limit_bytes + 65536
        again = client.attach("one", from_offset=0)
        recorder = await started(again)
        await ended(recorder)
        assert recorder.output == numbers(size)


async def test_a_host_that_stops_reading_the_socket_costs_the_keeper_no_memory(home: Home) -> None:
    async with home.client() as client:
        for number in range(20):
            transport = client.start(f"s{number}", home.python(COUNTER, str(4 * MIB)), durable=True)
            transport.pause_reading()
            await started(transport)
        await asyncio.gather(*(reached(client, f"s{number}", 4 * MIB) for number in range(20)))
    before = resident_bytes(client.pid)
    peer = RawPeer(client)
    await in_thread(peer.hello)
    for number in range(20):
        peer.send(
            frames.call_frame(frames.REQUEST, number + 1, {"request": "attach", "session": f"s{number}", "offset": 0})
        )
    async with home.client(take_over=True) as client:
        assert resident_bytes(client.pid) < before + 8 * MIB
        again = client.attach("s7", from_offset=0)
        recorder = await started(again)
        await ended(recorder)
        assert recorder.output == numbers(4 * MIB)
    peer.close()


async def test_a_host_that_asks_and_never_listens_is_not_listened_to_any_more(home: Home) -> None:
    async with home.client() as client:
        await started(client.start("one", home.command(echo()), durable=True))
    peer = RawPeer(client)
    await in_thread(peer.hello)
    request = frames.call_frame(frames.REQUEST, 1, {"request": "list"}) * 1000
    peer.socket.settimeout(1)
    with pytest.raises(TimeoutError):
        for _ in range(10_000):
            await in_thread(peer.socket.sendall, request)
    assert resident_bytes(client.pid) < 40 * MIB
    async with home.client(take_over=True) as client:
        assert [one.session for one in await client.list()] == ["one"]
        await client.end("one")
    peer.close()


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def test_a_hundred_sessions_at_once(home: Home) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, before[1]), before[1]))  # for the keeper to raise
    try:
        async with home.client() as client:
            transports = [client.start(f"s{number}", home.command(["cat"])) for number in range(100)]
            recorders = [await started(transport) for transport in transports]
            for number, transport in enumerate(transports):
                transport.write(b"%d " % number * 1000 + b"\n")
            for number, recorder in enumerate(recorders):
                await said(recorder, b"%d " % number * 1000 + b"\n")
            assert len(await client.list()) == 100
            await asyncio.gather(*(transport.close() for transport in transports))
            assert await client.list() == []
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def test_without_descriptors_a_start_is_refused_and_the_others_go_on(home: Home) -> None:
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48)); "
        "from quarterdeck.keeper import ensure_keeper, KeeperSettings; "
        "ensure_keeper(sys.argv[1], settings=KeeperSettings(linger_s=20))"
    )
    await in_thread(lambda: subprocess.run([sys.executable, "-c", code, str(home.folder)], check=True))
    async with home.client() as client:
        transports: list[KeeperTransport] = []
        with pytest.raises(StartFailed, match="Too many open files"):
            for number in range(48):
                transport = client.start(f"s{number}", home.command(echo()))
                recorder = await started(transport)
                transports.append(transport)
        transports[-1].write(b"well\n")
        await said(recorder, b"well\n")
        await transports.pop().close()
        again = client.start("again", home.command(echo()))
        recorder = await started(again)
        again.write(b"well, too\n")
        await said(recorder, b"well, too\n")
        await asyncio.gather(*(transport.close() for transport in [*transports, again]))


@pytest.fixture
def small_disk(home: Home) -> Iterator[Path]:
    """A file system of two megabytes, where one may be mounted."""
    folder = home.folder.parent / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system may be mounted here")
    yield folder
    check(home)
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


async def test_on_a_full_disk_a_process_is_not_read_and_goes_on_when_there_is_room(
    home: Home, small_disk: Path
) -> None:
    stalls: list[str | None] = []
    size = 3 * MIB
    home.folder = small_disk / "state"
    async with home.client(settings=QUICK._replace(segment_bytes=400_000)) as client:
        filler = small_disk / "filler"
        filler.write_bytes(b"x" * MIB)
        transport = client.start("one", home.python(COUNTER, str(size)), durable=True, on_stalled=stalls.append)
        recorder = await started(transport)
        await until(lambda: stalls, "the disk to be full")
        assert stalls == ["No space left on device"]
        assert (await one(client, "one")).stalled == "No space left on device"
        two = client.start("two", home.python(COUNTER, "1600"), durable=True)
        other = await started(two)
        filler.unlink()
        await until(lambda: stalls[-1] is None, "it to go on")
        while transport.status is None or transport.offset < size:
            transport.acknowledge(transport.offset)
            await asyncio.sleep(0.005)
        await ended(recorder)
        assert recorder.output == numbers(size)
        assert stalls[:2] == ["No space left on device", None]
        await ended(other)
        assert other.output == numbers(1600)


async def test_on_a_full_disk_a_session_can_be_closed_and_the_keeper_stopped(home: Home, small_disk: Path) -> None:
    home.folder = small_disk / "state"
    async with home.client() as client:
        (small_disk / "filler").write_bytes(b"x" * MIB)
        transports = [client.start(name, home.python(COUNTER, str(3 * MIB)), durable=True) for name in ("one", "two")]
        recorders = [await started(transport) for transport in transports]
        await settled(client, "one")
        assert (await transports[0].close(NOW)).signal == signal.SIGTERM
        assert recorders[0].told[-1] == ExitStatus(signal=signal.SIGTERM)
        await client.stop(NOW)
    await until(lambda: not home.keeper_pids(), "the keeper to leave")


async def test_a_fault_in_one_session_ends_that_session_only(home: Home) -> None:
    """Its folder becomes a file, and its segments are full: there is nowhere to go."""
    home.expects_no_faults = False
    program = Path(__file__).parent / "faulty_keeper.py"
    place = await in_thread(start_with, home, program)
    async with await KeeperClient.connect(place) as client:
        faulty, sound = client.start("faulty", home.command(echo())), client.start("sound", home.command(echo()))
        told, other = await started(faulty), await started(sound)
        faulty.write(b"poison\n")
        await ended(told)
        assert "the keeper failed: ZeroDivisionError" in faulty.stderr_tail
        sound.write(b"well\n")
        await said(other, b"well\n")
        await sound.close()
        assert faulty.pid is not None
        await until(lambda: not home.left_running(), "the faulty one to end")
    assert "ZeroDivisionError" in home.faults()


def start_with(home: Home, program: Path) -> object:
    from quarterdeck.keeper import ensure_keeper, launch

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "_PROGRAM", program)
        return ensure_keeper(home.folder, settings=QUICK)


async def test_the_clock_set_back_changes_nothing(home: Home) -> None:
    place = await in_thread(start_with, home, Path(__file__).parent / "backward_keeper.py")
    async with await KeeperClient.connect(place) as client:
        transport = client.start("one", home.command(echo()))
        recorder = await started(transport)
        for number in range(20):
            transport.write(b"%d\n" % number)
            await said(recorder, b"%d\n" % number)
        assert await transport.close() == ExitStatus(code=0)
