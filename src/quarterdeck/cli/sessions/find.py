"""Which session is meant: by its id, the beginning of it, or its title."""

from __future__ import annotations

import re
import time
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from quarterdeck.cli.common import Trouble, cut, plain
from quarterdeck.client.transcripts import SDKSessionInfo, get_session_info, list_sessions
from quarterdeck.client.transcripts.listing import transcripts_in
from quarterdeck.client.transcripts.places import find_transcript, is_session_id, places_of

SHORT = 8
"""Characters of an id that nearly always suffice."""
_PREFIX = re.compile(r"[0-9a-fA-F][0-9a-fA-F-]*\Z")
_NAMED = 5
"""Sessions that an error names; more would hide what it says."""


def scope(given: Namespace) -> str | None:
    """The folder whose sessions are wanted; None for all of them."""
    if given.all:
        return None
    if given.project is not None:
        if not Path(given.project).is_dir():
            raise Trouble(
                f"there is no folder {plain(given.project)}",
                "give the folder that Claude Code worked in, or --all for every folder",
            )
        return str(given.project)
    return "."


def find(given: Namespace) -> SDKSessionInfo:
    """The session that ``given.id`` means. Raises ``Trouble`` for none and for several."""
    wanted = str(given.id).strip()
    folder = None if given.project is None else scope(given)
    if is_session_id(wanted):
        return _by_id(wanted.lower(), folder) or _by_id(wanted, folder) or _nothing(wanted, folder)
    if _PREFIX.match(wanted):
        ids = {found.session_id for place, _ in places_of(folder) for found in transcripts_in(place)}
        meant = sorted(one for one in ids if one.lower().startswith(wanted.lower()))
        if meant:
            infos = [info for one in meant[: _NAMED + 1] if (info := _by_id(one, folder)) is not None]
            return _only(infos, wanted, "ids begin", "type more of the id")
    return _by_title(wanted, folder)


def _by_id(session_id: str, folder: str | None) -> SDKSessionInfo | None:
    found = find_transcript(session_id, folder)
    if found is None:
        return None
    status = Path(found[0]).stat()
    bare = SDKSessionInfo(session_id, "(nothing was said)", int(status.st_mtime * 1000), status.st_size)
    return get_session_info(session_id, folder) or bare


def _by_title(wanted: str, folder: str | None) -> SDKSessionInfo:
    folded = wanted.casefold()
    sessions = [info for info in list_sessions(folder) if info.summary.casefold().startswith(folded)]
    exact = [info for info in sessions if info.summary.casefold() == folded]
    if not sessions or not wanted:
        return _nothing(wanted, folder)
    return _only(exact or sessions, wanted, "titles begin", "type the id in place of the title")


def _only(infos: list[SDKSessionInfo], wanted: str, what: str, advice: str) -> SDKSessionInfo:
    if len(infos) == 1:
        return infos[0]
    more = "\n    …" if len(infos) > _NAMED else ""
    rows = "".join(f"\n    {row}" for row in _rows(infos[:_NAMED]))
    raise Trouble(f"several {what} with {plain(wanted)!r}:{rows}{more}", f"{advice} of the one you mean")


def _rows(infos: Iterable[SDKSessionInfo]) -> Iterable[str]:
    return (f"{info.session_id}  {age(info.last_modified):>10}  {title(info, 40)}" for info in infos)


def _nothing(wanted: str, folder: str | None) -> SDKSessionInfo:
    where = f" of {plain(folder)}" if folder else ""
    raise Trouble(
        f"there is no session {plain(wanted)!r}{where}",
        "quarterdeck sessions list --all shows what there is; quarterdeck sessions search finds what was said",
    )


def title(info: SDKSessionInfo, width: int = 1000) -> str:
    """What to show of it on one line, harmless."""
    return cut(plain(info.summary[: width * 4], one_line=True), width)


def age(modified_ms: int, now_s: float | None = None) -> str:
    """How long ago, for people."""
    seconds = int((time.time() if now_s is None else now_s) - modified_ms / 1000)
    if seconds < 60:
        return "just now"
    for limit, unit, name in ((3600, 60, "min"), (86400, 3600, "h"), (30 * 86400, 86400, "d")):
        if seconds < limit:
            return f"{seconds // unit} {name} ago"
    return time.strftime("%Y-%m-%d", time.localtime(modified_ms / 1000))


def size(count: int | None) -> str:
    """Bytes for people."""
    amount = float(count or 0)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if amount >= 10 or unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
