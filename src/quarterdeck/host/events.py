"""All events: the timeline's, and the host's own.

A frame ``{session, seq, at, events}`` can contain both kinds; ``type`` tells them apart. ``EVENTS`` is the contract:
tests compare every gateway with it, so a missing event is found.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from quarterdeck.timeline.events import Event as TimelineEvent
from quarterdeck.timeline.events import EventBase

from .resources import Approval, Prompt, SessionState, TokenCounts

ProcessState: TypeAlias = Literal["starting", "running", "exited", "lost"]
"""``lost``: the process and its owner are gone, so its exit status is unknown."""


class StatusChange(EventBase, frozen=True):
    """The session's state changed. After each result it is ``idle``, unless another state applies."""

    state: SessionState
    since: datetime
    before: SessionState | None = None
    reason: str = ""
    remedies: list[str] = msgspec.field(default_factory=list)
    """Operations that can help, by name."""
    until: datetime | None = None
    """When the state ends by itself, if known: a rate limit's reset, the next restart."""


class UsageReport(EventBase, frozen=True):
    """Usage of the last turn, computed from the CLI's running totals. Follows each result."""

    turn: int
    cost_usd: Decimal
    tokens: TokenCounts
    by_model: dict[str, Decimal] = msgspec.field(default_factory=dict)
    session_cost_usd: Decimal = Decimal(0)
    """Total for the session so far."""
    beside: TokenCounts = TokenCounts()
    """The part of the tokens used outside the main conversation, by sub-agents and the CLI itself."""


class ApprovalChanged(EventBase, frozen=True):
    """An approval was opened, decided, delivered, applied, withdrawn, or lost with its process."""

    approval: Approval


class PolicyDecided(EventBase, frozen=True):
    """The policy decided a tool call, so nobody was asked."""

    tool_use_id: str
    tool: str
    decision: Literal["allow", "deny", "ask"]
    reason: str
    rule: str | None = None
    grant_id: str | None = None
    asked_in: Literal["can_use_tool", "PreToolUse"] = "can_use_tool"


class QueueChanged(EventBase, frozen=True):
    """All queued prompts, in the order in which they will be sent."""

    prompts: list[Prompt]


class ProcessChanged(EventBase, frozen=True):
    """The CLI's process started, ended, or was lost."""

    generation: int
    """The number of the process in this session, from 1."""
    state: ProcessState
    pid: int | None = None
    exit_code: int | None = None
    signal: str | None = None
    stderr: str = ""
    """The last lines of stderr, if the process failed."""
    restart_at: datetime | None = None
    unfinished: list[str] = msgspec.field(default_factory=list)
    """Tool calls that were running. It is unknown whether they took effect."""


class HangNoticed(EventBase, frozen=True):
    """A turn was silent for too long, and the host acts on it."""

    generation: int
    silent_s: float
    action: Literal["interrupt", "end"]
    """``end``: the interrupt had no effect, so the process and its children are terminated, then killed."""


class DriftNoticed(EventBase, frozen=True):
    """Claude Code sent something that this version does not know. Reported once per kind; the line is in the log."""

    what: Literal["message", "subtype", "field", "request", "version"]
    name: str
    cli_version: str | None = None


class TranscriptNoticed(EventBase, frozen=True):
    """Between two processes, something happened to the transcript that the next one goes on with."""

    what: Literal["continued", "restored"]
    """``continued``: somebody went on with it elsewhere, e.g. in a terminal, and the log does not have what was said.
    ``restored``: it was gone, and the host had a copy."""
    transcript_id: str
    records: int = 0
    """How many were added elsewhere."""


class BudgetChanged(EventBase, frozen=True):
    """A budget was set, is almost used up, or is used up."""

    state: Literal["set", "near", "reached", "interrupted"]
    """``interrupted``: the turn that used it up was stopped."""
    budget_usd: Decimal | None
    spent_usd: Decimal
    scope: Literal["session", "parent", "host"] = "session"
    """Whose budget: ``parent``, of a session that started this one, directly or through others."""


class CustomEvent(EventBase, frozen=True):
    """An external program added this to the log: a CI result, a webhook."""

    name: str
    data: dict[str, Any] = msgspec.field(default_factory=dict)
    by: str = ""
    """The name of the token that wrote it."""
    prompt_id: str | None = None
    """The prompt created from it."""


class Gap(EventBase, frozen=True):
    """The log does not continue at the cursor: fetch the timeline again, then continue after ``seq``."""

    reason: Literal["retention", "epoch", "ahead"]
    """``ahead``: the cursor is beyond the log's end."""
    epoch: str
    first_seq: int
    seq: int
    """The last row of the log."""


class RawLine(EventBase, frozen=True):
    """A line read from the CLI or written to it, unchanged. Only in the raw view."""

    direction: Literal["received", "sent"]
    line: str


HostEvent: TypeAlias = (
    StatusChange
    | UsageReport
    | ApprovalChanged
    | PolicyDecided
    | QueueChanged
    | ProcessChanged
    | HangNoticed
    | DriftNoticed
    | TranscriptNoticed
    | BudgetChanged
    | CustomEvent
    | Gap
    | RawLine
)

AnyEvent: TypeAlias = TimelineEvent | HostEvent
"""The events of a frame."""

EVENTS: Mapping[str, type[EventBase]] = MappingProxyType(
    {str(cls.__struct_config__.tag): cls for cls in (*get_args(TimelineEvent), *get_args(HostEvent))}
)
"""``type`` → class, for every event."""
