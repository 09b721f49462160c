"""The recording format: one conversation between a host and a CLI, byte for byte, as lines of JSON.

The first line is the header, then one line for each line on the wire, then (from a live tap) a trailer::

    {"quarterdeck": "recording", "version": 1, "argv": ["claude", …], "env": {}, …}
    {"t": 0.0038, "d": "in", "b": "{\\"type\\": …}"}
    {"t": 0.5088, "d": "out", "b": "…"}
    {"t": 0.6, "d": "in", "eof": true}
    {"t": 0.7, "end": {"exit_code": 0, "signal": null, "trouble": []}}

``t`` is in seconds since the start, ``d`` is ``in`` (stdin of the CLI), ``out`` or ``err``. ``b`` is the line without
its newline; ``b64`` if it is not valid UTF-8. ``"nl": false``: no newline followed these bytes; the next piece of that
direction continues the line. ``"r": n``: n secrets were replaced in it. How the process ended is in the trailer, or in
the header of recordings that were written afterwards. A file whose name ends in ``.gz`` is compressed.

The bytes of a direction are its pieces in order, each with its newline: ``Recording.stream``.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any, Literal, get_args

from .simulated import is_simulated

Direction = Literal["in", "out", "err"]
DIRECTIONS: tuple[str, ...] = get_args(Direction)
VERSION = 1


LIMIT_BYTES = 512 * 1024 * 1024
"""Of a recording, uncompressed: days of conversation. Half a megabyte can decompress to that much."""


class RecordingError(ValueError):
    """The file is not a recording, or is damaged at ``line``."""

    def __init__(self, path: Path, line: int, problem: str) -> None:
        super().__init__(f"{path}:{line}: {problem}")
        self.path = path
        self.line = line
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Header:
    cli: str = ""
    """The version of the CLI, where the recorder knew it."""
    scenario: str = ""
    argv: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    """Variables that matter to the conversation; never the whole environment."""
    exit_code: int | None = None
    signal: str | None = None
    stderr: str = ""
    started: str = ""
    """When ``t`` was 0, in UTC."""
    recorder: str = ""
    redacted: bool = False

    @property
    def simulated(self) -> bool:
        """Whether its costs are made up."""
        return is_simulated(self.env)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line on the wire, a piece of one (``ends_with_newline`` False), or the end of a direction (``eof``)."""

    t: float
    direction: Direction
    line: bytes
    ends_with_newline: bool = True
    eof: bool = False
    redactions: int = 0
    number: int = field(default=0, compare=False)
    """Its line number in the recording's file."""

    @property
    def data(self) -> bytes:
        """The bytes as they were on the pipe."""
        return self.line + b"\n" if self.ends_with_newline and not self.eof else self.line


@dataclass(frozen=True, slots=True)
class Trailer:
    """How the process ended, and what the recorder could not record."""

    t: float = 0.0
    exit_code: int | None = None
    signal: str | None = None
    trouble: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Recording:
    header: Header
    entries: list[Entry]
    path: Path
    end: Trailer | None = None
    truncated: bool = False
    """The file ends in the middle of a line: the writer was killed."""

    @property
    def id(self) -> str:
        """A name for test ids: ``2.1.325/plain_turn``."""
        return f"{self.header.cli}/{self.header.scenario}"

    @property
    def exit_code(self) -> int | None:
        return self.header.exit_code if self.end is None else self.end.exit_code

    @property
    def signal(self) -> str | None:
        return self.header.signal if self.end is None else self.end.signal

    @property
    def stderr(self) -> str:
        return self.stream("err").decode(errors="replace") or self.header.stderr

    def lines(self, direction: Direction) -> list[bytes]:
        """The whole lines of one direction, without newlines."""
        return [entry.line for entry in whole_lines(self.entries) if entry.direction == direction and not entry.eof]

    def stream(self, direction: Direction) -> bytes:
        """All bytes of one direction as they were on the pipe."""
        return b"".join(entry.data for entry in self.entries if entry.direction == direction)


def load(path: Path) -> Recording:
    """Read a whole recording. Raises ``RecordingError``, and ``OSError`` when the file cannot be read."""
    header: Header | None = None
    end: Trailer | None = None
    entries: list[Entry] = []
    lines = _file_lines(path)
    truncated = bool(lines[-1])
    for number, line in enumerate(lines, 1):
        last = number == len(lines)
        if last and (not line or (truncated and number > 1 and not _is_json(line))):
            break
        thing = parse_line(line, number, path)
        if isinstance(thing, Header):
            header = thing
        elif isinstance(thing, Entry):
            entries.append(thing)
        else:
            end = thing
    if header is None:
        raise RecordingError(path, 1, "the file is empty; expected the header of a recording")
    return Recording(header, entries, path, end, truncated)


def parse_line(line: bytes, number: int, path: Path) -> Header | Entry | Trailer:
    """One line of a recording's file; line 1 is the header."""
    try:
        plain = json.loads(line)
    except ValueError as error:
        raise RecordingError(path, number, f"expected a line of JSON: {error}") from error
    except RecursionError:
        raise RecordingError(path, number, "the JSON is nested too deeply") from None
    if not isinstance(plain, dict):
        raise RecordingError(path, number, "expected a JSON object")
    try:
        if number == 1:
            return _header(plain)
        return _end(plain) if "end" in plain else _entry(plain, number)
    except (ValueError, TypeError, AttributeError) as error:
        raise RecordingError(path, number, str(error)) from error


def whole_lines(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries with the pieces of a line joined; a joined line has the time and number of its last piece."""
    pieces: dict[str, list[Entry]] = {}
    for entry in entries:
        begun = pieces.setdefault(entry.direction, [])
        if entry.eof:
            yield from _joined(begun)
            begun.clear()
            yield entry
        else:
            begun.append(entry)
            if entry.ends_with_newline:
                yield from _joined(begun)
                begun.clear()
    for begun in pieces.values():
        yield from _joined(begun)


def header_line(header: Header) -> bytes:
    defaults = Header()
    given = {f.name: getattr(header, f.name) for f in fields(Header)}
    shown = {
        name: value for name, value in given.items() if value != getattr(defaults, name) or name in ("argv", "env")
    }
    plain = {"quarterdeck": "recording", "version": VERSION, **shown}
    return json.dumps(plain, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def entry_line(entry: Entry) -> bytes:
    """One entry as a line of the file. Hot in the tap's recorder: built by hand, the string encoder is C."""
    start = f'{{"t": {entry.t:.6f}, "d": "{entry.direction}", '
    if entry.eof:
        return f'{start}"eof": true}}\n'.encode()
    end = ("" if entry.ends_with_newline else ', "nl": false') + (
        f', "r": {entry.redactions}' if entry.redactions else ""
    )
    try:
        text = entry.line.decode()
    except UnicodeDecodeError:
        return f'{start}"b64": "{base64.b64encode(entry.line).decode()}"{end}}}\n'.encode()
    return f'{start}"b": {encode_basestring(text)}{end}}}\n'.encode()


def end_line(end: Trailer) -> bytes:
    plain = {"exit_code": end.exit_code, "signal": end.signal, "trouble": end.trouble}
    return json.dumps({"t": round(end.t, 6), "end": plain}, ensure_ascii=False).encode() + b"\n"


def save(path: Path, header: Header, entries: Iterable[Entry], end: Trailer | None = None) -> None:
    """Write a whole recording at once; compressed when the name ends in ``.gz``."""
    data = header_line(header) + b"".join(map(entry_line, entries)) + (b"" if end is None else end_line(end))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _file_lines(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        if path.suffix != ".gz":
            data = file.read(LIMIT_BYTES + 1)
        else:
            try:
                with gzip.GzipFile(fileobj=file) as unpacked:
                    data = unpacked.read(LIMIT_BYTES + 1)
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise RecordingError(path, 1, f"expected a gzip file: {error}") from error
    if len(data) > LIMIT_BYTES:
        raise RecordingError(path, 1, f"longer than {LIMIT_BYTES} bytes; record in parts")
    return data.split(b"\n")


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _joined(pieces: list[Entry]) -> Iterator[Entry]:
    if len(pieces) <= 1:
        yield from pieces
        return
    last = pieces[-1]
    line, redactions = b"".join(piece.line for piece in pieces), sum(piece.redactions for piece in pieces)
    yield Entry(last.t, last.direction, line, last.ends_with_newline, redactions=redactions, number=last.number)


def _header(plain: dict[str, Any]) -> Header:
    if plain.get("quarterdeck") != "recording":
        raise ValueError('not a recording: expected {"quarterdeck": "recording", "version": 1, …}')
    if (version := plain.get("version")) != VERSION:
        raise ValueError(f"a recording of version {version!r}; this program reads version {VERSION}")
    if not _are_texts(plain.get("argv", [])) or not isinstance(plain.get("env", {}), dict):
        raise ValueError('expected "argv" to be a list of strings and "env" to be an object')
    if not _are_texts(list(plain.get("env", {}).values())):
        raise ValueError('expected the values in "env" to be strings')
    for name in ("cli", "scenario", "stderr", "started", "recorder"):
        if not isinstance(plain.get(name, ""), str):
            raise ValueError(f'expected "{name}" to be a string')
    _check_end(plain)
    return Header(**{f.name: plain[f.name] for f in fields(Header) if f.name in plain})


def _entry(plain: dict[str, Any], number: int) -> Entry:
    t, direction = _time(plain.get("t")), plain.get("d")
    if direction not in DIRECTIONS:
        raise ValueError(f'expected "d" to be one of {", ".join(DIRECTIONS)}, found {direction!r}')
    if plain.get("eof"):
        return Entry(t, direction, b"", eof=True, number=number)
    if isinstance(plain.get("b64"), str):
        line = base64.b64decode(plain["b64"], validate=True)
    elif isinstance(plain.get("b"), str):
        line = plain["b"].encode("utf-8", "surrogatepass")
    else:
        raise ValueError('expected the line as "b" (text) or "b64", or "eof": true')
    nl, redactions = plain.get("nl", True), plain.get("r", 0)
    if not isinstance(nl, bool) or not isinstance(redactions, int):
        raise ValueError('expected "nl" to be true or false and "r" to be a number')
    return Entry(t, direction, line, nl, redactions=redactions, number=number)


def _end(plain: dict[str, Any]) -> Trailer:
    end, t = plain["end"], _time(plain.get("t", 0.0))
    _check_end(end)
    if not _are_texts(trouble := end.get("trouble", [])):
        raise ValueError('expected "trouble" to be a list of strings')
    return Trailer(t, end.get("exit_code"), end.get("signal"), trouble)


def _check_end(plain: dict[str, Any]) -> None:
    code, signal = plain.get("exit_code"), plain.get("signal")
    if not isinstance(code, int | None) or not isinstance(signal, str | None):
        raise ValueError('expected "exit_code" to be a number or null and "signal" to be a string or null')


def _time(t: object) -> float:
    """Not for ever either: a replay would wait for it."""
    if not isinstance(t, int | float) or isinstance(t, bool) or not abs(t) < math.inf:
        raise ValueError(f'expected "t", the time in seconds, found {t!r}')
    return t


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
