"""Text of others on our terminal: shown, never obeyed.

A transcript or a model's answer may hold escape sequences that retitle the window, clear the screen, write to the
clipboard, or characters that turn the reading direction so that a command looks like another one.
"""

from __future__ import annotations

import re

_COLOURS = re.compile(r"\x1b\[[0-9;:]*m")
"""What programs colour their output with. Nothing is hidden by dropping it."""
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Control characters but tab and line feed; what turns the direction of whole runs; lone surrogates (unwritable)."""


def plain(text: str, *, one_line: bool = False) -> str:
    """``text`` without effect on a terminal. Colours are dropped, all else that is harmful becomes visible.

    With ``one_line`` line breaks and tabs are spaces, and runs of spaces are one.
    """
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    shown = _HARMFUL.sub(_visible, text.replace("\r\n", "\n"))
    return " ".join(shown.split()) if one_line else shown


def _visible(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)  # the pictures of control characters: ␛, ␍ …
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"
