"""What operations return: the host's things as every face shows them.

Times are RFC 3339 in UTC and money is a decimal string in USD: ``msgspec`` writes ``datetime`` and ``Decimal`` so.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import msgspec

Scope: TypeAlias = Literal["read", "approve", "operate", "admin"]
"""What a token may do; each includes those before it."""

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
"""The first that holds, in this order."""

ApprovalKind: TypeAlias = Literal["permission", "questions", "plan_review", "elicitation", "dialog"]
ApprovalState: TypeAlias = Literal[
    "pending", "decided", "delivered", "applied", "undeliverable", "withdrawn", "stranded"
]
Priority: TypeAlias = Literal["now", "next", "later"]
GrantScope: TypeAlias = Literal["session", "project", "user"]


class Resource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is shown. A field that has its default is left out."""


class TokenCounts(Resource, frozen=True, kw_only=True):
    """Tokens as the API bills them."""

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
    """When the state ends by itself, where that is known."""
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
    """What it is doing, in one line."""
    worktree: str | None = None
    account: str = ""
    host: str = ""
    archived: bool = False


class Decider(Resource, frozen=True, kw_only=True):
    """Who decided."""

    kind: Literal["user", "token", "rule", "deadline"]
    name: str = ""


class Approval(Resource, frozen=True, kw_only=True):
    """Something a person is asked, and what became of it."""

    id: str
    request_id: str
    session_id: str
    kind: ApprovalKind
    state: ApprovalState
    asked_at: datetime
    replaces: str | None = None
    """The approval that was lost with its process, if this one asks the same again."""
    tool: str | None = None
    input: dict[str, Any] = {}
    summary: str = ""
    diffs: list[Any] = []
    risk: str | None = None
    reason: str | None = None
    suggestions: list[Any] = []
    questions: list[Any] = []
    plan: str | None = None
    decided_at: datetime | None = None
    decided_by: Decider | None = None
    via: str | None = None
    """The face the decision came through."""
    decision: dict[str, Any] | None = None
    delivered_at: datetime | None = None
    applied_at: datetime | None = None
    waited_s: float | None = None


class Prompt(Resource, frozen=True, kw_only=True):
    """Something said to the session that has not been answered yet."""

    id: str
    content: str | list[dict[str, Any]]
    state: Literal["queued", "sent", "uncertain"]
    """``uncertain``: the process died while it was being sent, and nothing says whether it arrived."""
    priority: Priority = "next"
    not_before: datetime | None = None
    by: str = ""
    """Who said it."""


class PromptAccepted(Resource, frozen=True, kw_only=True):
    """The row of the log that holds the prompt."""

    prompt_id: str
    seq: int


class Frame(Resource, frozen=True, kw_only=True, gc=False):
    """What one row of the log says. Every row is exactly one frame."""

    session: str
    seq: int
    at: float
    events: list[Any]


class Frames(Resource, frozen=True, kw_only=True):
    """Part of a session's log. ``gap`` says why it does not start where it was asked to."""

    frames: list[Frame]
    last_seq: int
    epoch: str
    gap: dict[str, Any] | None = None


class TimelineView(Resource, frozen=True, kw_only=True):
    """Everything so far, to draw from nothing; go on with the frames after ``seq``."""

    seq: int
    epoch: str
    state: dict[str, Any]


class Grant(Resource, frozen=True, kw_only=True):
    """A rule that a person asked to be remembered."""

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
    """Who may do what. ``secret`` is there once, in the answer to its creation."""

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
    """What was used, for one value of each dimension that was asked for."""

    cost_usd: Decimal
    tokens: TokenCounts
    by: dict[str, str]


class AuditEntry(Resource, frozen=True, kw_only=True):
    """Who decided or changed what, through which face."""

    id: int
    at: datetime
    who: str
    via: str
    operation: str
    session_id: str | None = None
    details: dict[str, Any] = {}


class Accepted(Resource, frozen=True, kw_only=True):
    """It is in the log and will be done; ``seq`` is its row, where it has one."""

    seq: int | None = None


class Details(Resource, frozen=True, kw_only=True):
    """What only the CLI or the machine can tell, as it is told."""

    details: dict[str, Any]


class Call(Resource, frozen=True, kw_only=True):
    """Something that the attached program is asked, or (``cancelled``) need not answer any more."""

    call_id: str
    """Stays the same when the program attaches again and when the host is restarted."""
    kind: Literal["hook", "tool", "permission", "cancelled"]
    deadline_s: float | None = None
    """Seconds until the host answers in its place; None: it waits."""
    hook: int | None = None
    """Which of the hooks, by its place in ``Callbacks.hooks``."""
    server: str | None = None
    tool: str | None = None
    tool_use_id: str | None = None
    input: dict[str, Any] = {}
    """What the hook is told, or the arguments of the tool."""
    approval: Approval | None = None
    """What a permission is about. Whoever decides first, the program or a person, wins."""


class SessionList(Resource, frozen=True, kw_only=True):
    """A page of sessions."""

    sessions: list[Session]
    next_cursor: str | None = None


class ApprovalList(Resource, frozen=True, kw_only=True):
    """A page of approvals."""

    approvals: list[Approval]
    next_cursor: str | None = None


class Decisions(Resource, frozen=True, kw_only=True):
    """What a batch decided, or would decide."""

    approvals: list[Approval]
    dry_run: bool


class PromptList(Resource, frozen=True, kw_only=True):
    """The prompts that wait, in the order in which they will be sent."""

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
    """A page of the audit, newest first."""

    audit: list[AuditEntry]
    next_cursor: str | None = None


class FolderList(Resource, frozen=True, kw_only=True):
    """Folders or files below a prefix."""

    paths: list[str]


class Exported(Resource, frozen=True, kw_only=True):
    """A session as a document."""

    media_type: str
    body: bytes


class HostView(Resource, frozen=True, kw_only=True):
    """What this host is: versions, machine, limits."""

    api_version: str
    version: str
    features: list[str] = []
    cli_versions: list[str] = []
    machine: dict[str, Any] = {}
    limits: dict[str, Any] = {}


class Health(Resource, frozen=True, kw_only=True):
    """Whether the host takes work, and if not, why."""

    ready: bool
    problems: list[str] = []
