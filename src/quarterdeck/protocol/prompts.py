"""Which prompts are still to be worked on, and whether the CLI has come to rest.

A newer CLI tells the life of each prompt that was sent with a ``uuid`` (``command_lifecycle``: queued, started, then
completed or cancelled), so its word is taken. An older one does not: there a prompt sent while idle belongs to the turn
that starts next, and one sent during a turn is either folded into that turn or gets its own; which of the two is known
only when a turn starts or, after a pause, does not.
"""

from __future__ import annotations

_AT_WORK = frozenset({"queued", "started"})


class Prompts:
    """Prompts sent and not yet done with, by uuid."""

    __slots__ = ("_state", "lifecycle_seen")

    def __init__(self) -> None:
        self._state: dict[str, str] = {}
        self.lifecycle_seen = False

    def __len__(self) -> int:
        return len(self._state)

    def sent(self, uuid: str) -> None:
        self._state[uuid] = "sent"

    def lifecycle(self, uuid: str, state: str) -> None:
        """A ``command_lifecycle`` message."""
        self.lifecycle_seen = True
        if state in _AT_WORK:
            if uuid in self._state:
                self._state[uuid] = state
        else:
            self._state.pop(uuid, None)

    def turn_started(self) -> None:
        """Without lifecycle messages: everything sent so far is in the turn that starts."""
        if not self.lifecycle_seen:
            self._state = dict.fromkeys(self._state, "started")

    def turn_ended(self) -> None:
        """Without lifecycle messages: what the turn started with is done."""
        if not self.lifecycle_seen:
            self._state = {uuid: state for uuid, state in self._state.items() if state != "started"}

    def first_done(self) -> None:
        """Without lifecycle messages: a result without a turn belongs to the oldest prompt."""
        if not self.lifecycle_seen and self._state:
            del self._state[next(iter(self._state))]

    def settle(self) -> None:
        """Time has passed after a turn's end and no turn has started: what is left was folded into the last one."""
        self._state.clear()

    @property
    def waiting(self) -> bool:
        """Is a prompt waiting for a turn of its own?"""
        return any(state != "started" for state in self._state.values())
