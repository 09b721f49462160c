"""Runs shell commands for real in bash and zsh, shut in and traced, and tells what they did.

Everything but a scratch folder is read-only, there is no network, and strace writes down every program that is run and
every file that is opened or changed. One sandbox runs many commands, each between two marks in the trace.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

LIMIT_S = 120.0
_TRACED = (
    "execve,execveat,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,symlink,"
    "symlinkat,link,linkat,truncate,ftruncate,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,mknod,mknodat,"
    "utime,utimes,utimensat,setxattr,lsetxattr,fsetxattr,connect,bind,sendto,access,fork,vfork,clone,clone3"
)
_FORKS = frozenset({"fork", "vfork", "clone", "clone3"})
_NETWORK = frozenset({"connect", "bind", "sendto"})
ACCOUNTS = frozenset({"/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow"})
LOOK_UP = frozenset({"bash", "zsh", "git", "id", "whoami", "ls", "stat", "find", "tar", "rsync", "cp", "mv", "zip"})
"""Programs that show or keep the names of users; they open the accounts as the C library does, with O_CLOEXEC."""
_BY_DESCRIPTOR = frozenset({"fchmod", "fchown", "ftruncate", "fsetxattr"})
_CALL = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?")
_DESCRIPTOR = re.compile(r"\d+<([^>]*)>")
_STRING = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
_MARK = "/case/"
_DRIVER = """
import json, os, signal, subprocess, sys
shell, cases = sys.argv[1], json.load(open(sys.argv[2]))
for number, command in enumerate(cases):
    os.access(f"/case/{number}", os.F_OK)
    started = subprocess.Popen([*shell.split(), "-c", command], start_new_session=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        started.wait(3)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(started.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    started.wait()
"""
SHELLS = {"bash": "bash --norc --noprofile", "zsh": "zsh -f"}


def missing() -> str | None:
    """Why nothing can be run here."""
    absent = [name for name in ("bash", "zsh", "strace", "bwrap") if shutil.which(name) is None]
    if absent:
        return f"needs {', '.join(absent)}"
    tried = subprocess.run([*_SHUT_IN, "strace", "-f", "-o", "/dev/null", "true"], capture_output=True, check=False)
    return None if tried.returncode == 0 else f"no sandbox here: {tried.stderr.decode(errors='replace').strip()[:200]}"


_SHUT_IN = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net", "--unshare-pid"]


@dataclass
class Deeds:
    """What one command did."""

    programs: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    connected: bool = False
    readers: list[str] = field(default_factory=list)
    """The programs that read each of ``read``, which leaves out that one of ``LOOK_UP`` looked up a user's name."""


def run(commands: Sequence[str], shell: str, *, scratch: Path, cwd: Path, path: str) -> list[Deeds]:
    """What each of ``commands`` does in ``shell``. Only ``scratch`` can be written."""
    trace, cases = scratch / "trace", scratch / "cases.json"
    cases.write_text(json.dumps(list(commands)))
    environment = {"PATH": path, "HOME": str(scratch / "home"), "LC_ALL": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1"}
    python = os.path.realpath(sys.executable)  # an environment below /tmp cannot be seen from inside
    done = subprocess.run(
        [
            *_SHUT_IN, "--tmpfs", "/tmp", "--bind", str(scratch), str(scratch), "--chdir", str(cwd),
            "strace", "-f", "-y", "--seccomp-bpf", "-s", "4096", "-qq", "-e", f"trace={_TRACED}", "-o", str(trace),
            python, "-I", "-S", "-c", _DRIVER, SHELLS[shell], str(cases),
        ],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_S + len(commands) * 6,
        check=False,
    )  # fmt: skip
    text = trace.read_text(errors="replace") if trace.exists() else ""
    if _MARK not in text:
        raise RuntimeError(f"the sandbox did not run: {done.stderr.decode(errors='replace')[-2000:]}")
    return _read(text, len(commands), cwd)


class _Processes:
    """Which program each process is running; one that has not started any is running its parent's."""

    def __init__(self, calls: Sequence[tuple[str, str, str, str, str | None]]) -> None:
        self._parent = {result: process for process, name, _, result, _ in calls if name in _FORKS}
        self._runs: dict[str, str] = {}

    def starts(self, process: str, program: str) -> None:
        self._runs[process] = program

    def program(self, process: str) -> str:
        """Children are named before they are born where the trace tells of them only later: the parent map is whole."""
        while process not in self._runs and process in self._parent:
            process = self._parent[process]
        return self._runs.get(process, "")


def _read(trace: str, count: int, cwd: Path) -> list[Deeds]:
    found = [Deeds() for _ in range(count)]
    current: Deeds | None = None
    calls = [call.groups() for call in map(_CALL.match, _joined(trace)) if call is not None]
    processes = _Processes(calls)
    for process, name, given, result, opened in calls:
        if name == "access":
            mark = given.find(_MARK)
            if mark >= 0:
                current = found[int(re.findall(r"\d+", given[mark:])[0])]
        elif current is not None and name not in _FORKS and (int(result) >= 0 or name in _NETWORK):
            _note(current, name, given, opened, cwd)
            if name.startswith("execve"):
                processes.starts(process, Path(current.programs[-1]).name)
            if current.read[len(current.readers) :] and _looks_up(current.read[-1], given, processes.program(process)):
                current.read.pop()
            current.readers += [processes.program(process)] * (len(current.read) - len(current.readers))
    return found


def _looks_up(path: str, given: str, program: str) -> bool:
    return path in ACCOUNTS and "O_CLOEXEC" in given and program in LOOK_UP


def _joined(trace: str) -> list[str]:
    """Calls that another process interrupted stand on two lines; they are put together where they end."""
    begun: dict[str, str] = {}
    lines: list[str] = []
    for line in trace.splitlines():
        process, _, rest = line.partition(" ")
        if line.endswith("<unfinished ...>"):
            begun[process] = line.removesuffix("<unfinished ...>").rstrip()
        elif "resumed>" in rest:
            lines.append(begun.pop(process, process) + rest.partition("resumed>")[2])
        else:
            lines.append(line)
    return lines


def _note(deeds: Deeds, name: str, given: str, opened: str | None, cwd: Path) -> None:
    if name in _NETWORK:
        deeds.connected |= "AF_INET" in given
        return
    paths = [_path(folder, text, cwd) for folder, text in _STRING.findall(given)]
    if name in _BY_DESCRIPTOR or not paths:
        paths = _DESCRIPTOR.findall(given)[:1]  # ``fchmod(3</a>, …)``, ``utimensat(3</a>, NULL, …)``
    if not paths:
        return
    if name.startswith("execve"):
        deeds.programs.append(paths[0])
    elif name.startswith("open"):
        writes = any(flag in given for flag in ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"))
        (deeds.changed if writes else deeds.read).append(opened or paths[0])
    else:
        deeds.changed.extend(paths[:2] if "rename" in name or "link" in name else paths[:1])


def _path(folder: str, text: str, cwd: Path) -> str:
    return os.path.normpath(os.path.join(folder or str(cwd), text))  # noqa: PTH118
