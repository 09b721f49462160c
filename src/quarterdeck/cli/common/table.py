"""Tables for people: as many columns as fit; the last column gets the rest of the line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .look import Look
from .text import cells, cut, padded, sanitize

REST_ROOM = 12
"""Drop other columns rather than leave less room for the last one."""
SHORT_ID = 8
"""Characters of an id that are shown, unless two ids begin alike."""


class Column(NamedTuple):
    """``style`` is for all cells, or one for each."""

    head: str
    texts: Sequence[str]
    style: str | Sequence[str] = ""
    right: bool = False


def table(columns: Sequence[Column], rest: Column, look: Look) -> list[str]:
    """A line per row. Columns are in the order of their importance: the last ones are dropped first.

    A column without any text is not shown. ``rest`` is cut to the room that is left.
    """
    shown = [column for column in columns if any(column.texts)]
    widths = [max(cells(text) for text in (column.head, *column.texts)) for column in shown]
    while (room := look.width - sum(widths) - 2 * len(widths)) < REST_ROOM and len(shown) > 1:
        shown.pop()
        widths.pop()
    heads = "".join(f"{_aligned(column.head, width, column)}  " for column, width in zip(shown, widths, strict=True))
    lines = [look.paint("bold", cut(f"{heads}{rest.head}".rstrip(), look.width))]
    for index, text in enumerate(rest.texts):
        fields = (
            _painted(_aligned(column.texts[index], width, column), column, index, look) + "  "
            for column, width in zip(shown, widths, strict=True)
        )
        lines.append(("".join(fields) + _painted(cut(text, max(room, 1)), rest, index, look)).rstrip())
    return lines


def _aligned(text: str, width: int, column: Column) -> str:
    return f"{' ' * (width - cells(text))}{text}" if column.right else padded(text, width)


def _painted(text: str, column: Column, index: int, look: Look) -> str:
    style = column.style if isinstance(column.style, str) else column.style[index]
    return look.paint(style, text) if style else text


def one_line(text: str | None, width: int) -> str:
    """Untrusted text as a cell."""
    return cut(sanitize(text or "", one_line=True), width)


def short_ids(ids: Sequence[str]) -> list[str]:
    """The shortest distinct prefix of each, at least ``SHORT_ID`` characters."""
    longest = max(map(len, ids), default=SHORT_ID)
    length = next(
        (length for length in range(SHORT_ID, longest) if len({one[:length] for one in ids}) == len(set(ids))), longest
    )
    return [one[:length] for one in ids]


def path_end(path: str | None, width: int, *, home: str = "") -> str:
    """The end of a path, which says more than its start."""
    text = sanitize(path or "", one_line=True)
    if home and (text == home or text.startswith(f"{home}/")):
        text = f"~{text[len(home) :]}"
    if cells(text) <= width:
        return text
    parts = text.split("/")
    while len(parts) > 1 and cells("…/" + "/".join(parts)) > width:
        parts.pop(0)
    return cut("…/" + "/".join(parts), width)
