"""Read, Write and Edit: on real files, checkpointed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import Outcome

if TYPE_CHECKING:
    from quarterdeck.testing.sim.calls import SimulatedCall

READ_LIMIT_LINES = 2000


def run(call: SimulatedCall) -> Outcome:
    path = call.cli.session.resolve(str(call.input["file_path"]))
    try:
        match call.name:
            case "Read":
                return _read(path, call.input)
            case "Write":
                return _write(call, path)
            case _:
                return _edit(call, path)
    except (OSError, UnicodeDecodeError) as error:
        return Outcome.failed(str(error))


def _read(path: Path, tool_input: dict[str, Any]) -> Outcome:
    if not path.is_file():
        return Outcome.failed(f"File does not exist: {path}")
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    start = max(1, int(tool_input.get("offset") or 1))
    shown = lines[start - 1 : start - 1 + int(tool_input.get("limit") or READ_LIMIT_LINES)]
    numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(shown, start))
    file = {
        "filePath": str(path),
        "content": "\n".join(shown),
        "numLines": len(shown),
        "startLine": start,
        "totalLines": len(lines),
    }
    return Outcome(numbered, {"type": "text", "file": file})


def _write(call: SimulatedCall, path: Path) -> Outcome:
    before = path.read_text(encoding="utf-8") if path.is_file() else None
    content = str(call.input["content"])
    _change(call, path, before, content)
    kind = "create" if before is None else "update"
    done = "created" if before is None else "updated"
    result = {
        "type": kind,
        "filePath": str(path),
        "content": content,
        "structuredPatch": [] if before is None else patch(before, content),
        "originalFile": before,
        "userModified": False,
    }
    return Outcome(f"File {done} successfully at: {path}", result)


def _edit(call: SimulatedCall, path: Path) -> Outcome:
    if not path.is_file():
        return Outcome.failed(f"File does not exist: {path}")
    old, new = str(call.input["old_string"]), str(call.input["new_string"])
    before = path.read_text(encoding="utf-8")
    everywhere = call.input.get("replace_all") is True
    count = before.count(old) if old else 0
    if count == 0:
        return Outcome.failed(f"String to replace not found in file.\nString: {old}")
    if count > 1 and not everywhere:
        return Outcome.failed(
            f"Found {count} matches of the string to replace, but replace_all is false.\nString: {old}"
        )
    after = before.replace(old, new) if everywhere else before.replace(old, new, 1)
    _change(call, path, before, after)
    result = {
        "filePath": str(path),
        "oldString": old,
        "newString": new,
        "originalFile": before,
        "structuredPatch": patch(before, after),
        "userModified": False,
        "replaceAll": everywhere,
    }
    return Outcome(f"The file {path} has been updated successfully.", result)


def _change(call: SimulatedCall, path: Path, before: str | None, after: str) -> None:
    call.cli.checkpoints.before_change(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(after, encoding="utf-8")
    hunks = patch(before or "", after)
    bill = call.cli.bill
    bill.lines_added += sum(line.startswith("+") for hunk in hunks for line in hunk["lines"])
    bill.lines_removed += sum(line.startswith("-") for hunk in hunks for line in hunk["lines"])


def patch(before: str, after: str) -> list[dict[str, Any]]:
    """The change as hunks, in the shape of ``structuredPatch``."""
    import difflib

    old, new = before.splitlines(), after.splitlines()
    hunks = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        lines: list[str] = []
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[old_from:old_to]]
                continue
            lines += [f"-{line}" for line in old[old_from:old_to]]
            lines += [f"+{line}" for line in new[new_from:new_to]]
        first, last = group[0], group[-1]
        counts = {"oldLines": last[2] - first[1], "newLines": last[4] - first[3]}
        hunks.append({"oldStart": first[1] + 1, "newStart": first[3] + 1, **counts, "lines": lines})
    return hunks
