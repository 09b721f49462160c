"""A tiny process that briefly outlives us: if we are killed, it ends what we left running.

A process can't react to SIGKILL itself. So a shell in its own session holds the read end of a pipe, and we tell it
which process groups and private directories are ours. If the pipe closes without a goodbye, it asks the groups to end,
waits three seconds at most, kills the rest, and removes the directories. Then it ends everything that carries our mark,
which tools started in the background or in other sessions; those processes get one second.

Why not Linux's parent-death signal (``PR_SET_PDEATHSIG``)? It fires when the *thread* that started the process ends, it
reaches one process instead of its group, it needs ``preexec_fn``, and macOS has no equivalent. It is our fallback
without a shell.

Why SIGTERM first? The CLI (2.1.325) runs each Bash tool call in its own session, which a signal to the group doesn't
reach; on SIGTERM the CLI ends them itself within 1.5 s. A stopped CLI is continued, so that it can.

A group is registered right after it starts. If we are killed in between, the CLI reads end-of-file and exits.
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
"""For the shell to exit after our goodbye, or to read a long list when it starts."""

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
    """Feeds the shell. Starts it on first use, and again if something ended it. Thread-safe."""

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
        """Restart the shell if it has ended while there is something to watch."""
        with self._lock:
            if self._process is not None and self._process.poll() is not None:
                self._reap()
                if self._items:
                    self._start()

    def stop(self) -> None:
        """Say goodbye and stop watching."""
        with self._lock:
            self._items.clear()
            if self._tell("bye\n"):
                self._reap()

    def forget(self) -> None:
        """In a forked child: the shell is the parent's, and our copy of the pipe would hide its death."""
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
        """Send a line; returns whether a shell received it."""
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
            process.kill()  # slow, or stopped: it must not act now
            try:
                process.wait(GOODBYE_S)
            except subprocess.TimeoutExpired:
                logger.warning("the watchdog (process %d) does not end", process.pid)


_watchdog = Watchdog()


def guard_group(pgid: int) -> None:
    """End this process group if we are killed."""
    _watchdog.add(f"g{pgid}")


def release_group(pgid: int) -> None:
    """Stop guarding a group that is gone: its number may be reused."""
    _watchdog.remove(f"g{pgid}")


def revive() -> None:
    """Restart the watchdog if needed, for programs that reap children: the watchdog may be one of them."""
    _watchdog.revive()


def guard_directory(path: str) -> None:
    """Remove this directory if we are killed. A path with a line break can't be sent, so it isn't guarded."""
    if os.name == "posix" and "\n" not in path:
        _watchdog.add(f"d{path}")


def release_directory(path: str) -> None:
    """Stop guarding a directory that is gone."""
    _watchdog.remove(f"d{path}")


atexit.register(_watchdog.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_watchdog.forget)
