"""The host's diff, a patch of git, as Claude Code answers ``get_workspace_diff`` (2.1.325)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

_FILE = "diff --git "
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPED = re.compile(rb'\\([0-7]{3}|[abfnrtv"\\])')
_ESCAPES = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}

NO_REPOSITORY: dict[str, Any] = {"diff": None, "noDiffReason": "no-repository"}


def workspace_diff(changes: dict[str, Any]) -> dict[str, Any]:
    """The answer for the details of ``get_diff``. Unlike Claude Code's, it includes new files that git doesn't track,
    and is since the session's start."""
    files = list(_files(changes["diff"].split("\n"), frozenset(changes["untracked"])))
    left_out = changes["left_out"]
    stats = [file for file, _ in files]
    return {
        "diff": {
            "stats": {
                "filesCount": len(files) + len(left_out),
                "linesAdded": sum(file["added"] for file in stats),
                "linesRemoved": sum(file["removed"] for file in stats),
            },
            "perFileStats": stats,
            "omitted": {"files": len(left_out), "exact": not changes["truncated"]},
            "hunks": [{"path": file["path"], "hunks": hunks} for file, hunks in files if hunks],
            "skippedLarge": left_out,
            "restricted": [],
            "source": {"kind": "session", "base": changes["base"]},
        }
    }


def _files(lines: Sequence[str], untracked: frozenset[str]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """What changed in each file: its size, and its hunks."""
    at = 0
    while at < len(lines):
        if not lines[at].startswith(_FILE):
            at += 1
            continue
        file, at = _head(lines, at)
        hunks: list[dict[str, Any]] = []
        while at < len(lines) and (found := _HUNK.match(lines[at])) is not None:
            hunk, at = _hunk(lines, at + 1, found)
            hunks.append(hunk)
        for sign, name in (("+", "added"), ("-", "removed")):
            file[name] = sum(line.startswith(sign) for hunk in hunks for line in hunk["lines"])
        file["isUntracked"] = file["path"] in untracked
        yield file, hunks


def _head(lines: Sequence[str], at: int) -> tuple[dict[str, Any], int]:
    """What is said before the first hunk, and where that is."""
    file: dict[str, Any] = {"path": _same_name(lines[at].removeprefix(_FILE))}
    file |= {"added": 0, "removed": 0, "isBinary": False, "isUntracked": False, "status": "modified"}
    at += 1
    while at < len(lines) and not lines[at].startswith((_FILE, "@@ ")):
        word, _, rest = lines[at].partition(" ")
        if word in ("---", "+++") and (path := _path(rest)) != "/dev/null":
            file["path"] = path.partition("/")[2]
        elif word == "Binary":
            file["isBinary"] = True
        elif lines[at].startswith(("new file", "deleted file")):
            file["status"] = "added" if word == "new" else "removed"
        elif lines[at].startswith("rename from "):
            file["previousPath"] = _path(lines[at].removeprefix("rename from "))
        elif lines[at].startswith("rename to "):
            file |= {"status": "renamed", "newPath": _path(lines[at].removeprefix("rename to "))}
        at += 1
    if file["status"] == "renamed":
        file["path"] = f"{file['previousPath']} => {file['newPath']}"
    return file, at


def _hunk(lines: Sequence[str], at: int, found: re.Match[str]) -> tuple[dict[str, Any], int]:
    """The lines that its head counts; a patch that was cut ends earlier."""
    old_start, old, new_start, new = (1 if number is None else int(number) for number in found.groups())
    shown: list[str] = []
    left = {"-": old, "+": new}
    while at < len(lines) and (any(left.values()) or lines[at].startswith("\\")):
        line = lines[at] or " "
        if line[0] not in " +-\\":
            break
        for sign in left:
            left[sign] -= line[0] in (sign, " ")
        if line[0] != "\\":  # "No newline at end of file"
            shown.append(line)
        at += 1
    old_start, new_start = old_start + (old == 0), new_start + (new == 0)  # git names the line before an empty range
    ranges = {"oldStart": old_start, "oldLines": old, "newStart": new_start, "newLines": new}
    return {**ranges, "lines": shown}, at


def _same_name(names: str) -> str:
    """``a/NAME b/NAME``: what is known of a file whose mode has changed, or that is empty or binary."""
    return _path(names[: len(names) // 2]).partition("/")[2]


def _path(text: str) -> str:
    """As git writes it: in quotes if it has unusual characters, with a tab behind it if it has a blank."""
    text = text.removesuffix("\t")
    if not (len(text) > 1 and text[0] == text[-1] == '"'):
        return text
    raw = _ESCAPED.sub(lambda found: bytes([_byte(found[1])]), text[1:-1].encode())
    return raw.decode(errors="replace")


def _byte(escape: bytes) -> int:
    return _ESCAPES[escape] if escape in _ESCAPES else int(escape, 8)
