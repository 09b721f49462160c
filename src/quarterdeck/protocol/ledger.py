"""Requests of one direction: which are open, when they expire, how the closed ones ended."""

from __future__ import annotations

from typing import Any

from .states import REQUEST, RequestState

REMEMBERED = 1024
"""How many closed requests are remembered, so that a late or second answer can be told from a foreign one."""


class Entry:
    """One request and its state."""

    __slots__ = ("deadline", "request", "request_id", "state")

    def __init__(self, request_id: str, request: Any, deadline: float | None) -> None:
        self.request_id = request_id
        self.request = request
        self.deadline = deadline
        self.state = RequestState.OPEN

    @property
    def name(self) -> str:
        """How errors call it: the id, and what it asks."""
        detail = getattr(self.request, "tool_name", None) or getattr(self.request, "callback_id", None)
        subtype = subtype_of(self.request)
        return f"{self.request_id} ({subtype}{f' {detail}' if detail else ''})"


class Ledger:
    """The requests of one direction. An id may be open more than once: the CLI serves repeated ids (2.1.325)."""

    def __init__(self) -> None:
        self._open: dict[str, list[Entry]] = {}
        self._closed: dict[str, Entry] = {}

    def __len__(self) -> int:
        return sum(map(len, self._open.values()))

    def __contains__(self, request_id: str) -> bool:
        return request_id in self._open

    def add(self, request_id: str, request: Any, *, deadline: float | None = None) -> Entry:
        entry = Entry(request_id, request, deadline)
        self._open.setdefault(request_id, []).append(entry)
        return entry

    def close(self, request_id: str, trigger: str) -> Entry | None:
        """End the oldest open request of that id; None when there is none."""
        entries = self._open.get(request_id)
        if not entries:
            return None
        entry = entries.pop(0)
        if not entries:
            del self._open[request_id]
        entry.state = REQUEST[entry.state][trigger]
        self._closed.pop(request_id, None)
        self._closed[request_id] = entry
        if len(self._closed) > REMEMBERED:
            del self._closed[next(iter(self._closed))]
        return entry

    def closed(self, request_id: str) -> Entry | None:
        return self._closed.get(request_id)

    def open(self) -> list[Entry]:
        return [entry for entries in self._open.values() for entry in entries]

    def next_deadline(self) -> float | None:
        return min((entry.deadline for entry in self.open() if entry.deadline is not None), default=None)

    def overdue(self, now: float) -> list[Entry]:
        return [entry for entry in self.open() if entry.deadline is not None and entry.deadline <= now]


def subtype_of(request: Any) -> str:
    subtype = request.get("subtype")
    return subtype if isinstance(subtype, str) else "undefined"
