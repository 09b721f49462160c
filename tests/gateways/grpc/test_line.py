"""What goes to one client: in order, at once where nobody writes, together where somebody does, and bounded."""

from __future__ import annotations

import asyncio

import pytest

from quarterdeck.gateways.grpc import Settings
from quarterdeck.gateways.grpc.line import Line
from quarterdeck.host import HostError


class Wire:
    """Takes what is written when it is told to."""

    def __init__(self, *, taking: bool) -> None:
        self.written: list[bytes] = []
        self._taking = asyncio.Event()
        if taking:
            self._taking.set()

    async def write(self, message: bytes) -> None:
        self.written.append(message)
        await self._taking.wait()

    def take(self) -> None:
        self._taking.set()


def together(parts: list[bytes]) -> list[bytes]:
    """One message."""
    return [b"+".join(parts)]


async def test_what_comes_alone_is_written_before_the_sender_goes_on() -> None:
    wire = Wire(taking=True)
    line = Line(Settings(), together, wire.write)
    await line.send(b"a")
    await line.send(b"b")
    assert wire.written == [b"a", b"b"]
    line.close()


async def test_the_first_message_goes_alone_and_is_waited_for_no_longer_than_others() -> None:
    wire = Wire(taking=False)
    line = Line(Settings(stalled_s=0.02), together, wire.write, first=b"hello")
    line.flush()
    for part in (b"a", b"b"):
        await line.send(part)
    assert wire.written == [b"hello"]
    with pytest.raises(HostError, match="read nothing for too long"):
        await asyncio.wait_for(line.over, 30)
    wire.take()
    line.close()


async def test_nobody_waits_for_the_end_of_a_write_and_what_comes_meanwhile_goes_together_in_order() -> None:
    wire = Wire(taking=False)
    line = Line(Settings(), together, wire.write)
    for part in (b"a", b"b", b"c"):
        await line.send(part)
    finishing = asyncio.ensure_future(line.finish())
    await asyncio.sleep(0)
    assert wire.written == [b"a"]
    assert not finishing.done()
    wire.take()
    await finishing
    assert wire.written == [b"a", b"b+c"]
    line.close()


async def test_what_fits_no_single_message_goes_as_several_in_order_and_nothing_as_none() -> None:
    wire = Wire(taking=False)
    line = Line(Settings(), lambda parts: [part for part in parts if part], wire.write)
    await line.send(b"")
    assert wire.written == []
    for part in (b"a", b"b", b"", b"c"):
        line.put(part)
    line.flush()
    await line.send(b"d")
    wire.take()
    await line.finish()
    assert wire.written == [b"a", b"b", b"c", b"d"]
    line.close()


async def test_who_finds_it_full_waits_and_makes_nothing_more_until_there_is_room() -> None:
    wire, made = Wire(taking=False), 0
    line = Line(Settings(outbox_bytes=30), together, wire.write)

    async def make() -> None:
        nonlocal made
        while made < 10:
            made += 1
            if line.put(b"x" * 10):
                await line.room()
        line.flush()

    await line.send(b"a")
    waiting = asyncio.ensure_future(make())
    for _ in range(5):
        await asyncio.sleep(0)
    assert (made, waiting.done()) == (3, False)
    wire.take()
    await waiting
    await line.finish()
    assert b"".join(wire.written).replace(b"+", b"") == b"a" + b"x" * 100
    line.close()


async def test_who_sends_after_the_end_waits_to_be_cancelled() -> None:
    wire = Wire(taking=True)
    line = Line(Settings(), together, wire.write)
    await line.finish()
    late = asyncio.ensure_future(line.send(b"a"))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not late.done()
    late.cancel()
    await asyncio.gather(late, return_exceptions=True)
    assert wire.written == []
    line.close()


async def test_a_client_that_takes_nothing_ends_it() -> None:
    line = Line(Settings(stalled_s=0.02), together, Wire(taking=False).write)
    await line.send(b"a")
    with pytest.raises(HostError, match="read nothing for too long"):
        await asyncio.wait_for(line.over, 30)
    line.close()


async def test_a_write_that_fails_ends_it_and_who_sends_then_waits_to_be_cancelled() -> None:
    async def write(_: bytes) -> None:
        await asyncio.sleep(0)
        raise ConnectionResetError

    line = Line(Settings(outbox_bytes=3), together, write)
    sending = [asyncio.ensure_future(line.send(b"aaaa")) for _ in range(3)]
    with pytest.raises(ConnectionResetError):
        await line.over
    for _ in range(5):
        await asyncio.sleep(0)
    assert [one.done() for one in sending] == [True, False, False], "the first one's write had begun"
    await asyncio.wait_for(line.finish(), 30)
    for one in sending:
        one.cancel()
    await asyncio.gather(*sending, return_exceptions=True)
    line.close()


async def test_closing_it_ends_a_write_that_is_under_way() -> None:
    ended: list[str] = []
    waited_for = asyncio.get_running_loop().create_future()

    async def write(_: bytes) -> None:
        try:
            await waited_for
        finally:
            ended.append("write")

    line = Line(Settings(), together, write)
    await line.send(b"a")
    line.close()
    assert ended == ["write"]
    assert waited_for.cancelled(), "or its end would be told to nobody"
    await asyncio.sleep(0)  # its callback finds nothing to do
