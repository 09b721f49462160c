"""A change of a file as text."""

from __future__ import annotations

from quarterdeck.timeline.parts import Diff


def diff_text(diff: Diff) -> str:
    """As ``diff -u`` would write it, without a head: the file is named where it is shown."""
    parts = []
    for hunk in diff.hunks:
        if diff.numbered or len(diff.hunks) > 1:
            parts.append(f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@")
        parts += hunk.lines
    return "\n".join(parts)
