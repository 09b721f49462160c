"""A process of the keeper looks like a process of one's own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
from pathlib import Path

import pytest
import uvloop

from keeper.support import TALKER, Home, ended, said, started
from quarterdeck.keeper import KeeperRefused, PrivateFile
from quarterdeck.keeper.descriptors import CEILING
from quarterdeck.transport import CLINotFoundError, ExitStatus, Grace, StartFailed, TransportClosed, WriteOverflow
from strays import StrayCommands
from transport.support import DEAF, CancelAt, Recorder, echo, group_is_gone, process_is_gone, until

NOW = Grace(eof_s=0.05, term_s=0.05)


async def test_bytes_go_in_and_out_with_their_offsets_and_numbers(home: Home) -> None:
    chunks: list[tuple[int, int]] = []
    async with home.client() as client:
        transport = client.start("one", home.command(echo()), on_chunk=lambda *offsets: chunks.append(offsets))
        recorder = await started(transport)
        assert transport.send(b"first\nsecond\n") == 2
        assert transport.send(b"third\r\n") == 3
        await said(recorder, b"first\nsecond\nthird\r\n")
        await until(lambda: transport.written == 3)
        assert (transport.offset, transport.last_input) == (20, 3)
        assert chunks[0][0] == 0 and chunks[-1][1] == 20
        assert await client.written("one") == 3
        transport.close_input()
        assert await transport.wait() == ExitStatus(code=0)
        assert recorder.told == [b"first\nsecond\nthird\r\n", "eof", ExitStatus(code=0)]
        assert (transport.last_input, transport.written) == (4, 4)


async def test_how_it_ended_and_what_it_said_last_is_told(home: Home) -> None:
    async with home.client() as client:
        failing = client.start("code", home.python("import os; os.write(2, b'bad luck'); os._exit(3)"))
        recorder = await started(failing)
        assert await failing.wait() == ExitStatus(code=3)
        assert (failing.stderr_tail, recorder.told) == ("bad luck", ["eof", ExitStatus(code=3)])
        killed = client.start("signal", home.python("import os; os.kill(os.getpid(), 9)"))
        await started(killed)
        assert await killed.wait() == ExitStatus(signal=9)


async def test_lines_of_stderr_are_shown_as_they_come(home: Home) -> None:
    lines: list[str] = []
    async with home.client() as client:
        command = home.python("import os\nos.write(2, b'one\\ntwo\\n')\nos.read(0, 1)")
        transport = client.start("one", command, on_stderr_line=lines.append)
        await started(transport)
        await until(lambda: lines == ["one", "two"])
        assert transport.stderr_tail == "one\ntwo\n"
        await transport.close()


async def test_what_cannot_be_started_is_said_as_for_a_process_of_ones_own(home: Home) -> None:
    async with home.client() as client:
        with pytest.raises(CLINotFoundError, match="/nonexistent/claude"):
            await started(client.start("one", home.command(["/nonexistent/claude"])))
        with pytest.raises(StartFailed, match="does not exist"):
            await started(client.start("one", home.command(["cat"], cwd="/nonexistent")))
        with pytest.raises(StartFailed, match="no-such-user"):
            await started(client.start("one", home.command(["cat"], user="no-such-user")))
        for name in ("", "../up", "a/b", "a.b", "x" * 200):
            with pytest.raises(KeeperRefused, match="name"):
                await started(client.start(name, home.command(["cat"])))
        assert await client.list() == []


async def test_a_generation_is_started_once(home: Home) -> None:
    async with home.client() as client:
        await started(client.start("one", home.command(["cat"])))
        with pytest.raises(KeeperRefused) as refused:
            await started(client.start("one", home.command(["cat"])))
        assert refused.value.code == "exists"
        second = client.start("one", home.command(["cat"]), generation=2)
        await started(second)
        assert [(one.session, one.generation) for one in await client.list()] == [("one", 1), ("one", 2)]
        found = await client.find("one")
        assert found is not None
        assert (found.generation, found.pid) == (2, second.pid)


async def test_closing_ends_ever_harder_and_takes_the_group_along(home: Home) -> None:
    async with home.client() as client:
        transport = client.start("deaf", home.python(DEAF))
        recorder = await started(transport)
        await said(recorder, b"ready")
        assert await transport.close(NOW) == ExitStatus(signal=signal.SIGKILL)
        assert transport.pid is not None
        assert group_is_gone(transport.pid)
        assert recorder.told[1:] == ["eof", ExitStatus(signal=signal.SIGKILL)]
        assert await transport.close() == ExitStatus(signal=signal.SIGKILL)
        assert await client.list() == []
        with pytest.raises(TransportClosed, match="SIGKILL"):
            transport.write(b"too late\n")


async def test_what_tools_left_in_the_background_ends_with_the_process(home: Home) -> None:
    strays = StrayCommands()
    async with home.client() as client:
        transport = client.start("one", home.command(["bash", "-c", f"{strays.script}\ncat"]))
        await started(transport)
        await until(strays.all_started, "the strays to start")
        await transport.close()
        assert strays.alive() == []


async def test_what_a_process_leaves_ends_also_when_it_exits_by_itself(home: Home) -> None:
    strays = StrayCommands()
    async with home.client() as client:
        transport = client.start("one", home.command(["bash", "-c", f"{strays.script}\nread line"]))
        await started(transport)
        await until(strays.all_started, "the strays to start")
        transport.write(b"go\n")
        await transport.wait()
        await until(lambda: strays.alive() == [], "the strays to end")


async def test_a_cancelled_close_kills(home: Home) -> None:
    async with home.client() as client:
        transport = client.start("deaf", home.python(DEAF))
        recorder = await started(transport)
        await said(recorder, b"ready")
        closing = asyncio.create_task(transport.close(Grace(eof_s=60)))
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await ended(recorder)
        assert transport.pid is not None
        assert process_is_gone(transport.pid)


async def test_an_abandoned_process_is_killed(home: Home) -> None:
    async with home.client() as client:
        transport = client.start("deaf", home.python(DEAF))
        recorder = await started(transport)
        await said(recorder, b"ready")
        transport.abandon()
        await ended(recorder)
        assert recorder.told[-1] == ExitStatus(signal=signal.SIGKILL)


async def test_a_detached_process_goes_on_and_can_be_attached_to(home: Home) -> None:
    async with home.client() as client:
        first = client.start("one", home.command(echo()), durable=True)
        recorder = await started(first)
        first.write(b"before\n")
        await said(recorder, b"before\n")
        first.detach()
        second = client.attach("one", from_offset=3)
        again = await started(second)
        second.write(b"after\n")
        await said(again, b"after\n")
        assert (again.output, second.pid, second.last_input) == (b"ore\nafter\n", first.pid, 2)
        assert recorder.told == [b"before\n"]
        await second.close()


async def test_a_paused_receiver_gets_nothing_and_then_everything(home: Home) -> None:
    sizes = ["100000"] * 40
    async with home.client() as client:
        transport = client.start("one", home.python(TALKER, *sizes))
        transport.pause_reading()
        recorder = await started(transport)
        await until(lambda: transport.waiting_bytes, "something to wait")
        assert recorder.told == []
        transport.resume_reading()
        await ended(recorder)
        assert len(recorder.output) == 4_000_000
        assert recorder.told[1:] == ["eof", ExitStatus(code=0)]


async def test_a_paused_receiver_does_not_keep_close_from_ending(home: Home) -> None:
    async with home.client() as client:
        transport = client.start("one", home.python("import os\nwhile True: os.write(1, b'x' * 65536)"))
        recorder = await started(transport)
        await said(recorder, b"x")
        transport.pause_reading()
        status = await transport.close(Grace(eof_s=500))
        assert status.signal in (signal.SIGTERM, signal.SIGKILL)
        assert recorder.told[1:] == ["eof", status]


async def test_a_process_that_never_reads_makes_drain_wait_and_write_refuse(home: Home) -> None:
    async with home.client() as client:
        transport = client.start("one", home.python("import time; time.sleep(600)"), write_limit_bytes=3_000_000)
        await started(transport)
        other = client.start("two", home.command(echo()))
        recorder = await started(other)
        for _ in range(4):
            transport.write(b"x" * 999_999 + b"\n")
        with pytest.raises(WriteOverflow):
            transport.write(b"more\n")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await transport.drain()
        other.write(b"unhindered\n")
        await said(recorder, b"unhindered\n")
        await transport.close(NOW)
        await other.close()


async def test_a_process_that_closes_its_input_makes_write_refuse(home: Home) -> None:
    async with home.client() as client:
        transport = client.start("one", home.python("import os, time\nos.close(0)\nos.write(1, b'!')\ntime.sleep(600)"))
        recorder = await started(transport)
        await said(recorder, b"!")
        transport.write(b"into the void\n")
        await until(lambda: transport._input is not None and transport._input.closed)
        with pytest.raises(TransportClosed, match="stdin is closed"):
            transport.write(b"more\n")
        assert await client.written("one") == 0
        await transport.close(NOW)


async def test_private_files_are_for_the_process_alone_and_go_with_it(home: Home) -> None:
    source = """
        import os, sys
        path = sys.argv[-1].partition("=")[2]
        print(oct(os.stat(path).st_mode & 0o777), oct(os.stat(os.path.dirname(path)).st_mode & 0o777), flush=True)
        print(os.path.getsize(path), path, flush=True)
        os.read(0, 1)
    """
    content = os.urandom(1_500_000)
    async with home.client() as client:
        transport = client.start(
            "one", home.python(source), files=[PrivateFile("--settings", "settings.json", content)]
        )
        recorder = await started(transport)
        await until(lambda: recorder.output.count(b"\n") == 2)
        modes, about = recorder.output.decode().splitlines()
        size, _, name = about.partition(" ")
        path = Path(name)
        assert (modes, size) == ("0o600 0o700", "1500000")
        assert path.exists()  # noqa: ASYNC240
        await transport.close()
        assert not path.parent.exists()


async def test_the_process_gets_its_own_environment_folder_and_limits(home: Home) -> None:
    source = """
        import os, resource
        print(os.getcwd(), sorted(set(os.environ) - {"LC_CTYPE"}), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        print(os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid(), flush=True)
    """
    async with home.client() as client:
        recorder = await started(client.start("one", home.python(source)))
        await ended(recorder)
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        names = ["PATH", "QUARTERDECK_FAMILY", "QUARTERDECK_TEST"]
        assert recorder.output.decode() == f"/ {names} {soft}\nTrue True\n"
        raised, hard = resource.prlimit(client.pid, resource.RLIMIT_NOFILE)
        assert raised == max(soft, min(hard, CEILING))


async def test_bytes_in_names_and_values_that_are_no_text_survive(home: Home) -> None:
    odd = os.fsdecode(b"\xff\xfe odd")
    source = "import os, sys\nos.write(1, os.fsencode(os.environ['ODD']) + os.fsencode(sys.argv[1]))"
    async with home.client() as client:
        command = home.python(source, odd)
        recorder = await started(client.start("one", command._replace(env={**(command.env or {}), "ODD": odd})))
        await ended(recorder)
        assert recorder.output == b"\xff\xfe odd" * 2


async def test_many_sessions_come_and_go(home: Home) -> None:
    async with home.client() as client:

        async def one(number: int) -> bytes:
            transport = client.start(f"s{number}", home.command(echo()))
            recorder = await started(transport)
            transport.write(b"%d\n" % number)
            transport.close_input()
            await transport.wait()
            await transport.close()
            return recorder.output

        for _ in range(3):
            assert await asyncio.gather(*map(one, range(20))) == [b"%d\n" % number for number in range(20)]
        assert await client.list() == []


async def test_a_cancelled_start_leaves_nothing(home: Home) -> None:
    async with home.client() as client:
        step, cancelled = 0, True
        while cancelled:
            starting = CancelAt(client.start(f"s{step}", home.command(echo())).start(Recorder()), step)
            with contextlib.suppress(asyncio.CancelledError):
                await starting
            cancelled, step = starting.cancelled, step + 1
        assert step > 1
        await client.end(f"s{step - 1}")
        async with asyncio.timeout(20):
            while await client.list():  # noqa: ASYNC110  # the keeper tells nobody
                await asyncio.sleep(0.01)
        await until(lambda: not home.left_running(), "all processes to end")


async def test_a_command_that_is_too_long_costs_nobody_anything(home: Home) -> None:
    async with home.client() as client:
        transport = client.start("one", home.command(echo()))
        recorder = await started(transport)
        for size in (200_000, 30_000_000):
            with pytest.raises(StartFailed, match="too long"):
                await started(client.start("long", home.command(["cat", "x" * size])))
        transport.write(b"well\n")
        await said(recorder, b"well\n")
        await transport.close()


async def test_callbacks_that_raise_are_reported_and_harm_nobody_else(home: Home) -> None:
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(repr(context["exception"])))

    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    async with home.client() as client:
        bad = client.start("bad", home.command(echo()), on_chunk=fail, on_written=fail, on_stderr_line=fail)
        good = client.start("good", home.command(echo()))
        await started(bad)
        recorder = await started(good)
        for number in range(5):
            bad.write(b"x\n")
            good.write(b"%d\n" % number)
        await said(recorder, b"0\n1\n2\n3\n4\n")
        await until(lambda: len(reported) >= 2)
        assert set(reported) == {"RuntimeError('a bug')"}
        await bad.close()
        await good.close()


def test_it_works_in_another_event_loop(home: Home) -> None:
    async def scene() -> None:
        async with home.client() as client:
            transport = client.start("one", home.python(TALKER, "3000000"))
            recorder = await started(transport)
            assert await transport.wait() == ExitStatus(code=0)
            assert len(recorder.output) == 3_000_000
            other = client.start("two", home.command(echo()))
            recorder = await started(other)
            other.write(b"x" * 3_000_000 + b"\n")
            await other.drain()
            await until(lambda: len(recorder.output) == 3_000_001)
            await other.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(scene())


async def test_with_a_keeper_that_does_not_answer_closing_takes_bounded_time(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quarterdeck.keeper.client.SWEEP_S", 0.2)
    async with home.client() as client:
        transport = client.start("one", home.command(echo()))
        recorder = await started(transport)
        os.kill(client.pid, signal.SIGSTOP)
        assert await transport.close(Grace(0.01, 0.01, 0.01, 0.01, 0.01)) == ExitStatus()
        assert recorder.told == ["eof", ExitStatus()]
        os.kill(client.pid, signal.SIGCONT)  # it does what it was asked to as soon as it can
        await until(lambda: not home.left_running(), "the process to end")
