"""The prompts of a session that no turn has started with. Derived from the log, so they survive a restart.

A prompt is ``queued`` while the host holds it, ``sent`` while the CLI does, and ``uncertain`` if the process died
before reporting what became of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from quarterdeck.wire import UserMessage
from quarterdeck.wire._base import plain

from .resources import Priority, Prompt

_NOT_BEGUN = frozenset({"sent", "queued"})
"""The protocol's states of prompts that the CLI hasn't started."""


class PromptQueue(msgspec.Struct):
    """Queued prompts, in the order they will be sent."""

    prompts: list[Prompt] = []
    at_once: dict[str, Prompt] = {}
    """Prompts sent while idle. They aren't shown as queued unless the process dies right then."""

    def sent(self, message: UserMessage, *, in_turn: bool) -> None:
        """Apply a line sent to the CLI."""
        if message.uuid is None or message.parent_tool_use_id is not None:
            return
        known = self.find(message.uuid)
        prompt = known or Prompt(
            id=message.uuid, content=plain(message.content), state="sent", priority=_priority(message.data)
        )
        prompt = msgspec.structs.replace(prompt, state="sent", not_before=None)
        rest = [one for one in self.prompts if one.id != prompt.id]
        if in_turn:
            self.prompts = [*(one for one in rest if one.state == "sent"), prompt, *_held(rest)]
        else:
            self.prompts, self.at_once = rest, {**self.at_once, prompt.id: prompt}

    def follow(self, states: Mapping[str, str]) -> None:
        """Remove prompts that the CLI has started."""
        if self.prompts and any(self._has_begun(one, states) for one in self.prompts):
            self.prompts = [one for one in self.prompts if not self._has_begun(one, states)]
        if self.at_once:
            self.at_once = {key: one for key, one in self.at_once.items() if not self._has_begun(one, states)}

    @staticmethod
    def _has_begun(prompt: Prompt, states: Mapping[str, str]) -> bool:
        return prompt.state == "sent" and states.get(prompt.id) not in _NOT_BEGUN

    def told(self, prompts: list[Prompt]) -> None:
        """Apply the host's own queue event."""
        self.prompts = list(prompts)
        self.at_once = {key: one for key, one in self.at_once.items() if self.find(key) is None}

    def process_ended(self) -> None:
        """Mark sent prompts as uncertain: the process is gone."""
        open_ones = [*self.at_once.values(), *self.prompts]
        self.at_once = {}
        self.prompts = [
            msgspec.structs.replace(one, state="uncertain") if one.state == "sent" else one for one in open_ones
        ]

    def find(self, prompt_id: str) -> Prompt | None:
        return next((one for one in self.prompts if one.id == prompt_id), None)

    def without(self, prompt_id: str) -> list[Prompt]:
        return [one for one in self.prompts if one.id != prompt_id]

    def with_added(self, prompt: Prompt) -> list[Prompt]:
        """Return the queue with a prompt added after others of its priority."""
        if prompt.priority == "later":
            return [*self.prompts, prompt]
        place = next((number for number, one in enumerate(self.prompts) if one.priority == "later"), len(self.prompts))
        return [*self.prompts[:place], prompt, *self.prompts[place:]]

    def with_changed(self, prompt: Prompt, position: int | None) -> list[Prompt]:
        """Return the queue with a prompt changed or moved; adds it if missing."""
        others = self.without(prompt.id)
        place = position
        if place is None:
            places = [number for number, one in enumerate(self.prompts) if one.id == prompt.id]
            place = places[0] if places else 0
        place = max(0, min(place, len(others)))
        return [*others[:place], prompt, *others[place:]]

    def due(self, now: float) -> Prompt | None:
        """The next prompt to send."""
        return next((one for one in self.prompts if one.state == "queued" and _waits_s(one, now) <= 0), None)

    def next_at(self) -> float | None:
        """When the first scheduled prompt is due."""
        times = [one.not_before.timestamp() for one in self.prompts if one.state == "queued" and one.not_before]
        return min(times, default=None)

    def due_in_s(self, now: float) -> float | None:
        """Seconds until a prompt is due."""
        return min((_waits_s(one, now) for one in self.prompts if one.state == "queued"), default=None)


def _waits_s(prompt: Prompt, now: float) -> float:
    return 0.0 if prompt.not_before is None else prompt.not_before.timestamp() - now


def _held(prompts: list[Prompt]) -> list[Prompt]:
    return [one for one in prompts if one.state != "sent"]


def _priority(line: Mapping[str, Any]) -> Priority:
    given = line.get("priority")
    return given if given in ("now", "next", "later") else "next"
