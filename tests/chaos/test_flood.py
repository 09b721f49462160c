"""More content than anybody reads: control traffic still flows, memory stays bounded, nothing is lost unseen."""

from __future__ import annotations

import asyncio
import errno
import gc
from typing import Any

import pytest

from chaos.kit import Chaos, resident_bytes
from client.fake import FakeCli
from inside import connection_of
from quarterdeck import Message, PermissionResultAllow, ResultMessage, Session, StreamEvent
from quarterdeck.client.spill import Spill
from quarterdeck.protocol import RequestReceived
from transport.support import until

MILLION = 1_000_000
GROWTH_BYTES = 150 * 1024 * 1024

FLOOD = """
def flood(count):
    line = '{"type":"stream_event","event":{"type":"ping"},"session_id":"s","uuid":"%d","parent_tool_use_id":null}\\n'
    for start in range(0, count, 1000):
        write("".join([line % number for number in range(start, start + 1000)]).encode())
"""


async def test_a_permission_request_behind_a_million_unread_messages_is_answered(chaos: Chaos) -> None:
    source = (
        FLOOD
        + """
for prompt in prompts():
    init()
    flood(1_000_000)
    ask("p1", subtype="can_use_tool", tool_name="Bash", input={}, tool_use_id="t")
    result(answer_to("p1")["response"]["behavior"])
"""
    )
    asked = asyncio.Event()

    async def decide(*_: Any) -> PermissionResultAllow:
        asked.set()
        return PermissionResultAllow()

    gc.collect()
    before = resident_bytes()
    async with chaos.session(source, can_use_tool=decide) as session:
        await session.prompt("hi").send()
        await asked.wait()
        await until(lambda: session.last_result, "the result")
        assert resident_bytes() - before < GROWTH_BYTES
        assert connection_of(session).inbox.unread_bytes < 10_000_000
        assert connection_of(session).inbox.spilled_bytes > 50_000_000
        expected, end = 0, None
        async for batch in session.batches():
            for message in batch:
                if isinstance(message, StreamEvent):
                    assert message.uuid == str(expected)
                    expected += 1
            if isinstance(batch[-1], ResultMessage):
                end = batch[-1]
                break
        assert expected == MILLION
        assert end is not None
        assert end.result == "allow"
        assert resident_bytes() - before < GROWTH_BYTES


async def test_a_control_call_from_inside_the_receive_loop_completes_over_the_high_mark(chaos: Chaos) -> None:
    source = (
        FLOOD
        + """
for message in messages():
    if message["type"] == "user":
        init()
        flood(200_000)
        result()
    else:
        answer(message, {"told": "so"})
"""
    )
    answers = []
    async with chaos.session(source) as session:
        async for message in session.prompt("hi"):
            if not answers and isinstance(message, StreamEvent):
                await until(
                    lambda: connection_of(session).inbox.is_full,
                    "the high mark",
                )
                answers.append(await session.request("oracle"))
            if isinstance(message, ResultMessage):
                answers.append(await session.request("oracle"))
    assert answers == [{"told": "so"}, {"told": "so"}]


async def test_a_full_disk_is_an_error_for_the_reader_and_for_nobody_else(
    chaos: Chaos, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        FLOOD
        + """
for prompt in prompts():
    init()
    flood(200_000)
    ask("p1", subtype="can_use_tool", tool_name="Bash", input={}, tool_use_id="t")
    answer_to("p1")
    result()
"""
    )

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async def allow(*_: Any) -> PermissionResultAllow:
        return PermissionResultAllow()

    monkeypatch.setattr(Spill, "put", full)
    seen: list[Message] = []
    async with chaos.session(source, can_use_tool=allow) as session:
        turn = session.prompt("hi")
        await turn.send()
        await until(lambda: session.last_result, "the result, past a permission request")
        with pytest.raises(OSError, match="unread messages could not be written to disk") as caught:
            async for message in turn:
                seen += [message]
        assert caught.value.errno == errno.ENOSPC
        assert 1000 < len(seen) < 200_000
        assert await session.request("oracle") == {}


async def test_a_session_that_nobody_reads_can_be_closed(chaos: Chaos) -> None:
    source = (
        FLOOD
        + """
for prompt in prompts():
    while True: flood(1000)
"""
    )
    async with chaos.session(source, close_grace_s=0.1) as session:
        await session.prompt("hi").send()
        await until(lambda: connection_of(session).inbox.is_full, "the high mark")
    assert session.exit_status is not None


CHUNK = b'{"type":"stream_event","event":{"type":"ping"},"session_id":"s","uuid":"u","parent_tool_use_id":null}\n' * 600


class Flooder:
    """Writes a chunk in each turn of the loop, for as long as it is wanted, and counts."""

    def __init__(self, cli: FakeCli) -> None:
        self._cli = cli
        self.written = 0
        self.wanted = True

    def start(self) -> None:
        if self.wanted:
            self.written += 1
            self._cli.write(CHUNK)
            asyncio.get_running_loop().call_soon(self.start)


async def test_a_quiet_session_gets_through_beside_a_flooding_one() -> None:
    """Counted in chunks of 64 KiB that the flooding session got while the quiet one waited for an answer."""
    loud_cli, quiet_cli = FakeCli(), FakeCli()
    for cli in (loud_cli, quiet_cli):
        await cli.start()
    async with Session(transport=loud_cli.near) as loud, Session(transport=quiet_cli.near) as quiet:
        flooder = Flooder(loud_cli)

        async def listen() -> int:
            count = 0
            async for _ in loud.messages():
                count += 1
            return count

        async def answer() -> None:
            while True:
                asked = await quiet_cli.expect(RequestReceived)
                quiet_cli.answer(asked.request_id, {})

        listening, answering = asyncio.create_task(listen()), asyncio.create_task(answer())
        flooder.start()
        await until(lambda: flooder.written > 10, "the flood")
        waits = []
        for _ in range(50):
            before = flooder.written
            await quiet.request("mcp_status")
            waits.append(flooder.written - before)
        flooder.wanted = False
        answering.cancel()
    assert max(waits) <= 12, waits
    assert await listening > 0
