"""What operations take. An unknown field is an error that names it; a field left out is not the same as null."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from .resources import ApprovalKind, ApprovalState, GrantScope, Priority, Scope, SessionState

Content: TypeAlias = str | list[dict[str, Any]]
"""A text, or content blocks as the CLI takes them."""


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a caller sends."""


class Nothing(Request, frozen=True, kw_only=True):
    """For operations that need to be told nothing."""


class OfSession(Request, frozen=True, kw_only=True):
    """For operations on one session, by any of its ids."""

    session_id: str


class Lifecycle(Request, frozen=True, kw_only=True):
    """What becomes of a session's processes. What is left out is as the host says; null is never."""

    restarts: int | UnsetType = UNSET
    """How often a process that crashed is started again before a turn has ended."""
    tell_model: bool | UnsetType = UNSET
    """After a restart, tell the model which tool calls were cut off."""
    hang_s: float | UnsetType | None = UNSET
    """How long a turn may go on without a word, while nobody is asked, before it is ended."""
    park_s: float | UnsetType | None = UNSET
    """How long an idle session keeps its process."""
    limited: Literal["wait", "refuse"] | UnsetType = UNSET
    """Prompts while the account's rate limit is reached."""


class HookCallback(Request, frozen=True, kw_only=True):
    """A hook that a program answers."""

    event: str
    matcher: str | None = None
    timeout_s: float | None = None
    """How long it waits for the program; None: ``Callbacks.deadline_s``."""
    on_failure: Literal["block", "continue"] = "block"
    """What no answer means for an event that decides about something: a refusal, or no opinion."""


class ToolCallback(Request, frozen=True, kw_only=True):
    """A tool that a program runs, of an MCP server of this name. The fields are those of MCP's ``tools/list``."""

    server: str
    name: str
    description: str = ""
    title: str | None = None
    input_schema: dict[str, Any] = {}
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] = {}
    meta: dict[str, Any] = {}
    """MCP's ``_meta`` of the tool."""


class Callbacks(Request, frozen=True, kw_only=True):
    """What a program answers for a session, while it is attached (``attach_callbacks``).

    They belong to the session: each of its processes is started with them, and a fork has them too. ``quarterdeck.host.
    callbacks`` says how calls are made and answered.
    """

    hooks: list[HookCallback] = []
    tools: list[ToolCallback] = []
    instructions: dict[str, str] = {}
    """What the model is told about the tools of a server, by its name."""
    permission: bool = False
    """Approvals that the policy leaves open go to the program, too."""
    deadline_s: float = 60.0
    """How long a hook or a tool waits for the program, attached or not; then hooks refuse and tools fail."""
    detached_s: float | None = None
    """How long it waits while no program is attached, if that is less: for a program that may leave for good."""


class HostTools(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Lets a session start sessions of its own, through tools of the host."""

    sessions: int = 4
    """How many of them may run at once."""
    depth: int = 1
    """How many generations: 1, and its children start none."""
    children_outlive: bool = False
    """They go on when it has ended."""


class CreateSession(Request, frozen=True, kw_only=True):
    """Start a session, with a first prompt or without."""

    cwd: str
    prompt: Content | None = None
    name: str = ""
    tags: list[str] = []
    agent: str = "claude"
    """``claude``, ``sim``, or a path, which needs the scope ``admin``."""
    model: str | None = None
    permission_mode: str | None = None
    options: dict[str, Any] = {}
    """Those of ``ClaudeAgentOptions`` that a session may be given from outside."""
    policy: dict[str, Any] | None = None
    budget_usd: Decimal | None = None
    worktree: str | None = None
    """A new worktree of this name, in which the session works."""
    resume: str | None = None
    fork: bool = False
    account: str = ""
    """One of the host's accounts; empty: the default."""
    cli_version: str | None = None
    """The version of Claude Code that its processes must have."""
    lifecycle: Lifecycle | None = None
    callbacks: Callbacks | None = None
    host_tools: HostTools | None = None


class ListSessions(Request, frozen=True, kw_only=True):
    """Filters add up; ``q`` looks in names, folders and prompts."""

    state: list[SessionState] = []
    tag: list[str] = []
    q: str = ""
    cwd: str = ""
    archived: bool = False
    limit: int = 50
    cursor: str | None = None


class UpdateSession(OfSession, frozen=True, kw_only=True):
    """Changes what is given; ``budget_usd`` null removes the budget."""

    name: str | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET
    model: str | UnsetType | None = UNSET
    permission_mode: str | UnsetType = UNSET
    max_thinking_tokens: int | UnsetType | None = UNSET
    archived: bool | UnsetType = UNSET
    budget_usd: Decimal | UnsetType | None = UNSET
    lifecycle: Lifecycle | UnsetType = UNSET


class SendPrompt(OfSession, frozen=True, kw_only=True):
    """Say something to the session."""

    content: Content
    priority: Priority = "next"
    prompt_id: str | None = None
    """A UUID for it, which Claude Code's messages name it by; said again under the same one, it counts once."""


class OfPrompt(OfSession, frozen=True, kw_only=True):
    """One prompt that waits."""

    prompt_id: str


class UpdatePrompt(OfPrompt, frozen=True, kw_only=True):
    """Edit, reorder or schedule a prompt that waits."""

    content: Content | UnsetType = UNSET
    position: int | UnsetType = UNSET
    not_before: datetime | UnsetType | None = UNSET


class SendControl(OfSession, frozen=True, kw_only=True):
    """A control request that has no operation of its own."""

    subtype: str
    fields: dict[str, Any] = {}


class Fork(OfSession, frozen=True, kw_only=True):
    """A new session that continues this one, from its end or from the message ``at``."""

    at: str | None = None
    name: str = ""


class Rewind(OfSession, frozen=True, kw_only=True):
    """Set files back to what they were at the prompt ``to``."""

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
    """A row of the log from outside; with ``prompt``, also said to the session."""

    type: str
    data: dict[str, Any] = {}
    prompt: str | None = None


class ListApprovals(Request, frozen=True, kw_only=True):
    """Filters add up. Without ``state``: what waits."""

    state: list[ApprovalState] = msgspec.field(default_factory=lambda: ["pending"])
    session: str | None = None
    kind: list[ApprovalKind] = []
    limit: int = 50
    cursor: str | None = None


class OfApproval(Request, frozen=True, kw_only=True):
    """One approval."""

    approval_id: str


class Remember(Request, frozen=True, kw_only=True):
    """A rule to keep. Beyond the session it needs the scope ``operate``."""

    rule: str
    scope: GrantScope = "session"
    lasts_s: float | None = None


class Decision(Request, frozen=True, kw_only=True):
    """What is decided; which fields fit depends on the approval's kind."""

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
    """Which approvals a batch covers. An empty filter is an error."""

    session: str | None = None
    kind: ApprovalKind | None = None
    tool: str | None = None
    cwd: str | None = None


class DecideMany(Request, frozen=True, kw_only=True):
    """Decide all that wait and match; ``dry_run`` shows which."""

    filter: ApprovalFilter
    decision: Decision
    dry_run: bool = False


class InFolder(Request, frozen=True, kw_only=True):
    """For what depends on the folder."""

    cwd: str | None = None


class OfGrant(Request, frozen=True, kw_only=True):
    """One grant."""

    grant_id: str


class ExplainPolicy(Request, frozen=True, kw_only=True):
    """A tool call that might be made."""

    tool: str
    input: dict[str, Any]
    cwd: str


class GetUsage(Request, frozen=True, kw_only=True):
    """Usage in a time span, grouped."""

    by: list[Literal["day", "model", "session", "cwd"]] = msgspec.field(default_factory=lambda: ["day"])
    since: datetime | None = msgspec.field(default=None, name="from")
    to: datetime | None = None


class Settings(Request, frozen=True, kw_only=True):
    """Budgets or alerts, all of them."""

    settings: dict[str, Any]


class ListFolders(Request, frozen=True, kw_only=True):
    """Folders in which sessions may start."""

    prefix: str = ""


class ListFiles(OfSession, frozen=True, kw_only=True):
    """Files of the session's folder, for completion."""

    q: str = ""


class Upload(OfSession, frozen=True, kw_only=True):
    """A file for the session to read."""

    name: str
    media_type: str
    body: bytes


class Wait(OfSession, frozen=True, kw_only=True):
    """Wait for one of these states."""

    for_: list[Literal["idle", "waiting", "stopped"]] = msgspec.field(default_factory=lambda: ["idle"], name="for")
    timeout_s: float | None = None


class Export(OfSession, frozen=True, kw_only=True):
    """The session as a document."""

    format: Literal["ndjson", "md", "html"] = "ndjson"


class ListAudit(Request, frozen=True, kw_only=True):
    """Filters add up."""

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
    """A worktree beside the repository that ``cwd`` is in."""

    cwd: str
    name: str
    base: str | None = None


class DeleteWorktree(Request, frozen=True, kw_only=True):
    """Uncommitted work is only removed with ``force``."""

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
    """Replay after the cursor ``EPOCH-SEQ``, then live."""

    after: str | None = None
    view: Literal["timeline", "raw"] = "timeline"
    previews: bool = True


class WatchHost(Request, frozen=True, kw_only=True):
    """Changes of sessions and approvals after a position, then live."""

    after: int | None = None


class AttachCallbacks(OfSession, frozen=True, kw_only=True):
    """Answer the callbacks that the session was created with. The newest program is asked; the former one's ends."""


class AnswerCallback(OfSession, frozen=True, kw_only=True):
    """What the program says to one call: a result, or why there is none."""

    call_id: str
    result: dict[str, Any] | None = None
    """Of a hook its output, of a tool MCP's ``tools/call`` result (``content`` …), of a permission a ``Decision``."""
    error: str | None = None
    """A hook that decides refuses with it, a tool fails with it, and an approval is left to people."""
