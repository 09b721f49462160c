"""``Faulty``: any transport, with faults."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable

from quarterdeck.transport.base import DEFAULT_GRACE, LOW_MARK, ByteTransport, ExitStatus, Grace, Receiver
from quarterdeck.transport.errors import TransportClosed

from .faults import EndProcess, EndStream, Fault, FaultLine, Hang, Send, Step, Wait

_Do = Callable[[Step | None], None]
_Then = Callable[[], None]


class Faulty:
    """A ``ByteTransport`` around another one, with faults in either direction.

    A fault that ends the process ends the inner one for real; the reported exit is that of the fault.
    """

    def __init__(self, transport: ByteTransport, faults: Iterable[Fault], *, seed: int = 0) -> None:
        faults = list(faults)
        self._inner = transport
        self._to = _Lane(FaultLine(faults, "in", seed=seed), self._do_in)
        self._back = _Lane(FaultLine(faults, "out", seed=seed), self._do_out)
        self._receiver: Receiver | None = None
        self._exit: ExitStatus | None = None
        self._told_eof = False
        self._told_exit = asyncio.Event()
        self._input_ended = False
        self._paused = False

    @property
    def pid(self) -> int | None:
        return self._inner.pid

    @property
    def stderr_tail(self) -> str:
        return self._inner.stderr_tail

    async def start(self, receiver: Receiver) -> None:
        self._receiver = receiver
        await self._inner.start(self)

    # To the process

    def write(self, data: bytes) -> None:
        if self._input_ended:
            raise TransportClosed("The input was cut off by a fault, or closed.")
        self._to.feed(data)

    async def drain(self) -> None:
        await self._to.until_below(LOW_MARK)
        if not self._input_ended:
            await self._inner.drain()

    def close_input(self) -> None:
        if not self._input_ended:
            self._input_ended = True
            self._to.finish()

    def _do_in(self, step: Step | None) -> None:
        if isinstance(step, Send):
            try:
                self._inner.write(step.data)
            except TransportClosed:  # perhaps long after write(): the next one gets the error, as with a pipe
                self._input_ended = True
        elif isinstance(step, EndProcess):
            self._end_process(step)
        else:  # a cut, or the end
            self._input_ended = True
            self._inner.close_input()

    # From the process: the inner transport's receiver

    def bytes_received(self, data: bytes) -> None:
        self._back.feed(data)
        if self._back.waiting:  # like a slow process: what is not due yet stays in the pipe
            self._inner.pause_reading()

    def eof_received(self) -> None:
        self._back.finish()

    def exited(self, status: ExitStatus) -> None:
        self._exit = self._exit or status
        self._back.when_done(self._tell_exit)

    def pause_reading(self) -> None:
        self._paused = True
        self._back.pause()
        self._inner.pause_reading()

    def resume_reading(self) -> None:
        self._paused = False
        self._back.resume()
        if not self._back.waiting:
            self._inner.resume_reading()

    def _do_out(self, step: Step | None) -> None:
        assert self._receiver is not None  # noqa: S101  # nothing comes before the start
        if isinstance(step, Send):
            self._receiver.bytes_received(step.data)
            if not self._back.waiting and not self._paused:
                self._inner.resume_reading()
        elif isinstance(step, EndProcess):
            self._end_process(step)
        elif not self._told_eof:
            self._told_eof = True
            self._receiver.eof_received()
            self._inner.resume_reading()

    def _end_process(self, step: EndProcess) -> None:
        self._exit = ExitStatus(step.code, step.signal)
        self._input_ended = True
        self._inner.abandon()

    def _tell_exit(self) -> None:
        assert self._receiver is not None  # noqa: S101  # nothing comes before the start
        if not self._told_eof:
            self._told_eof = True
            self._receiver.eof_received()
        self._receiver.exited(self._exit or ExitStatus())
        self._told_exit.set()

    # The end

    async def wait(self) -> ExitStatus:
        await self._told_exit.wait()
        return self._exit or ExitStatus()

    async def close(self, grace: Grace = DEFAULT_GRACE) -> ExitStatus:
        self._to.release()
        self._back.release()
        self.resume_reading()
        status = await self._inner.close(grace)
        if self._receiver is not None:
            async with asyncio.timeout(grace.output_s + grace.kill_s):
                await self._told_exit.wait()
        return self._exit or status

    def abandon(self) -> None:
        self._to.release()
        self._back.release()
        self._inner.abandon()


class _Lane:
    """Does the steps of one direction in order, as time goes by."""

    def __init__(self, machine: FaultLine, do: _Do) -> None:
        self._machine = machine
        self._do = do
        self._steps: deque[Step | None] = deque()
        self._bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._hung = False
        self._released = False
        self._ended = False
        self._paused = False
        self._done: _Then | None = None
        self._room = asyncio.Event()

    @property
    def waiting(self) -> bool:
        return bool(self._steps)

    def feed(self, data: bytes) -> None:
        self._add(self._machine.feed(data))

    def finish(self) -> None:
        """The end of the stream, after what is still to come."""
        self._add([*self._machine.finish(), None])

    def when_done(self, then: _Then) -> None:
        self._done = then
        self._go()

    def release(self) -> None:
        """Wait for nothing from now on; what is unsent is lost."""
        self._released = True
        self._hung = False
        self._steps.clear()
        self._bytes = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._room.set()
        self._go()

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        self._go()

    async def until_below(self, mark: int) -> None:
        while self._bytes > mark:
            self._room.clear()
            await self._room.wait()

    def _add(self, steps: Iterable[Step | None]) -> None:
        for step in steps:
            self._steps.append(step)
            self._bytes += len(step.data) if isinstance(step, Send) else 0
        self._go()

    def _go(self) -> None:
        while self._steps and self._timer is None and not self._hung and not self._paused:
            step = self._steps.popleft()
            if isinstance(step, Wait):
                if not self._released:
                    self._timer = asyncio.get_running_loop().call_later(step.seconds, self._go_on)
            elif isinstance(step, Hang):
                self._hung = not self._released
            elif not self._ended:
                self._bytes -= len(step.data) if isinstance(step, Send) else 0
                self._ended = isinstance(step, EndStream | EndProcess) or step is None
                self._do(step)
                self._room.set()
        if not self._steps and self._timer is None and not self._hung and self._done is not None:
            then, self._done = self._done, None
            then()

    def _go_on(self) -> None:
        self._timer = None
        self._go()
