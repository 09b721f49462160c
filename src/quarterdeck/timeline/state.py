"""The whole state of a timeline: one tree of structs that can be drawn, written as JSON, and continued.

Nothing else remembers anything, so that a timeline restored from its snapshot goes on exactly as it would have.
"""

from __future__ import annotations

from typing import Any

import msgspec

from quarterdeck.wire._running_totals import RunningTotals

from ._words import Activity, TaskStatus
from .items import Item, Plan, Request
from .parts import Account, CommandInfo, Context, Kept, McpServer, Model, ModelCost, RateLimitState, Tokens


class Limits(msgspec.Struct, frozen=True):
    """How much is kept, so that a session of days has a size. Events are not limited, but for outputs of tools."""

    items: int = 5_000
    """Items; the oldest that are over go first."""
    text_chars: int = 1_000_000
    """Of one text, thought, prompt or result."""
    output_chars: int = 50_000
    """Of one tool's output, in its event too."""
    input_chars: int = 20_000
    """Of one text inside a tool's input."""
    diff_lines: int = 2_000
    """Of one diff."""
    finished_tasks: int = 200


class SessionDetails(msgspec.Struct, omit_defaults=True):
    """What the session is."""

    session_id: str | None = None
    cwd: str | None = None
    model: str | None = None
    permission_mode: str | None = None
    cli_version: str | None = None
    title: str | None = None
    tools: list[str] = []
    mcp_servers: dict[str, McpServer] = {}
    commands: list[CommandInfo] = []
    skills: list[str] = []
    agents: list[str] = []
    plugins: list[str] = []
    models: list[Model] = []
    account: Account | None = None
    output_style: str | None = None
    betas: list[str] = []
    effort: str | None = None
    fast_mode: str | None = None
    api_key_source: str | None = None
    goal: str | None = None


class Task(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A sub-agent, a shell or a workflow that the CLI runs beside the conversation, or just for long."""

    id: str
    tool_id: str | None = None
    description: str = ""
    kind: str | None = None
    agent_type: str | None = None
    status: TaskStatus = "running"
    background: bool = False
    parent_task_id: str | None = None
    at: float = 0.0
    ended_at: float | None = None
    tokens: int = 0
    tool_uses: int = 0
    duration_s: float = 0.0
    last_tool: str | None = None
    doing: str | None = None
    summary: str | None = None
    error: str | None = None
    output_path: str | None = None
    output: Kept | None = None
    told: bool = False
    """Its end was told to the model."""


class PendingRetry(msgspec.Struct, omit_defaults=True):
    """A call of the API that failed and will be made again."""

    attempt: int
    max_retries: int | None = None
    delay_s: float = 0.0
    status: int | None = None
    error: str | None = None
    at: float = 0.0


class Auth(msgspec.Struct, omit_defaults=True):
    """A login that is under way in the CLI."""

    authenticating: bool = False
    output: list[str] = []
    error: str | None = None


class Cost(msgspec.Struct, omit_defaults=True):
    """What the session has cost, by difference of the CLI's running totals."""

    total_usd: float = 0.0
    by_model: dict[str, ModelCost] = {}
    tokens: Tokens = msgspec.field(default_factory=Tokens)
    reported_usd: float | None = None
    """The CLI's own running total."""
    running: RunningTotals = msgspec.field(default_factory=RunningTotals)


class ModelOutput(msgspec.Struct, omit_defaults=True):
    """A message of the model that is being said: which of its blocks were begun by the stream, which are complete."""

    message_id: str
    parent_id: str | None = None
    model: str | None = None
    completed: int = 0
    blocks: dict[int, str] = {}
    """Index → id of the item, for the blocks that the stream began and that are not complete."""


class Asked(msgspec.Struct, omit_defaults=True):
    """A control request of ours that waits for its answer."""

    subtype: str
    at: float = 0.0
    details: dict[str, Any] = {}


class State(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Everything that a face can draw."""

    limits: Limits = Limits()
    session: SessionDetails = msgspec.field(default_factory=SessionDetails)
    activity: Activity = "idle"
    items: dict[str, Item] = {}
    """By id, in the order of their beginning."""
    waiting: list[str] = []
    """Ids of the requests that wait for a person, oldest first."""
    running: list[str] = []
    """Ids of the tool calls that have not ended."""
    plans: dict[str, Plan] = {}
    """By the call of the sub-agent whose plan it is; the main one's is at ``""``."""
    tasks: dict[str, Task] = {}
    turn: int = 0
    """The number of the turn that runs, or of the last one."""
    turn_started_at: float | None = None
    """None between turns."""
    interrupting: bool = False
    """We asked to stop the turn."""
    cli_state: str | None = None
    """The CLI's own word for what it does, where it was asked to tell: idle, running, requires_action."""
    thinking_tokens: int = 0
    """Estimate for the thought that is being thought."""
    context: Context = msgspec.field(default_factory=Context)
    cost: Cost = msgspec.field(default_factory=Cost)
    retry: PendingRetry | None = None
    """The call of the API that waits to be made again."""
    rate_limits: dict[str, RateLimitState] = {}
    auth: Auth | None = None
    suggestion: str | None = None
    """What the person might say next."""
    at: float = 0.0
    """Of the last message."""
    dropped_items: int = 0
    """Items that were over the limit."""

    phase: str = ""
    """What the CLI said last that it does: requesting, compacting or nothing special."""
    mode_wanted: str | None = None
    """The permission mode that we asked for and that the CLI has not confirmed yet."""
    outputs: dict[str, ModelOutput] = {}
    streams: dict[str, str] = {}
    """Who speaks by stream (``""`` or the sub-agent's call) → the message."""
    asked: dict[str, Asked] = {}
    counter: int = 0
    """For the ids of items that have none on the wire."""

    @property
    def plan(self) -> Plan | None:
        """The main agent's plan."""
        return self.plans.get("")

    def requests(self) -> list[Request]:
        """What waits for a person, oldest first."""
        return [self.items[key] for key in self.waiting if key in self.items]  # type: ignore[misc]

    def children(self, parent_id: str | None = None) -> list[Item]:
        """The items of one conversation: of the main one, or of the sub-agent whose call is named."""
        return [item for item in self.items.values() if item.parent_id == parent_id]
