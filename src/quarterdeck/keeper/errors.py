"""Errors between a host and its keeper.

::

    QuarterdeckError
    └── KeeperError
        ├── KeeperUnavailable       none could be started, or none answers
        ├── KeeperOccupied          … because another host uses it
        ├── KeeperLost              the connection broke: the keeper died, or another host took over
        └── KeeperRefused           it answered no, with a code
"""

from __future__ import annotations

from typing import Any

from quarterdeck._errors import QuarterdeckError

__all__ = ["KeeperError", "KeeperLost", "KeeperOccupied", "KeeperRefused", "KeeperUnavailable"]


class KeeperError(QuarterdeckError):
    """Something is wrong with the keeper, not with a session."""


class KeeperUnavailable(KeeperError):  # noqa: N818  # says what happened
    """No keeper could be started, or none answers."""


class KeeperOccupied(KeeperError):  # noqa: N818  # says what happened
    """Another host uses this keeper; ``holder`` is its process ID."""

    def __init__(self, message: str, holder: int) -> None:
        super().__init__(message)
        self.holder = holder

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.holder)


class KeeperLost(KeeperError):  # noqa: N818  # says what happened
    """The connection to the keeper is gone."""


class KeeperRefused(KeeperError):  # noqa: N818  # says what happened
    """The keeper refused the request.

    ``code`` is one of ``exists``, ``unknown_session``, ``attached``, ``running``, ``no_such_offset``, ``retired``,
    ``limited``, ``too_large``, ``unknown_request``, ``bad_request``, ``failed``, ``refused``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, str(self))
