"""Tracks the requests of one direction: which are open, when they expire, and how the closed ones ended."""

from __future__ import annotations

from itertools import islice
from typing import Any

import msgspec

from quarterdeck.wire import UnknownRequest, WireObject

from .states import REQUEST, RequestState

REMEMBERED = 1024
"""How many closed requests to remember, to tell a late or duplicate answer from one to an unknown request."""


_ENDS: dict[str, str] = {trigger: state.value for trigger, state in REQUEST[RequestState.OPEN].items()}
"""Every request in the ledger is open; all other states are final."""


class _Kinds(dict[type, tuple[str | None, str]]):
    """Request class → its subtype (None where each request carries its own), and the attribute that says what it is
    about (empty when there is none). Filled on first use.
    """

    def __missing__(self, cls: Any) -> tuple[str | None, str]:
        typed = issubclass(cls, WireObject) and cls is not UnknownRequest
        detail = next((name for name in ("tool_name", "callback_id") if hasattr(cls, name)), "")
        self[cls] = kind = (str(cls.__struct_config__.tag) if typed else None, detail)
        return kind


KINDS = _Kinds()


class TrackedRequest(msgspec.Struct, eq=False, gc=False):
    """One open request."""

    request_id: str
    request: Any
    deadline: float | None = None

    @property
    def name(self) -> str:
        """The id and what it asks, for error messages."""
        return _name(self.request_id, _asks(subtype_of(self.request), detail_of(self.request)))


class ClosedRequest(msgspec.Struct, frozen=True, gc=False):
    """Summary of a closed request. The request itself may be large, so it isn't kept."""

    name: str
    asks: str
    state: RequestState


class Ledger(dict[str, TrackedRequest]):
    """The open requests of one direction by ID, and how recent ones ended.

    An id may be open more than once: the CLI serves repeated ids (2.1.325). The dict holds the first of them.
    """

    __slots__ = ("_repeated", "endings")

    def __init__(self) -> None:
        super().__init__()
        self._repeated: dict[str, list[TrackedRequest]] | None = None
        """Further requests with an id that is already open, oldest first; None if there never were any."""
        self.endings: dict[str, tuple[str, str | None, str]] = {}
        """Id → subtype, detail and state, as strings: the garbage collector does not track them."""

    def add(self, request_id: str, request: Any, *, deadline: float | None = None) -> TrackedRequest:
        entry = TrackedRequest(request_id, request, deadline)
        if self.setdefault(request_id, entry) is not entry:
            if self._repeated is None:
                self._repeated = {}
            self._repeated.setdefault(request_id, []).append(entry)
        return entry

    def close(self, request_id: str, trigger: str) -> TrackedRequest | None:
        """Close the oldest open request with this ID; None if there is none."""
        entry = self.pop(request_id, None)
        if entry is None:
            return None
        if self._repeated and (others := self._repeated.pop(request_id, None)):
            self[request_id] = others.pop(0)
            if others:
                self._repeated[request_id] = others
        request, endings = entry.request, self.endings
        subtype, detail = KINDS[type(request)]
        if request_id in endings:
            del endings[request_id]  # it is the latest again
        endings[request_id] = (
            subtype or subtype_of(request),
            (getattr(request, detail) or None) if detail else None,
            _ENDS[trigger],
        )
        if len(endings) > 2 * REMEMBERED:  # removing them one by one would be quadratic
            self.endings = dict(islice(endings.items(), REMEMBERED, None))
        return entry

    def closed(self, request_id: str) -> ClosedRequest | None:
        """How the last request with this ID ended; None if there was none, or it has been forgotten."""
        found = self.endings.get(request_id)
        if found is None:
            return None
        subtype, detail, state = found
        asks = _asks(subtype, detail)
        return ClosedRequest(_name(request_id, asks), asks, RequestState(state))

    def open(self) -> list[TrackedRequest]:
        repeated = (self._repeated or {}).values()
        return [*self.values(), *(entry for others in repeated for entry in others)]

    def next_deadline(self) -> float | None:
        return min((entry.deadline for entry in self._timed()), default=None)  # type: ignore[type-var]

    def overdue(self, now: float) -> list[TrackedRequest]:
        return [entry for entry in self._timed() if entry.deadline <= now]  # type: ignore[operator]

    def _timed(self) -> list[TrackedRequest]:
        return [entry for entry in self.open() if entry.deadline is not None]


def subtype_of(request: Any) -> str:
    known = KINDS[type(request)][0]
    if known is not None:
        return known
    subtype = request.get("subtype")
    return subtype if isinstance(subtype, str) else "undefined"


def detail_of(request: Any) -> str | None:
    """The tool or hook that the request concerns."""
    name = KINDS[type(request)][1]
    return (getattr(request, name) or None) if name else None


def _asks(subtype: str, detail: str | None) -> str:
    return f"{subtype} {detail}" if detail else subtype


def _name(request_id: str, asks: str) -> str:
    return f"{request_id} ({asks})"
