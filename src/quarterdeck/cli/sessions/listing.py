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
from quarterdeck.cli.common.table import Column, one_line, path_end, short_ids
from quarterdeck.cli.common.table import table as aligned
from quarterdeck.client.transcripts import SDKSessionInfo, get_session_info, list_sessions, search_sessions

from .find import CLAUDE, SHORT, age, scope, size, title

DEFAULT_LIMIT = 30
"""Sessions listed without ``--limit``."""
WIDE = 90
"""Show the branch and the size from this width on."""


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
    columns = [
        Column("ID", short_ids([info.session_id for info in sessions]), "cyan"),
        Column("CHANGED", [age(info.last_modified) for info in sessions], "dim"),
    ]
    if wide:
        columns.append(Column("SIZE", [size(info.file_size) for info in sessions], "dim"))
        columns.append(Column("BRANCH", [one_line(info.git_branch, 16) for info in sessions], "dim"))
    if folders:
        room, home = look.width // 5, str(Path.home())
        columns.append(Column("FOLDER", [path_end(info.cwd, room, home=home) for info in sessions], "dim"))
    columns.append(Column("TAG", [one_line(info.tag, 12) for info in sessions], "yellow"))
    return aligned(columns, Column("TITLE", [title(info) for info in sessions]), look)


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
