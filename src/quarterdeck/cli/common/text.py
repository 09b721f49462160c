"""Untrusted text made safe for a terminal, and text measured in terminal cells.

A transcript or a model's answer may contain escape sequences that retitle the window, clear the screen or write to the
clipboard, and characters that reverse the reading direction so that one command looks like another.
"""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"

_COLOURS = re.compile(r"\x1b\[[0-9;:]*m")
"""Colours of programs' output. Dropping them hides nothing."""
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Control characters except tab and line feed; direction overrides; lone surrogates, which cannot be written."""


def sanitize(text: str, *, one_line: bool = False) -> str:
    """``text`` made safe for a terminal: colours are dropped, everything else harmful becomes visible.

    With ``one_line``, whitespace collapses to single spaces.
    """
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    shown = _HARMFUL.sub(_visible, text.replace("\r\n", "\n"))
    return " ".join(shown.split()) if one_line else shown


def _visible(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)  # control pictures: ␛, ␍ …
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"


def cells(text: str) -> int:
    """How many columns ``text`` takes: two for a wide character, none for a combining one. Measure before painting."""
    return len(text) if text.isascii() else sum(map(_cell, text))


def _cell(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def cut(text: str, width: int, *, mark: str = ELLIPSIS) -> str:
    """``text`` in at most ``width`` cells, with ``mark`` at the end if it was cut."""
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
    """``text`` in exactly ``width`` cells, cut or padded with spaces."""
    text = cut(text, width)
    return text + " " * (width - cells(text))
