"""Untrusted text as lines on a screen: sanitized, measured in cells, wrapped or cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from quarterdeck.cli.common import cells, cut, sanitize

TAB = "    "
"""The width of a tab depends on its column, that of spaces does not."""
_UNSEEN = re.compile("[\u200b\u2060-\u2064\u00ad\ufff9-\ufffb\U000e0000-\U000e007f]")
"""Invisible characters that can hide text. The joiners U+200C and U+200D stay: Persian and emoji need them."""
_SGR = re.compile(r"\x1b\[[0-9;]*m")
_SGR_APART = re.compile(r"(\x1b\[[0-9;]*m)")


def safe(text: str) -> str:
    """``text`` sanitized, with invisible characters made visible."""
    shown = sanitize(text)
    if not shown.isascii():
        shown = _UNSEEN.sub(lambda found: f"<U+{ord(found.group()):04X}>", shown)
    return shown.replace("\t", TAB)


def exact(text: str) -> str:
    """``safe``, but also shows colour codes: permission prompts must leave nothing out."""
    return safe(text.replace("\x1b", "\u241b"))


def one_line(text: str, width: int) -> str:
    """``text`` on one line of at most ``width`` cells."""
    head = text[: width * 8 + 80]  # input can be megabytes; spaces collapse, so take more than fits
    folded = " ".join(safe(head).split())
    if len(head) < len(text):
        folded += " …"
    return cut(folded, width)


def relative_to(path: str, folder: str | None) -> str:
    """The path relative to ``folder``, if it is inside."""
    return path.removeprefix(f"{folder}/") if folder else path


def wrapped(text: str, width: int) -> list[str]:
    """Safe text in lines of at most ``width`` cells, broken at spaces if possible."""
    lines: list[str] = []
    for line in text.split("\n"):
        at = 0
        while (fits := _fitting(line, at, width)) < len(line):
            blank = line.rfind(" ", at, fits + 1)
            border = blank if blank > at + width // 3 else fits
            lines.append(line[at:border].rstrip())
            at = border
            while line.startswith(" ", at):
                at += 1
        lines.append(line[at:])
    return lines


def _fitting(line: str, at: int, width: int) -> int:
    """Where what fits ends, if the line begins at ``at``; after at least one character, so that wrapping ends."""
    if line.isascii():
        return min(at + width, len(line))
    used = 0
    for end in range(at, len(line)):
        used += cells(line[end])
        if used > width and end > at:
            return end
    return len(line)


def unpainted(line: str) -> str:
    """A painted line without its colours."""
    return _SGR.sub("", line) if "\x1b" in line else line


def painted_cells(line: str) -> int:
    """The width of a painted line."""
    return cells(unpainted(line))


def painted_cut(line: str, width: int) -> str:
    """A painted line cut to ``width`` cells, with its colours reset."""
    if painted_cells(line) <= width:
        return line
    kept, room = "", width - 1
    for piece in _SGR_APART.split(line):
        if piece.startswith("\x1b["):
            kept += piece
            continue
        shown = cut(piece, room, mark="") if cells(piece) > room else piece
        kept, room = kept + shown, room - cells(shown)
        if shown != piece:
            break
    return f"{kept}…\x1b[0m" if "\x1b[" in kept else f"{kept}…"


def painted_wrap(line: str, width: int, *, words: bool = False) -> list[str]:
    """Wraps a painted line at ``width`` cells; colours continue on the next line.

    Broken anywhere, or after a space if possible (``words``).
    """
    if painted_cells(line) <= width:
        return [line]
    painted = list(_painted_characters(line))
    lines: list[str] = []
    begin = 0
    while begin < len(painted):
        used, end = 0, begin
        while end < len(painted) and used + cells(painted[end][0]) <= width:
            used += cells(painted[end][0])
            end += 1
        if words and end < len(painted):
            blank = max((at for at in range(begin, end) if painted[at][0] == " "), default=-1)
            end = blank + 1 if blank > begin + width // 3 else end
        end = max(end, begin + 1)
        lines.append(_repainted(painted[begin:end]))
        begin = end
    return lines


def _painted_characters(line: str) -> Iterator[tuple[str, str]]:
    """Each character with the colours that it has."""
    colours = ""
    for piece in _SGR_APART.split(line):
        if piece.startswith("\x1b["):
            colours = "" if piece == "\x1b[0m" else colours + piece
        else:
            yield from ((character, colours) for character in piece)


def _repainted(characters: list[tuple[str, str]]) -> str:
    drawn = ""
    for colours, group in groupby(characters, key=lambda one: one[1]):
        text = "".join(character for character, _ in group)
        drawn += f"{colours}{text}\x1b[0m" if colours else text
    return drawn


def size(count: int) -> str:
    """A number of bytes, characters or tokens, abbreviated."""
    for limit, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= limit:
            return f"{count / limit:.1f}{unit}"
    return str(count)


def seconds(elapsed_s: float) -> str:
    """A duration, abbreviated."""
    if elapsed_s < 60:
        return f"{elapsed_s:.1f}s" if elapsed_s < 10 else f"{elapsed_s:.0f}s"
    minutes, rest = divmod(round(elapsed_s), 60)
    return f"{minutes}m {rest:02}s" if minutes < 60 else f"{minutes // 60}h {minutes % 60:02}m"
