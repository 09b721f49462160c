"""Many sessions on one durable log, with approvals that cannot be lost and turns that survive the host's restart.

``Host`` has a method for each operation. Two tables say what every face has to know: ``operations`` what can be asked
of a host, ``events`` what it tells; ``requests`` and ``resources`` are what operations take and return.
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
