"""Edits JSON text in place, leaving the rest untouched.

``parse`` gives every value its span in the text, so that a rule knows its line and an edit touches only its own bytes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 64
"""Far deeper than any setting."""
MAX_CHARACTERS = 16 * 1024 * 1024
"""Far longer than any settings file; the parse of one so long takes seconds."""
_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\.)*+"')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")


class JsonTextError(ValueError):
    """What is wrong, and at which character."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.at = at


@dataclass(slots=True)
class Value:
    """One value and where it stands: ``text[start:end]``. Objects have ``members``, arrays have ``items``."""

    start: int
    end: int
    value: Any = None
    members: dict[str, Value] = field(default_factory=dict)
    items: list[Value] = field(default_factory=list)
    kind: str = "scalar"


def parse(text: str) -> Value:
    """The document. Comments, duplicate keys and text after the end are errors: an edit could not be sure."""
    if len(text) > MAX_CHARACTERS:
        raise JsonTextError(f"longer than {MAX_CHARACTERS} characters", MAX_CHARACTERS)
    reader = _JsonReader(text, 1 if text.startswith("\ufeff") else 0)
    value = reader.value(0)
    reader.space()
    if reader.at != len(text):
        raise JsonTextError("text after the end of the document", reader.at)
    return value


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


class _JsonReader:
    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at

    def space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        if self.text.startswith(("//", "/*", "#"), self.at):
            raise JsonTextError("comments are not valid JSON; Claude Code would ignore the whole file", self.at)

    def value(self, depth: int) -> Value:
        self.space()
        if depth > MAX_DEPTH:
            raise JsonTextError(f"nested deeper than {MAX_DEPTH}", self.at)
        start = self.text[self.at : self.at + 1]
        if start == "{":
            return self._object(depth)
        if start == "[":
            return self._array(depth)
        if start == '"':
            return self._string()
        match = _SCALAR.match(self.text, self.at)
        if match is None:
            raise JsonTextError("expected a value here", self.at)
        try:
            value = json.loads(match[0])
        except ValueError as error:  # Python converts no integer of more than 4,300 digits
            raise JsonTextError(str(error), match.start()) from error
        self.at = match.end()
        return Value(match.start(), match.end(), value)

    def _string(self) -> Value:
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise JsonTextError("a string is not closed, or contains a line break", self.at)
        try:
            text = json.loads(match[0])
        except json.JSONDecodeError as error:
            raise JsonTextError(error.msg, match.start() + error.pos) from error
        self.at = match.end()
        return Value(match.start(), match.end(), text, kind="string")

    def _array(self, depth: int) -> Value:
        start, items = self.at, list[Value]()
        self.at += 1
        self.space()
        while not self._take("]", first=not items):
            items.append(self.value(depth + 1))
            self.space()
        return Value(start, self.at, items=items, kind="array")

    def _object(self, depth: int) -> Value:
        start, members = self.at, dict[str, Value]()
        self.at += 1
        self.space()
        while not self._take("}", first=not members):
            self.space()
            if not self.text.startswith('"', self.at):
                raise JsonTextError("expected a key in quotes here", self.at)
            key = self._string()
            if key.value in members:
                raise JsonTextError(f"the key {key.value!r} appears twice", key.start)
            self.space()
            if not self.text.startswith(":", self.at):
                raise JsonTextError("expected a : here", self.at)
            self.at += 1
            members[key.value] = self.value(depth + 1)
            self.space()
        return Value(start, self.at, members=members, kind="object")

    def _take(self, closing: str, *, first: bool) -> bool:
        """Past the end of a container, or past the comma before its next value."""
        char = self.text[self.at : self.at + 1]
        if char == closing:
            self.at += 1
            return True
        if not first:
            if char != ",":
                raise JsonTextError(f"expected a , or {closing} here", self.at)
            self.at += 1
        return False


def append(text: str, container: Value, entry: str) -> str:
    """``text`` with ``entry`` (an item, or a key with its value) at the end of ``container``, in its own style."""
    inside = [*container.items, *container.members.values()]
    newline = "\r\n" if "\r\n" in text else "\n"
    if not inside:
        opening, closing = text[container.start], text[container.end - 1]
        outer = _indent(text, container.start)
        if newline not in text:
            return f"{text[: container.start]}{opening}{entry}{closing}{text[container.end :]}"
        step = _step(text)
        body = entry.replace("\n", newline + outer + step)
        made = f"{opening}{newline}{outer}{step}{body}{newline}{outer}{closing}"
        return text[: container.start] + made + text[container.end :]
    last = inside[-1]
    own_line = "\n" in text[container.start : inside[0].start]
    indent = _indent(text, inside[0].start)
    glue = f",{newline}{indent}" if own_line else ", "
    body = entry.replace("\n", newline + indent)
    return text[: last.end] + glue + body + text[last.end :]


def remove(text: str, container: Value, item: Value) -> str:
    """``text`` without ``item`` of the array ``container``."""
    at = container.items.index(item)
    if len(container.items) == 1:
        return text[: container.start + 1] + text[container.end - 1 :]
    if at == 0:
        return text[: item.start] + text[container.items[1].start :]
    return text[: container.items[at - 1].end] + text[item.end :]


def _indent(text: str, at: int) -> str:
    """The white space at the beginning of the line of ``at``."""
    start = text.rfind("\n", 0, at) + 1
    match = re.compile(r"[ \t]*").match(text, start)
    return match[0] if match else ""


def _step(text: str) -> str:
    """One level of indentation, as the file has it."""
    match = re.search(r"\n([ \t]+)\S", text)
    return match[1] if match else "  "
