"""Shows all of something long: scrolls, searches, and goes back to the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from quarterdeck.cli.common import Look, cells, cut

from .text import painted_cut, safe, unpainted
from .widgets import NOT_YET

BACK = object()
"""The answer: leave the pager."""
_KEYS = ("↑↓ PgUp PgDn g G · / search n N · q back", "↑↓ · / search · q back", "q back")
"""The keys, from the longest line to the shortest."""


@dataclass(slots=True)
class Pager:
    """``draw`` returns all lines for a width."""

    draw: Callable[[Look], Sequence[str]]
    top: int = 0
    cursor: None = None
    _typing: str | None = None
    """The search while it is typed."""
    _wanted: str = ""
    _note: str = ""
    _page: int = 1
    _shown: Sequence[str] = ()

    def lines(self, look: Look, rows: int) -> list[str]:
        self._shown = self.draw(look)
        self._page = max(rows - 1, 1)
        self.top = max(0, min(self.top, len(self._shown) - self._page))
        shown = [
            self._marked(painted_cut(line, look.width), look) for line in self._shown[self.top : self.top + self._page]
        ]
        shown += [look.paint("dim", "~")] * (self._page - len(shown)) if len(self._shown) > self._page else []
        return [*shown, self._status(look)]

    def _marked(self, line: str, look: Look) -> str:
        """With the search matches highlighted. The line loses its other colours."""
        plain = unpainted(line)
        if not self._wanted or self._wanted.lower() not in plain.lower():
            return line
        drawn, at, low, wanted = "", 0, plain.lower(), self._wanted.lower()
        while (found := low.find(wanted, at)) >= 0:
            drawn += plain[at:found] + look.paint("bold reverse", plain[found : found + len(wanted)])
            at = found + len(wanted)
        return drawn + plain[at:]

    def _status(self, look: Look) -> str:
        if self._typing is not None:
            return cut(f"/{safe(self._typing)}▏", look.width)
        last = min(self.top + self._page, len(self._shown))
        where = self._note or f"lines {min(self.top + 1, last)}-{last} of {len(self._shown):,}"
        lines = [f"{where} · {keys}" for keys in _KEYS]
        fitting = next((line for line in lines if cells(line) <= look.width), cut(lines[-1], look.width))
        return look.paint("bold", fitting)

    def key(self, name: str) -> object:
        self._note = ""
        if self._typing is not None:
            self._type(name)
            return NOT_YET
        if name in ("q", "escape", "v"):
            return BACK
        if name == "/":
            self._typing = ""
        elif name == "n":
            self._search(self.top + 1, 1)
        elif name == "N":
            self._search(self.top - 1, -1)
        else:
            self._move(name)
        return NOT_YET

    def _move(self, name: str) -> None:
        places = {
            "up": self.top - 1, "k": self.top - 1, "ctrl-p": self.top - 1,
            "down": self.top + 1, "j": self.top + 1, "enter": self.top + 1, "ctrl-n": self.top + 1,
            "page-up": self.top - self._page, "b": self.top - self._page, "ctrl-b": self.top - self._page,
            "page-down": self.top + self._page, " ": self.top + self._page, "ctrl-f": self.top + self._page,
            "g": 0, "home": 0, "G": len(self._shown), "end": len(self._shown),
        }  # fmt: skip
        self.top = max(0, min(places.get(name, self.top), len(self._shown) - self._page))

    def _type(self, name: str) -> None:
        typed = self._typing or ""
        if name == "escape":
            self._typing = None
        elif name == "enter":
            self._wanted, self._typing = typed or self._wanted, None
            self._search(self.top, 1)
        elif name == "backspace":
            self._typing = typed[:-1] if typed else None
        elif len(name) == 1:
            self._typing = typed + name

    def _search(self, begin: int, step: int) -> None:
        """Go to the next line with what is searched for, around the end if need be."""
        if not self._wanted:
            return
        count = len(self._shown)
        for index in range(count):
            at = (begin + index * step) % count
            if self._wanted.lower() in unpainted(self._shown[at]).lower():
                self.top = at
                return
        self._note = f"not found: {safe(self._wanted)}"
