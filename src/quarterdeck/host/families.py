"""Families: sessions and the sessions they started, with their total spending and number of running members.

A parent's budget, its ``sessions`` limit and its mode cover all its descendants. So however a child came to run
(started, prompted again, or woken by a person), the family stays within the limits of its oldest member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Literal

import msgspec

from quarterdeck.store import EventStore
from quarterdeck.store.queries import SessionQuery

from .bodies import SessionBody, decode_body
from .errors import HostError
from .modes import MODES, is_above, mode_of
from .times import usd

ENDED = frozenset({"stopped", "crashed", "parked"})
ZERO = Decimal(0)
_RELATED = (b'"is_child":true', b'"host_tools":')
"""Fields of a body that show that it belongs to a family; few do."""
Whose = Literal["session", "parent"]


class _Relative(msgspec.Struct):
    parent_id: str | None
    sessions: int
    budget: Decimal | None
    cost: Decimal
    mode: str


class Families:
    """All sessions with a parent, or with tools to become one."""

    def __init__(self) -> None:
        self._known: dict[str, _Relative] = {}
        self._children: dict[str, list[str]] = {}
        self._coming: list[tuple[str, str]] = []
        """Children about to run: parent and child."""
        self._to_be_taken_up: set[str] = set()
        """Sessions that ran when the last host closed, until they are loaded."""

    async def load(self, store: EventStore) -> None:
        cursor: str | None = None
        while True:
            page = await store.sessions(SessionQuery(archived=None, limit=500, cursor=cursor))
            for record in page.sessions:
                if any(word in record.body for word in _RELATED):
                    self.note(record.id, decode_body(record))
                    if record.state not in ENDED:
                        self._to_be_taken_up.add(record.id)
            cursor = page.next_cursor
            if cursor is None:
                return

    def note(self, session_id: str, body: SessionBody) -> None:
        """Update a session's mode, budget and spending: when it is loaded, and on every change."""
        if not body.is_child and body.host_tools is None:
            return
        self._to_be_taken_up.discard(session_id)
        parent_id = body.parent_id if body.is_child else None
        if session_id not in self._known and parent_id is not None:
            self._children.setdefault(parent_id, []).append(session_id)
        self._known[session_id] = _Relative(
            parent_id,
            0 if body.host_tools is None else body.host_tools.sessions,
            budget_of(body),
            usd(body.cost_usd),
            mode_of(body),
        )

    def children(self, session_id: str) -> list[str]:
        return list(self._children.get(session_id, ()))

    def below(self, session_id: str) -> Iterator[str]:
        """All descendants."""
        for child in self._children.get(session_id, ()):
            yield child
            yield from self.below(child)

    def budgets(
        self, session_id: str, body: SessionBody, running: Callable[[str], Decimal]
    ) -> Iterator[tuple[Whose, Decimal, Decimal]]:
        """All budgets that apply to it, and what was spent of each: its own, then its ancestors'.

        ``running``: the cost of a session's running turn, which isn't recorded yet.
        """
        own = budget_of(body)
        if own is not None:
            yield "session", own, usd(body.cost_usd) + running(session_id) + self._spent_below(session_id, running)
        for elder_id, elder in self._elders(body):
            if elder.budget is not None:
                spent = elder.cost + running(elder_id) + self._spent_below(elder_id, running)
                yield "parent", elder.budget, spent

    def _spent_below(self, session_id: str, running: Callable[[str], Decimal]) -> Decimal:
        return sum((self._known[one].cost + running(one) for one in self.below(session_id)), ZERO)

    def mode_of_elders(self, body: SessionBody, mode: str) -> str:
        """The mode that a session may have: this one, or the strictest of its ancestors' if that is stricter."""
        for _, elder in self._elders(body):
            if elder.mode in MODES and is_above(mode, elder.mode):
                mode = elder.mode
        return mode

    def check_mode(self, body: SessionBody, mode: str, field: str = "permission_mode") -> None:
        """Raises ``HostError`` for a mode that is more permissive than an ancestor's."""
        allowed = self.mode_of_elders(body, mode)
        if allowed != mode:
            raise HostError(
                "forbidden",
                f"The mode {mode} allows more than {allowed}, that of the session that started this one.",
                hint="Change that session's mode first.",
                field=field,
            )

    def _elders(self, body: SessionBody) -> Iterator[tuple[str, _Relative]]:
        elder_id = body.parent_id if body.is_child else None
        while elder_id is not None and (elder := self._known.get(elder_id)) is not None:
            yield elder_id, elder
            elder_id = elder.parent_id

    @contextmanager
    def place_for(self, child_id: str, parent_id: str, runs: Callable[[str], bool]) -> Iterator[None]:
        """Reserve a place for a child that is about to run. Raises ``HostError`` if there are too many."""

        def is_there(session_id: str) -> bool:
            return session_id in self._to_be_taken_up or runs(session_id)

        if is_there(child_id):
            yield
            return
        asked = SessionBody(parent_id=parent_id, is_child=True)
        for elder_id, elder in self._elders(asked):
            others = {one for one in self.below(elder_id) if is_there(one)} | self._coming_below(elder_id)
            if len(others - {child_id}) >= elder.sessions:
                raise HostError("busy", f"At most {elder.sessions} sessions at a time.", hint="Stop one first.")
        coming = (parent_id, child_id)
        self._coming.append(coming)
        try:
            yield
        finally:
            self._coming.remove(coming)

    def _coming_below(self, session_id: str) -> set[str]:
        members = {session_id, *self.below(session_id)}
        return {child_id for parent_id, child_id in self._coming if parent_id in members}


def budget_of(body: SessionBody) -> Decimal | None:
    return None if body.budget_usd is None else Decimal(body.budget_usd)
