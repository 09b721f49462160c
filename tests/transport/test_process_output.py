"""What comes out of a process, in which order, and within which memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal

import pytest

from quarterdeck.transport import ExitStatus, Grace, ProcessExited, ProcessTransport
from transport.conftest import Stage
from transport.support import Counter, Recorder, echo, python, until

QUICK = Grace(eof_s=0.1, term_s=0.5)


def test_bytes_then_end_then_exit_are_told_once_each_and_in_this_order(stage: Stage) -> None:
    recorder = Recorder()

    async def scene() -> None:
        transport = await stage.start(echo(), recorder)
        transport.write(b"one\n")
        transport.write(b"two\n")
        transport.close_input()
        assert await transport.wait() == ExitStatus(code=0)
        assert await transport.close() == ExitStatus(code=0)
        assert await transport.close() == ExitStatus(code=0)

    stage.play(scene)
    assert recorder.told == [b"one\ntwo\n", "eof", ExitStatus(code=0)]


def test_a_process_that_exits_at_once_tells_its_code_and_its_last_words(stage: Stage) -> None:
    recorder = Recorder()
    lines: list[str] = []

    async def scene() -> None:
        command = python("import sys; sys.stderr.write('bad flag\\nsorry'); sys.exit(3)")
        transport = await stage.start(command, recorder, on_stderr_line=lines.append)
        status = await transport.wait()
        error = status.error(transport.stderr_tail)
        assert (type(error), error.exit_code, error.stderr) == (ProcessExited, 3, "bad flag\nsorry")
        await transport.close()

    stage.play(scene)
    assert recorder.told == ["eof", ExitStatus(code=3)]
    assert lines == ["bad flag", "sorry"]


def test_a_process_that_dies_in_the_middle_of_a_line_delivers_the_half_line(stage: Stage) -> None:
    recorder = Recorder()

    async def scene() -> None:
        command = python('import os; os.write(1, b\'{"type":"ass\'); os.kill(os.getpid(), 9)')
        transport = await stage.start(command, recorder)
        await transport.wait()
        await transport.close()

    stage.play(scene)
    assert recorder.told == [b'{"type":"ass', "eof", ExitStatus(signal=signal.SIGKILL)]


def test_a_process_killed_from_outside_is_told_as_its_signal(stage: Stage) -> None:
    recorder = Recorder()

    async def scene() -> None:
        transport = await stage.start(echo(), recorder)
        assert transport.pid is not None
        os.kill(transport.pid, signal.SIGKILL)
        assert await transport.wait() == ExitStatus(signal=signal.SIGKILL)
        await transport.close()

    stage.play(scene)
    assert recorder.told == ["eof", ExitStatus(signal=signal.SIGKILL)]


def test_a_line_of_64_mebibytes_arrives_whole_in_reads_of_64_kibibytes(stage: Stage) -> None:
    recorder = Recorder()
    size = 64 * 1024 * 1024

    async def scene() -> None:
        command = python(f"import sys; sys.stdout.buffer.write(b'x' * {size} + b'\\n')")
        transport = await stage.start(command, recorder)
        await transport.wait()
        await transport.close()

    stage.play(scene)
    assert len(recorder.output) == size + 1
    assert recorder.output.strip(b"x") == b"\n"
    assert recorder.largest <= 64 * 1024


def test_100_megabytes_of_stderr_block_nobody_and_leave_64_kibibytes(stage: Stage) -> None:
    recorder = Recorder()

    async def scene() -> None:
        command = python("""
            import os, sys
            block = b"e" * 99_999 + b"\\n"
            for _ in range(1000):
                sys.stderr.buffer.write(block)
            sys.stderr.buffer.write(b"the end")
            os.write(1, b"done\\n")
        """)
        transport = await stage.start(command, recorder)
        transport.pause_reading()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        await until(lambda: transport.stderr_tail.endswith("the end"), "the end of stderr")
        grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown_kib < 20_000
        assert len(transport.stderr_tail) == 64 * 1024
        transport.resume_reading()
        await transport.wait()
        await transport.close()

    stage.play(scene)
    assert recorder.told == [b"done\n", "eof", ExitStatus(code=0)]


def test_while_reading_is_paused_the_process_blocks_and_later_nothing_is_missing(stage: Stage) -> None:
    counter = Counter()
    total = 8 * 1024 * 1024

    async def scene() -> None:
        command = python(f"""
            import os, select, sys
            os.set_blocking(1, False)
            block, sent, told = bytes(65536), 0, False
            while sent < {total}:
                if not told and not select.select([], [1], [], 0.3)[1]:
                    sys.stderr.write(f"{{sent}}\\n")
                    told = True
                select.select([], [1], [])
                sent += os.write(1, block)
        """)
        accepted: list[str] = []
        transport = stage.transport(command, on_stderr_line=accepted.append)
        transport.pause_reading()
        await transport.start(counter)
        assert transport.pid is not None
        stage.pids.append(transport.pid)
        await until(lambda: accepted, "the process to find the pipe full")
        assert counter.received == 0
        assert int(accepted[0]) <= 6 * 65536  # the pipe, and what the reading thread holds
        transport.resume_reading()
        await transport.wait()
        await transport.close()

    stage.play(scene)
    assert counter.received == total
    assert counter.told == ["eof", ExitStatus(code=0)]


def test_output_of_a_dead_process_waits_for_a_paused_receiver(stage: Stage) -> None:
    recorder = Recorder()

    async def scene() -> None:
        transport = stage.transport(python("import os; os.write(1, b'last words')"), drain_after_exit_s=0.05)
        transport.pause_reading()
        await transport.start(recorder)
        assert transport.pid is not None
        stage.pids.append(transport.pid)
        await until(lambda: transport.status is not None, "the process to end")
        with contextlib.suppress(TimeoutError):  # longer than the time that output without a reader would get
            async with asyncio.timeout(0.2):
                await transport.wait()
        assert recorder.told == []
        transport.resume_reading()
        await transport.wait()
        await transport.close()

    stage.play(scene)
    assert recorder.told == [b"last words", "eof", ExitStatus(code=0)]


def test_a_grandchild_that_keeps_stdout_open_delays_the_exit_by_a_bounded_time(stage: Stage) -> None:
    recorder = Recorder()

    async def scene() -> None:
        command = python("""
            import os, subprocess, sys
            subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
            os.write(1, b"bye\\n")
        """)
        transport = await stage.start(command, recorder, drain_after_exit_s=0.2)
        async with asyncio.timeout(10):
            await transport.wait()
        assert recorder.told == [b"bye\n", "eof", ExitStatus(code=0)]
        await transport.close()

    stage.play(scene)
    assert recorder.told == [b"bye\n", "eof", ExitStatus(code=0)]


def test_a_callback_for_stderr_that_raises_is_reported_and_called_again(stage: Stage) -> None:
    lines: list[str] = []

    def fail(line: str) -> None:
        lines.append(line)
        raise ValueError(line)

    async def scene() -> None:
        transport = await stage.start(
            python("import sys; sys.stderr.write('a\\nb\\n')"), Recorder(), on_stderr_line=fail
        )
        await transport.wait()
        await transport.close()

    stage.play(scene)
    assert lines == ["a", "b"]
    assert [str(context["exception"]) for context in stage.loop_errors] == ["a", "b"]
    stage.loop_errors.clear()


def test_50_processes_at_once_keep_their_bytes_apart(stage: Stage) -> None:
    recorders = [Recorder() for _ in range(50)]

    async def scene() -> None:
        transports: list[ProcessTransport] = [await stage.start(["cat"], recorder) for recorder in recorders]
        for number, transport in enumerate(transports):
            transport.write(f"I am {number}\n".encode())
        await asyncio.gather(*(transport.close() for transport in transports))

    stage.play(scene)
    expected = [[f"I am {number}\n".encode(), "eof", ExitStatus(code=0)] for number in range(50)]
    assert [recorder.told for recorder in recorders] == expected


@pytest.mark.parametrize("size", [1, 65_536, 5_000_000])
def test_what_is_written_comes_back_whatever_its_size(stage: Stage, size: int) -> None:
    recorder = Recorder()
    data = os.urandom(size)

    async def scene() -> None:
        transport = await stage.start(["cat"], recorder)
        transport.write(data)
        await transport.drain()
        transport.close_input()
        await transport.wait()
        await transport.close()

    stage.play(scene)
    assert recorder.output == data
