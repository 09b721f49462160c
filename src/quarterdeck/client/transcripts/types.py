"""What the functions on stored sessions return, under the official names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast


@dataclass
class SDKSessionInfo:
    """One stored session, as a list shows it. Times are milliseconds since 1970."""

    session_id: str
    summary: str
    """What to show: the title, else the last prompt, else the first one."""
    last_modified: int
    file_size: int | None = None
    """Of the transcript on disk; None for sessions in a store."""
    custom_title: str | None = None
    """The title a person gave, else the one the model made up."""
    first_prompt: str | None = None
    git_branch: str | None = None
    cwd: str | None = None
    tag: str | None = None
    created_at: int | None = None

    archived = cast("bool | None", None)
    """Whether the session is archived; None if it never was, and in a store. No dataclass field, as the official
    Python SDK has none: ``==``, ``repr`` and ``asdict`` stay what programs know."""


@dataclass
class SessionMessage:
    """A prompt, an answer or a tool result of a stored conversation; with ``include_system_messages`` a notice, too."""

    type: Literal["user", "assistant", "system"]
    uuid: str
    session_id: str
    message: Any
    """As the API has it: role, content … For a notice of the CLI: the whole record, as it has no message."""
    parent_tool_use_id: str | None = None
    """For a sub-agent's messages: the call that started it."""
    parent_agent_id: str | None = None
    """For a sub-agent's messages: the sub-agent that started it, if one did."""


@dataclass
class ForkSessionResult:
    """The copy that a fork made."""

    session_id: str


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A message that matches the search."""

    session_id: str
    uuid: str | None
    type: str
    excerpt: str
    """The match with some context."""
    timestamp: str | None
    path: str
    """The transcript file; a sub-agent's has its agent id in the name."""
