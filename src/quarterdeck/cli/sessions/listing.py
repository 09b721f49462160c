"""``sessions list`` and ``sessions search``."""

from __future__ import annotations

import json
import re
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby, islice
from pathlib import Path

from quarterdeck.cli.common import FAILED, OK, Look, ReportedError, cells, cut, padded, sanitize
from quarterdeck.client.transcripts import SDKSessionInfo, get_session_info, list_sessions, search_sessions

from .find import CLAUDE, SHORT, age, scope, size, title

DEFAULT_LIMIT = 30
"""Sessions listed without ``--limit``."""
WIDE = 90
"""Show the branch and the size from this width on."""
TITLE_ROOM = 12
"""Drop other columns rather than leave less room for the title."""


def show_list(given: Namespace) -> int:
    folder = scope(given)
    for_people = not (given.json or given.quiet)
    limit = given.limit if given.limit is not None else (DEFAULT_LIMIT if for_people else 0)
    sessions = _sessions(folder, given.tag, limit + 1 if limit else 0)
    shown = sessions[:limit] if limit else sessions
    if given.json:
        for info in shown:
            print(json.dumps(asdict(info)))
    elif given.quiet:
        print("".join(f"{info.session_id}\n" for info in shown), end="")
    elif not shown:
        print(_none_here(given))
    else:
        look = Look.of(sys.stdout)
        print("\n".join(table(shown, look, folders=folder is None)))
        if len(sessions) > len(shown):
            print(look.paint("dim", f"{look.sign('…', '...')} more; list all with --limit 0"))
    return OK


def _sessions(folder: str | None, tag: str | None, limit: int) -> Sequence[SDKSessionInfo]:
    if tag is None:
        return list_sessions(folder, limit or None)
    tagged = (info for info in list_sessions(folder) if info.tag == tag)
    return list(islice(tagged, limit or None))


def _none_here(given: Namespace) -> str:
    if given.tag is not None:
        tag = sanitize(given.tag)
        return f"No sessions with the tag {tag}. Add it with: quarterdeck sessions tag ID {tag}"
    agent = "" if given.agent == CLAUDE else f" --agent {given.agent}"
    if given.all:
        return f'No sessions yet. Start one with: quarterdeck run{agent} "hello"'
    where = sanitize(str(Path(given.project or ".").resolve()))
    return f"No sessions in {where}.\nList those of all folders with: quarterdeck sessions{agent} --all"


def table(sessions: Sequence[SDKSessionInfo], look: Look, *, folders: bool) -> list[str]:
    """One line per session, with as many columns as fit; the title comes last."""
    wide = look.width >= WIDE
    short = _unique_length([info.session_id for info in sessions])
    columns: list[tuple[str, str, list[str]]] = [
        ("ID", "cyan", [info.session_id[:short] for info in sessions]),
        ("CHANGED", "dim", [age(info.last_modified) for info in sessions]),
    ]
    if wide:
        columns.append(("SIZE", "dim", [size(info.file_size) for info in sessions]))
        columns.append(("BRANCH", "dim", [_column(info.git_branch, 16) for info in sessions]))
    if folders:
        columns.append(("FOLDER", "dim", [_folder(info.cwd, look.width // 5) for info in sessions]))
    columns.append(("TAG", "yellow", [_column(info.tag, 12) for info in sessions]))
    columns = [column for column in columns if any(column[2])]
    widths = [max(cells(text) for text in (name, *texts)) for name, _, texts in columns]
    while (room := look.width - sum(widths) - 2 * len(widths)) < TITLE_ROOM and len(columns) > 1:
        columns.pop()
        widths.pop()
    heads = "".join(f"{padded(name, width)}  " for (name, _, _), width in zip(columns, widths, strict=True))
    lines = [look.paint("bold", f"{heads}TITLE")]
    for index, info in enumerate(sessions):
        fields = (
            look.paint(style, padded(texts[index], width)) + "  "
            for (_, style, texts), width in zip(columns, widths, strict=True)
        )
        lines.append("".join(fields) + title(info, room))
    return lines


def _column(text: str | None, width: int) -> str:
    return cut(sanitize(text or "", one_line=True), width)


def _unique_length(ids: Sequence[str]) -> int:
    return next(length for length in range(SHORT, 37) if len({one[:length] for one in ids}) == len(ids) or length == 36)


def _folder(path: str | None, width: int) -> str:
    """The end of a path, which says more than its start."""
    text = sanitize(path or "", one_line=True)
    home = str(Path.home())
    if text == home or text.startswith(f"{home}/"):
        text = f"~{text[len(home) :]}"
    if cells(text) <= width:
        return text
    parts = text.split("/")
    while len(parts) > 1 and cells("…/" + "/".join(parts)) > width:
        parts.pop(0)
    return cut("…/" + "/".join(parts), width)


def show_hits(given: Namespace) -> int:
    if not given.text:
        raise ReportedError("the search text is empty", "Example: quarterdeck sessions search deadlock")
    hits = search_sessions(given.text, scope(given), limit=given.limit or None, case_sensitive=given.case_sensitive)
    look = Look.of(sys.stdout)
    count = 0
    for session_id, group in groupby(hits, key=lambda hit: hit.session_id):
        if not given.json:
            info = get_session_info(session_id)
            when = f"  {look.paint('dim', age(info.last_modified))}" if info else ""
            name = title(info, max(look.width - 24, 10)) if info else ""
            print(f"{look.paint('cyan', session_id[:SHORT])}{when}  {look.paint('bold', name)}", flush=True)
        for hit in group:
            count += 1
            if given.json:
                print(json.dumps(asdict(hit)), flush=True)
            else:
                speaker = "user" if hit.type == "user" else "claude"
                print(f"  {look.paint('dim', padded(speaker, 6))}  {_excerpt(hit.excerpt, given, look)}", flush=True)
    if not count and not given.json:
        everywhere = "" if given.all else " Search all folders with --all."
        print(f"No matches for {sanitize(given.text, one_line=True)!r}.{everywhere}")
    elif given.limit and count >= given.limit and not given.json:
        print(look.paint("dim", f"First {count} matches; show all with --limit 0."))
    return OK if count else FAILED


def _excerpt(text: str, given: Namespace, look: Look) -> str:
    """With the match in bold, never cut off: the text before it is shortened first."""
    shown = sanitize(text, one_line=True)
    wanted = re.compile(re.escape(sanitize(given.text, one_line=True)), 0 if given.case_sensitive else re.IGNORECASE)
    room = max(look.width - 10, 20)
    found = wanted.search(shown)
    if found and cells(shown[: found.end()]) > room:
        start = min(found.start() - room // 3, len(shown) - room + 1)
        shown = "…" + shown[max(start, 0) :]
    return wanted.sub(lambda match: look.paint("bold yellow", match.group()), cut(shown, room))
