"""What a call was given, as text: a change of a file, a command, or its input as it is."""

from __future__ import annotations

import json

from quarterdeck.timeline.items import ToolCall
from quarterdeck.timeline.parts import FileDiff


def diff_text(diff: FileDiff) -> str:
    """As ``diff -u`` would write it, without a head: the file is named where it is shown."""
    parts = []
    for hunk in diff.hunks:
        if diff.numbered or len(diff.hunks) > 1:
            parts.append(f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@")
        parts += hunk.lines
    return "\n".join(parts)


def input_text(call: ToolCall) -> tuple[str, str]:
    """(text, its language) of a call that changes no file."""
    command = call.input.get("command")
    if call.name == "Bash" and isinstance(command, str):
        return command, "sh"
    return json.dumps(call.input, indent=2, ensure_ascii=False), "json"
