"""Messages of one chunk may be read from several threads at once."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator

import pytest

from quarterdeck.wire import Decoder, Message

CHUNKS = 300
READERS = 4


@pytest.fixture
def eager_switches() -> Iterator[None]:
    """Threads take turns as often as Python lets them, so that a race of two lines is lost within a few chunks."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_that_read_one_chunk_at_once_all_get_its_lines(eager_switches: None) -> None:
    said = [{"type": "system", "subtype": "status", "number": number, "text": "x" * 50} for number in range(100)]
    lines = [json.dumps(one).encode() for one in said]
    chunk = b"\r\n".join(lines) + b"\r\n"
    chunks: list[list[Message]] = [Decoder().feed(chunk) for _ in range(CHUNKS)]
    together = threading.Barrier(READERS)
    wrong: list[object] = []

    def read(offset: int) -> None:
        for messages in chunks:
            together.wait()
            for number in range(0, 100, 25):
                at = (number + offset) % 100
                try:
                    seen: object = (messages[at].raw, messages[at].data)
                except Exception as error:  # noqa: BLE001  # whatever it is: the test names it
                    seen = error
                if seen != (lines[at], said[at]):
                    wrong.append(seen)

    readers = [threading.Thread(target=read, args=(7 * number,)) for number in range(READERS)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert wrong == []
