"""Unread content: bounded in memory, spilled when reading must go on, never dropped, never out of order."""

from __future__ import annotations

import asyncio
import errno
from typing import Any

import pytest

from client.fake import until
from quarterdeck.client.inbox import Inbox
from quarterdeck.client.spill import Spill
from quarterdeck.wire import BadLine, Decoder, Message, encode

LIMIT_BYTES = 1024 * 1024
NEVER_S = 3600.0


class Valve:
    """What an inbox asks of its transport."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def pause(self) -> None:
        self.asked.append("pause")

    def resume(self) -> None:
        self.asked.append("resume")


def inbox(valve: Valve, *, high: int = 100, low: int = 30, patience_s: float = NEVER_S) -> Inbox:
    return Inbox(
        pause=valve.pause,
        resume=valve.resume,
        limit_bytes=LIMIT_BYTES,
        high_bytes=high,
        low_bytes=low,
        patience_s=patience_s,
    )


def message(number: int, **more: Any) -> Message:
    (made,) = Decoder().feed(encode({"type": "keep_alive", "number": number, **more}))
    return made


def numbers(messages: list[Message]) -> list[int]:
    return [read.data["number"] for read in messages]


async def batch(box: Inbox) -> list[Message]:
    """The next messages, waited for."""
    while (messages := box.take()) is None:
        await box.arrival()
    return messages


async def read_all(box: Inbox) -> list[Message]:
    """Everything up to the end."""
    read: list[Message] = []
    while messages := await batch(box):
        read += messages
    return read


async def test_messages_come_out_in_order_and_an_empty_batch_is_the_end() -> None:
    box = inbox(Valve())
    box.put([message(1), message(2)], 10)
    box.put([message(3)], 5)
    box.end()
    assert box.unread_bytes == 15
    assert numbers(await batch(box)) == [1, 2]
    assert numbers(await batch(box)) == [3]
    assert (await batch(box), await batch(box)) == ([], [])
    assert box.unread_bytes == 0


async def test_a_consumer_that_waits_is_woken_by_content_and_by_the_end() -> None:
    box = inbox(Valve())
    reader = asyncio.create_task(read_all(box))
    for number in range(3):
        await asyncio.sleep(0)
        box.put([message(number)], 1)
    await asyncio.sleep(0)
    box.end()
    assert numbers(await reader) == [0, 1, 2]


async def test_reading_pauses_at_the_high_mark_and_goes_on_at_the_low_one() -> None:
    valve = Valve()
    box = inbox(valve)
    for number in range(4):
        box.put([message(number)], 30)
    assert valve.asked == ["pause"]
    await batch(box)
    await batch(box)
    assert valve.asked == ["pause"]
    await batch(box)
    assert valve.asked == ["pause", "resume"]
    box.end()
    assert numbers(await read_all(box)) == [3]


async def test_after_some_patience_what_comes_goes_to_disk_and_comes_back_in_order() -> None:
    valve = Valve()
    box = inbox(valve, patience_s=0.0)
    box.put([message(0)], 100)
    await until(lambda: valve.asked == ["pause", "resume"])
    for number in range(1, 50):
        box.put([message(number), message(number + 1000)], 100)
    assert box.unread_bytes == 100
    assert box.spilled_bytes > 0
    box.end()
    expected = [0] + [n for number in range(1, 50) for n in (number, number + 1000)]
    assert numbers(await read_all(box)) == expected
    assert (box.unread_bytes, box.spilled_bytes) == (0, 0)
    assert valve.asked == ["pause", "resume"]


async def test_once_the_consumer_has_caught_up_memory_is_used_again() -> None:
    valve = Valve()
    box = inbox(valve, patience_s=0.0)
    box.put([message(0)], 100)
    await until(lambda: len(valve.asked) == 2)
    box.put([message(1)], 100)
    assert numbers(await batch(box) + await batch(box)) == [0, 1]
    box.put([message(2)], 100)
    assert (box.unread_bytes, box.spilled_bytes) == (100, 0)
    assert valve.asked == ["pause", "resume", "pause"]
    box.end()
    assert numbers(await read_all(box)) == [2]


async def test_while_a_control_call_waits_nothing_pauses() -> None:
    valve = Valve()
    box = inbox(valve)
    box.urgent(1)
    for number in range(5):
        box.put([message(number)], 60)
    assert valve.asked == []
    assert box.unread_bytes == 120
    box.urgent(-1)
    box.end()
    assert numbers(await read_all(box)) == [0, 1, 2, 3, 4]


async def test_a_control_call_ends_a_pause_at_once() -> None:
    valve = Valve()
    box = inbox(valve)
    box.put([message(0)], 100)
    assert valve.asked == ["pause"]
    box.urgent(1)
    assert valve.asked == ["pause", "resume"]
    box.put([message(1)], 100)
    assert box.unread_bytes == 100
    box.end()
    assert numbers(await read_all(box)) == [0, 1]


async def test_an_error_comes_once_after_everything_before_it_is_read() -> None:
    box = inbox(Valve(), patience_s=0.0)
    box.urgent(1)
    box.put([message(0)], 200)
    box.put([message(1)], 200)
    assert box.spilled_bytes > 0
    box.end(ValueError("the end"))
    box.end(ValueError("a second end"))
    assert numbers(await batch(box) + await batch(box)) == [0, 1]
    with pytest.raises(ValueError, match="the end"):
        await batch(box)
    assert await batch(box) == []


async def test_two_consumers_at_once_are_refused_and_the_first_goes_on() -> None:
    box = inbox(Valve())
    first = asyncio.create_task(batch(box))
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="two consumers"):
        await batch(box)
    box.put([message(7)], 1)
    assert numbers(await first) == [7]


async def test_a_cancelled_consumer_loses_nothing() -> None:
    box = inbox(Valve())
    first = asyncio.create_task(batch(box))
    await asyncio.sleep(0)
    box.put([message(1)], 1)
    first.cancel()
    await asyncio.wait([first])
    assert first.cancelled()
    assert numbers(await batch(box)) == [1]


async def test_a_full_disk_is_the_consumers_error_and_reading_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is lost then is content; requests behind it still have to be served."""

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    valve = Valve()
    box = inbox(valve)
    box.urgent(1)
    box.put([message(0)], 200)
    monkeypatch.setattr(Spill, "put", full)
    box.put([message(1)], 200)
    box.put([message(2)], 200)
    box.urgent(-1)
    assert valve.asked == []
    assert box.unread_bytes == 200
    assert numbers(await batch(box)) == [0]
    with pytest.raises(OSError, match="unread messages could not be written to disk: No space left") as caught:
        await batch(box)
    assert caught.value.errno == errno.ENOSPC


async def test_an_inbox_that_nobody_reads_keeps_nothing_and_does_not_pause() -> None:
    valve = Valve()
    box = inbox(valve)
    box.put([message(1)], 200)
    box.ignore()
    box.put([message(2)], 200)
    assert (box.unread_bytes, valve.asked) == (0, ["pause", "resume"])
    assert box.take() == []
    box.close()


async def test_closing_gives_the_disk_space_back() -> None:
    box = inbox(Valve(), patience_s=0.0)
    box.urgent(1)
    box.put([message(0)], 200)
    box.put([message(1)], 200)
    box.close()
    assert box.spilled_bytes == 0


# The spill by itself


def test_a_spill_gives_back_the_same_bytes_bad_lines_included() -> None:
    bad = BadLine(head=b"\xff{not", reason="not JSON", size=6, line=b"\xff{not\n")
    cut = BadLine(head=b"x" * 10, reason="too long", size=10**9, line=None)
    kept: list[Message] = [message(1, text="ünï\u2028"), bad, message(2), cut]
    spill = Spill(limit_bytes=LIMIT_BYTES)
    spill.put(kept)
    taken: list[Message] = []
    while spill:
        taken += spill.take()
    assert taken == kept
    assert [one.raw for one in taken if not isinstance(one, BadLine)] == [kept[0].raw, kept[2].raw]
    assert spill.size_bytes == 0


def test_a_spill_is_a_queue_that_can_be_filled_while_it_is_emptied() -> None:
    spill = Spill(limit_bytes=LIMIT_BYTES)
    taken: list[Message] = []
    for number in range(40):
        spill.put([message(number, pad="x" * 20_000)])
        if number % 3 == 2:
            taken += spill.take()
    while spill:
        taken += spill.take()
    assert numbers(taken) == list(range(40))


def test_a_line_longer_than_a_read_comes_back_whole() -> None:
    spill = Spill(limit_bytes=LIMIT_BYTES)
    spill.put([message(1, pad="x" * 900_000), message(2)])
    taken = spill.take()
    while spill:
        taken += spill.take()
    assert numbers(taken) == [1, 2]


def test_a_closed_spill_can_be_used_again() -> None:
    spill = Spill(limit_bytes=LIMIT_BYTES)
    spill.put([message(1)])
    spill.close()
    assert not spill
    spill.put([message(2)])
    assert numbers(spill.take()) == [2]
