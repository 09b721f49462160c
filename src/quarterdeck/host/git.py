"""Git in a folder that nobody vouches for: whatever its repository configures, no program of its choice runs.

A repository's own configuration may name hooks, a file-system monitor, filters, external diffs, pagers and remote
helpers. All of them are turned off on the command line, submodules (which have a configuration of their own) are not
entered, and nothing is fetched.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .errors import HostError

TIMEOUT_S = 30.0
DIFF_CHARS = 2_000_000
"""The most of a diff that is shown."""

_OFF = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.attributesFile", os.devnull),
    ("core.sshCommand", "false"),
    ("core.askPass", "false"),
    ("diff.external", ""),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("protocol.allow", "never"),
)
_FILTER_PARTS = ("clean", "smudge", "process")


def git(cwd: str, *arguments: str, check: bool = True) -> str:
    """What git says. Blocks: run it in a thread. Raises ``HostError`` where it fails and ``check`` is set."""
    off = [*_OFF, *_filters_off(cwd)]
    done = _run(cwd, [word for name, value in off for word in ("-c", f"{name}={value}")], arguments)
    if check and done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise HostError("invalid", f"git {arguments[0]} failed: {said}", field="cwd")
    return done.stdout.decode(errors="replace")


def is_repository(cwd: str) -> bool:
    return any((folder / ".git").exists() for folder in (Path(cwd), *Path(cwd).parents))


def head_commit(cwd: str) -> str | None:
    """What is checked out there; None outside a repository, and in one without a commit."""
    if not is_repository(cwd):
        return None
    return git(cwd, "rev-parse", "--verify", "--quiet", "HEAD", check=False).strip() or None


def diff(cwd: str, base: str) -> str:
    """What differs from a commit, in files that git knows."""
    return git(cwd, "diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-color", base, "--", ".")


def untracked(cwd: str) -> list[str]:
    """Files that git does not know and does not ignore."""
    return git(cwd, "ls-files", "--others", "--exclude-standard", "-z").split("\0")[:-1]


def is_clean(cwd: str) -> bool:
    """Whether everything there is committed."""
    return not git(cwd, "status", "--porcelain", "--ignore-submodules=all", "-z")


def has_no_changes(cwd: str) -> bool:
    """Whether every file that git knows is as it was committed."""
    return not git(cwd, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all", "-z")


def is_on_a_branch(cwd: str) -> bool:
    """Whether what is checked out there stays reachable without it."""
    return bool(git(cwd, "for-each-ref", "--count=1", "--contains=HEAD", check=False).strip())


def _filters_off(cwd: str) -> list[tuple[str, str]]:
    """Filters are named freely, so they are turned off by the names that the configuration has."""
    listed = _run(cwd, [], ("config", "--null", "--name-only", "--get-regexp", r"^filter\."))
    keys = listed.stdout.decode(errors="replace").split("\0")[:-1]
    names = {key[len("filter.") : key.rindex(".")] for key in keys if key.count(".") >= 2}
    off = [(f"filter.{name}.{part}", "") for name in sorted(names) for part in _FILTER_PARTS]
    return off + [(f"filter.{name}.required", "false") for name in sorted(names)]


def _run(cwd: str, options: Sequence[str], arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    env |= {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_EDITOR": "false",
    }
    try:
        return subprocess.run(
            ["git", "--no-pager", "--literal-pathspecs", *options, *arguments],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise HostError("unavailable", "git is not installed on this machine.") from error
    except subprocess.TimeoutExpired as error:
        raise HostError("unavailable", f"git did not answer within {TIMEOUT_S:.0f} s.") from error
