"""Tool calls and file diffs as lines."""

from __future__ import annotations

from quarterdeck.cli.common import Look, cells, cut
from quarterdeck.timeline.events import ToolEnded
from quarterdeck.timeline.items import ToolCall
from quarterdeck.timeline.parts import FileDiff, Kept

from .diff_view import diff_lines
from .text import one_line, relative_to, safe, seconds, size

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
OUTPUT_LINES = 4
LIVE_OUTPUT_LINES = 3
DIFF_LINES = 60
LOOKED_AT_CHARS = 4_000
"""How much of an output is read for the preview."""
QUIET = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "AskUserQuestion", "ExitPlanMode"})
"""Not shown as calls: they appear as the plan or as questions."""
COUNTED = frozenset({"Read", "Glob", "Grep", "LS"})
"""Only the number of lines of their output is shown."""
_ENDS = {"finished": ("green", "●", "*"), "background": ("cyan", "◐", "*")}
_BAD = {"failed": "failed", "denied": "denied", "interrupted": "interrupted"}


def running_lines(call: ToolCall, look: Look, *, tick: int, elapsed_s: float, folder: str | None) -> list[str]:
    """A running call, with its live output if the CLI reports it."""
    spin = look.paint("cyan", SPINNER[tick % len(SPINNER)])
    doing = {"writing": "…", "waiting": "waiting for you"}.get(call.status) or seconds(max(elapsed_s, 0))
    title = _title(call, folder, look, room=look.width - 4 - cells(doing))
    lines = [f"{spin} {title}  {look.paint('dim', doing)}"]
    if call.live_output is not None:
        tail = (call.live_output.tail or call.live_output.text)[-LOOKED_AT_CHARS:]
        last = [line for line in safe(tail).split("\n") if line.strip()][-LIVE_OUTPUT_LINES:]
        lines += [look.paint("dim", f"  {cut(line, look.width - 2)}") for line in last]
    return lines


def ended_lines(call: ToolCall, ended: ToolEnded, look: Look, *, diff_was_shown: bool, folder: str | None) -> list[str]:
    """A finished call: its title, then its diff or the first lines of its output."""
    style, pretty, simple = _ENDS.get(ended.status, ("red", "✗", "x"))
    took = "" if ended.elapsed_s is None else seconds(ended.elapsed_s)
    state = " ".join(filter(None, [_BAD.get(ended.status, ""), took]))
    title = _title(call, folder, look, room=look.width - 4 - cells(state))
    lines = [f"{look.paint(style, look.sign(pretty, simple))} {title}  {look.paint('dim', state)}".rstrip()]
    inner = Look(look.colour, look.width - 2, look.unicode)
    if ended.status in _BAD:
        said = "" if ended.status == "interrupted" else ended.reason or str(ended.output)
        return lines + [look.paint("red", f"  {one_line(said, look.width - 2)}")] * bool(said)
    if ended.diffs:
        if diff_was_shown:
            return lines
        return lines + [f"  {line}" for diff in ended.diffs for line in _first_lines(diff, inner, folder)]
    return lines + [look.paint("dim", f"  {line}") for line in output_preview(call.name, ended, look)]


def output_preview(name: str, ended: ToolEnded, look: Look) -> list[str]:
    """The first lines of the output, and how long it is."""
    output = ended.output
    if ended.images:
        return [f"{ended.images} image{'s' * (ended.images > 1)}"]
    if not output.size:
        return []
    if name in COUNTED:
        return [_amount(output)]
    head = safe(output.text[:LOOKED_AT_CHARS]).strip("\n").split("\n")
    shown = [cut(line, look.width - 2) for line in head[:OUTPUT_LINES]]
    if len(head) > OUTPUT_LINES or len(output.text) > LOOKED_AT_CHARS or output.left_out:
        shown.append(f"… {_amount(output)} in total")
    if ended.output_path:
        shown.append(one_line(f"full output: {ended.output_path}", look.width - 2))
    return shown


def _amount(output: Kept) -> str:
    if output.left_out:
        return f"{size(output.size)} characters"
    count = output.text.count("\n") + (not output.text.endswith("\n"))
    return f"{count:,} line{'s' * (count != 1)}"


def _title(call: ToolCall, folder: str | None, look: Look, *, room: int) -> str:
    name = cut(safe(call.label or call.name), max(room // 2, 8))
    rest = one_line(relative_to(call.about, folder), max(room - cells(name) - 1, 4)) if call.about else ""
    return f"{look.paint('bold', name)} {rest}".rstrip()


def _first_lines(diff: FileDiff, look: Look, folder: str | None) -> list[str]:
    lines = diff_lines(diff, look, folder=folder)
    hidden = len(lines) - 1 - DIFF_LINES
    return [*lines[: DIFF_LINES + 1], look.paint("dim", f"      … {hidden:,} more lines")] if hidden > 0 else lines
