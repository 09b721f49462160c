"""Frames: cut anywhere they are the same; what is no frame is refused, and takes nothing else with it."""

from __future__ import annotations

import contextlib
import json
import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

import soak
from keeper.support import Home, RawPeer, in_thread, said, started
from quarterdeck.keeper import frames
from quarterdeck.keeper.frames import FrameError, FrameReader
from transport.support import echo, until

BODIES = st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=300)), max_size=8)


def frame(kind: int, body: bytes) -> bytes:
    return struct.pack(">IB", 1 + len(body), kind) + body


@given(bodies=BODIES, cuts=st.lists(st.integers(1, 40), min_size=1, max_size=20))
def test_frames_are_the_same_however_they_arrive(bodies: list[tuple[int, bytes]], cuts: list[int]) -> None:
    stream, reader = b"".join(frame(*one) for one in bodies), FrameReader()
    found, at, turn = [], 0, 0
    while at < len(stream):
        size = cuts[turn % len(cuts)]
        found += [(kind, bytes(body)) for kind, body in reader.feed(stream[at : at + size])]
        at, turn = at + size, turn + 1
    assert found == bodies


@pytest.mark.parametrize("length", [0, frames.GREETING_LIMIT_BYTES + 1, 2**31, 2**32 - 1])
def test_a_length_that_cannot_be_is_refused_before_anything_is_kept(length: int) -> None:
    with pytest.raises(FrameError, match=str(length)):
        FrameReader().feed(struct.pack(">I", length) + b"x")


@given(
    line=st.binary(max_size=3 * frames.PART_BYTES // 1000).map(lambda part: part * 1000), number=st.integers(1, 2**60)
)
def test_a_line_in_parts_is_the_line(line: bytes, number: int) -> None:
    reader, parts, lasts = FrameReader(frames.FRAME_LIMIT_BYTES), [], []
    for _, body in reader.feed(b"".join(frames.input_frames(5, number, line))):
        channel, found, last = frames.parse_head(frames.INPUT_HEAD, body)
        assert (channel, found) == (5, number)
        parts.append(bytes(body[frames.INPUT_HEAD.size :]))
        lasts.append(bool(last))
    assert b"".join(parts) == line
    assert lasts == [False] * (len(lasts) - 1) + [True]


@given(value=st.dictionaries(st.text(), st.text()), blob=st.binary(max_size=100), number=st.integers(0, 2**32 - 1))
def test_a_call_carries_an_object_and_bytes(value: dict[str, str], blob: bytes, number: int) -> None:
    ((kind, body),) = FrameReader(frames.FRAME_LIMIT_BYTES).feed(frames.call_frame(frames.REQUEST, number, value, blob))
    found = frames.parse_call(body)
    assert (kind, found[0], found[1], bytes(found[2])) == (frames.REQUEST, number, value, blob)


@given(body=st.binary(max_size=200))
def test_any_body_is_understood_or_refused(body: bytes) -> None:
    for parse in (
        lambda: frames.parse_call(memoryview(body)),
        lambda: frames.parse_json(body),
        lambda: frames.parse_head(frames.NUMBERED, memoryview(body), exact=True),
        lambda: frames.parse_head(frames.INPUT_HEAD, memoryview(body)),
    ):
        with contextlib.suppress(FrameError):
            parse()


def hostile(rng: random.Random) -> bytes:
    """Something that is no conversation, or one that goes wrong."""
    hello = frames.json_frame(frames.HELLO, {"protocol": frames.PROTOCOL, "take_over": rng.random() < 0.9})
    bad_requests = [
        {"request": "start", "session": "x", "generation": 1, "argv": ["cat"], "env": [], "cwd": "/"},
        {"request": "start", "session": "../../x", "generation": 1, "argv": ["cat"], "env": {}, "cwd": "/"},
        {"request": "start", "session": "x", "generation": -1, "argv": [], "env": {}, "cwd": None},
        {"request": "attach", "session": "kept", "offset": -5},
        {"request": "attach", "session": "kept", "offset": 2**70},
        {"request": "attach", "session": ["kept"]},
        {"request": "read", "session": "kept", "offset": "0x", "size": -1},
        {"request": "read", "session": "kept", "offset": 0, "size": -1},
        {"request": "end", "session": "nobody", "eof_s": "x"},
        {"request": "drop", "session": "kept"},
        {"request": "file", "flag": 1},
        {"request": None},
        {},
    ]
    choices = [
        lambda: rng.randbytes(rng.randrange(1, 400)),
        lambda: struct.pack(">I", rng.choice([0, frames.FRAME_LIMIT_BYTES + 1, 2**31, 2**32 - 1])) + b"\x03",
        lambda: hello + rng.randbytes(rng.randrange(1, 400)),
        lambda: hello + frame(rng.randrange(256), rng.randbytes(rng.randrange(40))),
        lambda: (
            hello + frames.call_frame(frames.REQUEST, rng.randrange(2**32), rng.choice(bad_requests), rng.randbytes(9))
        ),
        lambda: hello + frames.json_frame(frames.HELLO, {}),
        lambda: frame(frames.HELLO, b"[" * 2000),
        lambda: frame(frames.HELLO, json.dumps({"take_over": True}).encode()[: rng.randrange(19)]),
        lambda: hello + b"".join(frames.input_frames(rng.randrange(3), rng.choice([0, 2, 2**60]), b"evil\n")),
        lambda: hello + frames.number_frame(rng.choice([17, 20, 21, 22]), rng.randrange(3), 2**64 - 1),
    ]
    return rng.choice(choices)()


async def test_hostile_bytes_harm_neither_the_keeper_nor_its_sessions(home: Home) -> None:
    rng = random.Random(soak.SEED)
    async with home.client() as client:
        transport = client.start("kept", home.command(echo()), durable=True)
        recorder = await started(transport)
        transport.write(b"still here\n")
        await said(recorder, b"still here\n")
        for _ in range(soak.cases(150, in_soak=20_000)):
            peer = RawPeer(client)
            await in_thread(peer.send, hostile(rng))
            peer.close()
    async with home.client(take_over=True) as client:
        (kept,) = [one for one in await client.list() if one.session == "kept"]
        assert (kept.pid, kept.running, kept.end, kept.accepted) == (transport.pid, True, 11, 1)
        again = client.attach("kept", from_offset=0)
        recorder = await started(again)
        again.write(b"and well\n")
        await said(recorder, b"still here\nand well\n")
        await again.close()
        await until(lambda: not home.left_running())
