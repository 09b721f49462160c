"""Runs git in an untrusted folder: whatever the repository configures, it can't run programs of its own.

A repository's configuration may name hooks, a file-system monitor, filters, external diffs, pagers and remote helpers.
We turn all of them off on the command line, don't enter submodules (which have their own configuration), and fetch
nothing. Git's output is bounded in time and size.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

from .errors import HostError

TIMEOUT_S = 30.0
CHECKOUT_S = 300.0
"""How long a checkout of a new worktree may take."""
OUTPUT_BYTES = 64 * 1024 * 1024
"""Limit on git's output where all of it is needed."""
DIFF_CHARS = 2_000_000
"""Limit on the diff shown."""
UNTRACKED_BYTES = 1024 * 1024
"""Limit on the names of untracked files."""
MOST_FILTERS = 1_000

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
    ("core.quotePath", "false"),
    ("diff.relative", "false"),
)
_DIFF = (
    *("diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"),
    *("--no-color", "--src-prefix=a/", "--dst-prefix=b/"),
)
_FILTER_PARTS = ("clean", "smudge", "process")
_STDERR_BYTES = 4_096


P = ParamSpec("P")
T = TypeVar("T")

_threads = ThreadPoolExecutor(4, "quarterdeck-git")


async def with_git(work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Run in a thread for git, so that a hanging repository delays nothing else."""
    return await asyncio.get_running_loop().run_in_executor(_threads, lambda: work(*args, **options))


def git(
    cwd: str, *arguments: str, check: bool = True, within_s: float | None = None, also_in: Iterable[str] = ()
) -> str:
    """Run git; returns its output. Blocks: use a thread. Raises ``HostError`` if it fails and ``check`` is set.

    ``also_in``: worktrees that this command enters; they may have their own configuration.
    """
    done = _run(cwd, _turned_off([cwd, *also_in]), arguments, OUTPUT_BYTES, within_s)
    if done.is_cut:
        raise HostError("too_large", f"git {arguments[0]} produced more than {OUTPUT_BYTES} bytes.", field="cwd")
    if check and done.code:
        raise HostError("invalid", f"git {arguments[0]} failed: {_text(done.stderr).strip()}", field="cwd")
    return _text(done.stdout)


def is_repository(cwd: str) -> bool:
    return any((folder / ".git").exists() for folder in (Path(cwd), *Path(cwd).parents))


def head_commit(cwd: str) -> str | None:
    """The commit checked out there; None outside a repository, before the first commit, or if git fails."""
    with contextlib.suppress(HostError):
        return _head(cwd) if is_repository(cwd) else None
    return None


def starting_point(cwd: str) -> str | None:
    """The commit checked out there, or the empty tree before the first commit. None if git fails."""
    with contextlib.suppress(HostError):
        if is_repository(cwd):
            return _head(cwd) or git(cwd, "hash-object", "-t", "tree", "--stdin").strip()
    return None


def _head(cwd: str) -> str | None:
    return git(cwd, "rev-parse", "--verify", "--quiet", "HEAD", check=False).strip() or None


def diff(cwd: str, base: str) -> tuple[str, bool]:
    """The diff of tracked files from a commit, and whether it is complete."""
    said, is_cut = _beginning(cwd, (*_DIFF, base, "--", "."), 4 * (DIFF_CHARS + 1))
    text = _text(said)
    return text[:DIFF_CHARS], not is_cut and len(text) <= DIFF_CHARS


def untracked(cwd: str) -> tuple[list[bytes], bool]:
    """Untracked files below the folder that aren't ignored, and whether the list is complete."""
    said, is_cut = _beginning(cwd, ("ls-files", "--others", "--exclude-standard", "-z"), UNTRACKED_BYTES)
    return said.split(b"\0")[:-1], not is_cut


def matching(top: str, patterns: str, most: int) -> list[bytes]:
    """The first files outside the index that match a pattern file, up to ``most`` bytes of names; none if git fails."""
    with contextlib.suppress(HostError):
        said, _ = _beginning(top, ("ls-files", "--others", "--ignored", f"--exclude-from={patterns}", "-z"), most)
        return said.split(b"\0")[:-1]
    return []


def prefix(cwd: str) -> bytes:
    """The folder's path in its repository: empty, or ending with a slash."""
    return _beginning(cwd, ("rev-parse", "--show-prefix"), OUTPUT_BYTES)[0].removesuffix(b"\n")


def is_clean(cwd: str) -> bool:
    """Whether everything there is committed, including files that git was told to skip."""
    if git(cwd, "status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all", "-z"):
        return False
    top = Path(git(cwd, "rev-parse", "--show-toplevel").removesuffix("\n"))
    listed = git(str(top), "ls-files", "-v", "-z").split("\0")[:-1]
    hidden = [path for tag, path in ((one[0], one[2:]) for one in listed) if tag == "S" or tag.islower()]
    return not any(os.path.lexists(top / path) for path in hidden)  # a sparse checkout leaves them out


def has_no_changes(cwd: str) -> bool:
    """Whether all tracked files are unchanged."""
    return not git(cwd, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all", "-z")


def is_on_a_branch(cwd: str) -> bool:
    """Whether the checked-out commit stays reachable without this worktree."""
    return bool(git(cwd, "for-each-ref", "--count=1", "--contains=HEAD", check=False).strip())


def _beginning(cwd: str, arguments: Sequence[str], most: int) -> tuple[bytes, bool]:
    """The start of git's output, and whether there is more. Raises ``HostError`` if git fails."""
    done = _run(cwd, _turned_off([cwd]), arguments, most)
    if done.code and not done.is_cut:
        raise HostError("invalid", f"git {arguments[0]} failed: {_text(done.stderr).strip()}", field="cwd")
    return done.stdout, done.is_cut


def _turned_off(folders: Iterable[str]) -> list[str]:
    filters = {name for folder in folders for name in _filters(folder)}
    off = [(f"filter.{name}.{part}", "") for name in sorted(filters) for part in _FILTER_PARTS]
    required = [(f"filter.{name}.required", "false") for name in sorted(filters)]
    return [word for name, value in [*_OFF, *off, *required] for word in ("-c", f"{name}={value}")]


def _filters(cwd: str) -> set[str]:
    """Turn off filters by the names in the configuration: they can have any name."""
    done = _run(cwd, [], ("config", "--null", "--name-only", "--get-regexp", r"^filter\."), OUTPUT_BYTES)
    keys = done.stdout.decode(errors="surrogateescape").split("\0")[:-1]
    names = {key[len("filter.") : key.rindex(".")] for key in keys if key.count(".") >= 2}
    if done.is_cut or len(names) > MOST_FILTERS or any("=" in name for name in names):
        raise HostError("invalid", "The repository configures filters that cannot be turned off.", field="cwd")
    return names


class _GitOutput(NamedTuple):
    code: int
    stdout: bytes
    stderr: bytes
    is_cut: bool


def _run(
    cwd: str, options: Sequence[str], arguments: Sequence[str], most: int, within_s: float | None = None
) -> _GitOutput:
    """Run git, and kill it after ``most`` bytes of output or a timeout."""
    try:
        process = subprocess.Popen(
            ["git", "--no-pager", "--literal-pathspecs", *options, *arguments],
            cwd=cwd,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise HostError("unavailable", "git is not installed on this machine, or the folder is gone.") from error
    except OSError as error:
        raise HostError("unavailable", f"git cannot be started: {error}") from error
    with process:
        try:
            stdout, stderr, is_cut = _read(process, most, time.monotonic() + (within_s or TIMEOUT_S))
            code = process.wait() if not is_cut else 0
        finally:
            if process.poll() is None:  # git, and what it has started
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
    return _GitOutput(code, stdout, stderr, is_cut)


def _read(process: subprocess.Popen[bytes], most: int, until: float) -> tuple[bytes, bytes, bool]:
    said = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as pipes:
        for pipe in said:
            if pipe is not None:
                pipes.register(pipe, selectors.EVENT_READ)
        while pipes.get_map():
            ready = pipes.select(max(until - time.monotonic(), 0))
            if not ready:
                raise HostError("unavailable", "git did not answer in time.")
            for key, _ in ready:
                piece = os.read(key.fd, 65_536)
                if not piece:
                    pipes.unregister(key.fileobj)
                elif key.fileobj is process.stdout:
                    said[process.stdout] += piece
                elif len(said[process.stderr]) < _STDERR_BYTES:
                    said[process.stderr] += piece
            if len(said[process.stdout]) > most:
                return bytes(said[process.stdout][:most]), b"", True
    return bytes(said[process.stdout]), bytes(said[process.stderr]), False


def _environment() -> dict[str, str]:
    env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return env | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",  # none at all, whatever the repository allows
        "GIT_EDITOR": "false",
    }


def _text(said: bytes) -> str:
    return said.decode(errors="replace")
