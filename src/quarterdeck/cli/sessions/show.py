"""``sessions show``: a stored conversation in the terminal."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import deque
from collections.abc import Iterable, Iterator

import msgspec

from quarterdeck.cli.common import OK, Look, cells, cut, sanitize
from quarterdeck.cli.terminal.text import wrapped
from quarterdeck.timeline.items import Item, Notice, Prompt, Text, Thinking, ToolCall

from .conversation import conversation_items, diff_text
from .find import age, find, size, title

RESULT_LINES = 8
DIFF_LINES = 40
TAB = "    "


def show(given: Namespace) -> int:
    info = find(given)
    items: Iterable[Item] = conversation_items(info.session_id, given.project)
    if given.last is not None:
        items = deque(items, maxlen=given.last)
    if given.json:
        encoder = msgspec.json.Encoder()
        for item in items:
            print(encoder.encode(item).decode(errors="replace"))
        return OK
    look = Look.of(sys.stdout)
    print(look.paint("bold", title(info, look.width)))
    facts = [info.session_id, age(info.last_modified), size(info.file_size), info.cwd, info.git_branch, info.tag]
    print(look.paint("dim", cut(sanitize(" · ".join(filter(None, facts)), one_line=True), look.width)))
    for item in items:
        print("\n".join(lines_of(item, look, full=given.full)))
    return OK


def lines_of(item: Item, look: Look, *, full: bool) -> Iterator[str]:
    """The item as lines that fit the width; items of a sub-agent follow a bar."""
    bar = look.paint("dim", f"{look.sign('│', '|')} ") if item.parent_id else ""
    width = look.width - (2 if item.parent_id else 0)
    inner = Look(colour=look.colour, width=width, unicode=look.unicode)
    yield bar.rstrip()
    for line in _drawn(item, inner, full):
        yield f"{bar}{line}"


def _drawn(item: Item, look: Look, full: bool) -> Iterator[str]:
    match item:
        case Prompt():
            text = str(item.text) or f"[{', '.join(item.attachments)}]"
            for index, line in enumerate(_prose(text, look.width - 2)):
                yield look.paint("bold", f"{look.sign('›', '>') if not index else ' '} {line}")
        case Text():
            yield from _prose(str(item), look.width)
        case Thinking():
            yield from _thinking(item, look, full)
        case ToolCall():
            yield from _call(item, look, full)
        case Notice():
            text = item.text or f"[{item.kind}]"
            yield from (look.paint("dim", line) for line in _cut_lines(text, look, RESULT_LINES, full))


def _thinking(item: Thinking, look: Look, full: bool) -> Iterator[str]:
    if item.hidden or not str(item).strip():
        yield look.paint("dim italic", "thinking (not available)")
    elif full:
        yield from (look.paint("dim italic", line) for line in _prose(str(item), look.width))
    else:
        yield look.paint("dim italic", cut(f"thought: {sanitize(str(item)[:4000], one_line=True)}", look.width))


def _call(item: ToolCall, look: Look, full: bool) -> Iterator[str]:
    sign = {"failed": look.paint("red", look.sign("✗", "x")), "finished": look.paint("green", look.sign("✓", "+"))}
    name = cut(sanitize(item.label, one_line=True), look.width - 4)
    room = max(look.width - len(name) - 4, 0)
    about = cut(sanitize(item.about[: look.width * 8], one_line=True), room)
    yield f"{sign.get(item.status, look.sign('…', '?'))} {look.paint('cyan', name)} {about}".rstrip()
    for diff in item.diffs:
        for line in _cut_lines(diff_text(diff), look, DIFF_LINES, full):
            yield look.paint({"+": "green", "-": "red"}.get(line[2:3], "dim"), line)
    if item.output is not None and not (item.diffs and item.status == "finished"):
        style = "red" if item.status == "failed" else "dim"
        yield from (look.paint(style, line) for line in _cut_lines(str(item.output), look, RESULT_LINES, full))


def _cut_lines(text: str, look: Look, most: int, full: bool) -> Iterator[str]:
    """Indented; long text is truncated, with the number of omitted lines."""
    lines = sanitize(text.strip("\n")).replace("\t", TAB).split("\n")
    shown = lines if full or len(lines) <= most + 1 else lines[:most]
    for line in shown:
        yield f"  {line if full else cut(line, look.width - 2)}".rstrip()
    if len(shown) < len(lines):
        more = f"{look.sign('…', '...')} {len(lines) - len(shown):,} more lines (show them with --full)"
        yield f"  {cut(more, look.width - 2)}"


def _prose(text: str, width: int) -> Iterator[str]:
    """Wrapped to the width; code and lines that fit stay as they are."""
    in_code = False
    for line in sanitize(text.strip("\n")).replace("\t", TAB).split("\n"):
        fence = line.lstrip().startswith("```")
        in_code ^= fence
        if in_code or fence or cells(line) <= width:
            yield line
            continue
        yield from wrapped(line, max(width, 20))
