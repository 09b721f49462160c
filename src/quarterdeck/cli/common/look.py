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

RGB: dict[str, tuple[int, int, int]] = {
    "dim": (118, 118, 118),
    "red": (225, 42, 53),
    "green": (0, 137, 38),
    "yellow": (169, 102, 0),
    "blue": (49, 111, 232),
    "magenta": (195, 50, 198),
    "cyan": (0, 129, 147),
}
"""Colours with a contrast of 4.5 against black and against white: we do not know the terminal's background. Its own
sixteen colours and its faint text fail that on one side or the other (yellow on white is 1.1)."""
INDEXED: dict[str, int] = {"dim": 243, "red": 131, "green": 29, "blue": 63, "magenta": 98, "cyan": 63}
"""The same for terminals with 256 colours, whose palette has six such colours. There is no yellow among them: bold."""
ATTRIBUTES = {"bold": "1", "italic": "3", "underline": "4", "reverse": "7"}


def has_true_colour(env: Mapping[str, str] | None = None) -> bool:
    """Whether the terminal shows any colour, rather than 256."""
    return (os.environ if env is None else env).get("COLORTERM") in ("truecolor", "24bit")


def styles_for(*, true_colour: bool) -> dict[str, str]:
    """Style → its codes."""
    if true_colour:
        return ATTRIBUTES | {name: f"38;2;{red};{green};{blue}" for name, (red, green, blue) in RGB.items()}
    return ATTRIBUTES | {"yellow": "1"} | {name: f"38;5;{number}" for name, number in INDEXED.items()}


STYLES = styles_for(true_colour=has_true_colour())


def codes_of(styles: str) -> str:
    """The codes of a style or several (``"bold red"``)."""
    return ";".join(STYLES[style] for style in styles.split())


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
        return f"\033[{codes_of(styles)}m{text}\033[0m"

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
