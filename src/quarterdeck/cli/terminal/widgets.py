"""Menus and text fields. They know only keys and lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from quarterdeck.cli.common import Look, cells, cut

from .text import exact, one_line, safe, wrapped

TITLE_LINES = 6
NOT_YET = object()
"""What ``key`` returns until there is an answer."""


class Widget(Protocol):
    def lines(self, look: Look) -> list[str]:
        """How it looks now."""

    @property
    def cursor(self) -> tuple[int, int] | None:
        """Row and column of the text cursor in these lines."""

    def key(self, name: str) -> object:
        """Handle a key; the answer, or ``NOT_YET``."""


@dataclass(frozen=True, slots=True)
class MenuOption:
    """One choice. ``key`` is the letter that selects it."""

    value: object
    label: str
    hint: str = ""
    key: str = ""


@dataclass(slots=True)
class Menu:
    """Choose one, with arrows and Enter, its number or its letter."""

    title: str
    options: Sequence[MenuOption]
    on_escape: object = NOT_YET
    """The answer for Escape."""
    at: int = 0
    cursor: None = None

    def lines(self, look: Look) -> list[str]:
        shown = (
            [look.paint("dim", line) for line in wrapped(safe(self.title), look.width)[:TITLE_LINES]]
            if self.title
            else []
        )
        for index, option in enumerate(self.options):
            shown += self._option(look, index, option)
        return shown

    def _option(self, look: Look, index: int, option: MenuOption) -> list[str]:
        here = index == self.at
        head = f"{'❯' if here else ' '} {index + 1} {self._mark(index)}{_label(option)}"
        head = _one_line_kept(head, look.width)
        line = look.paint("bold cyan", head) if here else head
        room = look.width - cells(head) - 2
        if not option.hint:
            return [line]
        if cells(option.hint) <= room:
            return [f"{line}  {look.paint('dim', option.hint)}"]
        return [line, *(look.paint("dim", f"      {part}") for part in wrapped(safe(option.hint), look.width - 6)[:3])]

    def _mark(self, index: int) -> str:
        return ""

    def key(self, name: str) -> object:
        moved = {"up": -1, "shift-tab": -1, "ctrl-p": -1, "down": 1, "tab": 1, "ctrl-n": 1}.get(name)
        if moved is not None:
            self.at = (self.at + moved) % len(self.options)
            return NOT_YET
        if name == "enter":
            return self._chosen(self.at)
        if name == "escape":
            return self.on_escape
        if name.isdecimal() and 1 <= int(name) <= len(self.options):
            return self._chosen(int(name) - 1)
        for index, option in enumerate(self.options):
            if option.key and name == option.key:
                return self._chosen(index)
        return NOT_YET

    def _chosen(self, index: int) -> object:
        self.at = index
        return self.options[index].value


@dataclass(slots=True)
class Checklist(Menu):
    """Choose any number: a number or space ticks an option.

    Options with a ``str`` value have a box; any other option is the answer itself. For ``done``, the answer is the list
    of ticked values.
    """

    done: object = None
    ticked: set[int] = field(default_factory=set)

    def _mark(self, index: int) -> str:
        if not isinstance(self.options[index].value, str):
            return ""
        return "[x] " if index in self.ticked else "[ ] "

    def key(self, name: str) -> object:
        if name == " ":
            return self._chosen(self.at)
        return Menu.key(self, name)

    def _chosen(self, index: int) -> object:
        self.at = index
        value = self.options[index].value
        if isinstance(value, str):
            self.ticked ^= {index}
            return NOT_YET
        if value is self.done:
            return [str(self.options[index].value) for index in sorted(self.ticked)]
        return value


@dataclass(slots=True)
class TextField:
    """Enter text. Enter accepts, Alt-Enter or Ctrl-J inserts a new line, the answer for Escape is None."""

    title: str
    text: str = ""
    hint: str = "Enter: accept · Alt-Enter: new line · Esc: back"
    at: int = -1
    _cursor: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        self.at = len(self.text) if self.at < 0 else self.at

    @property
    def cursor(self) -> tuple[int, int] | None:
        return self._cursor

    def lines(self, look: Look) -> list[str]:
        room = max(look.width - 3, 8)
        before = _wrapped_exactly(self.text[: self.at], room)
        body = _wrapped_exactly(self.text, room)
        self._cursor = (1 + len(before) - 1, 2 + cells(before[-1]))
        shown = [look.paint("cyan", "│ ") + line for line in body]
        return [look.paint("bold", one_line(self.title, look.width)), *shown, look.paint("dim", f"  {self.hint}")]

    def key(self, name: str) -> object:
        if name == "enter":
            return self.text
        if name == "escape":
            return None
        if name in ("alt-enter", "ctrl-j"):
            self._insert("\n")
        elif name.startswith("paste:"):
            self._insert(name.removeprefix("paste:"))
        elif len(name) == 1:
            self._insert(name)
        else:
            self._edit(name)
        return NOT_YET

    def _insert(self, text: str) -> None:
        self.text = self.text[: self.at] + text + self.text[self.at :]
        self.at += len(text)

    def _edit(self, name: str) -> None:
        before, after = self.text[: self.at], self.text[self.at :]
        if name == "backspace":
            before = before[:-1]
        elif name in ("delete", "ctrl-d"):
            after = after[1:]
        elif name in ("ctrl-w", "alt-backspace"):
            before = before.rstrip()
            before = before[: before.rfind(" ") + 1]
        elif name == "ctrl-u":
            before = ""
        elif name == "ctrl-k":
            after = ""
        else:
            self._move(name)
            return
        self.text, self.at = before + after, len(before)

    def _move(self, name: str) -> None:
        line_begin = self.text.rfind("\n", 0, self.at) + 1
        line_end = self.text.find("\n", self.at)
        places = {
            "left": self.at - 1,
            "ctrl-b": self.at - 1,
            "right": self.at + 1,
            "ctrl-f": self.at + 1,
            "home": line_begin,
            "ctrl-a": line_begin,
            "end": len(self.text) if line_end < 0 else line_end,
            "ctrl-e": len(self.text) if line_end < 0 else line_end,
        }
        self.at = max(0, min(len(self.text), places.get(name, self.at)))


def _label(option: MenuOption) -> str:
    """The label with its letter."""
    label = safe(option.label)
    return f"{label} ({option.key})" if option.key else label


def _one_line_kept(text: str, width: int) -> str:
    """On one line, keeping spaces so that columns stay aligned."""
    return cut(text.replace("\n", " "), width)


def _wrapped_exactly(text: str, width: int) -> list[str]:
    """Broken at the width, not at spaces, so that the cursor position can be computed."""
    lines: list[str] = []
    for line in exact(text).split("\n"):
        current, room = "", width
        for character in line:
            taken = cells(character)
            if taken > room:
                lines.append(current)
                current, room = "", width
            current, room = current + character, room - taken
        lines.append(current)
    return lines
