"""Faults: chosen lines, the same each time, around a transport and in recordings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from quarterdeck.testing.faults import (
    Cut,
    Delay,
    Drop,
    Duplicate,
    EndProcess,
    EndStream,
    Exit,
    Fault,
    FaultLine,
    Freeze,
    Garbage,
    Hang,
    Kill,
    Oversize,
    Reorder,
    Send,
    Step,
    Torn,
    Wait,
    break_lines,
    break_recording,
)
from quarterdeck.testing.faulty import Faulty
from quarterdeck.testing.recording import Entry, Header, Recording, Trailer
from quarterdeck.transport import ExitStatus, Grace, MemoryTransport, TransportClosed, memory_pair
from quarterdeck.wire import BadLine, decode

LIMIT_S = 10.0
LINES = [b'{"n":%d}\n' % n for n in range(1, 5)]
QUICK = Grace(eof_s=0.05, term_s=0.05, group_s=0.0, kill_s=0.5, output_s=0.5)


def steps(*faults: Fault, seed: int = 0) -> list[Step]:
    return list(break_lines(LINES, faults, seed=seed))


def sent(*faults: Fault, seed: int = 0) -> bytes:
    return b"".join(step.data for step in steps(*faults, seed=seed) if isinstance(step, Send))


def numbers(data: bytes) -> list[int]:
    return [json.loads(line)["n"] for line in data.splitlines()]


def test_without_faults_everything_comes_as_it_is() -> None:
    assert steps() == [Send(line) for line in LINES]
    machine = FaultLine([], "out")
    assert [*machine.feed(b"ab"), *machine.feed(b"c\nd"), *machine.finish()] == [Send(b"abc\n"), Send(b"d")]


@pytest.mark.parametrize(
    ("fault", "order"),
    [
        (Drop(nth=2), [1, 3, 4]),
        (Drop(every=2), [1, 3]),
        (Drop(containing=b"3"), [1, 2, 4]),
        (Drop(every=2, containing=b"3"), [1, 2, 3, 4]),
        (Drop(direction="in"), [1, 2, 3, 4]),
        (Duplicate(nth=1), [1, 1, 2, 3, 4]),
        (Duplicate(3, nth=4), [1, 2, 3, 4, 4, 4]),
        (Reorder(nth=1), [2, 1, 3, 4]),
        (Reorder(2, nth=1), [2, 3, 1, 4]),
        (Reorder(nth=4), [1, 2, 3, 4]),
        (Oversize(100, nth=2), [1, 2, 3, 4]),
        (Torn(3, nth=2), [1, 2, 3, 4]),
        (Delay(1.0, nth=2), [1, 2, 3, 4]),
    ],
)
def test_chosen_lines_are_dropped_doubled_moved_or_left(fault: Fault, order: list[int]) -> None:
    assert numbers(sent(fault)) == order


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Delay(1.5, nth=1), [Wait(1.5), Send(LINES[0])]),
        (Freeze(2.0, nth=1), [Wait(2.0), Send(LINES[0])]),
        (Oversize(12, nth=1), [Send(b'{"n":1}     \n')]),
    ],
)
def test_a_line_can_be_late_or_large(fault: Fault, expected: list[Step]) -> None:
    assert steps(fault) == [*expected, *map(Send, LINES[1:])]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Cut(nth=2), [Send(LINES[0]), Send(b'{"n"'), EndStream()]),
        (Cut(2, nth=1), [Send(b'{"'), EndStream()]),
        (Freeze(nth=2), [Send(LINES[0]), Hang()]),
        (Exit(7, nth=2), [Send(LINES[0]), Send(LINES[1]), EndProcess(code=7)]),
        (Kill(15, nth=1), [Send(LINES[0]), EndProcess(signal=15)]),
    ],
)
def test_after_the_end_nothing_comes(fault: Fault, expected: list[Step]) -> None:
    assert steps(fault) == expected
    assert steps(fault, Duplicate(nth=4), Garbage(nth=4)) == expected


def test_a_torn_line_is_the_same_bytes_in_pieces() -> None:
    torn = steps(Torn(3, gap_s=0.1, nth=1))[:5]
    assert [type(step) for step in torn] == [Send, Wait, Send, Wait, Send]
    assert b"".join(step.data for step in torn if isinstance(step, Send)) == LINES[0]


@pytest.mark.parametrize("text", [False, True])
def test_garbage_is_one_bad_line_and_the_lines_stay_whole(text: bool) -> None:
    noise, *rest = sent(Garbage(200, text=text, nth=1), seed=3).splitlines(keepends=True)
    assert isinstance(decode(noise), BadLine)
    assert rest[-4:] == LINES
    assert len(sent(Garbage(200, text=text, nth=1)).split(b"\n")) == len(LINES) + 2


def test_the_same_seed_gives_the_same_faults_and_another_seed_others() -> None:
    faults = (Drop(chance=0.5), Torn(4), Garbage(chance=0.5))
    assert steps(*faults, seed=1) == steps(*faults, seed=1)
    assert len({repr(steps(*faults, seed=seed)) for seed in range(8)}) > 4


def test_faults_apply_to_what_the_one_before_has_left() -> None:
    assert numbers(sent(Drop(nth=1), Drop(nth=1))) == [3, 4]
    assert numbers(sent(Duplicate(nth=1), Reorder(nth=1))) == [1, 1, 2, 3, 4]
    assert numbers(sent(Reorder(9, nth=1), Duplicate(containing=b"1"))) == [2, 3, 4, 1, 1]


@pytest.mark.parametrize("make", [lambda: Drop(nth=0), lambda: Drop(every=0), lambda: Drop(chance=1.5)])
def test_an_impossible_choice_is_refused(make: Callable[[], Fault]) -> None:
    with pytest.raises(ValueError, match="expected"):
        make()


class Collector:
    """One end of a pair: collects what comes."""

    def __init__(self) -> None:
        self.received = b""
        self.eof = False
        self.status: ExitStatus | None = None
        self._changed = asyncio.Event()

    def bytes_received(self, data: bytes) -> None:
        self.received += data
        self._changed.set()

    def eof_received(self) -> None:
        self.eof = True
        self._changed.set()

    def exited(self, status: ExitStatus) -> None:
        self.status = status
        self._changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not condition():
                self._changed.clear()
                await self._changed.wait()


class Pair:
    def __init__(self, *faults: Fault) -> None:
        inner, self.cli = memory_pair()
        self.host_end, self.cli_end = Collector(), Collector()
        self.faulty = Faulty(inner, faults)

    async def start(self) -> Pair:
        await self.faulty.start(self.host_end)
        await self.cli.start(self.cli_end)
        return self

    def say(self, *lines: bytes) -> MemoryTransport:
        for line in lines:
            self.cli.write(line)
        return self.cli


async def test_a_transport_without_faults_is_the_transport_itself() -> None:
    pair = await Pair().start()
    pair.say(*LINES)
    pair.faulty.write(b"hello\nhalf")
    await pair.faulty.drain()
    pair.faulty.close_input()
    await pair.host_end.until(lambda: pair.host_end.received == b"".join(LINES))
    await pair.cli_end.until(lambda: pair.cli_end.eof)
    assert pair.cli_end.received == b"hello\nhalf"
    assert (pair.faulty.pid, pair.faulty.stderr_tail) == (None, "")
    with pytest.raises(TransportClosed):
        pair.faulty.write(b"more\n")
    await pair.cli.close(QUICK)
    async with asyncio.timeout(LIMIT_S):
        assert await pair.faulty.wait() == ExitStatus(code=0)
    assert (pair.host_end.eof, pair.host_end.status) == (True, ExitStatus(code=0))


async def test_faults_of_either_direction_hit_only_that_direction() -> None:
    pair = await Pair(Drop(nth=1), Duplicate(nth=1, direction="in")).start()
    pair.say(*LINES)
    pair.faulty.write(LINES[0])
    await pair.host_end.until(lambda: pair.host_end.received == b"".join(LINES[1:]))
    await pair.cli_end.until(lambda: pair.cli_end.received == LINES[0] * 2)
    await pair.faulty.close(QUICK)


async def test_a_delayed_line_holds_back_what_follows_and_then_all_comes() -> None:
    pair = await Pair(Delay(0.05, nth=2), Delay(0.05, direction="in")).start()
    pair.say(*LINES)
    pair.faulty.write(LINES[0])
    await pair.host_end.until(lambda: pair.host_end.received == LINES[0])
    assert pair.cli_end.received == b""
    await pair.host_end.until(lambda: pair.host_end.received == b"".join(LINES))
    await pair.cli_end.until(lambda: pair.cli_end.received == LINES[0])
    await pair.faulty.close(QUICK)


async def test_a_cut_ends_the_stream_but_not_the_process() -> None:
    pair = await Pair(Cut(nth=2), Cut(1, nth=1, direction="in")).start()
    pair.say(*LINES)
    await pair.host_end.until(lambda: pair.host_end.eof)
    assert (pair.host_end.received, pair.host_end.status) == (LINES[0] + b'{"n"', None)
    pair.faulty.write(LINES[0])
    await pair.cli_end.until(lambda: pair.cli_end.eof)
    assert pair.cli_end.received == b"{"
    await pair.cli.close(QUICK)
    await pair.host_end.until(lambda: pair.host_end.status is not None)


@pytest.mark.parametrize(
    ("fault", "status"), [(Exit(9, nth=2), ExitStatus(code=9)), (Kill(15, nth=2), ExitStatus(signal=15))]
)
async def test_a_fault_can_end_the_process(fault: Fault, status: ExitStatus) -> None:
    pair = await Pair(fault).start()
    pair.say(*LINES)
    async with asyncio.timeout(LIMIT_S):
        assert await pair.faulty.wait() == status
    assert (pair.host_end.received, pair.host_end.eof) == (LINES[0] + LINES[1], True)
    with pytest.raises(TransportClosed):
        pair.faulty.write(b"x\n")


async def test_input_can_end_the_process_too() -> None:
    pair = await Pair(Exit(3, nth=1, direction="in")).start()
    pair.faulty.write(LINES[0])
    async with asyncio.timeout(LIMIT_S):
        assert await pair.faulty.wait() == ExitStatus(code=3)


async def test_a_frozen_process_says_nothing_until_it_is_closed() -> None:
    pair = await Pair(Freeze(nth=2)).start()
    pair.say(*LINES)
    await pair.host_end.until(lambda: pair.host_end.received == LINES[0])
    async with asyncio.timeout(LIMIT_S):
        await pair.faulty.close(QUICK)
    assert (pair.host_end.received, pair.host_end.eof) == (LINES[0], True)
    assert pair.host_end.status is not None


async def test_a_paused_transport_delivers_nothing() -> None:
    pair = await Pair(Duplicate()).start()
    pair.faulty.pause_reading()
    pair.say(LINES[0])
    for _ in range(5):
        await asyncio.sleep(0)
    assert pair.host_end.received == b""
    pair.faulty.resume_reading()
    await pair.host_end.until(lambda: pair.host_end.received == LINES[0] * 2)
    pair.faulty.abandon()
    async with asyncio.timeout(LIMIT_S):
        assert await pair.faulty.wait() == ExitStatus(signal=9)


async def test_draining_waits_for_input_that_a_fault_holds_back() -> None:
    pair = await Pair(Delay(0.05, direction="in")).start()
    pair.faulty.write(b"x" * 100_000 + b"\n")
    async with asyncio.timeout(LIMIT_S):
        await pair.faulty.drain()
    await pair.cli_end.until(lambda: len(pair.cli_end.received) == 100_001)
    pair.faulty.abandon()


def recorded() -> Recording:
    talk = [Entry(float(n), "out", line.rstrip(b"\n"), number=n + 2) for n, line in enumerate(LINES)]
    ends = [Entry(5.0, "err", b"oops"), Entry(6.0, "out", b"", eof=True)]
    return Recording(Header(exit_code=0), [*talk, *ends], Path("x.ndjson"))


def test_a_recording_can_be_broken() -> None:
    broken = break_recording(recorded(), [Delay(10.0, nth=2), Torn(2, nth=4), Drop(nth=1)])
    assert broken.stream("out") == b"".join(LINES[1:])
    assert [entry.t for entry in broken.entries] == [11.0, 12.0, 13.0, 13.0, 15.0, 16.0]
    assert broken.lines("out") == [line.rstrip(b"\n") for line in LINES[1:]]
    assert (broken.stderr, broken.end) == ("oops\n", Trailer(0.0, 0, None))


@pytest.mark.parametrize(
    ("fault", "end"), [(Kill(9, nth=2), Trailer(0.0, None, "SIGKILL")), (Exit(3, nth=2), Trailer(0.0, 3, None))]
)
def test_a_recording_can_end_early(fault: Fault, end: Trailer) -> None:
    broken = break_recording(recorded(), [fault])
    assert (broken.stream("out"), broken.end, broken.exit_code) == (LINES[0] + LINES[1], end, end.exit_code)


def test_a_cut_recording_ends_inside_a_line() -> None:
    assert break_recording(recorded(), [Cut(3, nth=2)]).stream("out") == LINES[0] + b'{"n'
