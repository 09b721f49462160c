"""The results of all operations, the same in every API.

Times are RFC 3339 in UTC, money is a decimal string in USD: that is how ``msgspec`` encodes ``datetime`` and
``Decimal``.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import msgspec

Scope: TypeAlias = Literal["read", "approve", "operate", "admin"]
"""What a token allows. Each scope includes the ones before it."""

SessionState: TypeAlias = Literal[
    "crashed",
    "stopped",
    "parked",
    "starting",
    "authenticating",
    "limited",
    "waiting",
    "compacting",
    "running",
    "idle",
]
"""If several apply, the first in this order."""

ApprovalKind: TypeAlias = Literal["permission", "questions", "plan_review", "elicitation", "dialog"]
ApprovalState: TypeAlias = Literal[
    "pending", "decided", "delivered", "applied", "undeliverable", "withdrawn", "stranded"
]
Priority: TypeAlias = Literal["now", "next", "later"]
GrantScope: TypeAlias = Literal["session", "project", "user"]


class Resource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base class of all results. Fields with their default value are omitted."""


class TokenCounts(Resource, frozen=True, kw_only=True):
    """Token counts as billed by the API."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Session(Resource, frozen=True, kw_only=True):
    """A session, as lists show it."""

    id: str
    state: SessionState
    state_since: datetime
    cwd: str
    created_at: datetime
    last_activity_at: datetime
    seq: int
    epoch: str
    agent: str = "claude"
    name: str = ""
    tags: list[str] = []
    state_reason: str = ""
    state_until: datetime | None = None
    """When the state ends by itself, if known."""
    model: str | None = None
    permission_mode: str | None = None
    cli_version: str | None = None
    transcript_id: str | None = None
    parent_id: str | None = None
    pending_approvals: int = 0
    cost_usd: Decimal = Decimal(0)
    tokens: TokenCounts = TokenCounts()
    budget_usd: Decimal | None = None
    current: str = ""
    """What it is doing, as one line of text."""
    worktree: str | None = None
    account: str = ""
    host: str = ""
    archived: bool = False


class Decider(Resource, frozen=True, kw_only=True):
    """Who decided."""

    kind: Literal["user", "token", "rule", "deadline"]
    name: str = ""


class Approval(Resource, frozen=True, kw_only=True):
    """A request for a person (permission, question, plan …) and its outcome."""

    id: str
    request_id: str
    session_id: str
    kind: ApprovalKind
    state: ApprovalState
    asked_at: datetime
    replaces: str | None = None
    """If this repeats an approval that was lost with its process: that approval's id."""
    tool: str | None = None
    input: dict[str, Any] = {}
    summary: str = ""
    diffs: list[Any] = []
    risk: str | None = None
    reason: str | None = None
    reason_kind: str | None = None
    """What kind of check made Claude Code ask, in its own words (``rule``, ``safetyCheck`` …)."""
    blocked_path: str | None = None
    """The path that made Claude Code ask, if it was one."""
    agent_id: str | None = None
    """The sub-agent that asks; None: the session's main agent."""
    tool_id: str | None = None
    """The tool call that waits for the decision."""
    suggestions: list[Any] = []
    questions: list[Any] = []
    plan: str | None = None
    decided_at: datetime | None = None
    decided_by: Decider | None = None
    via: str | None = None
    """The interface through which it was decided."""
    decision: dict[str, Any] | None = None
    delivered_at: datetime | None = None
    applied_at: datetime | None = None
    waited_s: float | None = None


class Prompt(Resource, frozen=True, kw_only=True):
    """A prompt that has not been answered yet."""

    id: str
    content: str | list[dict[str, Any]]
    state: Literal["queued", "sent", "uncertain"]
    """``uncertain``: the process died while the prompt was being sent, so it may or may not have arrived."""
    priority: Priority = "next"
    not_before: datetime | None = None
    by: str = ""
    """Who sent it."""


class PromptAccepted(Resource, frozen=True, kw_only=True):
    """The prompt's row in the log."""

    prompt_id: str
    seq: int


class Frame(Resource, frozen=True, kw_only=True, gc=False):
    """The events of one log row. Every row is exactly one frame."""

    session: str
    seq: int
    at: float
    events: list[Any]


class Frames(Resource, frozen=True, kw_only=True):
    """Part of a session's log. ``gap`` says why it does not start at the requested cursor."""

    frames: list[Frame]
    last_seq: int
    epoch: str
    gap: dict[str, Any] | None = None


class TimelineView(Resource, frozen=True, kw_only=True):
    """The whole timeline so far. Continue with the frames after ``seq``."""

    seq: int
    epoch: str
    state: dict[str, Any]


class Grant(Resource, frozen=True, kw_only=True):
    """A remembered rule."""

    id: str
    rule: str
    scope: GrantScope
    created_at: datetime
    by: str
    session_id: str | None = None
    cwd: str | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


class Token(Resource, frozen=True, kw_only=True):
    """An access token. ``secret`` is present only in the response to its creation."""

    id: str
    name: str
    scope: Scope
    created_at: datetime
    may_bypass: bool = False
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None
    folders: list[str] = []
    secret: str | None = None


class UsageRow(Resource, frozen=True, kw_only=True):
    """Usage for one combination of the requested dimensions."""

    cost_usd: Decimal
    tokens: TokenCounts
    by: dict[str, str]


class AuditEntry(Resource, frozen=True, kw_only=True):
    """Who decided or changed what, through which interface."""

    id: int
    at: datetime
    who: str
    via: str
    operation: str
    session_id: str | None = None
    details: dict[str, Any] = {}


class Accepted(Resource, frozen=True, kw_only=True):
    """The request is logged and will be carried out; ``seq`` is its row, if it has one."""

    seq: int | None = None


class Details(Resource, frozen=True, kw_only=True):
    """Data from the CLI or the machine, passed on unchanged."""

    details: dict[str, Any]


class Call(Resource, frozen=True, kw_only=True):
    """A call for the attached program or, with ``cancelled``, one it no longer needs to answer."""

    call_id: str
    """Stays the same when the program attaches again or the host restarts."""
    kind: Literal["hook", "tool", "permission", "cancelled"]
    deadline_s: float | None = None
    """Seconds until the host answers in the program's place; None: no limit."""
    hook: int | None = None
    """The hook's index in ``Callbacks.hooks``."""
    server: str | None = None
    tool: str | None = None
    tool_use_id: str | None = None
    input: dict[str, Any] = {}
    """The hook's input, or the tool's arguments."""
    approval: Approval | None = None
    """The approval, for a permission. The first decision wins, the program's or a person's."""


class SessionList(Resource, frozen=True, kw_only=True):
    """A page of sessions."""

    sessions: list[Session]
    next_cursor: str | None = None


class ApprovalList(Resource, frozen=True, kw_only=True):
    """A page of approvals."""

    approvals: list[Approval]
    next_cursor: str | None = None


class Decisions(Resource, frozen=True, kw_only=True):
    """What a batch has decided, or would decide."""

    approvals: list[Approval]
    dry_run: bool


class PromptList(Resource, frozen=True, kw_only=True):
    """Queued prompts, in the order in which they will be sent."""

    prompts: list[Prompt]


class GrantList(Resource, frozen=True, kw_only=True):
    """All grants."""

    grants: list[Grant]


class TokenList(Resource, frozen=True, kw_only=True):
    """All tokens, without their secrets."""

    tokens: list[Token]


class UsageList(Resource, frozen=True, kw_only=True):
    """Usage, one row per group."""

    usage: list[UsageRow]


class AuditList(Resource, frozen=True, kw_only=True):
    """A page of the audit log, newest first."""

    audit: list[AuditEntry]
    next_cursor: str | None = None


class FolderList(Resource, frozen=True, kw_only=True):
    """Folders or files below a prefix."""

    paths: list[str]


class Exported(Resource, frozen=True, kw_only=True):
    """A session as a document, or part of it."""

    media_type: str
    body: bytes
    next_cursor: str | None = None
    """Where the next part begins; None: this is the last."""


class Imported(Resource, frozen=True, kw_only=True):
    """What is there of a file that is being imported."""

    import_id: str
    size_bytes: int
    session: Session | None = None
    """Once the file is complete."""


class Hit(Resource, frozen=True, kw_only=True):
    """A place where the words are."""

    session_id: str
    name: str = ""
    cwd: str = ""
    seq: int = 0
    """The row of the log; 0: the session's own name, tags or folder."""
    kind: Literal["session", "prompt", "text", "tool", "event"]
    excerpt: str
    """A part of it, the words between U+0002 and U+0003."""


class SearchResults(Resource, frozen=True, kw_only=True):
    """A page of hits, the best first."""

    hits: list[Hit]
    next_cursor: str | None = None
    behind: int = 0
    """Rows that are not in the index yet."""


class HostView(Resource, frozen=True, kw_only=True):
    """The host's versions, machine and limits."""

    api_version: str
    version: str
    features: list[str] = []
    cli_versions: list[str] = []
    machine: dict[str, Any] = {}
    limits: dict[str, Any] = {}


class Health(Resource, frozen=True, kw_only=True):
    """Whether the host accepts work and, if not, why."""

    ready: bool
    problems: list[str] = []
