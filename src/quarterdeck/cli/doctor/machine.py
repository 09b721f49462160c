"""This machine: folders, disk space, limits, the clock; and the Python packages installed."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from quarterdeck import __version__
from quarterdeck.client.transcripts.places import config_dir

from .findings import DoctorFinding, Level

_finding = partial(DoctorFinding, "machine")
_python_finding = partial(DoctorFinding, "Python")
MEGABYTE = 1_000_000
LOW_SPACE_BYTES = 200 * MEGABYTE
NO_SPACE_BYTES = 20 * MEGABYTE
"""One long session fills this."""
FEW_FILES = 1024
TOO_FEW_FILES = 256
"""The CLI itself opens about a hundred."""
EARLIEST_YEAR = 2025
"""No certificate in use today was valid before."""
MSGSPEC = (0, 20)
EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "terminal": (("rich", "prompt_toolkit"), "Markdown and line editing in run and chat"),
    "policy": (("tree_sitter", "tree_sitter_bash"), "rules for shell commands"),
    "testing": (("yaml",), "YAML scenarios"),
    "mcp": (("mcp",), "MCP servers built with the mcp package"),
    "otel": (("opentelemetry",), "tracing"),
}
"""Extra → (modules, what it is for)."""


def machine(env: Mapping[str, str]) -> list[DoctorFinding]:
    return [
        *_home(env),
        *_folder("config-folder", "Config folder", Path(config_dir(env))),
        *_temporary(),
        *_open_files(),
        *_clock(time.time()),
        *_git(env),
        *_root(),
    ]


def _home(env: Mapping[str, str]) -> Iterator[DoctorFinding]:
    home = env.get("HOME")
    if home is not None and not Path(home).is_dir():
        yield _finding("home", "problem", f"HOME is not a folder: {home}.", "Set HOME to your home folder.")


def _folder(identifier: str, name: str, folder: Path) -> Iterator[DoctorFinding]:
    """Can we write to it, or create it?"""
    there = next((place for place in (folder, *folder.parents) if place.exists()), Path("/"))
    if there == folder and not folder.is_dir():
        advice = f"Move the file {folder} away."
        yield _finding(identifier, "problem", f"{name} {folder} is a file.", advice)
    elif not os.access(there, os.W_OK | os.X_OK):
        what = f"{name} {folder} is not writable."
        yield _finding(identifier, "problem", what, f"Check who owns {there}, or set CLAUDE_CONFIG_DIR.")
    else:
        yield _disk_space(identifier, f"{name} {folder}", there)


def _disk_space(identifier: str, name: str, place: Path) -> DoctorFinding:
    free = shutil.disk_usage(place).free
    what = f"{name}: {free / MEGABYTE:,.0f} MB free."
    if free < NO_SPACE_BYTES:
        return _finding(identifier, "problem", what, "Free some disk space.")
    if free < LOW_SPACE_BYTES:
        return _finding(identifier, "warning", what, "Free some disk space soon.")
    return _finding(identifier, "ok", what)


def _temporary() -> Iterator[DoctorFinding]:
    try:
        place = Path(tempfile.gettempdir())
    except FileNotFoundError:  # tempfile has tried every candidate
        what = "No writable folder for temporary files."
        yield _finding("temporary-folder", "problem", what, "Set TMPDIR to a folder you can write to.")
        return
    yield from _folder("temporary-folder", "Temporary folder", place)
    if hasattr(os, "statvfs") and os.statvfs(place).f_flag & getattr(os, "ST_NOEXEC", 0):
        what = f"{place} is mounted noexec: launchers created there can't run."
        advice = "Set TMPDIR to a folder on another disk."
        yield _finding("temporary-noexec", "warning", what, advice)


def _open_files() -> Iterator[DoctorFinding]:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= FEW_FILES:
        yield _finding("open-files", "ok", f"A process may open {'any number of' if soft < 0 else soft} files.")
        return
    level: Level = "problem" if soft < TOO_FEW_FILES else "warning"
    most = "no maximum" if hard == resource.RLIM_INFINITY else f"maximum here: {hard}"
    advice = f"Raise the limit first: ulimit -n {FEW_FILES} ({most})"
    yield _finding("open-files", level, f"A process may open only {soft} files.", advice)


def _clock(now_s: float) -> Iterator[DoctorFinding]:
    year = time.gmtime(now_s).tm_year
    if year < EARLIEST_YEAR:
        what = f"The clock says {year}, so TLS certificates look invalid and connections fail."
        yield _finding("clock", "problem", what, "Set the clock.")


def _git(env: Mapping[str, str]) -> Iterator[DoctorFinding]:
    if shutil.which("git", path=env.get("PATH")) is None:
        what = "git is not in PATH: the worktrees of a repository are not recognised as one project."
        yield _finding("git", "warning", what, "Install git.")


def _root() -> Iterator[DoctorFinding]:
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        what = "Running as root: the CLI refuses bypassPermissions, and files it creates belong to root."
        yield _finding("root", "warning", what, "Use your own account, or a container.")


def python() -> list[DoctorFinding]:
    what = f"Python {platform.python_version()}, quarterdeck {__version__}, msgspec {_version('msgspec')}"
    return [
        _python_finding("python", "ok", what, details={"executable": sys.executable}),
        *_msgspec(),
        *_extras(),
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _msgspec() -> Iterator[DoctorFinding]:
    found = _version("msgspec")
    numbers = tuple(int(part) for part in found.split(".")[:2] if part.isdecimal())
    if len(numbers) == 2 and numbers < MSGSPEC:
        advice = "pip install --upgrade msgspec"
        yield _python_finding("msgspec", "problem", f"msgspec {found} is too old; quarterdeck needs 0.20.", advice)


def _extras() -> Iterator[DoctorFinding]:
    for extra, (modules, purpose) in EXTRAS.items():
        missing = [module for module in modules if not _is_installed(module)]
        if missing:
            what = f"{', '.join(missing)}: not installed, needed for {purpose}."
            advice = f"If you need it: pip install 'quarterdeck[{extra}]'"
            yield _python_finding(f"extra-{extra}", "warning", what, advice, {"missing": missing})


def _is_installed(module: str) -> bool:
    return find_spec(module) is not None
