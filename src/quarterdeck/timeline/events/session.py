"""What the session is, and what was done to it."""

from __future__ import annotations

from typing import Any

import msgspec

from quarterdeck.timeline._words import By, EventBase
from quarterdeck.timeline.parts import Kept, McpServer, RateLimitState


class SessionChanged(EventBase, frozen=True):
    """The session was described: first everything, later the fields of ``SessionDetails`` that changed."""

    session_id: str | None
    changed: list[str]


class SessionStateChanged(EventBase, frozen=True):
    """The CLI's own word for what it does: idle, running, requires_action. Only where it was asked to tell."""

    state: str


class ModelChanged(EventBase, frozen=True):
    """Another model answers from now on. ``reason`` when the CLI chose it."""

    model: str
    by: By
    before: str | None = None
    reason: str | None = None


class ModeChanged(EventBase, frozen=True):
    """Another permission mode."""

    mode: str
    by: By
    before: str | None = None


class McpChanged(EventBase, frozen=True):
    """The MCP servers, all of them."""

    servers: list[McpServer]


class RateLimitChanged(EventBase, frozen=True):
    """The account came nearer to one of its limits, or over it."""

    limit: RateLimitState


class AuthChanged(EventBase, frozen=True):
    """A login is under way in the CLI, or has ended."""

    authenticating: bool
    output: list[str]
    error: str | None = None


class ConversationReset(EventBase, frozen=True):
    """The conversation starts over, for example after ``/clear``; what was said before no longer counts."""

    trigger: str | None = None


class FilesPersisted(EventBase, frozen=True):
    """Files were stored; ``failed`` is file → error."""

    files: list[str]
    failed: dict[str, str] = msgspec.field(default_factory=dict)


class FilesRewound(EventBase, frozen=True):
    """Files were set back to what they were at a prompt, or would be (``dry_run``)."""

    prompt_id: str
    dry_run: bool = False
    files: list[str] = msgspec.field(default_factory=list)
    insertions: int = 0
    deletions: int = 0


class PromptSuggested(EventBase, frozen=True):
    """What the person might say next."""

    text: str


class ControlAnswered(EventBase, frozen=True):
    """A control request of ours was answered; ``error`` if it was refused. Only for what has no event of its own."""

    id: str
    subtype: str
    error: str | None = None
    error_code: str | None = None


class ControlProgressed(EventBase, frozen=True):
    """A control request of ours takes long and is being worked on."""

    id: str
    subtype: str
    status: str
    attempt: int | None = None
    max_retries: int | None = None


class NoticeShown(EventBase, frozen=True):
    """A line for the person; see ``items.Notice``."""

    id: str
    kind: str
    text: str
    level: str = "info"
    parent_id: str | None = None
    tool_ids: list[str] = msgspec.field(default_factory=list)
    details: dict[str, Any] = msgspec.field(default_factory=dict)


class UnknownSeen(EventBase, frozen=True):
    """A message, block or request that this version does not know, as it came (``raw``, perhaps only its head)."""

    what: str
    raw: Kept
    reason: str = ""


class BadLineSeen(EventBase, frozen=True):
    """A line that is not a message at all; ``head`` is how it starts."""

    reason: str
    head: str
    size: int
