"""What a call would change in a file: the change that its input asks for, compared with the file on disk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quarterdeck.timeline.parts import FileDiff, Hunk

from .comparing import Opcode, compare

if TYPE_CHECKING:
    from quarterdeck.timeline._words import DiffKind

CONTEXT = 3
"""Unchanged lines shown around a change."""
LARGEST_BYTES = 4_000_000
"""Larger files are not read: the prompt shows the change without line numbers."""
NOT_COMPARED = "Can't compare with the file on disk; showing the whole new file."
NOT_ALL_COMPARED = "Too many differences to align every line; some are shown as one block."


def proposed_change(tool: str, tool_input: Mapping[str, Any], *, context: int = CONTEXT) -> tuple[FileDiff | None, str]:
    """The change, with the file's own line numbers if they are known, and a warning if it cannot be compared with it.

    None if the tool changes no file.
    """
    match tool, tool_input:
        case "Write", {"file_path": str(path), "content": str(content)}:
            old = _text_of(path)
            if old is _UNREADABLE:
                return _diff(path, "", content, context)[0], NOT_COMPARED
            return _diff(path, old, content, context)
        case "Edit", {"file_path": str(path), "old_string": str(), "new_string": str()}:
            return _edited(path, [tool_input], context)
        case "MultiEdit", {"file_path": str(path), "edits": list(edits)} if all(isinstance(one, dict) for one in edits):
            return _edited(path, edits, context)
        case "NotebookEdit", {"notebook_path": str(path)}:
            return _cell(path, tool_input, context), ""
    return None, ""


_UNREADABLE = "\0"
"""A file that exists but cannot be compared. No text file contains this."""


def _text_of(path: str) -> str | None:
    """None if the file does not exist."""
    try:
        file = Path(path)
        if not file.is_file():
            return _UNREADABLE if file.exists() else None
        if file.stat().st_size > LARGEST_BYTES:
            return _UNREADABLE
        text = file.read_bytes().decode()
    except (OSError, ValueError):
        return _UNREADABLE
    return _UNREADABLE if _UNREADABLE in text else text.replace("\r\n", "\n")


def _edited(path: str, edits: list[Mapping[str, Any]], context: int) -> tuple[FileDiff | None, str]:
    pairs: list[tuple[str, str]] = []
    for edit in edits:
        before, after = edit.get("old_string"), edit.get("new_string")
        if not isinstance(before, str) or not isinstance(after, str):
            return None, ""
        pairs.append((before, after))
    old = _text_of(path)
    if old is _UNREADABLE:
        return _unnumbered(path, pairs, context), "Can't compare with the file on disk; no line numbers."
    new = old or ""
    for (before, after), edit in zip(pairs, edits, strict=True):
        if not before and not new:
            new = after
            continue
        found = new.count(before) if before else 0
        if not found:
            return _unnumbered(path, pairs, context), "The text to replace is not in the file."
        if found > 1 and not edit.get("replace_all"):
            why = f"The text to replace occurs {found} times; Claude Code will reject this edit."
            return _unnumbered(path, pairs, context), why
        new = new.replace(before, after)
    return _diff(path, old, new, context)


def _unnumbered(path: str, pairs: list[tuple[str, str]], context: int) -> FileDiff:
    """The edits without line numbers."""
    diffs = [_diff(path, old, new, context)[0] for old, new in pairs]
    hunks = [hunk for diff in diffs for hunk in diff.hunks]
    return FileDiff(path, "update", hunks, sum(one.added for one in diffs), sum(one.removed for one in diffs))


def _cell(path: str, tool_input: Mapping[str, Any], context: int) -> FileDiff | None:
    text = _text_of(path)
    cell_id, mode = tool_input.get("cell_id"), tool_input.get("edit_mode")
    source = tool_input.get("new_source")
    old: str | None = ""
    if mode != "insert":
        try:
            cells = json.loads(text or "")["cells"]
            sources = [cell["source"] for cell in cells if cell.get("id") == cell_id]
            old = "".join(sources[0])
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            return None
    diff, _ = _diff(path, old, source if isinstance(source, str) and mode != "delete" else "", context)
    diff.cell = cell_id if isinstance(cell_id, str) else ""
    kinds: dict[str, DiffKind] = {"insert": "create", "delete": "delete"}
    diff.kind = kinds.get(str(mode), "update")
    return diff


def _diff(path: str, old: str | None, new: str, context: int) -> tuple[FileDiff, str]:
    """The change, and a warning if not all of it was compared."""
    before, after = _lines(old or ""), _lines(new)
    codes, whole = compare(before, after)
    hunks = [_hunk(before, after, group) for group in _grouped(codes, context)]
    signs = [line[:1] for hunk in hunks for line in hunk.lines]
    kind: DiffKind = "create" if old is None else "update"
    diff = FileDiff(path, kind, hunks, signs.count("+"), signs.count("-"), numbered=True)
    return diff, "" if whole else NOT_ALL_COMPARED


def _lines(text: str) -> list[str]:
    """Split at newlines only, as the CLI does: ``splitlines`` knows a dozen other line ends."""
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else lines


def _grouped(codes: list[Opcode], context: int) -> list[list[Opcode]]:
    """Changes with ``context`` unchanged lines around them; nearby changes share a group."""
    groups: list[list[Opcode]] = []
    current: list[Opcode] = []
    for index, (word, a, b, c, d) in enumerate(codes):
        if word != "equal":
            current.append((word, a, b, c, d))
            continue
        first, last = index == 0, index == len(codes) - 1
        if not first and not last and b - a <= 2 * context:
            current.append((word, a, b, c, d))
            continue
        if not first:
            current.append((word, a, min(b, a + context), c, min(d, c + context)))
            groups.append(current)
        current = [] if last else [(word, max(a, b - context), b, max(c, d - context), d)]
    if any(word != "equal" for word, *_ in current):
        groups.append(current)
    return [[code for code in group if code[1] < code[2] or code[3] < code[4]] for group in groups]


def _hunk(before: list[str], after: list[str], group: list[Opcode]) -> Hunk:
    lines: list[str] = []
    for word, a, b, c, d in group:
        if word == "equal":
            lines += (" " + line for line in before[a:b])
        else:
            lines += ("-" + line for line in before[a:b])
            lines += ("+" + line for line in after[c:d])
    (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
    return Hunk(a + 1, b - a, c + 1, d - c, lines)
