"""Find a session by id, unique prefix or title."""

from __future__ import annotations

import re
import time
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from quarterdeck.cli.common import ReportedError, cut, sanitize
from quarterdeck.client.transcripts import SDKSessionInfo, get_session_info, list_sessions
from quarterdeck.client.transcripts.listing import transcripts_in
from quarterdeck.client.transcripts.places import find_transcript, is_session_id, places_of

SHORT = 8
"""Characters of an id that are nearly always unique."""
_PREFIX = re.compile(r"[0-9a-fA-F][0-9a-fA-F-]*\Z")
_NAMED = 5
"""How many sessions an error lists."""


def scope(given: Namespace) -> str | None:
    """The folder whose sessions to use; None for all folders."""
    if given.all:
        return None
    if given.project is not None:
        if not Path(given.project).is_dir():
            raise ReportedError(
                f"no such folder: {sanitize(given.project)}",
                "Use the folder that Claude Code worked in, or --all for all folders.",
            )
        return str(given.project)
    return "."


def find(given: Namespace) -> SDKSessionInfo:
    """The session with ``given.id``. Raises ``ReportedError`` if there is none, or more than one."""
    wanted = str(given.id).strip()
    folder = None if given.project is None else scope(given)
    if is_session_id(wanted):
        return _by_id(wanted.lower(), folder) or _by_id(wanted, folder) or _not_found(wanted, folder)
    if _PREFIX.match(wanted):
        ids = {found.session_id for place, _ in places_of(folder) for found in transcripts_in(place)}
        meant = sorted(one for one in ids if one.lower().startswith(wanted.lower()))
        if meant:
            infos = [info for one in meant[: _NAMED + 1] if (info := _by_id(one, folder)) is not None]
            return _only(infos, wanted, "ids start", "Use more of the ID.")
    return _by_title(wanted, folder)


def _by_id(session_id: str, folder: str | None) -> SDKSessionInfo | None:
    found = find_transcript(session_id, folder)
    if found is None:
        return None
    status = Path(found[0]).stat()
    bare = SDKSessionInfo(session_id, "(empty)", int(status.st_mtime * 1000), status.st_size)
    return get_session_info(session_id, folder) or bare


def _by_title(wanted: str, folder: str | None) -> SDKSessionInfo:
    folded = wanted.casefold()
    sessions = [info for info in list_sessions(folder) if info.summary.casefold().startswith(folded)]
    exact = [info for info in sessions if info.summary.casefold() == folded]
    if not sessions or not wanted:
        return _not_found(wanted, folder)
    return _only(exact or sessions, wanted, "titles start", "Use an ID instead.")


def _only(infos: list[SDKSessionInfo], wanted: str, what: str, advice: str) -> SDKSessionInfo:
    if len(infos) == 1:
        return infos[0]
    more = "\n    …" if len(infos) > _NAMED else ""
    rows = "".join(f"\n    {row}" for row in _rows(infos[:_NAMED]))
    raise ReportedError(f"several {what} with {sanitize(wanted)!r}:{rows}{more}", advice)


def _rows(infos: Iterable[SDKSessionInfo]) -> Iterable[str]:
    return (f"{info.session_id}  {age(info.last_modified):>10}  {title(info, 40)}" for info in infos)


def _not_found(wanted: str, folder: str | None) -> SDKSessionInfo:
    where = f" in {sanitize(folder)}" if folder else ""
    raise ReportedError(
        f"no such session{where}: {sanitize(wanted)!r}",
        "Run quarterdeck sessions list --all to list sessions, or quarterdeck sessions search TEXT to find one.",
    )


def title(info: SDKSessionInfo, width: int = 1000) -> str:
    """Its title on one line, sanitized."""
    return cut(sanitize(info.summary[: width * 4], one_line=True), width)


def age(modified_ms: int, now_s: float | None = None) -> str:
    """How long ago, in words."""
    seconds = int((time.time() if now_s is None else now_s) - modified_ms / 1000)
    if seconds < 60:
        return "just now"
    for limit, unit, name in ((3600, 60, "min"), (86400, 3600, "h"), (30 * 86400, 86400, "d")):
        if seconds < limit:
            return f"{seconds // unit} {name} ago"
    return time.strftime("%Y-%m-%d", time.localtime(modified_ms / 1000))


def size(count: int | None) -> str:
    """A number of bytes with its unit."""
    amount = float(count or 0)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if amount >= 10 or unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
