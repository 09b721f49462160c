"""The limit of open files: high for the keeper, which needs four per session and one per segment of a long spool; for
the processes it starts, what it was. Some programs close every descriptor up to the limit, or use ``select()``."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator

CEILING = 65536
"""Enough for ten thousand sessions; some systems have a hard limit of a billion."""


class DescriptorLimit:
    """The soft limit, raised at once."""

    def __init__(self) -> None:
        self._given = resource.getrlimit(resource.RLIMIT_NOFILE)
        soft, hard = self._given
        self._raised = (max(soft, CEILING if hard == resource.RLIM_INFINITY else min(hard, CEILING)), hard)
        self._prlimit = getattr(resource, "prlimit", None)
        with contextlib.suppress(OSError, ValueError):  # a sandbox that refuses: it has to do as it is
            resource.setrlimit(resource.RLIMIT_NOFILE, self._raised)

    @contextlib.contextmanager
    def as_for_children(self) -> Iterator[None]:
        """Where a limit cannot be set for another process (macOS): as it was, while a process is started."""
        if self._prlimit is not None:
            yield
            return
        resource.setrlimit(resource.RLIMIT_NOFILE, self._given)
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, self._raised)

    def restore_for(self, pid: int) -> None:
        """For a process just started, before it has begun to do anything."""
        if self._prlimit is not None:
            with contextlib.suppress(OSError, ValueError):  # already gone, or another user's
                self._prlimit(pid, resource.RLIMIT_NOFILE, self._given)
