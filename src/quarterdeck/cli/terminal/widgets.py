"""Menus and text fields. They know only keys and lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from quarterdeck.cli.common import Look, cells, cut

from .text import exact, one_line, safe, wrapped

TITLE_LINES = 6
MANY_ROWS = 10_000
NOT_YET = object()
"""What ``key`` returns until there is an answer."""


class Widget(Protocol):
    def lines(self, look: Look, rows: int) -> list[str]:
        """How it looks now, in at most ``rows`` lines."""

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

    def lines(self, look: Look, rows: int = MANY_ROWS) -> list[str]:
        title = [look.paint("dim", line) for line in wrapped(safe(self.title), look.width)[:TITLE_LINES] if line]
        options = [self._option(look, index, option) for index, option in enumerate(self.options)]
        if len(title) + sum(map(len, options)) > rows:
            options = [lines[:1] for lines in options]
        room = rows - len(options)
        shown = [line for lines in options for line in lines]
        return [*title[:room], *shown] if room >= 0 else self._window(look, shown, rows)

    def _window(self, look: Look, options: list[str], rows: int) -> list[str]:
        """The options around the selected one, and how many there are above and below."""
        if rows < 3:
            return options[self.at : self.at + max(rows, 1)][: max(rows, 1)]
        room = rows - 1
        begin = max(0, min(self.at - room // 2, len(options) - room))
        hidden = look.paint("dim", f"  {begin} above, {len(options) - begin - room} below")
        return [*options[begin : begin + room], hidden]

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
    """Choose any number: space or a number ticks an option, Enter accepts what is ticked.

    Options with a ``str`` value have a box; any other option is the answer itself. For ``done``, the answer is the list
    of ticked values. If none is ticked, Enter takes the option it is on.
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
        if name == "enter" and isinstance(self.options[self.at].value, str):
            self.ticked = self.ticked or {self.at}
            return self._answer()
        return Menu.key(self, name)

    def _chosen(self, index: int) -> object:
        self.at = index
        value = self.options[index].value
        if isinstance(value, str):
            self.ticked ^= {index}
            return NOT_YET
        return self._answer() if value is self.done else value

    def _answer(self) -> list[str]:
        return [str(self.options[index].value) for index in sorted(self.ticked)]


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

    def lines(self, look: Look, rows: int = MANY_ROWS) -> list[str]:
        before = _wrapped_exactly(self.text[: self.at], max(look.width - 3, 8))
        body = _wrapped_exactly(self.text, max(look.width - 3, 8))
        title, hint = look.paint("bold", one_line(self.title, look.width)), look.paint("dim", f"  {self.hint}")
        room = max(rows - 2, 1)
        begin = max(0, min(len(before) - 1 - room // 2, len(body) - room))  # around the cursor
        shown = [look.paint("cyan", "│ ") + line for line in body[begin : begin + room]]
        self._cursor = (1 + len(before) - 1 - begin, 2 + cells(before[-1]))
        return [title, *shown, hint][: max(rows, 2)]

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
