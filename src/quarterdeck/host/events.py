"""Every event a face must know: the timeline's, and what the host itself tells.

A frame ``{session, seq, at, events}`` carries both kinds, told apart by ``type``. This list is the contract: each face
is compared with ``EVENTS`` by a test, so a new event shows up wherever it is missing.
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
"""``lost``: the process and whatever owned it are gone, so nobody knows its exit status."""


class StatusChange(EventBase, frozen=True):
    """The session's state changed. After each result: ``idle``, unless something else holds."""

    state: SessionState
    since: datetime
    before: SessionState | None = None
    reason: str = ""
    remedies: list[str] = msgspec.field(default_factory=list)
    """What could be done about it, as names of operations."""
    until: datetime | None = None
    """When the state ends by itself, where that is known: a rate limit's reset, the next restart."""


class UsageReport(EventBase, frozen=True):
    """What the last turn used, by difference of the CLI's running totals. Follows each result."""

    turn: int
    cost_usd: Decimal
    tokens: TokenCounts
    by_model: dict[str, Decimal] = msgspec.field(default_factory=dict)
    session_cost_usd: Decimal = Decimal(0)
    """The session so far."""
    beside: TokenCounts = TokenCounts()
    """Of the tokens, those that sub-agents and the CLI's own errands used beside the conversation."""


class ApprovalChanged(EventBase, frozen=True):
    """An approval was opened, decided, delivered, applied, withdrawn, or lost with its process."""

    approval: Approval


class PolicyDecided(EventBase, frozen=True):
    """A rule answered a tool call, so nobody was asked."""

    tool_use_id: str
    tool: str
    decision: Literal["allow", "deny", "ask"]
    reason: str
    rule: str | None = None
    grant_id: str | None = None
    asked_in: Literal["can_use_tool", "PreToolUse"] = "can_use_tool"


class QueueChanged(EventBase, frozen=True):
    """The prompts that wait: all of them, in the order in which they will be sent."""

    prompts: list[Prompt]


class ProcessChanged(EventBase, frozen=True):
    """The CLI's process started, ended, or was lost."""

    generation: int
    """Counts the session's processes."""
    state: ProcessState
    pid: int | None = None
    exit_code: int | None = None
    signal: str | None = None
    stderr: str = ""
    """Its last lines, where the process failed."""
    restart_at: datetime | None = None
    unfinished: list[str] = msgspec.field(default_factory=list)
    """Tool calls that were running: whether they took effect is unknown."""


class HangNoticed(EventBase, frozen=True):
    """A turn has gone on without a word for too long, and this is done about it."""

    generation: int
    silent_s: float
    action: Literal["interrupt", "end"]
    """``end``: the interrupt had no effect, so the process and its family are terminated, then killed."""


class DriftNoticed(EventBase, frozen=True):
    """Claude Code said something that this version does not know. Told once per kind and host; the log has the line."""

    what: Literal["message", "subtype", "field", "request", "version"]
    name: str
    cli_version: str | None = None


class BudgetChanged(EventBase, frozen=True):
    """A budget was set, came near its end, or is used up."""

    state: Literal["set", "near", "reached"]
    budget_usd: Decimal | None
    spent_usd: Decimal
    scope: Literal["session", "host"] = "session"


class CustomEvent(EventBase, frozen=True):
    """A program outside wrote this to the log: a CI result, a webhook."""

    name: str
    data: dict[str, Any] = msgspec.field(default_factory=dict)
    by: str = ""
    """The name of the token that wrote it."""
    prompt_id: str | None = None
    """The prompt that was made of it."""


class Gap(EventBase, frozen=True):
    """The log does not continue at the cursor: fetch the state again, then go on after ``seq``."""

    reason: Literal["retention", "epoch", "ahead"]
    """``ahead``: the cursor is beyond the log's end."""
    epoch: str
    first_seq: int
    seq: int
    """The last row there is."""


class RawLine(EventBase, frozen=True):
    """A line as it was read from the CLI or written to it. Only for those who ask for raw lines."""

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
    | BudgetChanged
    | CustomEvent
    | Gap
    | RawLine
)

AnyEvent: TypeAlias = TimelineEvent | HostEvent
"""What a frame may carry."""

EVENTS: Mapping[str, type[EventBase]] = MappingProxyType(
    {str(cls.__struct_config__.tag): cls for cls in (*get_args(TimelineEvent), *get_args(HostEvent))}
)
"""``type`` → class, for every event that a face must know."""
