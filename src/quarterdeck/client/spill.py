"""Unread messages on disk, for when they exceed memory and reading must continue."""

from __future__ import annotations

from typing import IO

from quarterdeck.wire import BadLine, Decoder, Message, UnknownMessage, encode

CHUNK_BYTES = 256 * 1024


class Spill:
    """A queue of messages in an unnamed temporary file (mode 0600, gone with the process)."""

    __slots__ = ("_decoder", "_file", "_limit_bytes", "_read_at", "_write_at")

    def __init__(self, *, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._file: IO[bytes] | None = None
        self._read_at = 0
        self._write_at = 0
        self._decoder: Decoder | None = None

    def __bool__(self) -> bool:
        return self._read_at < self._write_at

    @property
    def size_bytes(self) -> int:
        """How much is queued on disk."""
        return self._write_at - self._read_at

    def put(self, messages: list[Message]) -> None:
        """Append. Raises ``OSError`` when the disk is full."""
        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile(prefix="quarterdeck-unread-", buffering=0)  # noqa: SIM115  # see close
        data = b"".join(map(_line, messages))
        self._file.seek(self._write_at)
        while data:
            written = self._file.write(data) or 0
            data = data[written:]
            self._write_at += written

    def take(self) -> list[Message]:
        """The next messages; at least one if any wait."""
        messages: list[Message] = []
        while self and not messages:
            assert self._file is not None  # noqa: S101  # set by put
            self._file.seek(self._read_at)
            data = self._file.read(min(CHUNK_BYTES, self._write_at - self._read_at))
            self._read_at += len(data)
            if self._decoder is None:
                self._decoder = Decoder(limit_bytes=2 * self._limit_bytes + 4096)  # a bad line is kept in hexadecimal
            messages = [_restored(message) for message in self._decoder.feed(data)]
        if not self:
            self.close()
        return messages

    def close(self) -> None:
        """Give the disk space back. The spill can be used again."""
        if self._file is not None:
            self._file.close()
        self._file = None
        self._read_at = self._write_at = 0
        self._decoder = None


_BAD_LINE = "\ue000bad line"


def _line(message: Message) -> bytes:
    if not isinstance(message, BadLine):
        return message.raw + b"\n"
    fields = {"head": message.head.hex(), "line": None if message.line is None else message.line.hex()}
    return encode({"type": _BAD_LINE, "reason": message.reason, "size": message.size, **fields})


def _restored(message: Message) -> Message:
    if not isinstance(message, UnknownMessage) or message.type != _BAD_LINE:
        return message
    data = message.data
    line = None if data["line"] is None else bytes.fromhex(data["line"])
    return BadLine(head=bytes.fromhex(data["head"]), reason=data["reason"], size=data["size"], line=line)
