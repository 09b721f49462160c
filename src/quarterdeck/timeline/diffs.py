"""Diffs of the tools that change files: what a call would change (from its input) and what it changed.

Only the result knows line numbers (``structuredPatch``); a diff made from the input is not ``numbered``. An input that
is a whole file or notebook cell does not say what it replaces.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

import msgspec

from ._words import CANNOT_TYPE, DiffKind
from .parts import FileDiff, Hunk

_COMPARABLE = 250_000
"""Above this product of line counts, two texts are not compared but shown in full: comparing is quadratic."""


_PROPOSE = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})


def proposed(tool: str, arguments: Mapping[str, Any], limit_lines: int) -> list[FileDiff]:
    """What a call with this input would change."""
    if tool not in _PROPOSE:
        return []
    match tool, arguments:
        case "Edit", {"file_path": str(path), "old_string": str(old), "new_string": str(new)}:
            return [_diff(path, "update" if old else "create", [_compared(old, new)], limit_lines)]
        case "MultiEdit", {"file_path": str(path), "edits": list(edits)}:
            return [_diff(path, "update", _edits(edits), limit_lines)]
        case "Write", {"file_path": str(path), "content": str(content)}:
            return [_diff(path, "write", [_compared("", content)], limit_lines)]
        case "NotebookEdit", {"notebook_path": str(path)}:
            return [_cell(path, arguments, "", limit_lines)]
    return []


_CHANGED = frozenset({"filePath", "notebook_path"})


def made(tool: str, result: Any, limit_lines: int) -> list[FileDiff]:
    """What a call has changed, according to its result; nothing if that does not say."""
    if not isinstance(result, dict) or not _CHANGED.intersection(result):
        return []
    match tool, result:
        case "Write", {"filePath": str(path), "type": "create", "content": str(content)}:
            return [_diff(path, "create", [_compared("", content)], limit_lines, numbered=True)]
        case "NotebookEdit", {"notebook_path": str(path)} if not result.get("error"):
            return [_cell(path, result, _old_source(result), limit_lines)]
        case _, {"filePath": str(path), "structuredPatch": list(patch)}:
            hunks = [hunk for hunk in map(_hunk, patch) if hunk is not None]
            return [_diff(path, "update", hunks, limit_lines, numbered=True)] if hunks else []
    return []


def _edits(edits: list[Any]) -> list[Hunk]:
    pairs = [(edit.get("old_string"), edit.get("new_string")) for edit in edits if isinstance(edit, dict)]
    return [_compared(old, new) for old, new in pairs if isinstance(old, str) and isinstance(new, str)]


def _cell(path: str, change: Mapping[str, Any], old: str, limit_lines: int) -> FileDiff:
    kinds: dict[str, DiffKind] = {"insert": "create", "delete": "delete"}
    kind = kinds.get(str(change.get("edit_mode")), "update")
    source = change.get("new_source")
    new = source if isinstance(source, str) and kind != "delete" else ""
    made = _diff(path, kind, [_compared(old, new)], limit_lines)
    cell = change.get("cell_id")
    made.cell = cell if isinstance(cell, str) else ""
    return made


def _old_source(result: Mapping[str, Any]) -> str:
    """The former content of the cell. 2.0.77 only has the whole former file."""
    told, cell_id = result.get("old_source"), result.get("cell_id")
    if isinstance(told, str) or result.get("edit_mode") == "insert":
        return told or ""
    try:
        notebook = json.loads(result.get("original_file") or "{}")
    except (TypeError, ValueError):
        return ""
    match notebook:
        case {"cells": [*cells]}:
            sources = [cell.get("source") for cell in cells if isinstance(cell, dict) and cell.get("id") == cell_id]
            return "".join(sources[0]) if sources and isinstance(sources[0], str | list) else ""
    return ""


def _hunk(data: Any) -> Hunk | None:
    try:
        told = msgspec.convert(data, _Patch)
    except CANNOT_TYPE:
        return None
    return Hunk(told.old_start, told.old_lines, told.new_start, told.new_lines, told.lines)


class _Patch(msgspec.Struct, rename="camel"):
    """A hunk as the CLI writes it."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: list[str]


def _compared(old: str, new: str) -> Hunk:
    """One hunk with all lines of both texts, those they share once."""
    before, after = _lines(old), _lines(new)
    lines: list[str] = []
    if len(before) * len(after) > _COMPARABLE:
        lines = [*("-" + line for line in before), *("+" + line for line in after)]
    else:
        for word, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if word == "equal":
                lines += (" " + line for line in before[i1:i2])
            else:
                lines += ("-" + line for line in before[i1:i2])
                lines += ("+" + line for line in after[j1:j2])
    return Hunk(1 if before else 0, len(before), 1 if after else 0, len(after), lines)


def _lines(text: str) -> list[str]:
    """Split at newlines only, as the CLI does: ``splitlines`` knows a dozen other line ends."""
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else lines


def _diff(path: str, kind: DiffKind, hunks: list[Hunk], limit_lines: int, *, numbered: bool = False) -> FileDiff:
    signs = [line[:1] for hunk in hunks for line in hunk.lines]
    kept: list[Hunk] = []
    room = limit_lines
    for hunk in hunks:
        if room <= 0:
            break
        hunk.lines = hunk.lines[:room]
        room -= len(hunk.lines)
        kept.append(hunk)
    return FileDiff(
        path=path,
        kind=kind,
        hunks=kept,
        added=signs.count("+"),
        removed=signs.count("-"),
        numbered=numbered,
        left_out=max(0, len(signs) - limit_lines),
    )
