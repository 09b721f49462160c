"""The keeper is killed: its processes end within seconds, and what they had said can be read to its end."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

import soak
from keeper.support import Home, ended, keeper_gone, said, started
from quarterdeck.keeper import KeeperLost, LeftSession, PrivateFile, find_keepers, left_sessions, remove_place
from quarterdeck.transport import ExitStatus, TransportClosed
from strays import StrayCommands
from transport.support import DEAF, Recorder, echo, group_is_gone, process_is_gone, until


def whole(left: LeftSession, offset: int) -> bytes:
    read = b""
    while piece := left.read(offset + len(read), 1000):
        read += piece
    return read


def argument_of(pid: int | None, flag: str) -> Path:
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return Path(next(word.removeprefix(flag) for word in words if word.startswith(flag)))


async def test_families_end_private_files_go_and_spools_stay(home: Home) -> None:
    strays = StrayCommands()
    async with home.client() as client:
        deaf = client.start("deaf", home.python(DEAF), files=[PrivateFile("--x", "x.json", b"secret")], durable=True)
        busy = client.start("busy", home.command(["bash", "-c", f"{strays.script}\ncat"]), durable=True)
        recorder, other = await started(deaf), await started(busy)
        await said(recorder, b"ready")
        await until(strays.all_started, "the strays to start")
        busy.write(b"0123456789\n")
        await said(other, b"0123456789\n")
        secret = argument_of(deaf.pid, "--x=")
        assert secret.exists()
        os.kill(client.pid, signal.SIGKILL)
        await ended(recorder)
        await ended(other)
        assert other.told == [b"0123456789\n", "eof", ExitStatus()]
        assert isinstance(client.why_lost, KeeperLost)
        with pytest.raises(TransportClosed, match="keeper"):
            busy.write(b"nobody\n")
        assert deaf.pid is not None
        pid = deaf.pid
        await until(lambda: group_is_gone(pid) and not home.left_running() and strays.alive() == [], "families to end")
        await until(lambda: not secret.exists(), "the private file to go")
    (place,) = find_keepers(home.folder)
    assert not place.alive
    found = {left.session: left for left in left_sessions(place)}
    assert {name: whole(left, 0) for name, left in found.items()} == {"deaf": b"ready\n", "busy": b"0123456789\n"}
    assert whole(found["busy"], 7) == b"789\n"
    assert [left.status for left in found.values()] == [None, None]
    assert not remove_place(place)
    for left in found.values():
        left.remove()
    assert remove_place(place)
    assert find_keepers(home.folder) == []


async def test_what_was_not_delivered_yet_is_delivered_from_the_spool(home: Home) -> None:
    async with home.client() as client:
        transport = client.start("one", home.python("import os, time\nos.write(1, b'x' * 3000000)\ntime.sleep(600)"))
        transport.pause_reading()
        recorder = Recorder()
        await transport.start(recorder)

        async def spooled() -> bool:
            return (await client.list())[0].end == 3_000_000

        for _ in range(10_000):
            if await spooled():
                break
        os.kill(client.pid, signal.SIGKILL)
        await client.lost.wait()
        assert recorder.told == []
        transport.resume_reading()
        await ended(recorder)
        assert recorder.told == [b"x" * 3_000_000, "eof", ExitStatus()]
    (place,) = find_keepers(home.folder)
    assert left_sessions(place) == []


async def test_a_session_whose_rest_cannot_be_read_ends_all_the_same(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(place: object) -> None:
        raise PermissionError("not yours")

    async with home.client() as client:
        transport = client.start("one", home.command(echo()), durable=True)
        recorder = await started(transport)
        monkeypatch.setattr("quarterdeck.keeper.transport.left_sessions", fail)
        os.kill(client.pid, signal.SIGKILL)
        await ended(recorder)
        assert recorder.told == ["eof", ExitStatus()]


async def test_how_a_process_ended_outlives_the_keeper(home: Home) -> None:
    source = "import os\nos.write(1, b'out')\nos.write(2, b'err')\nos.read(0, 1)\nos._exit(9)"
    async with home.client() as client:
        transport = client.start("one", home.python(source), durable=True)
        await started(transport)
        transport.write(b"x")
        assert await transport.wait() == ExitStatus(code=9)
        os.kill(client.pid, signal.SIGKILL)
        await keeper_gone(client)
        with pytest.raises(KeeperLost):
            await client.list()
    (left,) = left_sessions(client.place)
    assert (left.session, left.generation, left.pid, left.first, left.end) == ("one", 1, transport.pid, 0, 3)
    assert (left.status, left.written, left.stderr_tail, whole(left, 1)) == (ExitStatus(code=9), 1, "err", b"ut")


ODD_JSON = [
    b"",
    b"null",
    b"[1]",
    b"{",
    bytes(100),
    b"[" * 100_000,
    b'{"pid": "x", "protocol": null, "returncode": "no"}',
]


@pytest.mark.parametrize("odd", ODD_JSON, ids=lambda odd: odd[:6].decode())
def test_whatever_a_crash_left_in_a_keepers_folder_can_be_looked_at_and_removed(tmp_path: Path, odd: bytes) -> None:
    place = tmp_path / "keepers" / "odd"
    left = place / "sessions" / "one.1"
    left.mkdir(parents=True)
    os.mkfifo(place / "lock")
    for path in (place / "keeper.json", left / "about.json", left / "exit.json"):
        path.write_bytes(odd)
    (left / "0.spool").write_bytes(b"said\n")
    (left / "what.spool").write_bytes(b"not a spool")
    (place / "sessions" / "a file").touch()
    (tmp_path / "keepers" / "a file").touch()
    (found,) = find_keepers(tmp_path)
    assert (found.folder, found.alive, found.pid, found.protocol) == (place, False, 0, 0)
    (session,) = left_sessions(found)
    assert (session.session, session.generation, session.pid, session.end) == ("one", 1, 0, 5)
    assert (session.status, session.written, whole(session, 0)) == (None, None, b"said\n")
    session.remove()
    assert remove_place(found)
    assert find_keepers(tmp_path) == []


def test_where_a_file_is_in_the_way_of_keepers_there_are_none(tmp_path: Path) -> None:
    (tmp_path / "keepers").touch()
    assert find_keepers(tmp_path) == []
    assert find_keepers(tmp_path / "keepers") == []


async def test_a_new_keeper_takes_the_place_of_a_dead_one(home: Home) -> None:
    async with home.client() as client:
        first = client.pid
        os.kill(first, signal.SIGKILL)
        await keeper_gone(client)
    async with home.client() as client:
        assert client.pid != first
        transport = client.start("one", home.command(echo()))
        recorder = await started(transport)
        transport.write(b"new\n")
        await said(recorder, b"new\n")
        await transport.close()
    assert sorted(place.alive for place in find_keepers(home.folder)) == [False, True]
    with pytest.raises(ValueError, match="alive"):
        left_sessions(next(place for place in find_keepers(home.folder) if place.alive))


async def test_asked_to_end_it_ends_its_processes_first_and_leaves_their_spools(home: Home) -> None:
    async with home.client() as client:
        transport = client.start("one", home.command(echo()), durable=True)
        recorder = await started(transport)
        transport.write(b"kept\n")
        await said(recorder, b"kept\n")
        os.kill(client.pid, signal.SIGTERM)
        await ended(recorder)
        assert recorder.told[-1] == ExitStatus(code=0)
        await keeper_gone(client)
    (left,) = left_sessions(client.place)
    assert (left.status, whole(left, 0)) == (ExitStatus(code=0), b"kept\n")


async def test_a_watchdog_that_somebody_killed_is_replaced(home: Home) -> None:
    async with home.client() as client:
        transport = client.start("one", home.python(DEAF))
        recorder = await started(transport)
        await said(recorder, b"ready")
        (dog,) = watchdogs(client.pid)
        os.kill(dog, signal.SIGKILL)
        await until(lambda: set(watchdogs(client.pid)) - {dog}, "another watchdog")
        assert process_is_gone(dog)
        os.kill(client.pid, signal.SIGKILL)
        await until(lambda: not home.left_running(), "the process to end")


def watchdogs(keeper: int) -> list[int]:
    """The shells that this process has started."""
    children = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()
    return [int(pid) for pid in children if b"quarterdeck-watchdog" in Path(f"/proc/{pid}/cmdline").read_bytes()]


async def test_killed_at_any_moment_it_leaves_no_process(home: Home) -> None:
    rng = random.Random(soak.SEED)
    for round_ in range(soak.cases(3, in_soak=60)):
        async with home.client() as client:
            for number in range(rng.randrange(1, 6)):
                transport = client.start(f"r{round_}s{number}", home.command(echo()), durable=True)
                await started(transport)
                if rng.random() < 0.3:
                    transport.abandon()
            os.kill(client.pid, signal.SIGKILL)
            await client.lost.wait()
    await until(lambda: not home.left_running(), "all processes to end")
