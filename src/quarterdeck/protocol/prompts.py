"""Prompts: builds the ``user`` line, and tracks which prompts the CLI hasn't finished.

Newer CLIs report the progress of each prompt sent with a ``uuid`` (``command_lifecycle``: queued, started, then
completed or cancelled). For older CLIs we infer it: a prompt sent while idle belongs to the next turn; one sent during
a turn is either folded into it or gets its own. We know which when another turn starts or, after a pause, doesn't.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quarterdeck.wire._base import plain

_AT_WORK = frozenset({"queued", "started"})


def user_line(content: str | Sequence[Any], /, *, uuid: str | None = None, **fields: Any) -> dict[str, Any]:
    """The ``user`` line of a prompt: text, or content blocks (typed or as dicts).

    ``fields`` are additional fields of the line, by wire name.
    """
    line: dict[str, Any] = {
        "type": "user",
        "message": {"role": "user", "content": content if isinstance(content, str) else list(map(plain, content))},
        "parent_tool_use_id": None,
        "session_id": "",
        **fields,
    }
    if uuid is not None:
        line["uuid"] = uuid
    return line


class OpenPrompts:
    """Prompts sent and not finished, by uuid."""

    __slots__ = ("lifecycle_seen", "states")

    def __init__(self) -> None:
        self.states: dict[str, str] = {}
        """By uuid: sent, queued or started."""
        self.lifecycle_seen = False

    def __len__(self) -> int:
        return len(self.states)

    def sent(self, uuid: str) -> None:
        self.states[uuid] = "sent"

    def lifecycle(self, uuid: str, state: str) -> None:
        """Apply a ``command_lifecycle`` message."""
        self.lifecycle_seen = True
        if state in _AT_WORK:
            if uuid in self.states:
                self.states[uuid] = state
        else:
            self.states.pop(uuid, None)

    def turn_started(self) -> None:
        """Without lifecycle messages: assign all prompts sent so far to the new turn."""
        if not self.lifecycle_seen:
            self.states = dict.fromkeys(self.states, "started")

    def turn_ended(self) -> None:
        """Without lifecycle messages: finish the prompts that the turn started with."""
        if not self.lifecycle_seen:
            self.states = {uuid: state for uuid, state in self.states.items() if state != "started"}

    def first_done(self) -> None:
        """Without lifecycle messages: a result outside a turn finishes the oldest prompt."""
        if not self.lifecycle_seen and self.states:
            del self.states[next(iter(self.states))]

    def settle(self) -> None:
        """Treat the remaining prompts as folded into the last turn, because no other turn started."""
        self.states.clear()

    @property
    def waiting(self) -> bool:
        """Whether any prompt is waiting for its own turn."""
        return any(state != "started" for state in self.states.values())
