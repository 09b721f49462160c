"""Output for programs: the answer, the result, the messages, or everything the CLI writes. Needs no extra."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from quarterdeck.client.journal import JournalEntry, JournalReader
from quarterdeck.client.session import Session
from quarterdeck.wire import Message, ResultMessage

from .text import safe


class ProgramOutput:
    """Receives the messages of a session."""

    def __init__(self, *, simulated: bool = False) -> None:
        """``simulated``: the costs are made up, and results are marked accordingly."""
        self._simulated = simulated

    def _line(self, message: Message) -> bytes:
        line = message.raw.rstrip(b"\n")
        if self._simulated and isinstance(message, ResultMessage):
            line = line.rstrip().removesuffix(b"}") + b',"simulated":true}'
        return line + b"\n"

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
            _write(self._line(result))


class StreamOutput(ProgramOutput):
    """Every message as the CLI wrote it, without control messages."""

    def take(self, messages: list[Message]) -> None:
        _write(b"".join(map(self._line, messages)))


class RawOutput(ProgramOutput, JournalReader):
    """Every line the CLI writes, byte for byte, control messages too."""

    def __init__(self, *, simulated: bool = False) -> None:
        super().__init__(simulated=simulated)
        self._lines: list[bytes] = []

    def follow(self, session: Session) -> None:
        session.journal.add(self)

    def read(self, entries: Sequence[JournalEntry]) -> None:
        self._lines += [entry.message.raw.rstrip(b"\n") + b"\n" for entry in entries if entry.direction == "out"]

    def take(self, messages: list[Message]) -> None:
        lines, self._lines = self._lines, []
        if lines:
            _write(b"".join(lines))

    def finish(self, result: ResultMessage | None) -> None:
        self.take([])


def output_for(name: str, *, simulated: bool) -> ProgramOutput:
    outputs = {"text": TextOutput, "json": JsonOutput, "stream-json": StreamOutput, "raw": RawOutput}
    return outputs[name](simulated=simulated)


def write_line(line: bytes) -> None:
    """Raises ``BrokenPipeError`` if the reader is gone."""
    _write(line.rstrip(b"\n") + b"\n")


def _write(data: bytes) -> None:
    """Byte for byte, but not on a terminal: JSON escapes neither the controls above 0x7e nor what turns directions."""
    if sys.stdout.isatty():
        data = safe(data.decode(errors="replace")).encode("utf-8", "replace")
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
