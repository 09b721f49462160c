"""Worktrees of a repository, made beside it, each with a branch of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .errors import HostError
from .git import git, is_repository
from .limits import Folders

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def new_worktree(folders: Folders, cwd: str, name: str, base: str | None = None, field: str = "name") -> dict[str, Any]:
    """Make one for the repository that ``cwd`` is in. Blocks; raises ``HostError``."""
    if _NAME.fullmatch(name) is None:
        raise HostError("invalid", f"{name!r} is not a valid name for a worktree.", field=field)
    if base is not None and base.startswith("-"):
        raise HostError("invalid", f"{base!r} is not a commit.", field="base")
    top = main_worktree(cwd)
    path = top.with_name(f"{top.name}-{name}")
    if not folders.allows(path.resolve()):
        raise HostError("folder_not_allowed", f"Sessions are not allowed in {path}.", field=field)
    git(str(top), "worktree", "add", "--quiet", "-b", name, str(path), base or "HEAD")
    return next(one for one in worktrees_of(str(top)) if one["path"] == str(path.resolve()))


def main_worktree(cwd: str) -> Path:
    return Path(worktrees_of(cwd)[0]["path"])


def worktrees_of(cwd: str) -> list[dict[str, Any]]:
    """As git lists them, the repository's own first."""
    if not is_repository(cwd):
        raise HostError("invalid", f"{cwd} is not in a git repository.", field="cwd")
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
