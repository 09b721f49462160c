"""Runs many sessions on a durable log, with approvals that are never lost and turns that survive a restart.

``Host`` has a method for each operation. Two tables define its API: ``operations`` and ``events``. ``requests`` and
``resources`` have the parameters and results.
"""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from .errors import HostError
    from .host import Caller, Host
    from .warm_processes import Warm

__all__: list[str] = []
_names = LazyNames(globals())
_names.of(".errors")
__all__ += ["HostError"]
_names.of(".host")
__all__ += ["Caller", "Host"]
_names.of(".warm_processes")
__all__ += ["Warm"]
