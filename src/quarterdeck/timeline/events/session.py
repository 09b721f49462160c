"""The session's properties and changes."""

from __future__ import annotations

from typing import Any

import msgspec

from quarterdeck.timeline._words import By, EventBase
from quarterdeck.timeline.parts import Kept, McpServer, RateLimitState


class SessionChanged(EventBase, frozen=True):
    """Session details: first all of them, later the fields of ``SessionDetails`` that changed."""

    session_id: str | None
    changed: list[str]


class SessionStateChanged(EventBase, frozen=True):
    """The CLI's own state: idle, running, requires_action. Only if it was asked to report it."""

    state: str


class ModelChanged(EventBase, frozen=True):
    """The model changed. ``reason`` is set if the CLI chose it."""

    model: str
    by: By
    before: str | None = None
    reason: str | None = None


class ModeChanged(EventBase, frozen=True):
    """The permission mode changed."""

    mode: str
    by: By
    before: str | None = None


class McpChanged(EventBase, frozen=True):
    """All MCP servers."""

    servers: list[McpServer]


class RateLimitChanged(EventBase, frozen=True):
    """The account approaches or exceeds one of its limits."""

    limit: RateLimitState


class AuthChanged(EventBase, frozen=True):
    """A login in the CLI is in progress, or has ended."""

    authenticating: bool
    output: list[str]
    error: str | None = None


class ConversationReset(EventBase, frozen=True):
    """The conversation starts over, for example after ``/clear``; earlier items no longer apply."""

    trigger: str | None = None


class FilesPersisted(EventBase, frozen=True):
    """Files were stored; ``failed`` is file → error."""

    files: list[str]
    failed: dict[str, str] = msgspec.field(default_factory=dict)


class FilesRewound(EventBase, frozen=True):
    """Files were restored to their state at a prompt, or would be (``dry_run``)."""

    prompt_id: str
    dry_run: bool = False
    files: list[str] = msgspec.field(default_factory=list)
    insertions: int = 0
    deletions: int = 0


class PromptSuggested(EventBase, frozen=True):
    """A suggestion for the next prompt."""

    text: str


class ControlAnswered(EventBase, frozen=True):
    """A control request of ours was answered; ``error`` if refused. Only for requests without their own event."""

    id: str
    subtype: str
    error: str | None = None
    error_code: str | None = None


class ControlProgressed(EventBase, frozen=True):
    """One of our control requests is taking long and is still in progress."""

    id: str
    subtype: str
    status: str
    attempt: int | None = None
    max_retries: int | None = None


class NoticeShown(EventBase, frozen=True):
    """A line for the user; see ``items.Notice``."""

    id: str
    kind: str
    text: str
    level: str = "info"
    parent_id: str | None = None
    tool_ids: list[str] = msgspec.field(default_factory=list)
    details: dict[str, Any] = msgspec.field(default_factory=dict)


class UnknownSeen(EventBase, frozen=True):
    """A message, block or request that this version does not know, unchanged (``raw``, perhaps truncated)."""

    what: str
    raw: Kept
    reason: str = ""


class BadLineSeen(EventBase, frozen=True):
    """A line that is not a message; ``head`` is its beginning."""

    reason: str
    head: str
    size: int
