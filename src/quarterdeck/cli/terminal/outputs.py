"""Output for programs: the answer, the result, the messages, or all that the CLI writes. Needs nothing but the core."""

from __future__ import annotations

import sys

from quarterdeck.client.observer import Observer
from quarterdeck.client.session import Session
from quarterdeck.wire import Message, ResultMessage

from .text import safe


class Output:
    """Takes the messages of a session as they are read."""

    def follow(self, session: Session) -> None:
        """Before the session is opened."""

    def take(self, messages: list[Message]) -> None:
        """These have come. Raises ``BrokenPipeError`` when nobody reads any more."""

    def finish(self, result: ResultMessage | None) -> None:
        """Nothing more will come."""


class TextOutput(Output):
    """The answer alone; of a failure nothing, stderr has its reason. On a terminal it is made harmless."""

    def finish(self, result: ResultMessage | None) -> None:
        if result is not None and result.result and not result.failed:
            text = safe(result.result) if sys.stdout.isatty() else result.result
            _write(f"{text.rstrip()}\n".encode("utf-8", "replace"))


class JsonOutput(Output):
    """The result message as one line."""

    def finish(self, result: ResultMessage | None) -> None:
        if result is not None:
            _write(result.raw.rstrip(b"\n") + b"\n")


class StreamOutput(Output):
    """Every message, as the CLI wrote it, without the control traffic."""

    def take(self, messages: list[Message]) -> None:
        _write(b"".join(message.raw.rstrip(b"\n") + b"\n" for message in messages))


class RawOutput(Output, Observer):
    """All lines that the CLI writes, byte for byte."""

    def __init__(self) -> None:
        self._read = bytearray()

    def follow(self, session: Session) -> None:
        session.observe(self)

    def read(self, data: bytes) -> None:
        self._read += data

    def take(self, messages: list[Message]) -> None:
        """What has been read up to the last whole line."""
        end = self._read.rfind(b"\n") + 1
        if end:
            lines = bytes(self._read[:end])
            del self._read[:end]
            _write(lines)

    def finish(self, result: ResultMessage | None) -> None:
        self.take([])


def output_for(name: str, *, raw: bool) -> Output:
    if raw:
        return RawOutput()
    return {"text": TextOutput, "json": JsonOutput, "stream-json": StreamOutput}[name]()


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
