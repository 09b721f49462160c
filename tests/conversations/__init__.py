"""Recorded conversations between a client and the real CLI, byte for byte; see README.md for the format."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Entry:
    """One line on the wire, or the end of one direction (``eof``, with an empty line)."""

    t: float
    direction: Literal["in", "out"]
    line: bytes
    ends_with_newline: bool = True
    eof: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    cli: str
    scenario: str
    argv: list[str]
    env: dict[str, str]
    """What the scenario set beyond the common environment."""
    exit_code: int | None
    signal: str | None
    stderr: str


@dataclass(frozen=True, slots=True)
class Recording:
    header: Header
    entries: list[Entry]
    path: Path

    @property
    def id(self) -> str:
        """A name for test ids: ``2.1.325/plain_turn``."""
        return f"{self.header.cli}/{self.header.scenario}"

    def lines(self, direction: Literal["in", "out"]) -> list[bytes]:
        return [entry.line for entry in self.entries if entry.direction == direction and not entry.eof]

    def stream(self, direction: Literal["in", "out"]) -> bytes:
        """All bytes of one direction as they were on the pipe."""
        return b"".join(
            entry.line + (b"\n" if entry.ends_with_newline else b"")
            for entry in self.entries
            if entry.direction == direction and not entry.eof
        )


def load(path: Path) -> Recording:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    head, *rest = (json.loads(line) for line in text.splitlines())
    if head.pop("quarterdeck", None) != "recording" or head.pop("version", None) != 1:
        raise ValueError(f"{path} is not a recording of version 1")
    return Recording(Header(**head), [_entry(data) for data in rest], path)


def paths(version: str = "*") -> list[Path]:
    return sorted([*ROOT.glob(f"{version}/*.ndjson"), *ROOT.glob(f"{version}/*.ndjson.gz")])


def all_recordings(version: str = "*") -> Iterator[Recording]:
    """Every recording (of one CLI version), one at a time."""
    return map(load, paths(version))


def save(path: Path, header: dict[str, Any], entries: list[Entry], *, gzip_from_bytes: int) -> Path:
    """Write the recording; a large one is compressed and gets ``.gz``."""
    objects = [{"quarterdeck": "recording", "version": 1, **header}, *map(_plain, entries)]
    text = "".join(json.dumps(thing, ensure_ascii=False) + "\n" for thing in objects).encode("utf-8", "surrogatepass")
    compressed = path.with_name(path.name + ".gz")
    for old in (path, compressed):
        old.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if len(text) < gzip_from_bytes:
        path.write_bytes(text)
        return path
    compressed.write_bytes(gzip.compress(text, mtime=0))
    return compressed


def _plain(entry: Entry) -> dict[str, Any]:
    plain: dict[str, Any] = {"t": round(entry.t, 4), "d": entry.direction}
    if entry.eof:
        return plain | {"eof": True}
    try:
        plain["b"] = entry.line.decode()
    except UnicodeDecodeError:
        plain["b64"] = base64.b64encode(entry.line).decode()
    return plain if entry.ends_with_newline else plain | {"nl": False}


def _entry(data: dict[str, Any]) -> Entry:
    line = base64.b64decode(data["b64"]) if "b64" in data else data.get("b", "").encode()
    return Entry(data["t"], data["d"], line, data.get("nl", True), data.get("eof", False))
