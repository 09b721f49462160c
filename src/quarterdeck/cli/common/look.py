"""Colour and width of the stream that a command writes to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

FALLBACK_WIDTH = 80
NARROWEST = 20
"""Ignore terminals that report fewer columns; some report 0 before they are drawn."""

STYLES: dict[str, str] = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "underline": "4",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}


class Look(NamedTuple):
    """How to write to a stream. (No dataclass: importing those takes longer than everything else that help needs.)"""

    colour: bool = False
    width: int = FALLBACK_WIDTH
    unicode: bool = True
    """Whether the encoding has box lines, check marks and so on."""

    @classmethod
    def of(cls, stream: TextIO, env: Mapping[str, str] | None = None) -> Look:
        """Depends on the stream and on ``NO_COLOR``, ``FORCE_COLOR``, ``TERM`` and ``COLUMNS``."""
        given = os.environ if env is None else env
        terminal = _is_terminal(stream)
        return cls(
            colour=_wants_colour(given, terminal),
            width=_width(stream, given, terminal),
            unicode=_has_unicode(stream),
        )

    def paint(self, styles: str, text: str) -> str:
        """``text`` in a style or styles (``"bold red"``); unchanged without colour."""
        if not self.colour or not text:
            return text
        codes = ";".join(STYLES[style] for style in styles.split())
        return f"\033[{codes}m{text}\033[0m"

    def sign(self, pretty: str, simple: str) -> str:
        """``pretty``, or ``simple`` if the encoding lacks it."""
        return pretty if self.unicode else simple


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # a fake stream, a closed stream
        return False


def _wants_colour(env: Mapping[str, str], terminal: bool) -> bool:
    if env.get("NO_COLOR"):  # https://no-color.org: present and not empty
        return False
    forced = env.get("FORCE_COLOR")
    if forced is not None:
        return forced not in ("0", "false")
    return terminal and env.get("TERM") != "dumb"


def _width(stream: TextIO, env: Mapping[str, str], terminal: bool) -> int:
    columns = env.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(int(columns), NARROWEST)
    if not terminal:
        return FALLBACK_WIDTH
    try:
        found = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):
        return FALLBACK_WIDTH
    return max(found, NARROWEST) if found else FALLBACK_WIDTH


def _has_unicode(stream: TextIO) -> bool:
    try:
        "✓│…".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
