"""Use a host elsewhere like a local one: ``RemoteHost`` has the methods of ``Host``, and its sessions are ``Session``
objects.

>>> async with RemoteHost("https://build.example:8787") as host:   # doctest: +SKIP
...     print((await host.list_sessions(ListSessions())).sessions)

One WebSocket carries everything and reconnects automatically: each call takes effect once, and streams continue after
their cursor.
"""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from .address import Address, state_folder
    from .errors import HostUnreachable
    from .link import Patience
    from .remote_host import RemoteHost
    from .subscriptions import Behind

__all__: list[str] = []
_names = LazyNames(globals())
_names.of(".address")
__all__ += ["Address", "state_folder"]
_names.of(".errors")
__all__ += ["HostUnreachable"]
_names.of(".link")
__all__ += ["Patience"]
_names.of(".remote_host")
__all__ += ["RemoteHost"]
_names.of(".subscriptions")
__all__ += ["Behind"]
