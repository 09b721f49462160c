"""The ``body`` of a session's record in the store: the session as requested, and its current state."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from quarterdeck.store.records import ApprovalRecord, SessionRecord

from .mirroring import Mirrored
from .requests import HostTools, Lifecycle
from .resources import Approval, Decider, Session, SessionState, TokenCounts
from .times import moment, usd
from .whole_text import encode_whole


class SessionBody(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The part of a session's record that the store doesn't query."""

    agent: str = "claude"
    model: str | None = None
    permission_mode: str | None = None
    options: dict[str, Any] = {}
    """The requested ``ClaudeAgentOptions`` that contain no secrets."""
    private_options: list[str] = []
    """Names of the other options, stored in ``PrivateOptions``."""
    policy: dict[str, Any] = {}
    """The requested policy of its own (``policies.OwnPolicy``)."""
    budget_usd: str | None = None
    budget_state: str = ""
    """``near`` or ``reached``, once reported."""
    account: str = ""
    cli_pin: str | None = None
    """The version of Claude Code that its processes must have."""
    lifecycle: Lifecycle = Lifecycle()
    parent_id: str | None = None
    is_child: bool = False
    """Its parent started it with ``host_tools``. (A fork has a parent too.)"""
    outlives_parent: bool = False
    folders_above: list[str] = []
    """The folders of its ancestors, if it works in another: the rules in their settings files apply to it, too."""
    host_tools: HostTools | None = None
    worktree: str | None = None
    resume: str | None = None
    """The transcript that the next process continues."""
    fork: bool = False
    resume_at: str | None = None
    """The message after which the transcript is cut."""
    has_past: bool = False
    """Its first process continued a transcript: the session was forked or adopted."""
    chosen: dict[str, Any] = {}
    """Model and permission mode for the next process, until the CLI reports others."""
    base_commit: str | None = None
    """The commit that was checked out when the session was created."""
    stderr: str = ""
    """The end of its last process's stderr."""
    state_since: float = 0.0
    state_reason: str = ""
    state_until: float | None = None
    cli_version: str | None = None
    transcript_id: str | None = None
    cost_usd: float = 0.0
    tokens: TokenCounts = TokenCounts()
    current: str = ""
    generation: int = 0
    """Number of its current or last process; 0 if it never had one."""
    kept_as: str = ""
    """The keeper's name for its process; empty if that is the session's ID."""
    process: str = ""
    """``starting`` or ``running`` while it has one, then ``exited`` or ``lost``."""
    wanted: bool = False
    """It should have a process, so an unrequested exit is a crash."""
    parked: bool = False
    """Its process was ended because it was idle."""
    mirrored: Mirrored | None = None
    """Its transcript as it was when it was parked."""
    imported: bool = False
    """Its rows come from another host, and so does its conversation."""
    next_prompt_at: float | None = None
    """When the first of its scheduled prompts is due."""
    restarts: int = 0
    """Number of restarts since the last completed turn."""
    restart_at: float | None = None
    """When it will be restarted."""
    unfinished: list[str] = []
    """Tool calls that were cut off by its last crash."""


def encode_body(body: SessionBody) -> bytes:
    return encode_whole(body)


def decode_body(record: SessionRecord) -> SessionBody:
    return msgspec.json.decode(record.body, type=SessionBody) if record.body else SessionBody()


def session_view(record: SessionRecord, epoch: str, seq: int, *, pending: int, host: str) -> Session:
    """Convert the record to the ``Session`` that every API returns."""
    body = decode_body(record)
    return Session(
        id=record.id,
        state=_state(record.state),
        state_since=moment(body.state_since),
        state_reason=body.state_reason,
        state_until=None if body.state_until is None else moment(body.state_until),
        cwd=record.cwd,
        created_at=moment(record.created_at),
        last_activity_at=moment(record.active_at),
        seq=seq,
        epoch=epoch,
        agent=body.agent,
        name=record.name,
        tags=list(record.tags),
        model=body.chosen.get("model", body.model),
        permission_mode=body.chosen.get("permission_mode", body.permission_mode),
        cli_version=body.cli_version,
        transcript_id=body.transcript_id,
        parent_id=body.parent_id,
        pending_approvals=pending,
        cost_usd=usd(body.cost_usd),
        tokens=body.tokens,
        budget_usd=None if body.budget_usd is None else usd(float(body.budget_usd)),
        current=body.current,
        worktree=body.worktree,
        account=body.account,
        host=host,
        archived=record.archived,
    )


def _state(word: str) -> SessionState:
    return _STATES[word]


_STATES: dict[str, SessionState] = {word: word for word in get_args(SessionState)}


def encode_approval(approval: Approval) -> bytes:
    return encode_whole(approval)


def approval_view(record: ApprovalRecord) -> Approval:
    """Convert the record to the ``Approval`` that every API returns."""
    asked = msgspec.json.decode(record.body, type=Approval)
    decision = record.decision
    moved = {state: moment(at) for state, at in record.moved_at.items()}
    changes: dict[str, Any] = {
        "state": record.state,
        "delivered_at": moved.get("delivered"),
        "applied_at": moved.get("applied"),
    }
    if decision is not None:
        changes |= {
            "decided_at": moment(decision.at),
            "decided_by": msgspec.convert({"kind": decision.by_kind, "name": decision.by}, _DECIDER),
            "via": decision.via or None,
            "decision": msgspec.json.decode(decision.body) if decision.body else {"decision": decision.outcome},
            "waited_s": round(max(decision.at - record.asked_at, 0.0), 3),
        }
    return msgspec.structs.replace(asked, **changes)


_DECIDER = Decider
