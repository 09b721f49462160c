"""The limit on open files. The keeper raises its own, because it needs four files per session and one per spool
segment. Its processes get the original limit: some programs close every descriptor up to the limit, or use
``select()``."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator

CEILING = 65536
"""Enough for ten thousand sessions; some systems have a hard limit of a billion."""


class DescriptorLimit:
    """Raises the soft limit."""

    def __init__(self) -> None:
        self._given = resource.getrlimit(resource.RLIMIT_NOFILE)
        soft, hard = self._given
        self._raised = (max(soft, CEILING if hard == resource.RLIM_INFINITY else min(hard, CEILING)), hard)
        self._prlimit = getattr(resource, "prlimit", None)
        with contextlib.suppress(OSError, ValueError):  # a sandbox refuses: keep the limit as it is
            resource.setrlimit(resource.RLIMIT_NOFILE, self._raised)

    @contextlib.contextmanager
    def as_for_children(self) -> Iterator[None]:
        """Where a process's limit can't be set from outside (macOS): restore ours while starting one."""
        if self._prlimit is not None:
            yield
            return
        resource.setrlimit(resource.RLIMIT_NOFILE, self._given)
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, self._raised)

    def restore_for(self, pid: int) -> None:
        """Restore the limit of a process that was just started."""
        if self._prlimit is not None:
            with contextlib.suppress(OSError, ValueError):  # already gone, or another user's
                self._prlimit(pid, resource.RLIMIT_NOFILE, self._given)
