"""The items of a conversation that a user interface draws, in the order in which they started.

Each has a stable ``id`` (a message's id and a block's index, a tool call's id, a request's id), the time it
started (``at``), and ``parent_id``: the call of the sub-agent it belongs to, None for the main conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ._words import HookSource, PromptStatus, RequestStatus, ToolStatus, TurnOutcome, tag
from .parts import FileDiff, Kept, ModelCost, PermissionSuggestion, PlanEntry, Question, Tokens


class ItemBase(msgspec.Struct, omit_defaults=True, tag_field="type", tag=tag, gc=False):
    """What all items have."""

    id: str
    at: float = 0.0
    parent_id: str | None = None


class Prompt(ItemBase, kw_only=True):
    """A prompt to the model: from us, another client, a finished task, or from the agent to a sub-agent."""

    text: Kept = msgspec.field(default_factory=Kept)
    attachments: list[str] = []
    """Media types of images and documents."""
    status: PromptStatus = "sent"
    source: str = "us"
    """``us``, ``agent`` (to a sub-agent), or the origin as the CLI names it, e.g. ``task-notification``."""


class Said(ItemBase, kw_only=True):
    """A block of text. While it is streamed, its end is in ``pieces``; ``str(item)`` is everything so far."""

    text: Kept = msgspec.field(default_factory=Kept)
    pieces: Sequence[str] = ()  # a list while it is streamed: most items never are
    pieces_size: int = 0
    done: bool = False
    uuid: str | None = None
    model: str | None = None
    error: str | None = None
    """The text is the CLI's own, about this API error."""
    retracted: bool = False
    """Discarded: the model was stopped or replaced and started over."""

    def __str__(self) -> str:
        return f"{self.text}{''.join(self.pieces)}"


class Text(Said, kw_only=True):
    """What the model says."""


class Thinking(Said, kw_only=True):
    """What the model thinks. ``hidden``: only the API can read it."""

    hidden: bool = False
    duration_s: float | None = None


class ToolCall(ItemBase, kw_only=True):
    """A tool call, from the start of its input to its result. ``id`` is the ``tool_use_id``."""

    name: str
    label: str = ""
    """The tool's display name."""
    about: str = ""
    """One line: the command, the file, the pattern, the task …"""
    input: dict[str, Any] = {}
    """Long texts are shortened here; the events have them in full."""
    input_pieces: Sequence[str] = ()
    """The input's JSON while it is being written."""
    input_size: int = 0
    status: ToolStatus = "writing"
    called_at: float | None = None
    ended_at: float | None = None
    elapsed_s: float | None = None
    """As the CLI reports it while the tool runs; once there is ``ended_at``, from the call to its end."""
    output: Kept | None = None
    output_images: int = 0
    output_path: str | None = None
    """Where the CLI has stored an output that is too large for the model."""
    live_output: Kept | None = None
    diffs: list[FileDiff] = []
    reason: str | None = None
    """Why it failed or was denied."""
    request_id: str | None = None
    """The permission, question or plan review that it waits for, or waited for last."""
    task_id: str | None = None
    agent_type: str | None = None
    """Set when the call is a sub-agent: items with this ``id`` as their ``parent_id`` are its conversation."""
    agent_id: str | None = None
    summary: str | None = None
    run_by_api: bool = False


class RequestBase(ItemBase, kw_only=True):
    """A request to a person. ``id`` is the ``request_id`` to answer it with."""

    status: RequestStatus = "open"
    closed_at: float | None = None
    tool_id: str | None = None
    """The call that waits for it."""
    agent_id: str | None = None


class Permission(RequestBase, kw_only=True):
    """A request to run a tool."""

    tool_name: str
    label: str = ""
    about: str = ""
    input: dict[str, Any] = {}
    description: str | None = None
    diffs: list[FileDiff] = []
    suggestions: list[PermissionSuggestion] = []
    reason: str | None = None
    reason_kind: str | None = None
    blocked_path: str | None = None
    mcp_server: str | None = None
    default_to_no: bool = False
    needs_person: bool = False
    """Only a person can answer it, not a rule."""
    allowed: bool | None = None
    note: str | None = None
    """What the model was told with a denial, or how the answer failed."""
    interrupted: bool = False
    input_changed: bool = False
    rules_added: list[str] = []


class Questions(RequestBase, kw_only=True):
    """Questions from the model."""

    questions: list[Question] = []
    answers: dict[str, str] = {}
    """Question → answer; several labels are joined by a comma."""
    declined: bool = False
    note: str | None = None


class PlanReview(RequestBase, kw_only=True):
    """The model presents its plan and asks to start."""

    plan: str | None = None
    """None if the CLI does not send it: 2.1.325 does only when there is a plan file."""
    path: str | None = None
    allowed_prompts: list[str] = []
    approved: bool | None = None
    note: str | None = None
    mode: str | None = None
    """The permission mode chosen with the approval."""


class Elicitation(RequestBase, kw_only=True):
    """A request from an MCP server to the user: a form or a page."""

    server: str
    message: str = ""
    url: str | None = None
    form: dict[str, Any] | None = None
    """The JSON schema of the form."""
    elicitation_id: str | None = None
    action: str | None = None
    completed: bool = False


class Dialog(RequestBase, kw_only=True):
    """A dialog that the CLI wants to show, of a kind that the host has declared support for."""

    kind: str
    payload: dict[str, Any] = {}
    behavior: str | None = None


class Hook(ItemBase, kw_only=True):
    """A hook that ran: a command from the settings, or one of our callbacks."""

    event: str
    name: str = ""
    source: HookSource = "command"
    tool_id: str | None = None
    output: Kept | None = None
    outcome: str | None = None
    """None while it runs; then success, error, cancelled, or what a callback decided."""
    exit_code: int | None = None


class Notice(ItemBase, kw_only=True):
    """A line for the person. ``kind`` says about what; ``level`` is info, notice, suggestion, warning or error."""

    kind: str
    text: str = ""
    level: str = "info"
    details: dict[str, Any] = {}
    tool_ids: list[str] = []


class TurnSummary(ItemBase, kw_only=True, tag="turn"):
    """A turn that has ended: how, and what it used."""

    number: int
    outcome: TurnOutcome
    subtype: str = ""
    error: str | None = None
    result: Kept | None = None
    structured_output: Any = None
    started_at: float | None = None
    duration_s: float = 0.0
    api_s: float = 0.0
    steps: int = 0
    """Model calls, as the CLI counts them."""
    tokens: Tokens = msgspec.field(default_factory=Tokens)
    cost_usd: float = 0.0
    by_model: dict[str, ModelCost] = {}
    total_usd: float = 0.0
    stop_reason: str | None = None
    terminal_reason: str | None = None
    denied: list[str] = []
    """Tool calls that were not allowed."""
    source: str | None = None
    """What started the turn if no prompt did, e.g. ``task-notification``."""
    command: str | None = None
    """The local command, if the turn was one and did not use the model."""


class Plan(msgspec.Struct, omit_defaults=True):
    """The agent's own list of what to do; ``source`` is ``todo`` (TodoWrite) or ``tasks`` (the Task tools)."""

    source: str
    entries: list[PlanEntry] = []


Item = (
    Prompt
    | Text
    | Thinking
    | ToolCall
    | Permission
    | Questions
    | PlanReview
    | Elicitation
    | Dialog
    | Hook
    | Notice
    | TurnSummary
)
Request = Permission | Questions | PlanReview | Elicitation | Dialog
