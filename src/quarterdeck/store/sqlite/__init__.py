"""A store in SQLite: one folder, one writer thread, readers beside it.

``store`` what the host sees · ``writer`` the thread and its group commits · ``tables`` what a commit does in SQL ·
``readers`` and ``reading`` the other way · ``schema`` versions of the tables · ``folder`` files and the lock ·
``upkeep`` removing · ``checking`` looking for damage · ``backup`` copying · ``faults`` errors that say what to do.
"""

from __future__ import annotations

from .backup import restore
from .connecting import Sync
from .store import SqliteStore

__all__ = ["SqliteStore", "Sync", "restore"]
