"""Find a session by id, unique prefix or title."""

from __future__ import annotations

import os
import re
import shlex
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from quarterdeck.cli.common import FAILED, USAGE_ERROR, ReportedError, cut, sanitize
from quarterdeck.cli.common.resolving import LONGER_PREFIX, matching
from quarterdeck.client.transcripts import SDKSessionInfo, get_session_info, list_sessions
from quarterdeck.client.transcripts.listing import transcripts_in
from quarterdeck.client.transcripts.places import CONFIG_DIR, find_transcript, is_session_id, places_of

CLAUDE, SIMULATOR = "claude", "sim"
"""Values of ``--agent``; any other is a path."""
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
    """The session that ``given.id`` names. Raises ``ReportedError`` if there is none, or more than one."""
    wanted = str(given.id).strip()
    folder = None if given.project is None else scope(given)
    found = _find(wanted, folder)
    if found is None:
        raise _not_found(wanted, folder, given.agent)
    return found


def session_to_resume(wanted: str, folder: str, *, agent: str, command: str) -> str:
    """The id for ``--resume``: sessions of ``folder`` come first, then those of all folders, as in the CLI.

    ``agent`` is the value of ``--agent``. A full id that is not on this machine is passed on to an agent that is a
    path: it may keep its sessions elsewhere.
    """
    wanted = wanted.strip()
    with sessions_of(agent):
        found = _find(wanted, folder, code=USAGE_ERROR) or _find(wanted, None, code=USAGE_ERROR)
    if found is not None:
        return found.session_id
    if is_session_id(wanted) and agent not in (CLAUDE, SIMULATOR):
        return wanted
    raise _not_a_session(wanted, command, agent) if " " in wanted else _not_found(wanted, None, agent, code=USAGE_ERROR)


def _not_a_session(wanted: str, command: str, agent: str) -> ReportedError:
    quoted = shlex.quote(wanted)
    command += "" if agent == CLAUDE else f" --agent {shlex.quote(agent)}"
    return ReportedError(
        f"no session has the title {wanted!r}",
        f"If this is the prompt, put it first: quarterdeck {command} {quoted} --resume\n"
        f"  To resume a specific session: quarterdeck {command} --resume ID {quoted}",
        code=USAGE_ERROR,
    )


@contextmanager
def sessions_of(agent: str) -> Iterator[None]:
    """Within this block, sessions are those of ``agent``: the simulator has a separate folder."""
    if agent != SIMULATOR:
        yield
        return
    from quarterdeck.testing.simulated import simulator_home

    before = os.environ.get(CONFIG_DIR)
    os.environ[CONFIG_DIR] = str(simulator_home(os.environ))
    try:
        yield
    finally:
        if before is None:
            del os.environ[CONFIG_DIR]
        else:
            os.environ[CONFIG_DIR] = before


def _find(wanted: str, folder: str | None, *, code: int = FAILED) -> SDKSessionInfo | None:
    if is_session_id(wanted):
        return _by_id(wanted.lower(), folder) or _by_id(wanted, folder)
    if _PREFIX.match(wanted):
        ids = {found.session_id for place, _ in places_of(folder) for found in transcripts_in(place)}
        meant = sorted(one for one in ids if one.lower().startswith(wanted.lower()))
        if meant:
            infos = [info for one in meant[: _NAMED + 1] if (info := _by_id(one, folder)) is not None]
            return _only(_nearest(infos, folder), wanted, "ids start", LONGER_PREFIX, code)
    return _by_title(wanted, folder, code)


def _by_id(session_id: str, folder: str | None) -> SDKSessionInfo | None:
    found = find_transcript(session_id, folder)
    if found is None:
        return None
    status = Path(found[0]).stat()
    bare = SDKSessionInfo(session_id, "(empty)", int(status.st_mtime * 1000), status.st_size)
    return get_session_info(session_id, folder) or bare


def _by_title(wanted: str, folder: str | None, code: int) -> SDKSessionInfo | None:
    found = matching(wanted, list_sessions(folder), ids=lambda _: (), title=lambda info: info.summary)
    return _only(_nearest(found, folder), wanted, "titles start", "Use an ID instead.", code) if found else None


def _nearest(infos: list[SDKSessionInfo], folder: str | None) -> list[SDKSessionInfo]:
    """Of several sessions anywhere, those of this folder, if there are any: they are what ``list`` shows."""
    if folder is not None or len(infos) < 2:
        return infos
    here = {info.session_id for info in list_sessions(".")}
    return [info for info in infos if info.session_id in here] or infos


def _only(infos: list[SDKSessionInfo], wanted: str, what: str, advice: str, code: int) -> SDKSessionInfo:
    if len(infos) == 1:
        return infos[0]
    more = "\n    …" if len(infos) > _NAMED else ""
    rows = "".join(f"\n    {row}" for row in _rows(infos[:_NAMED]))
    raise ReportedError(f"several {what} with {sanitize(wanted)!r}:{rows}{more}", advice, code=code)


def _rows(infos: Iterable[SDKSessionInfo]) -> Iterable[str]:
    return (f"{info.session_id}  {age(info.last_modified):>10}  {title(info, 40)}" for info in infos)


def _not_found(wanted: str, folder: str | None, agent: str, *, code: int = FAILED) -> ReportedError:
    where = f" in {sanitize(folder)}" if folder else ""
    told = f"no such session{where}: {sanitize(wanted)!r}"
    other = CLAUDE if agent == SIMULATOR else SIMULATOR
    with sessions_of(other):
        elsewhere = bool(wanted) and _exists(wanted)
    if elsewhere and other == SIMULATOR:
        return ReportedError(told, "It is a session of the simulator. Add --agent sim.", code=code)
    if elsewhere:
        return ReportedError(told, "It is a session of Claude Code, not of the simulator. Omit --agent sim.", code=code)
    flag = f" --agent {SIMULATOR}" if agent == SIMULATOR else ""
    return ReportedError(
        told,
        f"Run quarterdeck sessions list{flag} --all to list sessions, "
        f"or quarterdeck sessions search{flag} TEXT to find one.",
        code=code,
    )


def _exists(wanted: str) -> bool:
    try:
        return _find(wanted, None) is not None
    except ReportedError:  # there are even several
        return True


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
