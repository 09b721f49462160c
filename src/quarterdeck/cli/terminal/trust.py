"""Whether rules saved in a project count, and trusting its folder as Claude Code does.

Measured on 2.1.325: rules in ``.claude/settings.local.json`` count in any folder, with three exceptions. Claude Code
saves none if git tracks that file, or if ``.claude`` is a symbolic link; trust does not change that. And if git cannot
tell (a repository of another user), it saves the rule but ignores it until the folder is trusted.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SETTINGS = ".claude/settings.local.json"
GIT_TIMEOUT_S = 5.0
LOCK_WAIT_S, LOCK_STALE_S = 3.0, 10.0
"""Claude Code holds its lock for milliseconds. One this old was left behind."""


@dataclass(frozen=True, slots=True)
class ProjectRules:
    """``status``: rules count, need trust first, or are not saved. ``why`` says the reason in a sentence."""

    status: Literal["count", "need trust", "not saved"]
    why: str = ""


def project_rules(cwd: str) -> ProjectRules:
    """What becomes of a rule that is saved for the project in ``cwd``. Runs git."""
    from quarterdeck.policy import PolicyError
    from quarterdeck.policy.settings import is_trusted, trust_file_for

    file = Path(cwd, SETTINGS)
    if file.is_symlink() or file.parent.is_symlink():
        return ProjectRules("not saved", "Claude Code saves no rules in this project: .claude is a symbolic link.")
    tracked = _is_tracked(cwd)
    if tracked:
        return ProjectRules("not saved", f"Claude Code saves no rules in this project: git tracks {SETTINGS}.")
    with contextlib.suppress(PolicyError):
        if tracked is None and not is_trusted(cwd, str(trust_file_for())):
            why = "Claude Code ignores rules saved in this folder until you trust it."
            return ProjectRules("need trust", why)
    return ProjectRules("count")


def _is_tracked(cwd: str) -> bool | None:
    """None if git cannot tell."""
    environment = {**os.environ, "LC_ALL": "C"}
    command = ["git", "-C", cwd, "ls-files", "--error-unmatch", SETTINGS]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=GIT_TIMEOUT_S, check=False
        )
    except OSError:  # no git: the CLI takes that for untracked
        return False
    except subprocess.TimeoutExpired:
        return None
    if done.returncode in (0, 1):
        return done.returncode == 0
    return False if "not a git repository" in done.stderr else None


def trusted_folder(cwd: str) -> str:
    """The folder that trusting ``cwd`` is about: the top of its repository."""
    from quarterdeck.policy.settings import project_of

    return str(project_of(Path(cwd).resolve()))


def trust(cwd: str) -> None:
    """Record that the user trusts this folder, where Claude Code records it. Raises ``OSError`` or ``ValueError``."""
    from quarterdeck.policy.settings import trust_file_for

    path = trust_file_for().resolve()
    with _locked(path):
        text = path.read_text() if path.exists() else ""
        known = json.loads(text) if text.strip() else {}
        projects = known.setdefault("projects", {}) if isinstance(known, dict) else None
        if not isinstance(projects, dict):
            raise ValueError(f"{path} has an unexpected format")
        entry = projects.setdefault(trusted_folder(cwd), {})
        if not isinstance(entry, dict):
            raise ValueError(f"{path} has an unexpected format")
        entry["hasTrustDialogAccepted"] = True
        _replace(path, json.dumps(known, indent=2, ensure_ascii=False))


def _replace(path: Path, text: str) -> None:
    """In one step, with the mode that it has."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(6)}.tmp")
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The lock that Claude Code takes before it writes this file: a folder beside it."""
    lock = path.with_name(f"{path.name}.lock")
    deadline = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            lock.mkdir()
            break
        except FileExistsError:
            with contextlib.suppress(FileNotFoundError):
                if time.time() - lock.stat().st_mtime > LOCK_STALE_S:
                    lock.rmdir()
                    continue
            if time.monotonic() > deadline:
                raise TimeoutError(f"{lock} is held by another process") from None
            time.sleep(0.02)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            lock.rmdir()
