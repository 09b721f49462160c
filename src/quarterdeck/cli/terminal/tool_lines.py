"""A tool call as lines: while it runs, and when it has ended."""

from __future__ import annotations

from quarterdeck.cli.common import Look, cells, cut
from quarterdeck.timeline.events import ToolEnded
from quarterdeck.timeline.items import ToolCall
from quarterdeck.timeline.parts import Kept

from .diff import diff_lines
from .text import nearer, one_line, safe, seconds, size

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SHOWN_LINES = 4
SHOWN_LIVE_LINES = 3
LOOKED_AT_CHARS = 4_000
"""Of an output that may be megabytes only the head is looked at."""
QUIET = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "AskUserQuestion", "ExitPlanMode"})
"""What these do is shown otherwise: as the plan, as a question."""
COUNTED = frozenset({"Read", "Glob", "Grep", "LS"})
"""What these find is for the model; a person wants to know how much it was."""
_ENDS = {"finished": ("green", "●", "*"), "background": ("cyan", "◐", "*")}
_BAD = {"failed": "failed", "denied": "denied", "interrupted": "interrupted"}


def running_lines(call: ToolCall, look: Look, *, tick: int, elapsed_s: float, folder: str | None) -> list[str]:
    """A call that has not ended; its live output, where the CLI tells it, below."""
    spin = look.paint("cyan", SPINNER[tick % len(SPINNER)])
    doing = {"writing": "…", "waiting": "waits for you"}.get(call.status) or seconds(max(elapsed_s, 0))
    title = _title(call, folder, look, room=look.width - 4 - cells(doing))
    lines = [f"{spin} {title}  {look.paint('dim', doing)}"]
    if call.live_output is not None:
        tail = (call.live_output.tail or call.live_output.text)[-LOOKED_AT_CHARS:]
        last = [line for line in safe(tail).split("\n") if line.strip()][-SHOWN_LIVE_LINES:]
        lines += [look.paint("dim", f"  {cut(line, look.width - 2)}") for line in last]
    return lines


def ended_lines(call: ToolCall, ended: ToolEnded, look: Look, *, diff_was_shown: bool, folder: str | None) -> list[str]:
    """A call with its result: a line, and a glance at what came out."""
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
        return lines + [f"  {line}" for diff in ended.diffs for line in diff_lines(diff, inner, folder=folder)]
    return lines + [look.paint("dim", f"  {line}") for line in glance(call.name, ended, look)]


def glance(name: str, ended: ToolEnded, look: Look) -> list[str]:
    """The first lines of an output, and how much more there is."""
    output = ended.output
    if ended.images:
        return [f"{ended.images} image{'s' * (ended.images > 1)}"]
    if not output.size:
        return []
    if name in COUNTED:
        return [_amount(output)]
    head = safe(output.text[:LOOKED_AT_CHARS]).strip("\n").split("\n")
    shown = [cut(line, look.width - 2) for line in head[:SHOWN_LINES]]
    if len(head) > SHOWN_LINES or len(output.text) > LOOKED_AT_CHARS or output.left_out:
        shown.append(f"… {_amount(output)} in all")
    if ended.output_path:
        shown.append(one_line(f"all of it: {ended.output_path}", look.width - 2))
    return shown


def _amount(output: Kept) -> str:
    if output.left_out:
        return f"{size(output.size)} characters"
    count = output.text.count("\n") + (not output.text.endswith("\n"))
    return f"{count:,} line{'s' * (count != 1)}"


def _title(call: ToolCall, folder: str | None, look: Look, *, room: int) -> str:
    name = cut(safe(call.label or call.name), max(room // 2, 8))
    rest = one_line(nearer(call.about, folder), max(room - cells(name) - 1, 4)) if call.about else ""
    return f"{look.paint('bold', name)} {rest}".rstrip()
