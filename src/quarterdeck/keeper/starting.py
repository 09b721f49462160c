"""Starts a process with its folder, spool, private files and family: all of it, or nothing."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from quarterdeck.transport import watchdog
from quarterdeck.transport.capabilities import Capabilities
from quarterdeck.transport.errors import StartFailed
from quarterdeck.transport.family import Family, family_of
from quarterdeck.transport.marks import MARK, carrying, this_program
from quarterdeck.transport.scratch import PrivateFiles
from quarterdeck.transport.spawn import Child, ChildCommand, spawn

from .descriptors import DescriptorLimit
from .spool import Spool

REAP_S = 1.0
"""For a killed process to disappear, if its start failed half-way."""
REAP_POLL_S = 0.001


class PrivateFile(NamedTuple):
    """A file for this process only; its path goes on the command line as ``flag=path``."""

    flag: str
    name: str
    content: bytes


class Started(NamedTuple):
    """A running process, and what was created for it."""

    folder: Path
    child: Child
    family: Family
    files: PrivateFiles
    spool: Spool

    def undo(self) -> None:
        """Kill the process and remove everything."""
        self.family.kill()
        self.child.close_descriptors()
        deadline = time.monotonic() + REAP_S
        while self.child.process.poll() is None and time.monotonic() < deadline:
            time.sleep(REAP_POLL_S)
        watchdog.release_group(self.child.process.pid)
        self.files.remove()
        self.spool.remove()
        remove_folder(self.folder)


def start_process(
    command: ChildCommand,
    files: Sequence[PrivateFile],
    folder: Path,
    *,
    segment_bytes: int,
    capabilities: Capabilities,
    descriptors: DescriptorLimit,
) -> Started:
    """Raises ``CLINotFoundError``, ``StartFailed``, ``OSError`` or ``ValueError``, and then leaves nothing behind."""
    with contextlib.ExitStack() as on_failure:
        private = PrivateFiles(owner=_user_id(command.user))
        on_failure.callback(private.remove)
        paths = [f"{file.flag}={private.write(file.name, file.content)}" for file in files]
        folder.mkdir(0o700, parents=True)
        on_failure.callback(remove_folder, folder)
        spool = Spool(folder, segment_bytes=segment_bytes)
        on_failure.callback(spool.remove)
        mark = this_program().mark()
        environment = {**(command.env or {}), MARK: mark.text}
        with descriptors.as_for_children(), carrying(mark):
            child = spawn(command._replace(argv=[*command.argv, *paths]), environment, capabilities)
        on_failure.pop_all()
    started = Started(folder, child, family_of(child.process, mark, capabilities), private, spool)
    try:
        descriptors.restore_for(child.process.pid)
        watchdog.guard_group(child.process.pid)
    except BaseException:
        started.undo()
        raise
    return started


def remove_folder(folder: Path) -> None:
    """Remove a folder of plain files. It may already be gone."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


def _user_id(user: str | int | None) -> int | None:
    if not isinstance(user, str):
        return user
    import pwd

    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        raise StartFailed(f"There is no user {user!r} on this machine. Correct the user option.") from None
