"""Faults for a conversation: what breaks in the field, reproducibly and on demand.

A fault chooses lines of one direction (``out``: from the CLI, or ``in``: to it) and does something to them. Which
lines: ``nth`` (1 is the first), ``every``, ``chance`` (0 to 1, by the seed), ``containing``; all that are given must
hold, none given means every line. Faults apply in the order given, each to what the one before has left.

``FaultLine`` is the machine, without I/O: bytes in, steps out. ``Faulty`` (in ``faulty.py``) puts it around any
transport; ``break_recording`` and ``break_lines`` apply it to what was recorded or will be said::

    Faulty(transport, [Delay(0.2, containing=b'"result"'), Cut(nth=9)], seed=7)
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from signal import Signals

from quarterdeck.wire import Direction

from .recording import Entry, Recording, Trailer


@dataclass(frozen=True, slots=True)
class Send:
    """These bytes, now."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing, for this long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing more, and no end-of-file either."""


@dataclass(frozen=True, slots=True)
class EndStream:
    """End-of-file; the rest is lost."""


@dataclass(frozen=True, slots=True)
class EndProcess:
    """The process is gone."""

    code: int | None = None
    signal: int | None = None


Step = Send | Wait | Hang | EndStream | EndProcess
LAST = (Hang, EndStream, EndProcess)
"""Nothing follows these."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Base: which lines. Subclasses say what happens to them."""

    direction: Direction = "out"
    nth: int | None = None
    every: int | None = None
    chance: float | None = None
    containing: bytes | None = None

    def __post_init__(self) -> None:
        if self.nth is not None and self.nth < 1:
            raise ValueError(f"nth={self.nth}: expected 1 or more; 1 is the first line")
        if self.every is not None and self.every < 1:
            raise ValueError(f"every={self.every}: expected 1 or more")
        if self.chance is not None and not 0 <= self.chance <= 1:
            raise ValueError(f"chance={self.chance}: expected a number from 0 to 1")

    def chooses(self, line: bytes, number: int, rng: random.Random) -> bool:
        if self.containing is not None and self.containing not in line:
            return False
        if self.nth is not None and number != self.nth:
            return False
        if self.every is not None and number % self.every:
            return False
        return self.chance is None or rng.random() < self.chance

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        """The steps for a chosen line (with its newline)."""
        return [Send(line)]


@dataclass(frozen=True)
class Delay(Fault):
    """The line comes ``seconds`` later, and so does everything after it: the order is kept."""

    seconds: float
    jitter_s: float = 0.0

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        return [Wait(self.seconds + rng.uniform(0, self.jitter_s)), Send(line)]


@dataclass(frozen=True)
class Drop(Fault):
    """The line never comes."""

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        return []


@dataclass(frozen=True)
class Duplicate(Fault):
    """The line comes several times."""

    times: int = 2

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        return [Send(line)] * self.times


@dataclass(frozen=True)
class Reorder(Fault):
    """The line comes after the ``behind`` lines that follow it, or at the end when fewer follow."""

    behind: int = 1


@dataclass(frozen=True)
class Garbage(Fault):
    """A line of noise comes before the line: bytes that are no UTF-8, or text that is no JSON."""

    size: int = 64
    text: bool = False

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        noise = (
            rng.choices(range(0x20, 0x7F), k=self.size) if self.text else [0xFF, *rng.choices(range(256), k=self.size)]
        )
        return [Send(bytes(noise).replace(b"\n", b"\x00") + b"\n"), Send(line)]


@dataclass(frozen=True)
class Oversize(Fault):
    """The line is padded with spaces to ``to_bytes``: the same JSON, longer than a reader may allow."""

    to_bytes: int

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        body = line.rstrip(b"\n")
        return [Send(body.ljust(self.to_bytes) + line[len(body) :])]


@dataclass(frozen=True)
class Torn(Fault):
    """The line comes in pieces, cut anywhere, with a pause between them."""

    pieces: int = 2
    gap_s: float = 0.0

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        cuts = sorted(rng.sample(range(1, len(line)), min(self.pieces - 1, len(line) - 1)))
        steps: list[Step] = []
        for start, end in zip([0, *cuts], [*cuts, len(line)], strict=True):
            if steps:
                steps.append(Wait(self.gap_s))
            steps.append(Send(line[start:end]))
        return steps


@dataclass(frozen=True)
class Cut(Fault):
    """The stream ends inside the line, after ``after_bytes`` of it (default: half)."""

    after_bytes: int | None = None

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        return [Send(line[: len(line) // 2 if self.after_bytes is None else self.after_bytes]), EndStream()]


@dataclass(frozen=True)
class Freeze(Fault):
    """From this line on nothing comes: for ``seconds``, or (None) ever again, without an end."""

    seconds: float | None = None

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        return [Hang()] if self.seconds is None else [Wait(self.seconds), Send(line)]


@dataclass(frozen=True)
class Exit(Fault):
    """After this line the process is gone, with ``code``."""

    code: int = 1

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        return [Send(line), EndProcess(code=self.code)]


@dataclass(frozen=True)
class Kill(Fault):
    """After this line the process is gone, by ``signal``."""

    signal: int = 9

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        return [Send(line), EndProcess(signal=self.signal)]


class FaultLine:
    """One direction of one conversation: bytes in, steps out. The same seed gives the same faults."""

    def __init__(self, faults: Iterable[Fault], direction: Direction, *, seed: int = 0) -> None:
        chosen = [fault for fault in faults if fault.direction == direction]
        self._stages = [_Stage(fault, f"{seed}/{direction}/{n}") for n, fault in enumerate(chosen)]
        self._pending = b""
        self._over = False

    def feed(self, data: bytes) -> list[Step]:
        """The steps for these bytes; an unfinished line waits for its end."""
        *lines, self._pending = (self._pending + data).split(b"\n")
        return self._through([Send(line + b"\n") for line in lines])

    def finish(self) -> list[Step]:
        """The stream has ended: the unfinished line, and what was held back."""
        rest, self._pending = self._pending, b""
        steps: list[Step] = [Send(rest)] if rest else []
        for stage in self._stages:
            steps = [*stage.feed(steps), *stage.finish()]
        return self._until_over(steps)

    def _through(self, steps: list[Step]) -> list[Step]:
        for stage in self._stages:
            steps = stage.feed(steps)
        return self._until_over(steps)

    def _until_over(self, steps: list[Step]) -> list[Step]:
        kept: list[Step] = []
        for step in steps:
            if self._over:
                break
            kept.append(step)
            self._over = isinstance(step, LAST)
        return kept


class _Stage:
    """One fault at work: counts lines, and holds back those that a ``Reorder`` has chosen."""

    def __init__(self, fault: Fault, seed: str) -> None:
        self._fault = fault
        self._rng = random.Random(seed)  # noqa: S311  # to be repeatable, not secret
        self._lines = 0
        self._held: list[tuple[int, bytes]] = []

    def feed(self, steps: list[Step]) -> list[Step]:
        result: list[Step] = []
        for step in steps:
            result += self._line(step.data) if isinstance(step, Send) else [step]
        return result

    def finish(self) -> list[Step]:
        held, self._held = self._held, []
        return [Send(line) for _, line in held]

    def _line(self, line: bytes) -> list[Step]:
        self._lines += 1
        chosen = self._fault.chooses(line, self._lines, self._rng)
        if isinstance(self._fault, Reorder):
            return self._reordered(line, self._lines + self._fault.behind if chosen else None)
        return self._fault.apply(line, self._rng) if chosen else [Send(line)]

    def _reordered(self, line: bytes, due: int | None) -> list[Step]:
        if due is not None:
            self._held.append((due, line))
            return []
        ready = [held for at, held in self._held if at <= self._lines]
        self._held = [(at, held) for at, held in self._held if at > self._lines]
        return [Send(line), *map(Send, ready)]


def break_lines(lines: Iterable[bytes], faults: Iterable[Fault], *, seed: int = 0) -> Iterator[Step]:
    """What becomes of lines that are to be said (each with its newline), as with a scenario's output."""
    faults = list(faults)
    machine = FaultLine(faults, "out", seed=seed)
    for line in lines:
        yield from machine.feed(line)
    yield from machine.finish()


def break_recording(recording: Recording, faults: Iterable[Fault], *, seed: int = 0) -> Recording:
    """The recording as if this had happened in it: waits move the times, and what ends the stream ends the process."""
    faults = list(faults)
    machines = {d: FaultLine(faults, d, seed=seed) for d in ("in", "out")}
    entries: list[Entry] = []
    shift, end = 0.0, recording.end or Trailer(0.0, recording.exit_code, recording.signal)
    for entry in recording.entries:
        machine = machines.get(entry.direction)
        if machine is None:
            entries.append(replace(entry, t=entry.t + shift))
            continue
        for step in machine.finish() if entry.eof else machine.feed(entry.data):
            if isinstance(step, Wait):
                shift += step.seconds
            elif isinstance(step, Send):
                whole = step.data.endswith(b"\n")
                line = step.data.removesuffix(b"\n")
                entries.append(Entry(entry.t + shift, entry.direction, line, whole, number=entry.number))
            elif isinstance(step, EndProcess):
                return replace(recording, entries=entries, end=_ended(end, step))
        if entry.eof:
            entries.append(replace(entry, t=entry.t + shift))
    return replace(recording, entries=entries, end=end)


def _ended(end: Trailer, step: EndProcess) -> Trailer:
    return replace(end, exit_code=step.code, signal=None if step.signal is None else Signals(step.signal).name)
