"""Random bytes and mutated real lines: nothing may leave the decoder or the state machine but messages and events.

``make test`` runs a seeded part, ``make soak`` a campaign (``tests/soak.py``).
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import conversations
import soak
from quarterdeck.protocol import CliSide, HostSide, ProtocolEvent, RequestReceived, RequestRefused
from quarterdeck.protocol.snapshot import restore, snapshot
from quarterdeck.wire import BadLine, Decoder, Message, StreamEvent, UserMessage, decode, encode

CASES = soak.cases(40_000, in_soak=4_000_000)
REBUILT = soak.cases(16_000, in_soak=800_000)
SHARDS = 8
WORDS = [
    *(b'" { } [ ] , : \\ - null true NaN 1e999 "type" "subtype" "message" "content" "event"'.split()),
    *(b"\n", b"\r\n", b"\x00", b"\xff", b"\xe2\x80\xa8", b'"\\ud800"', b'"request_id"'),
]


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    """One real line of each shape, short enough to mutate quickly."""
    shapes: dict[tuple[str, ...], bytes] = {}
    for recording in conversations.all_recordings():
        for line in recording.lines("out") + recording.lines("in"):
            if len(line) < 4000:
                shapes.setdefault(shape(line), line)
    return list(shapes.values())


def shape(line: bytes) -> tuple[str, ...]:
    data = Decoder().feed(line + b"\n")
    return tuple(f"{type(m).__name__}:{sorted(m.data)}" for m in data)


def mutated(line: bytes, rng: random.Random) -> bytes:
    data = bytearray(line)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(6):
            case 0:
                data[at:at] = rng.choice(WORDS)
            case 1:
                del data[at : at + rng.choice((1, 1, 2, 10, 100))]
            case 2 if at < len(data):
                data[at] = rng.randrange(256)
            case 3:
                end = min(len(data), at + rng.randrange(1, 60))
                data[at:at] = data[at:end]
            case 4:
                data[at:] = rng.choice((b"", b"\n", bytes(data[:at])))
            case _:
                data[at : at + rng.randrange(1, 20)] = rng.choice(WORDS)
    return bytes(data)


def inputs(lines: list[bytes], rng: random.Random, cases: int) -> Iterator[bytes]:
    for _ in range(cases):
        if rng.randrange(20) == 0:
            yield rng.randbytes(rng.randrange(200))
        else:
            yield mutated(rng.choice(lines), rng)


def use(message: Message) -> None:
    """Whatever came out can be read, compared and written."""
    assert isinstance(message.raw, bytes)
    assert isinstance(message.data, dict)
    repr(message)
    if isinstance(message, StreamEvent):
        message.event.get("delta")
        repr(message.typed_event)
    if isinstance(message, UserMessage):
        assert message.tool_use_result == message.data.get("tool_use_result")
    if not isinstance(message, BadLine):
        assert encode(message).endswith(b"\n")


@pytest.mark.parametrize("shard", range(SHARDS))
def test_nothing_but_messages_and_events_ever_comes_out(shard: int, lines: list[bytes]) -> None:
    rng = random.Random(f"{soak.SEED}/{shard}")
    decoder = Decoder(limit_bytes=6000)
    host, cli = new_host(), new_cli()
    for number, data in enumerate(inputs(lines, rng, CASES // SHARDS)):
        try:
            half = len(data) // 2
            for chunk in (data[:half], data[half:] + b"\n"):
                for message in decoder.feed(chunk):
                    use(message)
                host.receive(chunk)
                cli.receive(chunk)
            for event in host.events() + cli.events():
                assert isinstance(event, (Message, ProtocolEvent))
            host.outgoing()
            cli.outgoing()
            if number % 500 == 0:
                for side in (host, cli):
                    side.receive_eof()
                    side.tick(1e9)
                    side.events()
                host, cli = new_host(), new_cli()
        except Exception as error:
            raise AssertionError(f"seed {soak.SEED}, shard {shard}, case {number}: {data!r}") from error


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_side_is_rebuilt_from_whatever_was_said(shard: int, lines: list[bytes]) -> None:
    """In any order, with answers before their requests and the same id twice. Taking a line back says nothing."""
    rng = random.Random(f"{soak.SEED}/rebuild/{shard}")
    side, at = new_host(), 0.0
    side.events(), side.outgoing()
    for number, data in enumerate(inputs(lines, rng, REBUILT // SHARDS)):
        try:
            line = rng.choice(lines) if rng.random() < 0.5 else data.replace(b"\n", b" ")
            at += rng.choice((0.0, 0.1, 100.0, -50.0))
            if rng.random() < 0.5:
                side.sent(line, at)
            else:
                side.received(decode(line), at)
            assert side.events() == []
            assert side.outgoing() == b""
            if number % 20 == 0:
                saved = snapshot(side, at)
                side = restore(saved, new_id=lambda: "new", clock=lambda: 0.0)
                assert snapshot(side, at) == saved
            if number % 500 == 499:
                side.rebase()
                assert {type(event) for event in side.events()} <= {RequestReceived, RequestRefused}
                side.outgoing()
                side, at = new_host(), 0.0
                side.events(), side.outgoing()
        except Exception as error:
            raise AssertionError(f"seed {soak.SEED}, shard {shard}, case {number}: {line!r}") from error


def new_host() -> HostSide:
    host = HostSide(new_id=iter(map(str, range(10**9))).__next__, clock=lambda: 0.0, limit_bytes=6000)
    host.initialize()
    host.send_user("hello")
    host.request("mcp_status")
    return host


def new_cli() -> CliSide:
    cli = CliSide(new_id=iter(map(str, range(10**9))).__next__, clock=lambda: 0.0, limit_bytes=6000)
    cli.request("can_use_tool", tool_name="Bash", input={})
    return cli
