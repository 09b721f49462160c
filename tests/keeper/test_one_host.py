"""Who may talk to a keeper, which keeper a host gets, and when a keeper leaves."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from keeper.support import QUICK, Home, RawPeer, ended, in_thread, keeper_gone, said, started
from quarterdeck.keeper import (
    KeeperClient,
    KeeperLost,
    KeeperOccupied,
    KeeperRefused,
    KeeperSettings,
    KeeperUnavailable,
    ensure_keeper,
    find_keepers,
    frames,
    launch,
    places,
)
from quarterdeck.transport import ExitStatus, TransportClosed
from quarterdeck.transport.marks import MARK, carried_by
from quarterdeck.transport.process_table import stats
from transport.support import echo, python, until


def is_socket(path: str) -> bool:
    return stat.S_ISSOCK(Path(path).stat().st_mode)


async def test_a_second_host_is_refused_with_the_process_of_the_first(home: Home) -> None:
    async with home.client() as client:
        with pytest.raises(KeeperOccupied, match=f"Process {os.getpid()} is the host") as refused:
            await KeeperClient.open(home.folder)
        assert refused.value.holder == os.getpid()
        assert await client.list() == []


async def test_who_takes_over_breaks_the_old_connection_and_has_all_sessions(home: Home) -> None:
    async with home.client() as old:
        transport = old.start("one", home.command(echo()), durable=True)
        recorder = await started(transport)
        transport.write(b"before\n")
        await said(recorder, b"before\n")
        async with home.client(take_over=True) as new:
            await old.lost.wait()
            assert f"process {os.getpid()}" in str(old.why_lost)
            await ended(recorder)
            assert recorder.told == [b"before\n", "eof", ExitStatus()]
            with pytest.raises(TransportClosed, match="took over"):
                transport.write(b"mine\n")
            with pytest.raises(KeeperLost):
                await old.list()
            again = new.attach("one", from_offset=0)
            recorder = await started(again)
            again.write(b"after\n")
            await said(recorder, b"before\nafter\n")
            await again.close()


async def test_hosts_that_start_together_get_one_keeper(home: Home) -> None:
    found = await asyncio.gather(*(in_thread(ensure_keeper, home.folder) for _ in range(6)))
    assert len({place.pid for place in found}) == 1
    os.kill(found[0].pid, signal.SIGTERM)


async def test_nobody_else_can_look_into_its_folder(home: Home) -> None:
    async with home.client() as client:
        await started(client.start("one", home.command(echo())))
        folders = [home.folder / "keepers", *(home.folder / "keepers").rglob("*")]
        for path in folders:
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
        assert is_socket(client.place.socket)
        await client.end("one")


async def test_a_folder_that_others_could_read_is_closed_to_them(home: Home) -> None:
    keepers = home.folder / "keepers"
    keepers.mkdir(parents=True)
    keepers.chmod(0o755)
    async with home.client():
        assert stat.S_IMODE(keepers.stat().st_mode) == 0o700


AGENT = """
import socket, sys
peer = socket.socket(socket.AF_UNIX)
peer.settimeout(20)
peer.connect(sys.argv[1])
try:
    peer.sendall(bytes.fromhex(sys.argv[2]))
except OSError as error:
    print(error, flush=True)
try:
    print(peer.recv(4096)[5:].decode(), flush=True)
except OSError as error:
    print(error, flush=True)
"""


@pytest.mark.parametrize("disguise", [[], ["env", "-i"], ["setsid"]], ids=["as it is", "no environment", "own session"])
async def test_an_agent_cannot_be_the_host(home: Home, disguise: list[str]) -> None:
    hello = frames.json_frame(frames.HELLO, {"protocol": frames.PROTOCOL, "take_over": True}).hex()
    home.expects_no_faults = False
    async with home.client() as client:
        agent = python(AGENT, client.place.socket, hello)
        transport = client.start("agent", home.command(["bash", "-c", '"$@"; read line', "bash", *disguise, *agent]))
        recorder = await started(transport)
        await said(recorder, b"it was started by an agent")
        assert client.why_lost is None
        await transport.close()


async def test_a_host_that_is_part_of_a_family_gets_a_keeper_that_is_too(home: Home) -> None:
    """It ends with the family; and its host is no stranger to it."""
    program = "import asyncio, sys\nfrom quarterdeck.keeper import KeeperClient\n" + (
        "async def main():\n    client = await KeeperClient.open(sys.argv[1])\n    print(client.pid, flush=True)\n"
        "asyncio.run(main())"
    )
    env = {**os.environ, MARK: "1.2.3.family"}
    command = [sys.executable, "-c", program, str(home.folder)]
    done = await in_thread(lambda: subprocess.run(command, env=env, capture_output=True, timeout=60, check=True))
    pid = int(done.stdout)
    assert carried_by(pid)[0] == "1.2.3.family"


async def test_a_host_of_another_version_can_list_drain_end_and_stop(home: Home) -> None:
    async with home.client() as client:
        transport = client.start("one", home.command(echo()), durable=True)
        recorder = await started(transport)
        transport.write(b"0123456789\n")
        await said(recorder, b"0123456789\n")
    peer = RawPeer(client)
    welcome = await in_thread(lambda: peer.hello(protocol=99))
    assert (welcome["limited"], welcome["protocol"]) == (True, frames.PROTOCOL)
    (listed,) = (await in_thread(peer.request, "list"))["sessions"]
    assert (listed["session"], listed["pid"], listed["end"]) == ("one", transport.pid, 11)
    refused = await in_thread(lambda: peer.request("start", session="two", generation=1))
    assert refused["error"] == "limited"
    assert (await in_thread(lambda: peer.request("read", session="one", offset=4)))["offset"] == 4
    assert (await in_thread(lambda: peer.request("end", session="one")))["returncode"] == 0
    assert await in_thread(lambda: peer.request("drop", session="one")) == {}
    assert await in_thread(peer.request, "stop") == {}
    assert await in_thread(peer.is_closed)
    peer.close()
    await keeper_gone(client)


async def test_we_can_drain_and_stop_a_keeper_of_another_version(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    async with home.client() as client:
        transport = client.start("one", home.command(echo()), durable=True)
        recorder = await started(transport)
        transport.write(b"0123456789\n")
        await said(recorder, b"0123456789\n")
    monkeypatch.setattr(frames, "PROTOCOL", 2)
    monkeypatch.setattr(places, "PROTOCOL", 2)
    place = find_keepers(home.folder)[0]
    assert not place.takes_sessions_of(client.version)
    async with await KeeperClient.connect(place) as client:
        assert client.limited
        with pytest.raises(KeeperRefused, match="another protocol version"):
            await started(client.attach("one"))
        assert await client.read("one", 0) == b"0123456789\n"
        assert await client.read("one", 11) == b""
        await client.end("one")
        await client.drop("one")
        await client.stop()
    await keeper_gone(client)


async def test_a_new_keeper_starts_beside_an_old_one_which_leaves_with_its_last_session(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with home.client() as old:
        transport = old.start("old", home.command(echo()), durable=True)
        recorder = await started(transport)
        monkeypatch.setattr(launch, "__version__", "99")
        with pytest.raises(KeeperRefused) as refused:
            await old.retire()
            await started(old.start("late", home.command(echo())))
        assert refused.value.code == "retired"
        monkeypatch.undo()
        async with home.client() as new:
            assert new.pid != old.pid
            assert [(place.pid == old.pid, place.retired) for place in find_keepers(home.folder) if place.retired] == [
                (True, True)
            ]
            await started(new.start("new", home.command(echo())))
            transport.write(b"still served\n")
            await said(recorder, b"still served\n")
            await old.end("old")
            await old.drop("old")
            await keeper_gone(old)
            await until(lambda: [place.pid for place in find_keepers(home.folder)] == [new.pid], "its folder to go")
            await new.end("new")


async def test_another_version_of_the_host_gets_a_keeper_of_its_own(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with home.client() as old:
        monkeypatch.setattr(launch, "__version__", "99")
        place = await in_thread(ensure_keeper, home.folder)
        assert place.pid != old.pid
        os.kill(place.pid, signal.SIGTERM)


async def test_without_sessions_and_without_a_host_it_leaves(home: Home) -> None:
    async with home.client(settings=KeeperSettings(linger_s=0.05)) as client:
        await ended(await started(client.start("one", home.command(["true"]))))
    await keeper_gone(client)
    await until(lambda: find_keepers(home.folder) == [], "its folder to go")


async def test_with_a_session_it_stays_though_nobody_is_there(home: Home) -> None:
    async with home.client(settings=KeeperSettings(linger_s=0.01)) as client:
        transport = client.start("one", home.command(echo()), durable=True)
        await started(transport)
    async with home.client() as again:
        assert again.pid == client.pid
        assert [one.session for one in await again.list()] == ["one"]


async def test_a_folder_with_a_long_name_has_its_socket_elsewhere(tmp_path: Path) -> None:
    home = Home(tmp_path / ("deep" * 30) / "state")
    async with home.client() as client:
        socket_folder = Path(client.place.socket).parent
        assert stat.S_IMODE(socket_folder.stat().st_mode) == 0o700
        transport = client.start("one", home.command(echo()))
        recorder = await started(transport)
        transport.write(b"hello\n")
        await said(recorder, b"hello\n")
        await transport.close()
        await client.stop()
    await keeper_gone(client)
    assert not socket_folder.exists()


async def test_what_a_dead_keeper_left_in_its_place_does_not_matter(home: Home) -> None:
    async with home.client() as client:
        os.kill(client.pid, signal.SIGKILL)
        await keeper_gone(client)
        assert is_socket(client.place.socket)
    (home.folder / "keepers" / "rubbish").mkdir()
    (home.folder / "keepers" / "half").mkdir()
    (home.folder / "keepers" / "half" / "keeper.json").write_text("{")
    async with home.client() as client:
        assert await client.list() == []


async def test_the_folder_deleted_underneath_a_host_goes_on_and_without_one_all_ends(home: Home) -> None:
    async with home.client(settings=KeeperSettings(look_s=0.05)) as client:
        transport = client.start("one", home.command(echo()), durable=True)
        recorder = await started(transport)
        shutil.rmtree(home.folder)
        transport.write(b"into a file without a name\n")
        await said(recorder, b"into a file without a name\n")
        assert [one.session for one in await client.list()] == ["one"]
        transport.detach()
        again = client.attach("one", from_offset=0, durable=True)
        recorder = await started(again)
        await said(recorder, b"into a file without a name\n")
    await until(lambda: not home.left_running(), "it to notice that no host can come")
    await until(lambda: not Path(f"/proc/{client.pid}").exists(), "the keeper to leave")


async def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KeeperUnavailable, match="file"):
        await KeeperClient.open(tmp_path / "file")


async def test_a_keeper_that_cannot_start_says_why(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_PROGRAM", Path("/nonexistent/program.py"))
    with pytest.raises(KeeperUnavailable, match="did not start"):
        ensure_keeper(home.folder)


def test_its_process_imports_neither_asyncio_nor_msgspec() -> None:
    program = (
        "import sys; sys.path.append(sys.argv[1]); import quarterdeck.keeper.__main__; "
        "print({'asyncio', 'msgspec', 'ssl', 'hashlib', 'tempfile', 'quarterdeck.wire'} & set(sys.modules))"
    )
    root = str(Path(launch.__file__).parents[2])
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program, root], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


async def test_it_is_nobodys_child_and_holds_no_terminal(home: Home) -> None:
    async with home.client() as client:
        (parent,) = [one.ppid for one in stats() if one.pid == client.pid]
        assert parent != os.getpid()
        assert os.getsid(client.pid) != os.getsid(0)
        links = ["cwd", "fd/0", "fd/1", "fd/2"]
        targets = [os.readlink(f"/proc/{client.pid}/{link}") for link in links]  # noqa: PTH115
        assert targets == ["/", "/dev/null", "/dev/null", str(client.place.folder / "log")]


async def test_strangers_that_say_nothing_keep_nobody_out(home: Home) -> None:
    async with home.client() as client:
        with contextlib.ExitStack() as silent:
            for _ in range(40):
                silent.callback(RawPeer(client).close)
            transport = client.start("one", home.command(echo()))
            recorder = await started(transport)
            transport.write(b"served\n")
            await said(recorder, b"served\n")
            await transport.close()
            with pytest.raises(KeeperOccupied):
                await KeeperClient.open(home.folder, settings=QUICK)
