"""However it is ended and whatever it does, the process and its group are gone afterwards, in bounded time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from quarterdeck.transport import ExitStatus, Grace, ProcessTransport, TransportClosed, WriteOverflow, process
from transport.conftest import Stage
from transport.support import DEAF, CancelAt, Counter, Recorder, echo, group_is_gone, process_is_gone, python, until

QUICK = Grace(eof_s=0.1, term_s=0.2, group_s=0.2, kill_s=5.0, output_s=0.5)
LIMIT_S = 60.0


def test_a_process_that_leaves_at_end_of_file_is_not_signalled(stage: Stage) -> None:
    async def scene() -> None:
        transport = await stage.start(echo(), Recorder())
        assert await transport.close() == ExitStatus(code=0)

    stage.play(scene)


def test_where_nothing_is_left_one_look_is_all_that_closing_adds(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread of its own for each session: two hundred may close at once."""
    sweeps: list[object] = []
    monkeypatch.setattr(process, "sweep", lambda *given: sweeps.append(given))

    async def scene() -> None:
        started = [await stage.start(echo(), Recorder()) for _ in range(5)]
        await asyncio.gather(*(transport.close() for transport in started))

    stage.play(scene)
    assert len(sweeps) == (0 if stage.lacking.get("proc_files", True) else 5)


def test_what_was_written_before_close_still_arrives(stage: Stage) -> None:
    recorder = Recorder()
    data = b"m" * 1_000_000

    async def scene() -> None:
        transport = await stage.start(echo(), recorder)
        transport.write(data)
        await transport.close()

    stage.play(scene)
    assert recorder.told == [data, "eof", ExitStatus(code=0)]


def test_a_process_that_ignores_end_of_file_gets_sigterm_and_may_clean_up(stage: Stage) -> None:
    recorder = Recorder()

    async def scene() -> None:
        command = python("""
            import os, signal, sys, time
            def leave(*_):
                os.write(1, b"cleaned up\\n")
                os._exit(143)
            signal.signal(signal.SIGTERM, leave)
            os.write(1, b"ready\\n")
            while True:
                time.sleep(60)
        """)
        transport = await stage.start(command, recorder)
        await until(lambda: recorder.told)
        assert await transport.close(QUICK) == ExitStatus(code=143)

    stage.play(scene)
    assert recorder.told == [b"ready\ncleaned up\n", "eof", ExitStatus(code=143)]


def test_a_process_that_ignores_everything_is_killed_in_the_time_given(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder()
    waits: list[float | None] = []
    timeout = asyncio.timeout

    def noted(seconds: float | None) -> asyncio.Timeout:
        waits.append(seconds)
        return timeout(seconds)

    async def scene() -> None:
        transport = await stage.start(python(DEAF), recorder)
        await until(lambda: recorder.told)
        monkeypatch.setattr(asyncio, "timeout", noted)
        assert await transport.close(QUICK) == ExitStatus(signal=signal.SIGKILL)

    stage.play(scene)
    assert waits[:3] == [QUICK.eof_s, QUICK.term_s, QUICK.kill_s]
    assert recorder.told == [b"ready\n", "eof", ExitStatus(signal=signal.SIGKILL)]


def test_grandchildren_of_the_group_are_ended_too_even_deaf_ones(stage: Stage) -> None:
    recorder = Recorder()

    async def scene() -> None:
        command = python(
            """
            import os, subprocess, sys
            for _ in range(3):
                subprocess.Popen([sys.executable, "-S", "-c", sys.argv[1]])
            while os.read(0, 65536):
                pass
            """,
            "\n".join(line[4:] for line in DEAF.splitlines()),
        )
        transport = await stage.start(command, recorder)
        await until(lambda: recorder.output == b"ready\n" * 3, "three grandchildren")
        await transport.close(QUICK)
        assert transport.pid is not None
        assert group_is_gone(transport.pid)

    stage.play(scene)


def test_a_killed_process_takes_along_what_it_started_in_other_sessions(stage: Stage) -> None:
    """As the CLI does for each Bash tool call."""
    recorder = Recorder()

    async def scene() -> None:
        command = python("""
            import os, subprocess, sys, signal, time
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            program = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
            tool = subprocess.Popen(program, start_new_session=True)
            os.write(1, f"{tool.pid}\\n".encode())
            while True:
                time.sleep(60)
        """)
        transport = await stage.start(command, recorder)
        await until(lambda: recorder.output.endswith(b"\n"))
        assert await transport.close(QUICK) == ExitStatus(signal=signal.SIGKILL)
        await until(lambda: process_is_gone(int(recorder.output)), "the tool process to end")

    stage.play(scene)


def test_what_a_process_killed_from_outside_left_in_other_sessions_is_found_by_its_mark(stage: Stage) -> None:
    if not stage.lacking.get("proc_files", True):
        pytest.skip("by descent alone an orphan cannot be found")
    recorder = Recorder()

    async def scene() -> None:
        command = python("""
            import os, subprocess, sys
            program = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
            tool = subprocess.Popen(program, start_new_session=True)
            os.write(1, f"{tool.pid}\\n".encode())
            os.kill(os.getpid(), 9)
        """)
        transport = await stage.start(command, recorder, drain_after_exit_s=0.1)
        assert await transport.wait() == ExitStatus(signal=signal.SIGKILL)
        await transport.close(QUICK)
        await until(lambda: process_is_gone(int(recorder.output)), "the tool process to end")

    stage.play(scene)


def test_a_process_that_never_reads_makes_drain_wait_and_close_works_all_the_same(stage: Stage) -> None:
    recorder = Recorder()

    async def scene() -> None:
        transport = await stage.start(python(DEAF), recorder, write_limit_bytes=3_000_000)
        await until(lambda: recorder.told)
        for _ in range(4):
            transport.write(bytes(1_000_000))
        with pytest.raises(WriteOverflow, match="the limit is 3000000"):
            transport.write(b"one more")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await transport.drain()
        waiting = asyncio.ensure_future(transport.drain())
        await asyncio.sleep(0)
        assert await transport.close(QUICK) == ExitStatus(signal=signal.SIGKILL)
        await waiting

    stage.play(scene)


def test_who_drains_hears_that_the_process_died(stage: Stage) -> None:
    recorder = Recorder()

    async def scene() -> None:
        transport = await stage.start(python(DEAF), recorder)
        await until(lambda: recorder.told)
        transport.write(bytes(1_000_000))
        waiting = asyncio.ensure_future(transport.drain())
        await asyncio.sleep(0)
        assert transport.pid is not None
        os.kill(transport.pid, signal.SIGKILL)
        with pytest.raises(TransportClosed):
            await waiting
        await transport.wait()
        with pytest.raises(TransportClosed, match="was terminated by SIGKILL"):
            transport.write(b"too late")
        await transport.close()

    stage.play(scene)


def test_writing_after_the_input_was_closed_is_refused(stage: Stage) -> None:
    async def scene() -> None:
        transport = await stage.start(echo(), Recorder())
        transport.close_input()
        with pytest.raises(TransportClosed, match="stdin is closed"):
            transport.write(b"more")
        await transport.close()

    stage.play(scene)


def test_a_flooding_process_is_closed_while_reading_is_paused_and_its_flood_is_dropped(stage: Stage) -> None:
    counter = Counter()

    async def scene() -> None:
        transport = await stage.start(python("import os\nwhile True: os.write(1, bytes(65536))"), counter)
        await until(lambda: counter.received)
        transport.pause_reading()
        received = counter.received
        assert await transport.close(QUICK) == ExitStatus(signal=signal.SIGTERM)
        assert counter.received == received

    stage.play(scene)
    assert counter.told == ["eof", ExitStatus(signal=signal.SIGTERM)]


def test_a_flood_that_nobody_reads_is_not_given_the_time_to_end_by_itself(stage: Stage) -> None:
    counter = Counter()

    async def scene() -> None:
        transport = await stage.start(python("import os\nwhile True: os.write(1, bytes(65536))"), counter)
        await until(lambda: counter.received)
        transport.pause_reading()
        async with asyncio.timeout(LIMIT_S):
            assert await transport.close(replace(QUICK, eof_s=600.0)) == ExitStatus(signal=signal.SIGTERM)

    stage.play(scene)


def test_a_process_that_has_a_few_last_words_for_a_full_receiver_ends_by_itself(stage: Stage) -> None:
    counter = Counter()

    async def scene() -> None:
        command = python("""
            import os
            os.write(1, b"ready")
            os.read(0, 1)
            for _ in range(8):
                os.write(1, bytes(65536))
        """)
        transport = await stage.start(command, counter)
        await until(lambda: counter.received)
        transport.pause_reading()
        assert await transport.close(replace(QUICK, eof_s=LIMIT_S)) == ExitStatus(code=0)

    stage.play(scene)


def test_close_cancelled_at_any_await_has_killed_the_group_when_it_returns(stage: Stage) -> None:
    """A deaf process with a deaf grandchild: every step of the escalation is reached, and cut off."""
    reached = 0

    async def cut_off_at(step: int) -> bool:
        recorder = Recorder()
        command = python(
            "import os, sys\nif os.fork() == 0: os.write(1, b'ready\\n')\n"
            + "\n".join(line[4:] for line in DEAF.splitlines())
        )
        transport = await stage.start(command, recorder)
        await until(lambda: recorder.output.count(b"ready") == 3, "both processes")
        closing = CancelAt(transport.close(replace(QUICK, eof_s=0.02, term_s=0.02)), step)
        with contextlib.suppress(asyncio.CancelledError):
            await closing
        assert transport.pid is not None
        assert group_is_gone(transport.pid)
        await transport.wait()
        assert recorder.told[-2:] == ["eof", ExitStatus(signal=signal.SIGKILL)]
        return closing.cancelled

    async def scene() -> None:
        nonlocal reached
        while await cut_off_at(reached):
            reached += 1

    stage.play(scene)
    assert reached >= 3  # end-of-file, SIGTERM, SIGKILL


def test_close_cancelled_by_a_timeout_or_by_its_task_kills(stage: Stage) -> None:
    recorder = Recorder()

    async def scene() -> None:
        transport = await stage.start(python(DEAF), recorder)
        await until(lambda: recorder.told)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await transport.close()
        assert await transport.close() == ExitStatus(signal=signal.SIGKILL)

    stage.play(scene)


def test_two_who_close_at_once_get_the_same_answer(stage: Stage) -> None:
    async def scene() -> None:
        transport = await stage.start(echo(), Recorder())
        assert await asyncio.gather(transport.close(), transport.close()) == [ExitStatus(code=0)] * 2

    stage.play(scene)


def test_abandon_kills_before_it_returns_and_tells_the_receiver_afterwards(stage: Stage) -> None:
    recorder = Recorder()

    async def scene() -> None:
        transport = await stage.start(python(DEAF), recorder)
        await until(lambda: recorder.told)
        transport.abandon()
        assert transport.pid is not None
        assert group_is_gone(transport.pid)
        transport.abandon()
        assert await transport.close() == ExitStatus(signal=signal.SIGKILL)

    stage.play(scene)
    assert recorder.told == [b"ready\n", "eof", ExitStatus(signal=signal.SIGKILL)]


def test_an_exit_in_the_middle_of_a_large_write_is_no_error_of_the_loop(stage: Stage) -> None:
    async def scene() -> None:
        transport = await stage.start(python("import os; os.read(0, 10)"), Recorder())
        transport.write(bytes(10_000_000))
        assert await transport.wait() == ExitStatus(code=0)
        await transport.close()

    stage.play(scene)


def test_a_transport_that_was_never_started_closes_and_then_refuses_to_start(stage: Stage) -> None:
    async def scene() -> None:
        transport = stage.transport(["cat"])
        with pytest.raises(TransportClosed, match="await start"):
            transport.write(b"x")
        assert await transport.close() == ExitStatus()
        with pytest.raises(TransportClosed, match="create a new one"):
            await transport.start(Recorder())

    stage.play(scene)


def test_a_start_that_cannot_be_watched_leaves_no_process(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def refuse(*_: object, **__: object) -> None:
        raise OSError("out of descriptors")

    monkeypatch.setattr("quarterdeck.transport.process.LoopWriter", refuse)
    monkeypatch.setattr("quarterdeck.transport.thread_io.ThreadWriter", refuse)

    async def scene() -> None:
        transport: ProcessTransport = stage.transport(["cat"])
        with pytest.raises(OSError, match="out of descriptors"):
            await transport.start(Recorder())
        assert transport.pid is not None
        started.append(transport.pid)

    stage.play(scene)
    assert [group_is_gone(pid) for pid in started] == [True]


def test_without_process_groups_the_process_itself_is_ended(tmp_path: Path) -> None:
    stage = Stage(asyncio.new_event_loop, {"process_groups": False, "add_reader": False})
    recorder = Recorder()

    async def scene() -> None:
        transport = await stage.start(python(DEAF), recorder)
        await until(lambda: recorder.told)
        assert os.getpgid(transport.pid or 0) == os.getpgrp()
        stage.pids.clear()
        assert await transport.close(QUICK) == ExitStatus(signal=signal.SIGKILL)
        assert process_is_gone(transport.pid or 0)

    stage.play(scene)
