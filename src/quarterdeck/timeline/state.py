"""The whole state of a timeline: one tree of structs that can be drawn, written as JSON, and continued.

Nothing is remembered elsewhere, so a timeline restored from its snapshot continues exactly as it would have.
"""

from __future__ import annotations

from typing import Any

import msgspec

from quarterdeck.wire._running_totals import RunningTotals

from ._words import Activity, TaskStatus
from .items import Item, Plan, Request
from .parts import Account, CommandInfo, Context, Kept, McpServer, Model, ModelCost, RateLimitState, Tokens


class Limits(msgspec.Struct, frozen=True):
    """How much is kept, so that a session of several days stays small. Events are not limited, except tool output."""

    items: int = 5_000
    """Number of items; the oldest finished ones are dropped first."""
    text_chars: int = 1_000_000
    """Length of one text, thought, prompt or result."""
    output_chars: int = 50_000
    """Length of one tool's output, in its event too."""
    input_chars: int = 20_000
    """Length of one text inside a tool's input."""
    diff_lines: int = 2_000
    """Number of lines in one diff."""
    finished_tasks: int = 200


class SessionDetails(msgspec.Struct, omit_defaults=True):
    """Details of the session."""

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
    """A sub-agent, a shell or a workflow that runs in the background, or for a long time."""

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
    """Whether the model was notified of its end."""


class PendingRetry(msgspec.Struct, omit_defaults=True):
    """An API call that failed and will be retried."""

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
    """What the session has cost, computed from the CLI's running totals."""

    total_usd: float = 0.0
    by_model: dict[str, ModelCost] = {}
    tokens: Tokens = msgspec.field(default_factory=Tokens)
    reported_usd: float | None = None
    """The CLI's own running total."""
    running: RunningTotals = msgspec.field(default_factory=RunningTotals)


class ModelOutput(msgspec.Struct, omit_defaults=True, gc=False):
    """A message that is being streamed: which of its blocks have started and which are complete."""

    message_id: str
    parent_id: str | None = None
    model: str | None = None
    completed: int = 0
    blocks: dict[int, str] = {}
    """Index → id of the item, for blocks that have started and are not complete."""


class Asked(msgspec.Struct, omit_defaults=True):
    """One of our control requests that waits for its answer."""

    subtype: str
    at: float = 0.0
    details: dict[str, Any] = {}


class State(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Everything that a user interface can draw."""

    limits: Limits = Limits()
    session: SessionDetails = msgspec.field(default_factory=SessionDetails)
    activity: Activity = "idle"
    items: dict[str, Item] = {}
    """By id, in the order in which they started."""
    waiting: list[str] = []
    """Ids of the requests that wait for a person, oldest first."""
    running: list[str] = []
    """Ids of the tool calls that have not ended."""
    plans: dict[str, Plan] = {}
    """By the call of the sub-agent; the main agent's is at ``""``."""
    tasks: dict[str, Task] = {}
    turn: int = 0
    """The number of the current or last turn."""
    turn_started_at: float | None = None
    """None between turns."""
    interrupting: bool = False
    """We asked to stop the turn."""
    cli_state: str | None = None
    """The CLI's own name for its state, if asked to report it: idle, running, requires_action."""
    thinking_tokens: int = 0
    """Estimate for the current thought."""
    context: Context = msgspec.field(default_factory=Context)
    cost: Cost = msgspec.field(default_factory=Cost)
    retry: PendingRetry | None = None
    """The API call that waits for its retry."""
    rate_limits: dict[str, RateLimitState] = {}
    auth: Auth | None = None
    suggestion: str | None = None
    """A suggested next prompt."""
    at: float = 0.0
    """The time of the last message."""
    dropped_items: int = 0
    """How many items were dropped because of the limit."""

    phase: str = ""
    """What the CLI last said it is doing: requesting, compacting or nothing special."""
    mode_wanted: str | None = None
    """The permission mode that we requested and the CLI has not confirmed yet."""
    outputs: dict[str, ModelOutput] = {}
    begun: list[str] = []
    """Ids of the items in ``blocks`` of ``outputs``: rarely any, so that nobody has to search all of those."""
    streams: dict[str, str] = {}
    """Speaker (``""`` or the sub-agent's call) → the message being streamed."""
    asked: dict[str, Asked] = {}
    counter: int = 0
    """Makes ids for items that have none on the wire."""

    @property
    def plan(self) -> Plan | None:
        """The main agent's plan."""
        return self.plans.get("")

    def requests(self) -> list[Request]:
        """What waits for a person, oldest first."""
        return [self.items[key] for key in self.waiting if key in self.items]  # type: ignore[misc]

    def children(self, parent_id: str | None = None) -> list[Item]:
        """The items of the main conversation, or of the sub-agent with this call."""
        return [item for item in self.items.values() if item.parent_id == parent_id]
