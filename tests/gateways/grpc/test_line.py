"""What goes to one client: in order, at once where nobody writes, together where somebody does, and bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from quarterdeck.gateways.grpc import Settings
from quarterdeck.gateways.grpc.line import Line
from quarterdeck.host import HostError


class Wire:
    """Takes what is written when it is told to."""

    def __init__(self, *, taking: bool) -> None:
        self.written: list[list[bytes]] = []
        self._taking = asyncio.Event()
        if taking:
            self._taking.set()

    async def write(self, parts: list[bytes]) -> None:
        self.written.append(parts)
        await self._taking.wait()

    def take(self) -> None:
        self._taking.set()


async def test_what_comes_alone_is_written_before_the_sender_goes_on() -> None:
    wire = Wire(taking=True)
    line = Line(Settings(), wire.write)
    await line.send([b"a"])
    await line.send([b"b", b"c"])
    assert wire.written == [[b"a"], [b"b", b"c"]]
    line.close()


async def test_what_comes_during_a_write_goes_with_the_next_and_in_order() -> None:
    wire = Wire(taking=False)
    line = Line(Settings(), wire.write)
    first = asyncio.ensure_future(line.send([b"a"]))
    await asyncio.sleep(0)
    await line.send([b"b"])  # the other one writes it
    await line.send([b"c"])
    finishing = asyncio.ensure_future(line.finish())
    await asyncio.sleep(0)
    assert wire.written == [[b"a"]]
    assert not finishing.done()
    wire.take()
    await asyncio.gather(first, finishing)
    assert wire.written == [[b"a"], [b"b", b"c"]]
    line.close()


async def test_who_finds_it_full_waits_and_makes_nothing_more_until_there_is_room() -> None:
    wire, made = Wire(taking=False), 0

    def parts() -> Iterator[bytes]:
        nonlocal made
        for _ in range(10):
            made += 1
            yield b"x" * 10

    line = Line(Settings(outbox_bytes=30), wire.write)
    writing = asyncio.ensure_future(line.send([b"a"]))
    await asyncio.sleep(0)
    waiting = asyncio.ensure_future(line.send(parts()))
    for _ in range(5):
        await asyncio.sleep(0)
    assert (made, waiting.done()) == (3, False)
    wire.take()
    await asyncio.gather(writing, waiting)
    await line.finish()
    assert b"".join(part for parts in wire.written for part in parts) == b"a" + b"x" * 100
    line.close()


async def test_who_sends_after_the_end_waits_to_be_cancelled() -> None:
    wire = Wire(taking=True)
    line = Line(Settings(), wire.write)
    await line.finish()
    late = asyncio.ensure_future(line.send([b"a"]))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not late.done()
    late.cancel()
    await asyncio.gather(late, return_exceptions=True)
    assert wire.written == []
    line.close()


async def test_a_client_that_takes_nothing_ends_it() -> None:
    line = Line(Settings(stalled_s=0.02), Wire(taking=False).write)
    writing = asyncio.ensure_future(line.send([b"a"]))
    with pytest.raises(HostError, match="read nothing for too long"):
        await asyncio.wait_for(line.over, 30)
    line.close()
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)


async def test_a_write_that_fails_ends_it_and_wakes_who_waits() -> None:
    async def write(_: list[bytes]) -> None:
        await asyncio.sleep(0)
        raise ConnectionResetError

    line = Line(Settings(outbox_bytes=3), write)
    sent = await asyncio.gather(*(line.send([b"aaaa"]) for _ in range(3)), return_exceptions=True)
    assert isinstance(sent[0], ConnectionResetError)
    with pytest.raises(ConnectionResetError):
        await line.over
    line.close()
