"""Where transcripts lie: ``<config>/projects/<the folder's path with hyphens>/<session id>.jsonl``.

The config folder is ``$CLAUDE_CONFIG_DIR`` or ``~/.claude``. Sub-agents of a session have files of their own below
``<session id>/subagents/``. The worktrees of one git repository are one project to a person, so a search in one of
them goes on in the others.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CONFIG_DIR = "CLAUDE_CONFIG_DIR"
LONGEST_NAME = 200
"""Longer names are cut here and get a hash instead of the rest."""
GIT_LIMIT_S = 5.0
"""For ``git worktree list``, which reads a handful of small files; a network disk may be slow."""
SUFFIX = ".jsonl"

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z", re.IGNORECASE)
_OTHER_CHARACTER = re.compile(r"[^a-zA-Z0-9]")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_REPOSITORY_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE")
"""Set inside git hooks; they would make git speak of another repository than the folder's."""


def is_session_id(text: str) -> bool:
    return _UUID.match(text) is not None


def check_session_id(text: str, name: str = "session_id") -> None:
    """Raises ``ValueError``. An id becomes a file name, so nothing else may pass."""
    if not is_session_id(text):
        raise ValueError(f"Invalid {name}: {text} (it must be a UUID)")


_started_with: ContextVar[Mapping[str, str] | None] = ContextVar("_started_with", default=None)


@contextmanager
def started_with(env: Mapping[str, str]) -> Iterator[None]:
    """Within this, transcripts are those of a CLI that is started with ``env``, unless a call says otherwise."""
    before = _started_with.set(env)
    try:
        yield
    finally:
        _started_with.reset(before)


def config_dir(env: Mapping[str, str] | None = None) -> str:
    """Of a CLI that is started with ``env`` on top of our environment."""
    given = env or _started_with.get() or {}
    chosen = given.get(CONFIG_DIR) or os.environ.get(CONFIG_DIR)
    if not chosen:
        home = given.get("HOME") or os.path.expanduser("~")  # noqa: PTH111  # pathlib is half a megabyte
        chosen = os.path.join(home, ".claude")  # noqa: PTH118  # strings: listing makes ten thousand of them
    return unicodedata.normalize("NFC", chosen)


def projects_dir(env: Mapping[str, str] | None = None) -> str:
    return os.path.join(config_dir(env), "projects")  # noqa: PTH118


def canonical(directory: str | os.PathLike[str]) -> str:
    """The path as the CLI writes it down: links resolved, letters composed."""
    return unicodedata.normalize("NFC", os.path.realpath(directory))


def project_key_for_directory(directory: str | Path | None = None) -> str:
    """The name of a folder's project, on disk and in a session store. None is the working directory."""
    return project_name(canonical("." if directory is None else directory))


def project_name(path: str) -> str:
    """The name of a project's folder: every character but letters and digits is a hyphen."""
    name = _OTHER_CHARACTER.sub("-", path)
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}-{_hash(path)}"


def _hash(text: str) -> str:
    """The 32-bit hash that JavaScript programs use, in base 36."""
    value = 0
    for character in text:
        value = (value * 31 + ord(character)) & 0xFFFFFFFF
    if value >= 0x80000000:
        value = 0x100000000 - value
    digits = ""
    while value:
        value, digit = divmod(value, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def _project_folders() -> list[str]:
    """All folders with transcripts, links to folders too, in the order of the disk; none if they cannot be read."""
    try:
        with os.scandir(projects_dir()) as entries:
            return [entry.path for entry in entries if entry.is_dir()]
    except OSError:
        return []


def find_project(path: str) -> str | None:
    """The folder that has the transcripts of ``path``, a canonical path."""
    name = project_name(path)
    exact = os.path.join(projects_dir(), name)  # noqa: PTH118
    if os.path.isdir(exact):  # noqa: PTH112
        return exact
    if len(name) <= LONGEST_NAME:
        return None
    # The CLI hashes long paths by another function when it runs on Bun, so the cut name has to do.
    start = name[: LONGEST_NAME + 1]
    return next((found for found in _project_folders() if _name(found).startswith(start)), None)


def work_trees(path: str) -> list[str]:
    """All worktrees of the repository that ``path`` is in; none where there is no repository or no git."""
    import subprocess  # not needed by most, and large

    env = {name: value for name, value in os.environ.items() if name not in _REPOSITORY_VARIABLES}
    try:
        asked = subprocess.run(
            ["git", "worktree", "list", "--porcelain"],
            cwd=path,
            env=env,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=GIT_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    if asked.returncode:
        return []
    named = (line.removeprefix("worktree ") for line in asked.stdout.split("\n") if line.startswith("worktree "))
    return [unicodedata.normalize("NFC", path) for path in named]


def projects_of(directory: str | None, *, include_worktrees: bool = True) -> Sequence[tuple[str, str | None]]:
    """(folder with transcripts, path of the project) for a folder and the worktrees of its repository.

    Without a folder: all projects. Their paths are not known.
    """
    if not directory:
        return [(folder, None) for folder in _project_folders()]
    path = canonical(directory)
    trees = work_trees(path) if include_worktrees else []
    own = find_project(path)
    found = [] if own is None else [(own, path)]
    if len(trees) > 1:
        found += _of_work_trees(trees, {_fold(_name(own))} if own else set())
    return found


def _of_work_trees(trees: list[str], seen: set[str]) -> Iterator[tuple[str, str]]:
    named = sorted(((_fold(project_name(tree)), tree) for tree in trees), key=lambda pair: -len(pair[0]))
    for folder in _project_folders():
        name = _fold(_name(folder))
        if name in seen:
            continue
        for start, tree in named:
            # A full-length name may end with another hash; a shorter one is how other projects' names begin.
            if name == start or (len(start) >= LONGEST_NAME and name.startswith(start + "-")):
                seen.add(name)
                yield folder, tree
                break


def _fold(name: str) -> str:
    return name.lower() if sys.platform == "win32" else name


def _name(path: str) -> str:
    return os.path.basename(path)  # noqa: PTH119


def places_of(directory: str | None) -> Iterator[tuple[str, str | None]]:
    """Where a session may be, likeliest first: (folder with transcripts, path of the project if known)."""
    if not directory:
        yield from projects_of(None)
        return
    path = canonical(directory)
    own = find_project(path)
    if own is not None:
        yield own, path
    for tree in work_trees(path):
        if tree != path and (other := find_project(tree)) is not None:
            yield other, tree


def find_transcripts(session_id: str, directory: str | None) -> Iterator[tuple[str, str | None]]:
    """(file, path of the project if known) of each place that has the session; an empty file is none."""
    for folder, project in places_of(directory):
        path = os.path.join(folder, session_id + SUFFIX)  # noqa: PTH118
        try:
            status = os.stat(path)  # noqa: PTH116
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode) and status.st_size:  # a pipe would make the reader wait for ever
            yield path, project


def find_transcript(session_id: str, directory: str | None) -> tuple[str, str | None] | None:
    """(file, path of the project if known) of a session. An empty file does not count: the real one may
    be elsewhere."""
    return next(find_transcripts(session_id, directory), None)
