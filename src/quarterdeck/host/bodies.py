"""What the host keeps in the ``body`` of a store's records: a session as it was asked for and as it is."""

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
    """A session beyond what the store looks for."""

    agent: str = "claude"
    model: str | None = None
    permission_mode: str | None = None
    options: dict[str, Any] = {}
    """Those of ``ClaudeAgentOptions`` that were asked for and hold no secrets."""
    private_options: list[str] = []
    """Names of the others, which ``PrivateOptions`` holds."""
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
    """Its parent started it, through ``host_tools``. (A fork has a parent, too.)"""
    outlives_parent: bool = False
    host_tools: HostTools | None = None
    worktree: str | None = None
    resume: str | None = None
    """The transcript that the next process continues."""
    fork: bool = False
    resume_at: str | None = None
    """The message after which the transcript is cut."""
    chosen: dict[str, Any] = {}
    """Model and permission mode that the next process gets, until the CLI says otherwise."""
    base_commit: str | None = None
    """The commit that was checked out when the session was created."""
    stderr: str = ""
    """The end of what its last process wrote there."""
    state_since: float = 0.0
    state_reason: str = ""
    state_until: float | None = None
    cli_version: str | None = None
    transcript_id: str | None = None
    cost_usd: float = 0.0
    tokens: TokenCounts = TokenCounts()
    current: str = ""
    generation: int = 0
    """Counts its processes; 0: it never had one."""
    kept_as: str = ""
    """What the keeper knows its process by; empty: by the session's id."""
    process: str = ""
    """``starting`` or ``running`` while it has one, then ``exited`` or ``lost``."""
    wanted: bool = False
    """It should have a process: if one ends unasked, that is a crash."""
    parked: bool = False
    """It gave up its process because it was idle."""
    mirrored: Mirrored | None = None
    """Its transcript as it was when it was parked."""
    imported: bool = False
    """Its rows come from another host, and so does its conversation."""
    next_prompt_at: float | None = None
    """When the first of its scheduled prompts is due."""
    restarts: int = 0
    """How often it was started again since a turn has ended."""
    restart_at: float | None = None
    """When it will be started again."""
    unfinished: list[str] = []
    """Tool calls that were cut off by its last crash."""


def encode_body(body: SessionBody) -> bytes:
    return encode_whole(body)


def decode_body(record: SessionRecord) -> SessionBody:
    return msgspec.json.decode(record.body, type=SessionBody) if record.body else SessionBody()


def session_view(record: SessionRecord, epoch: str, seq: int, *, pending: int, host: str) -> Session:
    """The record as every face shows it."""
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
    """The approval as it was requested, and its outcome."""
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
