"""Lets processes outlive the program that started them: one small process per host owns them and relays their bytes."""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from .client import KeeperClient, KeptSession
    from .errors import KeeperError, KeeperLost, KeeperOccupied, KeeperRefused, KeeperUnavailable
    from .launch import ensure_keeper
    from .places import KeeperPlace, find_keepers
    from .remains import LeftSession, left_sessions, remove_place
    from .settings import KeeperSettings
    from .starting import PrivateFile
    from .transport import KeeperTransport

__all__: list[str] = []
_names = LazyNames(globals())
_names.of(".client")
__all__ += ["KeeperClient", "KeptSession"]
_names.of(".errors")
__all__ += ["KeeperError", "KeeperLost", "KeeperOccupied", "KeeperRefused", "KeeperUnavailable"]
_names.of(".launch")
__all__ += ["ensure_keeper"]
_names.of(".places")
__all__ += ["KeeperPlace", "find_keepers"]
_names.of(".remains")
__all__ += ["LeftSession", "left_sessions", "remove_place"]
_names.of(".settings")
__all__ += ["KeeperSettings"]
_names.of(".starting")
__all__ += ["PrivateFile"]
_names.of(".transport")
__all__ += ["KeeperTransport"]
