"""Changes in a folder since a commit, as one patch: git's diff plus untracked files.

Git would include new files only after adding them to its index, which belongs to the session, so we read them here. The
folder is untrusted: we open only regular files, follow no links, and bound what we read.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from . import git
from .errors import HostError
from .folders import open_inside

NEW_FILE_BYTES = 1_000_000
"""Larger new files are listed but not shown."""
MOST_NEW_FILES = 5_000
"""Limit on new files shown."""
_LOOKED_AT_BYTES = 8_000
"""A file with a NUL in its first bytes is binary, as for git."""
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def changes_since(cwd: str, base: str | None) -> dict[str, Any]:
    """The patch against ``base``, new files (``untracked``), those of them it does not have, and whether it is whole.

    Blocks: run it in a thread. Raises ``HostError`` outside a repository.
    """
    if not git.is_repository(cwd):
        raise HostError("not_found", f"{cwd} is not in a git repository, so there is nothing to compare with.")
    commit = base or git.head_commit(cwd)
    patch, is_whole = ("", True) if commit is None else git.diff(cwd, commit)
    names, are_all = git.untracked(cwd)
    new_files = _NewFiles(cwd, git.DIFF_CHARS - len(patch))
    if is_whole:
        new_files.add(names[:MOST_NEW_FILES])
    shown = new_files.patches
    return {
        "base": commit,
        "diff": patch + "".join(shown.values()),
        "truncated": not (is_whole and are_all and new_files.are_all and len(names) <= MOST_NEW_FILES),
        "untracked": [_text(name) for name in names],
        "left_out": [_text(name) for name in names if name not in shown],
    }


class _NewFiles:
    """Builds patches that create files, up to a limit."""

    def __init__(self, cwd: str, room_chars: int) -> None:
        self._cwd = Path(cwd)
        self._room_chars = room_chars
        self.patches: dict[bytes, str] = {}
        self.are_all = True
        """Whether all files were included."""

    def add(self, names: list[bytes]) -> None:
        prefix = git.prefix(str(self._cwd)) if names else b""
        for name in names:
            try:
                patch = self._patch(prefix + name, name)
            except OSError:
                continue  # a link, a folder with a repository of its own, or not ours to read
            if patch is None or len(patch) > self._room_chars:
                self.are_all = False
            else:
                self._room_chars -= len(patch)
                self.patches[name] = patch

    def _patch(self, path: bytes, name: bytes) -> str | None:
        """None if it is too large. Raises ``OSError`` where there is no regular file."""
        with os.fdopen(open_inside(self._cwd, name.split(b"/"), os.O_RDONLY), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise OSError
            content = file.read(min(NEW_FILE_BYTES, self._room_chars) + 1)
        if len(content) > min(NEW_FILE_BYTES, self._room_chars):
            return None
        mode = "100755" if found.st_mode & stat.S_IXUSR else "100644"
        old, new = _quoted(b"a/" + path), _quoted(b"b/" + path)
        head = f"diff --git {old} {new}\nnew file mode {mode}\n"
        if b"\0" in content[:_LOOKED_AT_BYTES]:
            return f"{head}Binary files /dev/null and {new} differ\n"
        if not content:
            return head
        end = "\t" if b" " in path else ""  # without it, patch(1) takes what follows the blank for a time
        return f"{head}--- /dev/null\n+++ {new}{end}\n{_added(content)}"


def _added(content: bytes) -> str:
    lines = _text(content).split("\n")
    ending = "" if lines[-1] == "" else "\n\\ No newline at end of file\n"
    if not ending:
        lines.pop()
    count = "" if len(lines) == 1 else f",{len(lines)}"
    return f"@@ -0,0 +1{count} @@\n" + "\n".join("+" + line for line in lines) + (ending or "\n")


def _quoted(path: bytes) -> str:
    """A path as git writes it: with control characters, quotes or backslashes, it is a string of C."""
    if not any(byte < 32 or byte in (34, 92, 127) for byte in path):
        return _text(path)
    return '"' + _text(b"".join(_escaped(byte) for byte in path)) + '"'


def _escaped(byte: int) -> bytes:
    if byte in _ESCAPES:
        return b"\\" + _ESCAPES[byte].encode()
    return b"\\%03o" % byte if byte < 32 or byte == 127 else bytes([byte])


def _text(said: bytes) -> str:
    return said.decode(errors="replace")
