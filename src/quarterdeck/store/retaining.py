"""Which rows of a log may go: the oldest that are too old or too many, up to the first that is needed."""

from __future__ import annotations

from collections.abc import Iterable

from .queries import Retention
from .tables import Log


def last_to_go(
    log: Log, rows: Iterable[tuple[int, float, int]], *, needed_from: int | None, retention: Retention, now: float
) -> int:
    """The last row that may go; the one before the log's first if none may.

    ``rows`` are number, time and size from the log's first on; only as many are read as may go. A clock that was set
    back leaves rows with times out of order: then those behind a younger row stay until that one has aged.
    """
    limit = log.snapshot_seq if needed_from is None else min(log.snapshot_seq, needed_from - 1)
    oldest = None if retention.row_age_s is None else now - retention.row_age_s
    excess = 0 if retention.row_bytes is None else log.size_bytes - retention.row_bytes
    last = log.first_seq - 1
    for seq, at, size in rows:
        is_old = oldest is not None and at < oldest
        if seq > limit or not (is_old or excess > 0):
            break
        last = seq
        excess -= size
    return last
