"""Output for programs: the answer, the result, the messages, or everything the CLI writes. Needs no extra."""

from __future__ import annotations

import sys

from quarterdeck.client.observer import Observer
from quarterdeck.client.session import Session
from quarterdeck.wire import Message, ResultMessage

from .text import safe


class ProgramOutput:
    """Receives the messages of a session."""

    def follow(self, session: Session) -> None:
        """Called before the session is opened."""

    def take(self, messages: list[Message]) -> None:
        """New messages. Raises ``BrokenPipeError`` if the reader is gone."""

    def finish(self, result: ResultMessage | None) -> None:
        """Called at the end."""


class TextOutput(ProgramOutput):
    """Only the answer; nothing for a failure, which goes to stderr."""

    def finish(self, result: ResultMessage | None) -> None:
        if result is not None and result.result and not result.failed:
            _write(f"{result.result.rstrip()}\n".encode("utf-8", "replace"))


class JsonOutput(ProgramOutput):
    """The result message as one line."""

    def finish(self, result: ResultMessage | None) -> None:
        if result is not None:
            _write(result.raw.rstrip(b"\n") + b"\n")


class StreamOutput(ProgramOutput):
    """Every message as the CLI wrote it, without control messages."""

    def take(self, messages: list[Message]) -> None:
        _write(b"".join(message.raw.rstrip(b"\n") + b"\n" for message in messages))


class RawOutput(ProgramOutput, Observer):
    """Everything the CLI writes, byte for byte."""

    def __init__(self) -> None:
        self._read = bytearray()

    def follow(self, session: Session) -> None:
        session.observe(self)

    def read(self, data: bytes) -> None:
        self._read += data

    def take(self, messages: list[Message]) -> None:
        """Write what was read, up to the last complete line."""
        end = self._read.rfind(b"\n") + 1
        if end:
            lines = bytes(self._read[:end])
            del self._read[:end]
            _write(lines)

    def finish(self, result: ResultMessage | None) -> None:
        self.take([])


def output_for(name: str, *, raw: bool) -> ProgramOutput:
    if raw:
        return RawOutput()
    return {"text": TextOutput, "json": JsonOutput, "stream-json": StreamOutput}[name]()


def _write(data: bytes) -> None:
    """Byte for byte, but not on a terminal: JSON escapes neither the controls above 0x7e nor what turns directions."""
    if sys.stdout.isatty():
        data = safe(data.decode(errors="replace")).encode("utf-8", "replace")
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
