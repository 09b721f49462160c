"""One tiny process that outlives us for a moment: it ends what we left running when we were killed outright.

Against SIGKILL a process can do nothing itself. So a shell in its own session holds the read end of a pipe; we tell it
which process groups and private directories are ours. When the pipe closes and we have not said goodbye, it asks the
groups to end, waits three seconds at most, kills the rest, removes the directories, and then ends everything that
carries our mark: what tools had started in the background or in other sessions. Those have a second to end.

Why not the parent-death signal of Linux (``PR_SET_PDEATHSIG``)? It is tied to the *thread* that started the process and
fires when that thread ends, it reaches one process and not its group, it needs ``preexec_fn``, and macOS has nothing
like it. It is what remains where there is no shell.

Why SIGTERM first? The CLI (2.1.325) runs each Bash tool call in a session of its own, which no signal to its group
reaches; on SIGTERM it ends the running ones itself within 1.5 s. A stopped CLI is continued, so that it can.

A group is registered just after it exists. If we are killed in between, the CLI reads end-of-file and leaves by itself.
"""

from __future__ import annotations

import atexit
import logging
import os
import select
import subprocess
import threading

from .capabilities import SHELL
from .marks import detach, this_program

logger = logging.getLogger(__name__)

GOODBYE_S = 1.0
"""For the shell to leave after our goodbye (it has nothing left to do), or to read a long list when it starts."""

# Builtins, and `sleep` (without it: no patience), `rm`, and for the strays `grep` and `tr`. Newlines separate the
# lists: paths may hold spaces. $1 is the owner in our marks, $2 the first digits of our numbers (see ``marks``).
_SCRIPT = r"""
trap '' HUP INT QUIT TERM
set -f
IFS='
'
groups=$IFS
directories=$IFS
drop() {
    case $1 in *"$IFS$2$IFS"*) kept="${1%%"$IFS$2$IFS"*}$IFS${1#*"$IFS$2$IFS"}" ;; *) kept=$1 ;; esac
}
while read -r line; do
    item=${line#??}
    case $line in
        +g*) groups="$groups$item$IFS" ;;
        -g*) drop "$groups" "$item"; groups=$kept ;;
        +d*) directories="$directories$item$IFS" ;;
        -d*) drop "$directories" "$item"; directories=$kept ;;
        bye) exit 0 ;;
    esac
done
anyone() {
    for group in $groups; do kill -0 "-$group" && return 0; done
    return 1
}
for group in $groups; do kill -TERM "-$group"; kill -CONT "-$group"; done
patience=30
while [ $patience -gt 0 ] && anyone; do
    sleep 0.1 || break
    patience=$((patience - 1))
done
for group in $groups; do kill -KILL "-$group"; done
for directory in $directories; do rm -rf -- "$directory"; done
mark="QUARTERDECK_FAMILY=$1."
limit="^Max file locks  *$2[0-9][0-9][0-9][0-9][0-9][0-9] "
strays() {
    found=
    set +f
    for file in $(grep -las -F -- "$mark" /proc/[0-9]*/environ); do
        tr '\0' '\n' < "$file" | grep -aq -- "^$mark" && found="$found$file$IFS"
    done
    found="$found$(grep -ls -- "$limit" /proc/[0-9]*/limits)"
    set -f
    [ -n "$found" ]
}
signal=TERM
patience=30
while [ $patience -gt 0 ] && strays; do
    [ $patience -gt 20 ] || signal=KILL
    for file in $found; do
        pid=${file#/proc/}
        kill -$signal "${pid%%/*}"
        kill -CONT "${pid%%/*}"
    done
    sleep 0.1
    patience=$((patience - 1))
done
"""


class Watchdog:
    """Feeds the shell; starts it on first use, and again if someone ended it. Safe to use from any thread."""

    def __init__(self, shell: str = SHELL) -> None:
        self._shell = shell
        self._lock = threading.Lock()
        self._items: set[str] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe = -1

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def add(self, item: str) -> None:
        with self._lock:
            self._items.add(item)
            if not self._tell(f"+{item}\n"):
                self._start()

    def remove(self, item: str) -> None:
        with self._lock:
            if item in self._items:
                self._items.remove(item)
                if not self._tell(f"-{item}\n") and self._items:
                    self._start()

    def revive(self) -> None:
        """Start it again if it has ended though there is something to watch."""
        with self._lock:
            if self._process is not None and self._process.poll() is not None:
                self._reap()
                if self._items:
                    self._start()

    def stop(self) -> None:
        """Say goodbye: nothing is watched any more."""
        with self._lock:
            self._items.clear()
            if self._tell("bye\n"):
                self._reap()

    def forget(self) -> None:
        """After a fork: the shell and what it watches are the parent's; a pipe kept open here would hide its end."""
        self._lock = threading.Lock()  # another thread of the parent may have held it
        self._items.clear()
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
        if self._process is not None:
            self._process.returncode = 0  # not our child: keeps Popen from waiting for it and from warning
            self._process = None

    def _start(self) -> None:
        read_end, write_end = os.pipe()
        program = this_program()
        try:
            self._process = subprocess.Popen(
                [self._shell, "-c", _SCRIPT, "quarterdeck-watchdog", program.owner, str(program.prefix)],
                stdin=read_end,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": "/usr/bin:/bin"},  # nothing that a search for our children would find
                cwd="/",
                start_new_session=True,
            )
        except OSError:
            os.close(write_end)
            logger.warning("no watchdog: if this process is killed, its CLI processes keep running", exc_info=True)
            return
        finally:
            os.close(read_end)
        detach(self._process.pid)
        os.set_blocking(write_end, False)
        self._pipe = write_end
        self._tell("".join(f"+{item}\n" for item in sorted(self._items)), patience_s=GOODBYE_S)

    def _tell(self, text: str, *, patience_s: float = 0.0) -> bool:
        """Whether a shell was told."""
        if self._process is None:
            return False
        data = text.encode()
        try:
            while data:
                if patience_s and not select.select([], [self._pipe], [], patience_s)[1]:
                    raise BlockingIOError
                data = data[os.write(self._pipe, data) :]
        except (BrokenPipeError, BlockingIOError):  # it died, or was stopped long enough to fill the pipe
            self._process.kill()  # before the pipe closes: a shell that wakes up then would end all it watches
            self._reap()
            return False
        return True

    def _reap(self) -> None:
        process, self._process = self._process, None
        os.close(self._pipe)
        self._pipe = -1
        if process is None:
            return
        try:
            process.wait(GOODBYE_S)
        except subprocess.TimeoutExpired:
            process.kill()  # slow, or stopped: it must not start to act now
            try:
                process.wait(GOODBYE_S)
            except subprocess.TimeoutExpired:
                logger.warning("the watchdog (process %d) does not end", process.pid)


_watchdog = Watchdog()


def guard_group(pgid: int) -> None:
    """End this process group if we are killed."""
    _watchdog.add(f"g{pgid}")


def release_group(pgid: int) -> None:
    """The group is gone: its number may soon be reused."""
    _watchdog.remove(f"g{pgid}")


def revive() -> None:
    """For a program that learns of its children's ends: the watchdog may be one of them."""
    _watchdog.revive()


def guard_directory(path: str) -> None:
    """Remove this directory if we are killed. A path with a line break cannot be sent, and is not guarded."""
    if os.name == "posix" and "\n" not in path:
        _watchdog.add(f"d{path}")


def release_directory(path: str) -> None:
    """The directory is gone."""
    _watchdog.remove(f"d{path}")


atexit.register(_watchdog.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_watchdog.forget)
