"""Parses terminal input into key names."""

from __future__ import annotations

import codecs
import re

PASTE_BEGIN, PASTE_END = b"\x1b[200~", b"\x1b[201~"
PASTE_LIMIT_BYTES = 1_000_000
"""A paste that does not end is cut here."""
ESCAPE_WAIT_S = 0.05
"""How long to wait before an escape counts as the key rather than as the start of a sequence."""

_NAMED = {
    "\r": "enter",
    "\n": "ctrl-j",
    "\t": "tab",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x1b": "escape",
    "\x00": "ctrl-space",
}
_SEQUENCES = {
    "[A": "up",
    "[B": "down",
    "[C": "right",
    "[D": "left",
    "[H": "home",
    "[F": "end",
    "[Z": "shift-tab",
    "[1~": "home",
    "[3~": "delete",
    "[4~": "end",
    "[5~": "page-up",
    "[6~": "page-down",
    "OA": "up",
    "OB": "down",
    "OC": "right",
    "OD": "left",
    "OH": "home",
    "OF": "end",
    "\r": "alt-enter",
    "\n": "alt-enter",
    "\x7f": "alt-backspace",
}
_SEQUENCE = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O[A-Za-z]|[\r\n\x7f])")
_INCOMPLETE = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*|O)?\Z")


class Keys:
    """Takes bytes, returns keys: a character, a name such as ``up``, or ``paste:…``."""

    def __init__(self) -> None:
        self._buffer = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def waiting(self) -> bool:
        """An escape may be the start of a sequence: call ``settle`` after ``ESCAPE_WAIT_S``."""
        return self._buffer.startswith(b"\x1b")

    def feed(self, data: bytes) -> list[str]:
        self._buffer += data
        keys: list[str] = []
        while self._buffer:
            taken = self._take()
            if taken is None:
                break
            keys += taken
        return keys

    def settle(self) -> list[str]:
        """Nothing followed: take the escape as the key."""
        rest, self._buffer = self._buffer, b""
        if rest.startswith(PASTE_BEGIN):
            return [_pasted(rest[len(PASTE_BEGIN) :])]
        return ["escape", *self.feed(rest[1:])] if rest else []

    def _take(self) -> list[str] | None:
        data = self._buffer
        if data.startswith(PASTE_BEGIN):
            end = data.find(PASTE_END)
            if end < 0 and len(data) < PASTE_LIMIT_BYTES:
                return None
            self._buffer = data[end + len(PASTE_END) :] if end >= 0 else b""
            return [_pasted(data[len(PASTE_BEGIN) : end if end >= 0 else None])]
        if data[:1] == b"\x1b":
            return self._escape(data)
        border = data.find(b"\x1b")
        typed, self._buffer = (data, b"") if border < 0 else (data[:border], data[border:])
        return [_name(character) for character in self._decoder.decode(typed)]

    def _escape(self, data: bytes) -> list[str] | None:
        found = _SEQUENCE.match(data)
        if found is None:
            if _INCOMPLETE.match(data):
                return None
            self._buffer = data[1:]
            return ["escape"]
        self._buffer = data[found.end() :]
        name = _SEQUENCES.get(found.group()[1:].decode("ascii"))
        return [name] if name is not None else []  # a key we do not use


def _name(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    return f"ctrl-{chr(ord(character) + 96)}" if character < " " else character


def _pasted(data: bytes) -> str:
    return "paste:" + data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
