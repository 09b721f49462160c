"""JSON and YAML with line numbers, so that an error in a scenario can say where it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


class ScenarioFileError(Exception):
    """A scenario file that cannot be played: which file, which line, what was expected."""

    def __init__(self, path: Path | str, line: int | None, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}" if line else f"{path}: {message}")
        self.line = line


MAX_CHARACTERS = 1024 * 1024
"""A scenario is written by hand. PyYAML reads about this much in ten seconds."""
MAX_JSON_CHARACTERS = 64 * 1024 * 1024
"""JSON is parsed a hundred times faster, and written by programs: a tool's result can be as long as a line."""
MAX_NODES = 100_000
"""Including what YAML aliases repeat: ten lines of them can expand to billions of values."""
MAX_DEPTH = 64
"""Far deeper than steps within agents within turns."""


class Node(msgspec.Struct, frozen=True):
    """A value and the line it begins on. Inside: nodes in a dict, nodes in a list, or a plain value."""

    value: Any
    line: int

    @property
    def plain(self) -> Any:
        if isinstance(self.value, dict):
            return {key: node.plain for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain for node in self.value]
        return self.value

    @property
    def kind(self) -> str:
        """How an error calls it."""
        names = {
            dict: "a mapping",
            list: "a list",
            str: "a text",
            bool: "true or false",
            int: "a number",
            float: "a number",
        }
        return names.get(type(self.value), "nothing")


def read(path: Path) -> Node:
    limit = MAX_JSON_CHARACTERS if path.suffix == ".json" else MAX_CHARACTERS
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(limit + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioFileError(path, None, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(text) > limit:
        raise ScenarioFileError(path, None, f"is longer than {limit} characters; split the scenario")
    if path.suffix == ".json":
        return JsonReader(text, path).read()
    return _read_yaml(text, path)


def _read_yaml(text: str, path: Path) -> Node:
    try:
        yaml: Any = import_module("yaml")
    except ImportError:
        message = "YAML needs PyYAML: pip install 'quarterdeck[testing]', or write the scenario as .json"
        raise ScenarioFileError(path, None, message) from None
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is None:
            raise ScenarioFileError(path, 1, "is empty; expected a mapping with `turns`, `replies` or `rules`")
        return _YamlReader(yaml.SafeLoader(""), path).node(root, 0)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise ScenarioFileError(path, line, f"is not valid YAML: {error.problem}") from None
    except yaml.YAMLError as error:  # a character that YAML does not allow
        raise ScenarioFileError(path, None, f"is not valid YAML: {error}") from None
    except RecursionError:
        raise ScenarioFileError(path, None, f"is nested deeper than {MAX_DEPTH}") from None


class _YamlReader:
    def __init__(self, loader: Any, path: Path) -> None:
        self._loader = loader
        self._path = path
        self._nodes = 0

    def node(self, node: Any, depth: int) -> Node:
        line = node.start_mark.line + 1
        self._nodes += 1
        if depth > MAX_DEPTH:
            raise self._error(line, f"is nested deeper than {MAX_DEPTH}, or an alias contains itself")
        if self._nodes > MAX_NODES:
            raise self._error(line, f"has more than {MAX_NODES} values, including those that aliases repeat")
        if node.id == "mapping":
            return Node(self._mapping(node, depth), line)
        if node.id == "sequence":
            return Node([self.node(item, depth + 1) for item in node.value], line)
        try:
            return Node(self._loader.construct_object(node, deep=True), line)
        except ValueError as error:  # a nonexistent date, a number of thousands of digits
            raise self._error(line, f"is not valid YAML: {error}") from None

    def _mapping(self, node: Any, depth: int) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.id != "scalar":
                raise self._error(line, "expected a string as a key")
            if key.value in found:
                raise self._error(line, f"`{key.value}` appears twice")
            found[str(key.value)] = self.node(value, depth + 1)
        return found

    def _error(self, line: int, message: str) -> ScenarioFileError:
        return ScenarioFileError(self._path, line, message)


_SPACES = frozenset(" \t\r\n")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None}


class JsonReader:
    """A small JSON reader that tracks lines; ``json`` itself reports a line only for errors."""

    def __init__(self, text: str, path: Path) -> None:
        self._text = text
        self._path = path
        self._at = 0
        self._depth = 0
        self._counted = (0, 1)
        """A place and its line: the next place is counted from there."""

    def read(self) -> Node:
        node = self._value()
        self._skip()
        if self._at != len(self._text):
            raise self._error("expected the end of the file")
        return node

    def _value(self) -> Node:
        self._skip()
        line = self._line()
        match self._text[self._at : self._at + 1]:
            case "{":
                return Node(self._nested(self._object), line)
            case "[":
                return Node(self._nested(self._array), line)
            case '"':
                return Node(self._string(), line)
        for word, value in _WORDS.items():
            if self._text.startswith(word, self._at):
                self._at += len(word)
                return Node(value, line)
        number = _NUMBER.match(self._text, self._at)
        if number is None:
            raise self._error("expected a value")
        self._at = number.end()
        try:
            return Node(json.loads(number.group()), line)
        except ValueError as error:  # an integer of thousands of digits
            raise self._error(str(error)) from None

    def _nested(self, read: Callable[[], T]) -> T:
        if self._depth == MAX_DEPTH:
            raise self._error(f"nested deeper than {MAX_DEPTH}")
        self._depth += 1
        value = read()
        self._depth -= 1
        return value

    def _object(self) -> dict[str, Node]:
        found: dict[str, Node] = {}
        self._at += 1
        while not self._takes("}"):
            if found:
                self._expect(",")
            self._skip()
            if self._text[self._at : self._at + 1] != '"':
                raise self._error('expected a key in "double quotes"')
            key = self._string()
            if key in found:
                raise self._error(f"`{key}` appears twice")
            self._expect(":")
            found[key] = self._value()
        return found

    def _array(self) -> list[Node]:
        found: list[Node] = []
        self._at += 1
        while not self._takes("]"):
            if found:
                self._expect(",")
            found.append(self._value())
        return found

    def _string(self) -> str:
        try:
            text, self._at = json.decoder.scanstring(self._text, self._at + 1)  # type: ignore[attr-defined]  # not in typeshed
        except json.JSONDecodeError as error:
            raise self._error(error.msg) from None
        return str(text)

    def _takes(self, mark: str) -> bool:
        self._skip()
        if self._text[self._at : self._at + 1] == mark:
            self._at += 1
            return True
        if self._at >= len(self._text):
            raise self._error(f"expected `{mark}` before the end of the file")
        return False

    def _expect(self, mark: str) -> None:
        if not self._takes(mark):
            raise self._error(f"expected `{mark}`")

    def _skip(self) -> None:
        while self._text[self._at : self._at + 1] in _SPACES:
            self._at += 1

    def _line(self) -> int:
        at, line = self._counted
        line += self._text.count("\n", at, self._at)
        self._counted = (self._at, line)
        return line

    def _error(self, message: str) -> ScenarioFileError:
        return ScenarioFileError(self._path, self._line(), f"is not valid JSON: {message}")
