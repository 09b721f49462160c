"""Git worktrees next to a repository, each with its own branch."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from .errors import HostError
from .folders import open_inside
from .git import CHECKOUT_S, git, has_no_changes, is_repository, matching

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Made(NamedTuple):
    """A new worktree."""

    shown: dict[str, Any]
    top: Path
    """The repository's own folder."""
    is_new: bool
    """Whether we created it."""


def new_worktree(
    may_use: Callable[[Path], bool],
    cwd: str,
    name: str,
    base: str | None = None,
    field: str = "name",
    *,
    again: bool = False,
) -> Made:
    """Create a worktree for the repository of ``cwd``. Blocks. If it raises ``HostError``, nothing is left.

    ``may_use`` checks a folder: a ``.git`` file can name a repository anywhere, and the worktree goes next to that one.
    ``again``: it may have been created before a crash, so reuse an untouched one.
    """
    if _NAME.fullmatch(name) is None:
        raise HostError("invalid", f"{name!r} is not a valid name for a worktree.", field=field)
    if base is not None and base.startswith("-"):
        raise HostError("invalid", f"{base!r} is not a commit.", field="base")
    top = main_worktree(cwd)
    path = top.with_name(f"{top.name}-{name}")
    for folder in (top.resolve(), path.resolve()):
        if not may_use(folder):
            raise HostError("folder_not_allowed", f"Sessions are not allowed in {folder}.", field=field)
    is_new = not (again and _is_begun(top, path, name, base))
    if is_new:
        git(str(top), "worktree", "add", "--quiet", "--no-checkout", "-b", name, str(path), base or "HEAD")
    is_empty = True
    try:
        is_empty = not _index(path).exists()
        if is_empty:  # by itself, from inside: a configuration may hold for this worktree alone, and name filters
            git(str(path), "reset", "--hard", "--quiet", within_s=CHECKOUT_S)
        copy_included(top, path)
        return Made(next(one for one in _listed(str(top)) if one["path"] == str(path.resolve())), top, is_new)
    except BaseException as error:
        if is_new or is_empty:
            take_back(top, path, name)
        if isinstance(error, OSError):
            raise HostError("unavailable", f"The worktree could not be checked out: {error}") from error
        raise


def take_back(top: Path, path: Path, name: str) -> None:
    """Remove an unused worktree and its branch. Blocks."""
    git(str(top), "worktree", "remove", "--force", "--force", str(path), check=False, also_in=[str(path)])
    git(str(top), "branch", "--quiet", "-D", name, check=False)


def removal_note(top: Path, path: str) -> str:
    """What ``finish_removal`` needs: the repository, and what identifies this worktree among others of its name."""
    git_file = Path(path, ".git").lstat()
    return f"{git_file.st_ino}-{git_file.st_mtime_ns} {top}"


def finish_removal(path: str, note: str, begun_at: float) -> bool:
    """Finish a removal that a crash interrupted; returns whether the worktree is gone. Blocks; raises ``HostError``.

    The folder may be left without its ``.git``: the rest is removed, unless it contains a newer file.
    """
    folder, top = Path(path), note.partition(" ")[2]
    if os.path.lexists(folder / ".git"):
        return removal_note(Path(top), path) != note  # another one has been made since
    listed = {one["path"] for one in _listed(top)} if Path(top).is_dir() else set()
    if folder.exists() and path not in listed:
        return False  # somebody else's
    for parent, _, names in os.walk(folder):
        newer = [name for name in names if Path(parent, name).lstat().st_mtime > begun_at]
        if newer:
            raise HostError(
                "conflict", f"{path} was only partly removed and has new changes: {newer[0]}.", field="path"
            )
    shutil.rmtree(folder, ignore_errors=True)
    if path in listed:
        git(top, "worktree", "remove", "--force", "--force", path)
    return True


def _index(path: Path) -> Path:
    return path / git(str(path), "rev-parse", "--git-path", "index").removesuffix("\n")


def _is_begun(top: Path, path: Path, name: str, base: str | None) -> bool:
    """Whether it exists and is untouched."""
    wanted = git(str(top), "rev-parse", "--verify", "--quiet", f"{base or 'HEAD'}^{{commit}}", check=False).strip()
    there = [one for one in _listed(str(top)) if one["path"] == str(path.resolve())]
    if not there or (there[0]["branch"], there[0]["commit"]) != (name, wanted):
        return False
    return not _index(path).exists() or has_no_changes(str(path))


INCLUDE = ".worktreeinclude"
INCLUDED_FILES = 2_000
INCLUDED_BYTES = 256 * 1024 * 1024
"""Limit on what is copied into a new worktree: meant for a few uncommitted files, e.g. ``.env``."""
INCLUDE_BYTES = 1024 * 1024
"""Limit on the file of patterns, and on the names of files that match."""


def copy_included(top: Path, target: Path) -> None:
    """Copy untracked and ignored files that match ``.worktreeinclude``, which has the syntax of ``.gitignore``.

    The file is untrusted: links are neither followed nor copied, nothing outside is read or written, and patterns that
    match a million files cost no more than the limits. A file of patterns that is too large includes nothing.
    """
    include = top / INCLUDE
    if include.is_symlink() or not include.is_file() or include.stat().st_size > INCLUDE_BYTES:
        return
    room = INCLUDED_BYTES
    for name in matching(str(top), INCLUDE, INCLUDE_BYTES)[:INCLUDED_FILES]:
        room -= _copy_inside(top, target, os.fsdecode(name), room)


def _copy_inside(top: Path, target: Path, name: str, room: int) -> int:
    """Copy a file; returns its size, or 0 if it isn't a plain file, is too large, or has a link in its path."""
    parts = Path(name).parts
    if not parts or Path(name).is_absolute() or {"..", ".git"} & {part.casefold() for part in parts}:
        return 0
    try:
        read = open_inside(top, parts, os.O_RDONLY)
    except OSError:
        return 0
    with os.fdopen(read, "rb") as source:
        found = os.fstat(read)
        if not stat.S_ISREG(found.st_mode) or found.st_size > room:
            return 0
        try:
            written = open_inside(target, parts, os.O_WRONLY | os.O_CREAT | os.O_EXCL, found.st_mode & 0o700)
        except OSError:
            return 0  # it already exists, or something is in its way
        with os.fdopen(written, "wb") as copy:
            copy_bytes(source, copy, found.st_size)  # it may grow meanwhile
    return found.st_size


def copy_bytes(source: BinaryIO, target: BinaryIO, count: int) -> None:
    """Copy up to ``count`` bytes."""
    while count > 0 and (piece := source.read(min(count, 1024 * 1024))):
        target.write(piece)
        count -= len(piece)


def main_worktree(cwd: str) -> Path:
    return Path(worktrees_of(cwd)[0]["path"])


def worktrees_of(cwd: str) -> list[dict[str, Any]]:
    """List worktrees as git does, the repository's own first."""
    if not is_repository(cwd):
        raise HostError("invalid", f"{cwd} is not in a git repository.", field="cwd")
    found = _listed(cwd)
    if not os.path.lexists(Path(found[0]["path"], ".git")):  # it is bare, or its .git is a link to elsewhere
        top = git(cwd, "rev-parse", "--show-toplevel", check=False).removesuffix("\n")
        if top and Path(top, ".git").resolve() == Path(found[0]["path"]).resolve():
            found[0]["path"] = top
    return found


def _listed(cwd: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for field in git(cwd, "worktree", "list", "--porcelain", "-z").split("\0"):
        word, _, value = field.partition(" ")
        if word == "worktree":
            found.append({"path": value, "branch": None, "commit": None})
        elif word == "HEAD":
            found[-1]["commit"] = value
        elif word == "branch":
            found[-1]["branch"] = value.removeprefix("refs/heads/")
    return found
