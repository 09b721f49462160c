"""Folders, room, limits and the clock of this machine."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from quarterdeck.client.transcripts.places import config_dir

from .finding import Finding, Level

MEGABYTE = 1_000_000
LITTLE_ROOM = 200 * MEGABYTE
NO_ROOM = 20 * MEGABYTE
"""One long session fills this."""
FEW_FILES = 1024
TOO_FEW_FILES = 256
"""The CLI alone opens about a hundred."""
SENSIBLE_YEAR = 2025
"""No certificate of today was valid before."""


def machine(env: Mapping[str, str]) -> list[Finding]:
    return [
        *_home(env),
        *_folder("config-folder", "the CLI's folder", Path(config_dir(env))),
        *_temporary(),
        *_open_files(),
        *_clock(time.time()),
        *_git(env),
        *_root(),
    ]


def _home(env: Mapping[str, str]) -> Iterator[Finding]:
    home = env.get("HOME")
    if home is not None and not Path(home).is_dir():
        yield Finding("machine", "home", "problem", f"HOME names no folder: {home}", "set HOME to your folder")


def _folder(identifier: str, name: str, folder: Path) -> Iterator[Finding]:
    """Can files be made in it, or it itself be made?"""
    there = next((place for place in (folder, *folder.parents) if place.exists()), Path("/"))
    if there == folder and not folder.is_dir():
        advice = f"move the file {folder} away"
        yield Finding("machine", identifier, "problem", f"{name} {folder} is a file", advice)
    elif not os.access(there, os.W_OK | os.X_OK):
        what = f"{name} {folder} cannot be written to"
        yield Finding("machine", identifier, "problem", what, f"check who owns {there}, or set CLAUDE_CONFIG_DIR")
    else:
        yield _room(identifier, f"{name} {folder}", there)


def _room(identifier: str, name: str, place: Path) -> Finding:
    free = shutil.disk_usage(place).free
    told = f"{name}: {free / MEGABYTE:,.0f} MB free"
    if free < NO_ROOM:
        return Finding("machine", identifier, "problem", told, "free some space on that disk")
    if free < LITTLE_ROOM:
        return Finding("machine", identifier, "warning", told, "free some space on that disk soon")
    return Finding("machine", identifier, "ok", told)


def _temporary() -> Iterator[Finding]:
    try:
        place = Path(tempfile.gettempdir())
    except FileNotFoundError:  # what tempfile raises when it has tried all of them
        what = "no folder for temporary files can be written to"
        yield Finding("machine", "temporary-folder", "problem", what, "set TMPDIR to a folder that is yours")
        return
    yield from _folder("temporary-folder", "temporary files in", place)
    if hasattr(os, "statvfs") and os.statvfs(place).f_flag & getattr(os, "ST_NOEXEC", 0):
        what = f"programs in {place} are not run (noexec): launchers made there do not start"
        advice = "set TMPDIR to a folder on another disk"
        yield Finding("machine", "temporary-noexec", "warning", what, advice)


def _open_files() -> Iterator[Finding]:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= FEW_FILES:
        yield Finding(
            "machine", "open-files", "ok", f"a process may open {'any number of' if soft < 0 else soft} files"
        )
        return
    level: Level = "problem" if soft < TOO_FEW_FILES else "warning"
    more = "as many as you like" if hard == resource.RLIM_INFINITY else f"at most {hard} here"
    advice = f"ulimit -n {FEW_FILES} before you start ({more})"
    yield Finding("machine", "open-files", level, f"a process may open only {soft} files", advice)


def _clock(now_s: float) -> Iterator[Finding]:
    year = time.gmtime(now_s).tm_year
    if year < SENSIBLE_YEAR:
        what = f"the clock says {year}: no certificate is valid then, so nothing can connect"
        yield Finding("machine", "clock", "problem", what, "set the clock")


def _git(env: Mapping[str, str]) -> Iterator[Finding]:
    if shutil.which("git", path=env.get("PATH")) is None:
        what = "git is not in PATH: work trees of a repository are not seen as one project"
        yield Finding("machine", "git", "warning", what, "install git")


def _root() -> Iterator[Finding]:
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        what = "this is root: the CLI refuses the mode bypassPermissions, and files it makes belong to root"
        yield Finding("machine", "root", "warning", what, "use an account of your own, or a container made for this")
