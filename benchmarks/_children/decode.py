"""Decodes a file of lines in 64 KiB chunks, as often as asked, and says what it cost.

Run as ``python decode.py quarterdeck|claude_agent_sdk FILE``. Each line on stdin names a way of decoding; the answer is
one line: processor seconds, messages, characters of text read.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

CHUNK_BYTES = 64 * 1024

Counts = tuple[int, int]
"""Messages, and characters of text read."""


def chunks_of(data: bytes) -> list[bytes]:
    return [data[start : start + CHUNK_BYTES] for start in range(0, len(data), CHUNK_BYTES)]


def line_chunks_of(data: bytes) -> list[bytes]:
    """Chunks cut at line ends, for a decoder that knows nothing of chunks."""
    chunks, start = [], 0
    while start < len(data):
        end = data.find(b"\n", min(start + CHUNK_BYTES, len(data) - 1)) + 1
        chunks.append(data[start:end])
        start = end
    return chunks


def each(decoded: Iterator[list[Any]]) -> Counts:
    """Take the messages and drop them."""
    return sum(map(len, decoded)), 0


def kept(decoded: Iterator[list[Any]]) -> Counts:
    """Take the messages and keep them all."""
    everything: list[Any] = []
    for messages in decoded:
        everything += messages
    return len(everything), 0


def text_by_key(decoded: Iterator[list[Any]]) -> Counts:
    count = size = 0
    for messages in decoded:
        count += len(messages)
        for message in messages:
            size += len(message.event["delta"]["text"])
    return count, size


def text_by_attribute(decoded: Iterator[list[Any]]) -> Counts:
    count = size = 0
    for messages in decoded:
        count += len(messages)
        for message in messages:
            size += len(message.typed_event.delta.text)
    return count, size


def said(stream_event: type) -> Callable[[Iterator[list[Any]]], Counts]:
    """Reads each message's text, as the program of ``client.py`` does."""

    def text(decoded: Iterator[list[Any]]) -> Counts:
        count = size = 0
        for messages in decoded:
            count += len(messages)
            for message in messages:
                if isinstance(message, stream_event):
                    event = message.event
                    if event["type"] == "content_block_delta" and event["delta"]["type"] == "text_delta":
                        size += len(event["delta"]["text"])
        return count, size

    return text


def raw(decoded: Iterator[list[Any]]) -> Counts:
    count = size = 0
    for messages in decoded:
        count += len(messages)
        for message in messages:
            size += len(message.raw)
    return count, size


def ours(data: bytes) -> dict[str, Callable[[], Counts]]:
    from quarterdeck.wire import StreamEvent, codec

    chunks, whole = chunks_of(data), line_chunks_of(data)

    def decoded() -> Iterator[list[Any]]:
        decoder = codec.Decoder()
        yield from map(decoder.feed, chunks)
        yield decoder.finish()

    def floor() -> Iterator[list[Any]]:
        """``msgspec`` alone, into the same classes: no framing, no ``raw``, no second step for system messages."""
        return map(codec.prepare().decode_lines, whole)

    return {
        "each": lambda: each(decoded()),
        "kept": lambda: kept(decoded()),
        "text by key": lambda: text_by_key(decoded()),
        "said": lambda: said(StreamEvent)(decoded()),
        "text by attribute": lambda: text_by_attribute(decoded()),
        "raw": lambda: raw(decoded()),
        "floor each": lambda: each(floor()),
        "floor kept": lambda: kept(floor()),
    }


def official(data: bytes) -> dict[str, Callable[[], Counts]]:
    """The reading half of its transport on bytes from memory, then its parser; no process, no queue, no event loop."""
    sdk: Any = import_module("claude_agent_sdk")
    internal: Any = import_module("claude_agent_sdk._internal.transport.subprocess_cli")
    parse_message = import_module("claude_agent_sdk._internal.message_parser").parse_message
    text: Any = import_module("anyio.streams.text")
    chunks = chunks_of(data)

    def decoded() -> Iterator[list[Any]]:
        transport = internal.SubprocessCLITransport("", sdk.ClaudeAgentOptions(cli_path="/nowhere"))
        transport._process = Ended()
        transport._stdout_stream = text.TextReceiveStream(Stdout(chunks))
        reader = transport.read_messages()
        while True:
            try:
                reader.__anext__().send(None)
            except StopIteration as line:
                yield [parse_message(line.value)]
            except StopAsyncIteration:
                return

    return {
        "each": lambda: each(decoded()),
        "kept": lambda: kept(decoded()),
        "text by key": lambda: text_by_key(decoded()),
        "said": lambda: said(sdk.StreamEvent)(decoded()),
    }


class Stdout:
    """A byte stream that always has something to give."""

    def __init__(self, chunks: list[bytes]) -> None:
        self._chunks = iter(chunks)

    async def receive(self, max_bytes: int = CHUNK_BYTES) -> bytes:
        try:
            return next(self._chunks)
        except StopIteration:
            raise import_module("anyio").EndOfStream from None


class Ended:
    """A process that has ended well."""

    async def wait(self) -> int:
        return 0


def main() -> None:
    package, path = sys.argv[1:]
    ways = (ours if package == "quarterdeck" else official)(Path(path).read_bytes())
    if hasattr(os, "sched_setaffinity"):  # the same core for both sides, and none of its caches lost to another
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    gc.freeze()  # what is here already is not part of the work
    for line in sys.stdin:
        gc.collect()
        start = time.process_time()
        count, size = ways[line.strip()]()
        print(time.process_time() - start, count, size, flush=True)


if __name__ == "__main__":
    main()
