"""The requests of all operations. Unknown fields are errors; omitting a field is not the same as null."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from .resources import ApprovalKind, ApprovalState, GrantScope, Priority, Scope, SessionState

Content: TypeAlias = str | list[dict[str, Any]]
"""Text, or content blocks as the CLI accepts them."""


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base class of all requests."""


class Nothing(Request, frozen=True, kw_only=True):
    """For operations without parameters."""


class OfSession(Request, frozen=True, kw_only=True):
    """For operations on one session, identified by any of its ids."""

    session_id: str


class Lifecycle(Request, frozen=True, kw_only=True):
    """When a session's process is restarted, ended or parked. The host sets the defaults; null means never."""

    restarts: int | UnsetType = UNSET
    """How many times a crashed process is restarted. A completed turn resets the count."""
    tell_model: bool | UnsetType = UNSET
    """After a restart, tell the model which tool calls were interrupted."""
    hang_s: float | UnsetType | None = UNSET
    """How long a turn may stay silent before it is ended. Time spent waiting for an approval does not count."""
    park_s: float | UnsetType | None = UNSET
    """How long an idle session keeps its process before it is parked."""
    limited: Literal["wait", "continue", "refuse"] | UnsetType = UNSET
    """While the account is rate limited, prompts wait or are refused. With ``continue`` they wait, and a turn that the
    limit cut off continues afterwards."""


class HookCallback(Request, frozen=True, kw_only=True):
    """A hook that a program answers."""

    event: str
    matcher: str | None = None
    timeout_s: float | None = None
    """How long to wait for the program; None: ``Callbacks.deadline_s``."""
    on_failure: Literal["block", "continue"] = "block"
    """For deciding events without an answer: refuse, or continue without an opinion."""


class ToolCallback(Request, frozen=True, kw_only=True):
    """A tool that a program runs, in the MCP server ``server``. The fields are those of MCP's ``tools/list``."""

    server: str
    name: str
    description: str = ""
    title: str | None = None
    input_schema: dict[str, Any] = {}
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] = {}
    meta: dict[str, Any] = {}
    """The tool's ``_meta`` in MCP."""


class Callbacks(Request, frozen=True, kw_only=True):
    """Hooks, tools and permissions that an attached program answers (``attach_callbacks``).

    They belong to the session: each of its processes is started with them, and forks inherit them.
    ``quarterdeck.host.callbacks`` documents how calls are made and answered.
    """

    hooks: list[HookCallback] = []
    tools: list[ToolCallback] = []
    instructions: dict[str, str] = {}
    """Server name → instructions for the model about its tools."""
    permission: bool = False
    """Also send approvals that the policy leaves open to the program."""
    deadline_s: float = 60.0
    """How long a hook or tool waits for the program, attached or not. After that, hooks refuse and tools fail."""
    detached_s: float | None = None
    """How long it waits while no program is attached, if that is less: for a program that may leave for good."""


class HostTools(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Gives a session tools to start its own sessions."""

    sessions: int = 4
    """How many of them, and of those that they start, can run at the same time."""
    depth: int = 1
    """How many generations are allowed. With 1, its children cannot start sessions."""
    children_outlive: bool = False
    """Keep them running when this session ends."""


class CreateSession(Request, frozen=True, kw_only=True):
    """Start a session, with or without a first prompt."""

    cwd: str
    prompt: Content | None = None
    name: str = ""
    tags: list[str] = []
    agent: str = "claude"
    """``claude``, ``sim``, or a path. A path requires the scope ``admin``."""
    model: str | None = None
    permission_mode: str | None = None
    options: dict[str, Any] = {}
    """Options of ``ClaudeAgentOptions`` that callers are allowed to set."""
    policy: dict[str, Any] | None = None
    budget_usd: Decimal | None = None
    worktree: str | None = None
    """Create a worktree with this name and work in it."""
    resume: str | None = None
    fork: bool = False
    account: str = ""
    """One of the host's accounts; empty for the default."""
    cli_version: str | None = None
    """The required version of Claude Code."""
    lifecycle: Lifecycle | None = None
    callbacks: Callbacks | None = None
    host_tools: HostTools | None = None
    preset: str | None = None
    """A named set of these fields (``get_presets``); what the request says itself counts more."""


class ListSessions(Request, frozen=True, kw_only=True):
    """All filters must match; ``q`` searches names, folders and prompts."""

    state: list[SessionState] = []
    tag: list[str] = []
    q: str = ""
    cwd: str = ""
    archived: bool = False
    limit: int = 50
    cursor: str | None = None


class UpdateSession(OfSession, frozen=True, kw_only=True):
    """Changes the given fields; ``budget_usd`` null removes the budget."""

    name: str | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET
    model: str | UnsetType | None = UNSET
    permission_mode: str | UnsetType = UNSET
    max_thinking_tokens: int | UnsetType | None = UNSET
    archived: bool | UnsetType = UNSET
    budget_usd: Decimal | UnsetType | None = UNSET
    lifecycle: Lifecycle | UnsetType = UNSET


class SendPrompt(OfSession, frozen=True, kw_only=True):
    """Send a prompt to the session."""

    content: Content
    priority: Priority = "next"
    prompt_id: str | None = None
    """A UUID that identifies the prompt in Claude Code's messages. Sending the same UUID again has no effect."""
    not_before: datetime | None = None
    """Hold the prompt until then. A session without a process is started for it."""


class OfPrompt(OfSession, frozen=True, kw_only=True):
    """One queued prompt."""

    prompt_id: str


class UpdatePrompt(OfPrompt, frozen=True, kw_only=True):
    """Edit, reorder or schedule a queued prompt."""

    content: Content | UnsetType = UNSET
    position: int | UnsetType = UNSET
    not_before: datetime | UnsetType | None = UNSET


class SendControl(OfSession, frozen=True, kw_only=True):
    """A control request that has no operation of its own."""

    subtype: str
    fields: dict[str, Any] = {}


class Fork(OfSession, frozen=True, kw_only=True):
    """Continue this session in a copy, from its end or from the message ``at``."""

    at: str | None = None
    name: str = ""


class Rewind(OfSession, frozen=True, kw_only=True):
    """Restore files to their state at the prompt ``to``."""

    to: str
    dry_run: bool = False


class OfSubagent(OfSession, frozen=True, kw_only=True):
    """The transcript of one sub-agent."""

    subagent_id: str


class OfMcpServer(OfSession, frozen=True, kw_only=True):
    """One MCP server of a session."""

    server: str


class SetMcpServers(OfSession, frozen=True, kw_only=True):
    """All MCP servers of a session, by name."""

    servers: dict[str, Any]


class OfTask(OfSession, frozen=True, kw_only=True):
    """One background task of a session."""

    task_id: str


class ReadEvents(OfSession, frozen=True, kw_only=True):
    """``after`` is a cursor: ``EPOCH-SEQ``."""

    after: str | None = None
    limit: int = 1_000
    view: Literal["timeline", "raw"] = "timeline"


class AddEvent(OfSession, frozen=True, kw_only=True):
    """Add an external event to the log; ``prompt`` is also sent to the session."""

    type: str
    data: dict[str, Any] = {}
    prompt: str | None = None


class ListApprovals(Request, frozen=True, kw_only=True):
    """All filters must match. Without ``state``, only pending approvals."""

    state: list[ApprovalState] = msgspec.field(default_factory=lambda: ["pending"])
    session: str | None = None
    kind: list[ApprovalKind] = []
    limit: int = 50
    cursor: str | None = None


class OfApproval(Request, frozen=True, kw_only=True):
    """One approval."""

    approval_id: str


class Remember(Request, frozen=True, kw_only=True):
    """A rule to remember. Beyond the session, this requires the scope ``operate``."""

    rule: str
    scope: GrantScope = "session"
    lasts_s: float | None = None


class Decision(Request, frozen=True, kw_only=True):
    """A decision. The allowed fields depend on the approval's kind."""

    decision: Literal["allow", "deny"]
    updated_input: dict[str, Any] | None = None
    remember: Remember | None = None
    message: str | None = None
    interrupt: bool = False
    answers: dict[str, Any] | None = None
    plan: Literal["approve", "revise", "reject"] | None = None
    mode: str | None = None


class Decide(OfApproval, frozen=True, kw_only=True):
    """Decide one approval."""

    decision: Decision


class ApprovalFilter(Request, frozen=True, kw_only=True):
    """Selects the approvals of a batch. An empty filter is an error."""

    session: str | None = None
    kind: ApprovalKind | None = None
    tool: str | None = None
    cwd: str | None = None


class DecideMany(Request, frozen=True, kw_only=True):
    """Decide all pending approvals that match; ``dry_run`` only lists them."""

    filter: ApprovalFilter
    decision: Decision
    dry_run: bool = False


class InFolder(Request, frozen=True, kw_only=True):
    """For operations on a folder."""

    cwd: str | None = None


class OfGrant(Request, frozen=True, kw_only=True):
    """One grant."""

    grant_id: str


class ExplainPolicy(Request, frozen=True, kw_only=True):
    """A hypothetical tool call."""

    tool: str
    input: dict[str, Any]
    cwd: str


class TryRule(Request, frozen=True, kw_only=True):
    """A new rule to test against the most recent requests."""

    rule: str
    behavior: Literal["allow", "ask", "deny"] = "allow"
    cwd: str | None = None
    """Only requests from sessions in this folder and below; None for all."""
    limit: int = 200


class GetUsage(Request, frozen=True, kw_only=True):
    """Usage in a period, grouped."""

    by: list[Literal["day", "model", "session", "cwd"]] = msgspec.field(default_factory=lambda: ["day"])
    since: datetime | None = msgspec.field(default=None, name="from")
    to: datetime | None = None


class Settings(Request, frozen=True, kw_only=True):
    """All budgets, all alerts or all presets."""

    settings: dict[str, Any]


class ListFolders(Request, frozen=True, kw_only=True):
    """Folders in which sessions are allowed."""

    prefix: str = ""


class ListFiles(OfSession, frozen=True, kw_only=True):
    """Files in the session's folder, for completion."""

    q: str = ""


class Upload(OfSession, frozen=True, kw_only=True):
    """A file for the session."""

    name: str
    media_type: str
    body: bytes


class Wait(OfSession, frozen=True, kw_only=True):
    """Wait for one of these states."""

    for_: list[Literal["idle", "waiting", "stopped"]] = msgspec.field(default_factory=lambda: ["idle"], name="for")
    timeout_s: float | None = None


class Export(OfSession, frozen=True, kw_only=True):
    """The session as a document, or the part of it after a cursor. ``ndjson`` is what ``import_session`` takes."""

    format: Literal["ndjson", "md", "html"] = "ndjson"
    cursor: str | None = None


class ImportSession(Request, frozen=True, kw_only=True):
    """A session that was exported as ``ndjson``. A long file comes in parts, all but the last with ``more``."""

    body: bytes
    import_id: str | None = None
    """What the first part was answered; None: this is the first."""
    offset: int = 0
    """Where in the file this part begins: one that is sent again counts once."""
    more: bool = False
    cwd: str | None = None
    """Another folder than the file names."""
    name: str | None = None


class Search(Request, frozen=True, kw_only=True):
    """Words, all of which must be there; the last one may be a beginning. Filters add up."""

    q: str
    session: str | None = None
    cwd: str = ""
    archived: bool = True
    """Look in archived sessions, too."""
    limit: int = 20
    cursor: str | None = None


class ListAudit(Request, frozen=True, kw_only=True):
    """All filters must match."""

    session: str | None = None
    who: str | None = None
    since: datetime | None = msgspec.field(default=None, name="from")
    limit: int = 50
    cursor: str | None = None


class ListTranscripts(InFolder, frozen=True, kw_only=True):
    """Transcripts on disk."""

    q: str = ""


class OfTranscript(Request, frozen=True, kw_only=True):
    """One transcript on disk."""

    transcript_id: str


class CreateWorktree(Request, frozen=True, kw_only=True):
    """Create a worktree next to the repository of ``cwd``."""

    cwd: str
    name: str
    base: str | None = None


class DeleteWorktree(Request, frozen=True, kw_only=True):
    """Remove a worktree. Uncommitted changes are removed only with ``force``."""

    path: str
    force: bool = False


class CreateToken(Request, frozen=True, kw_only=True):
    """A token for a person or a program."""

    name: str
    scope: Scope
    expires_s: float | None = None
    folders: list[str] = []
    may_bypass: bool = False


class OfToken(Request, frozen=True, kw_only=True):
    """One token."""

    token_id: str


class WatchSession(OfSession, frozen=True, kw_only=True):
    """Replay from the cursor ``EPOCH-SEQ``, then stream live."""

    after: str | None = None
    view: Literal["timeline", "raw"] = "timeline"
    previews: bool = True


class WatchHost(Request, frozen=True, kw_only=True):
    """Changes of sessions and approvals from a position, then live."""

    after: int | None = None


class AttachCallbacks(OfSession, frozen=True, kw_only=True):
    """Receive the calls for the session's callbacks. When another program attaches, the earlier stream ends."""


class AnswerCallback(OfSession, frozen=True, kw_only=True):
    """The program's answer to a call: a result or an error."""

    call_id: str
    result: dict[str, Any] | None = None
    """A hook's output, a tool's MCP ``tools/call`` result (``content`` …), or a ``Decision`` for a permission."""
    error: str | None = None
    """A deciding hook refuses with this reason, a tool fails with it, and an approval is left to people."""
