"""A question and its subject, redrawn as a whole for each terminal size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from quarterdeck.cli.common import Look

from .pager import BACK, Pager
from .rows import Joined
from .widgets import NOT_YET, TextField, Widget

LEAST_BODY = 3
"""Lines of the body that are shown before anything else but the title and the answers."""
RECORD_LINES = 60
"""Lines of a body that stay in the scrollback once the question is answered."""
Draw = Callable[[Look], Sequence[str]]


def _nothing(_: Look) -> list[str]:
    return []


@dataclass(slots=True)
class Subject:
    """What a question is about. Each part draws itself for a width; the body is shown whole or says what it hides."""

    title: Draw
    body: Draw = _nothing
    compact: Draw | None = None
    """A shorter body that is tried before the body is cut."""
    notes: Draw = _nothing
    """Below the body: risk and reason."""
    _drawn: dict[tuple[str, Look], Sequence[str]] = field(default_factory=dict)

    def part(self, name: str, look: Look) -> Sequence[str]:
        """Drawn once per width: frames are frequent, and a diff can be long."""
        key = name, look
        if key not in self._drawn:
            if len(self._drawn) > 12:  # of former sizes
                self._drawn.clear()
            self._drawn[key] = getattr(self, name)(look)
        return self._drawn[key]

    def record(self, look: Look) -> list[str]:
        """What stays in the scrollback."""
        body = self.part("body", look)
        hidden = len(body) - RECORD_LINES
        cut = [look.paint("dim", f"  … {hidden:,} more lines")] if hidden > 0 else []
        return [*self.part("title", look), *body[:RECORD_LINES], *cut, *self.part("notes", look)]


@dataclass(slots=True)
class ChoicePrompt:
    """The subject above the answers. ``v`` shows all of the subject."""

    subject: Subject
    answers: Widget
    cursor: tuple[int, int] | None = None
    _pager: Pager | None = None
    _size: tuple[Look, int] = (Look(), 24)

    def lines(self, look: Look, rows: int) -> list[str]:
        self._size = look, rows
        if self._pager is not None:
            self.cursor = None
            return self._pager.lines(look, rows)
        title = self.subject.part("title", look)
        whole = self.subject.part("body", look)
        least = min(len(whole), LEAST_BODY)
        answers = self.answers.lines(look, max(rows - len(title) - least, 1))
        room = rows - len(title) - len(answers)
        notes = self.subject.part("notes", look)[: max(room - least, 0)]
        body = self._fitted(look, whole, room - len(notes))
        above = [*title[: max(rows - len(answers), 0)], *body, *notes]
        if whole and len(above) + len(answers) < rows:
            above.append("")
        inner = self.answers.cursor
        self.cursor = (len(above) + inner[0], inner[1]) if inner is not None else None
        return [*above, *answers]

    def _fitted(self, look: Look, whole: Sequence[str], room: int) -> Sequence[str]:
        if len(whole) <= room:
            return whole
        if room < 1:
            return []
        shown = whole
        if self.subject.compact is not None:
            shown = self.subject.part("compact", look)
        kept = shown[: room - 1]
        return [*kept, look.paint("bold yellow", self._hidden(len(whole) - len(kept), look.width))]

    def _hidden(self, count: int, width: int) -> str:
        key = "Esc, then v" if isinstance(self.answers, TextField) else "v"
        line = f"  … {count:,} more lines: {key} shows all"
        return line if len(line) <= width else f"  … {count:,} more: {key}"

    def key(self, name: str) -> object:
        if self._pager is not None:
            if self._pager.key(name) is BACK:
                self._pager = None
            return NOT_YET
        if name == "v" and not isinstance(self.answers, TextField):
            self._pager = Pager(self._everything)
            self._pager.lines(*self._size)  # further keys may have come with this one
            return NOT_YET
        return self.answers.key(name)

    def _everything(self, look: Look) -> Sequence[str]:
        return Joined(*(self.subject.part(name, look) for name in ("title", "body", "notes")))
