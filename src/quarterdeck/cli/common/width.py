"""Text measured in terminal cells: a wide character takes two, a combining one none."""

from __future__ import annotations

import unicodedata

ELLIPSIS = "…"


def cells(text: str) -> int:
    """How many columns ``text`` takes. Text with escape sequences is measured before it is painted."""
    return len(text) if text.isascii() else sum(map(_cell, text))


def _cell(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def cut(text: str, width: int, *, mark: str = ELLIPSIS) -> str:
    """``text`` in at most ``width`` cells; the mark says that something is missing."""
    if cells(text) <= width:
        return text
    room, kept = width - cells(mark), ""
    for character in text:
        room -= _cell(character)
        if room < 0:
            break
        kept += character
    return (kept.rstrip() + mark) if width >= cells(mark) else ""


def padded(text: str, width: int) -> str:
    """``text`` in exactly ``width`` cells: cut or filled with spaces."""
    text = cut(text, width)
    return text + " " * (width - cells(text))
