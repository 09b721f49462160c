"""Injects faults into a conversation, reproducibly.

A fault selects lines of one direction (``out``: from the CLI, ``in``: to it) and changes them. The conditions ``nth``
(1 is the first), ``every``, ``chance`` (0 to 1, from the seed) and ``containing`` must all hold; without any, every
line is selected. Faults apply in the given order, each to the output of the one before.

``FaultLine`` does this without I/O: bytes in, steps out. ``Faulty`` (in ``faulty.py``) wraps a transport with it;
``break_recording`` and ``break_lines`` apply it to recordings and to lines::

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
    """Write these bytes now."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Wait:
    """Write nothing for this long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Hang:
    """Write nothing more, not even end-of-file."""


@dataclass(frozen=True, slots=True)
class EndStream:
    """End of file; the rest is lost."""


@dataclass(frozen=True, slots=True)
class EndProcess:
    """The process ends."""

    code: int | None = None
    signal: int | None = None


Step = Send | Wait | Hang | EndStream | EndProcess
LAST = (Hang, EndStream, EndProcess)
"""Nothing follows these."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Base class: selects lines. Subclasses say what happens to them."""

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
    """Delays the line, and everything after it, by ``seconds``."""

    seconds: float
    jitter_s: float = 0.0

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        return [Wait(self.seconds + rng.uniform(0, self.jitter_s)), Send(line)]


@dataclass(frozen=True)
class Drop(Fault):
    """Drops the line."""

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        return []


@dataclass(frozen=True)
class Duplicate(Fault):
    """Repeats the line."""

    times: int = 2

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        return [Send(line)] * self.times


@dataclass(frozen=True)
class Reorder(Fault):
    """Moves the line behind the next ``behind`` lines, or to the end if there are fewer."""

    behind: int = 1


@dataclass(frozen=True)
class Garbage(Fault):
    """Inserts a line of noise before the line: bytes that are not UTF-8, or text that is not JSON."""

    size: int = 64
    text: bool = False

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        noise = (
            rng.choices(range(0x20, 0x7F), k=self.size) if self.text else [0xFF, *rng.choices(range(256), k=self.size)]
        )
        return [Send(bytes(noise).replace(b"\n", b"\x00") + b"\n"), Send(line)]


@dataclass(frozen=True)
class Oversize(Fault):
    """Pads the line with spaces to ``to_bytes``: the same JSON, but longer than a reader may allow."""

    to_bytes: int

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        body = line.rstrip(b"\n")
        return [Send(body.ljust(self.to_bytes) + line[len(body) :])]


@dataclass(frozen=True)
class Torn(Fault):
    """Splits the line into pieces, with a pause between them."""

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
    """Ends the stream inside the line, after ``after_bytes`` (default: half)."""

    after_bytes: int | None = None

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        return [Send(line[: len(line) // 2 if self.after_bytes is None else self.after_bytes]), EndStream()]


@dataclass(frozen=True)
class Freeze(Fault):
    """Stops all output from this line on, for ``seconds`` or forever (None), without an end-of-file."""

    seconds: float | None = None

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        return [Hang()] if self.seconds is None else [Wait(self.seconds), Send(line)]


@dataclass(frozen=True)
class Exit(Fault):
    """The process exits with ``code`` after this line."""

    code: int = 1

    def apply(self, line: bytes, rng: random.Random) -> list[Step]:
        return [Send(line), EndProcess(code=self.code)]


@dataclass(frozen=True)
class Kill(Fault):
    """The process is killed by ``signal`` after this line."""

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
        """The stream has ended: the unfinished line, and everything held back."""
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
    """One active fault: counts lines, and holds back those that a ``Reorder`` has chosen."""

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
    """What becomes of lines to be written (each with its newline), as with a scenario's output."""
    faults = list(faults)
    machine = FaultLine(faults, "out", seed=seed)
    for line in lines:
        yield from machine.feed(line)
    yield from machine.finish()


def break_recording(recording: Recording, faults: Iterable[Fault], *, seed: int = 0) -> Recording:
    """Apply faults to a recording: waits shift the times, and a cut ends the process."""
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
