"""What is known of a conversation beside its words: who speaks in it, and what its tool calls leave behind."""

from __future__ import annotations

from typing import Any

import msgspec


class Speaker(msgspec.Struct, frozen=True):
    """Who speaks: the main conversation, or a sub-agent."""

    parent_tool_use_id: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    description: str | None = None

    def stamp(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"parent_tool_use_id": self.parent_tool_use_id}
        if self.agent_id is not None:
            fields |= {
                "agent_id": self.agent_id,
                "subagent_type": self.agent_type,
                "task_description": self.description,
            }
        return fields


class Notes(msgspec.Struct):
    """What the calls of a turn leave for its result."""

    denials: list[dict[str, Any]] = []
    user_messages: int = 0
    hook_stopped: bool = False
    structured: dict[str, Any] | None = None
    structured_failures: list[str] = []
