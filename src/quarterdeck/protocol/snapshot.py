"""Saves a ``HostSide`` as bytes and restores it, so a long conversation needn't be replayed from the start."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

import msgspec

from quarterdeck.wire._base import plain
from quarterdeck.wire.codec import DEFAULT_LIMIT_BYTES, decode
from quarterdeck.wire.control import parse_request

from .host_side import SERVED, HostSide
from .ledger import Ledger
from .states import Handshake, LocalProtocolError, TurnState

FORMAT = 1


class _Requests(msgspec.Struct):
    """A ledger: the open requests by id, in order, and how the closed ones ended."""

    open: list[tuple[str, dict[str, Any]]]
    closed: dict[str, tuple[str, str | None, str]]


class _Snapshot(msgspec.Struct):
    format: int
    at: float
    handshake: Handshake
    turn: TurnState
    turns: int
    prompts: dict[str, str]
    lifecycle_seen: bool
    tasks: list[str]
    cli_state: str | None
    settles_in_s: float | None
    turn_expected: bool
    session_id: str | None
    init: bytes | None
    last_result: bytes | None
    handshake_line: bytes | None
    ours: _Requests
    theirs: _Requests


def snapshot(side: HostSide, at: float) -> bytes:
    """Save the state of ``side`` at ``at`` (recorded time). Timeouts aren't saved."""
    settles = side._settle_deadline
    return msgspec.json.encode(
        _Snapshot(
            format=FORMAT,
            at=at,
            handshake=side.handshake,
            turn=side.turn,
            turns=side.turn_number,
            prompts=side._prompts.states,
            lifecycle_seen=side._prompts.lifecycle_seen,
            tasks=sorted(side.background_tasks),
            cli_state=side._cli_state,
            settles_in_s=None if settles is None else max(settles - side._now(), 0.0),
            turn_expected=side._turn_expected,
            session_id=side.session_id,
            init=None if side.init is None else side.init.raw,
            last_result=None if side.last_result is None else side.last_result.raw,
            handshake_line=side._handshake_line,
            ours=_requests(side._ours),
            theirs=_requests(side._theirs),
        )
    )


def restore(
    data: bytes,
    *,
    new_id: Callable[[], str],
    clock: Callable[[], float],
    serves: Container[str] = SERVED,
    limit_bytes: int = DEFAULT_LIMIT_BYTES,
) -> HostSide:
    """Restore a side from a snapshot. Continue with ``received`` and ``sent``, then call ``rebase``.

    Raises ``LocalProtocolError`` if this version can't read the snapshot; replay the record from its start then.
    """
    try:
        kept = _decoder.decode(data)
    except msgspec.MsgspecError as error:
        raise LocalProtocolError(f"not a snapshot of a conversation: {error}") from error
    if kept.format != FORMAT:
        raise LocalProtocolError(f"a snapshot in format {kept.format}; this version reads format {FORMAT}")
    side = HostSide(new_id=new_id, clock=clock, serves=serves, limit_bytes=limit_bytes)
    side._replayed_at = kept.at
    side._handshake.state, side._turn.state = kept.handshake, kept.turn
    side._turns = kept.turns
    side._prompts.states, side._prompts.lifecycle_seen = kept.prompts, kept.lifecycle_seen
    side._tasks = frozenset(kept.tasks)
    side._cli_state = kept.cli_state
    side._settle_deadline = None if kept.settles_in_s is None else kept.at + kept.settles_in_s
    side._turn_expected = kept.turn_expected
    side.session_id = kept.session_id
    side.init = None if kept.init is None else decode(kept.init)  # type: ignore[assignment]
    side._last_result = None if kept.last_result is None else decode(kept.last_result)  # type: ignore[assignment]
    side._handshake_line = kept.handshake_line
    _fill(side._ours, kept.ours)
    _fill(side._theirs, kept.theirs)
    return side


def _requests(ledger: Ledger) -> _Requests:
    return _Requests([(entry.request_id, plain(entry.request)) for entry in ledger.open()], ledger.endings)


def _fill(ledger: Ledger, kept: _Requests) -> None:
    for request_id, request in kept.open:
        ledger.add(request_id, parse_request(request))
    ledger.endings = kept.closed


_decoder = msgspec.json.Decoder(_Snapshot)
