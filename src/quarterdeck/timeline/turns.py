"""Turns: how they end, what they used and cost, and what they wait for: the model, a retry, a compaction."""

from __future__ import annotations

from quarterdeck.wire import (
    ApiRetryMessage,
    CompactBoundaryMessage,
    ConversationResetMessage,
    ResultMessage,
    StatusMessage,
    ThinkingTokensMessage,
)

from ._words import TurnOutcome
from .activity import begin_turn, settle
from .events import (
    CompactionEnded,
    ConversationReset,
    Event,
    RetryScheduled,
    ThinkingCounted,
    TurnEnded,
)
from .hooks import end_hooks
from .items import TurnSummary
from .limits import add_item, clip
from .modes import fold_mode
from .notices import note, show
from .requests import fold_cancelled, open_request
from .retracted import stop_all, stop_blocks
from .state import PendingRetry, State
from .tasks import end_tasks
from .toolcalls import call_of, call_stopped, stop_children
from .usage import add_result, added, fold_measured, fold_window, tokens_of

_ERRORS = {
    "error_max_turns": "turn limit reached",
    "error_max_budget_usd": "the budget is used up",
    "error_max_structured_output_retries": "no valid structured output after all retries",
    "error_during_execution": "the turn failed",
}
"""For the CLIs up to 2.1.52, which name the error by its subtype only."""
_LIMITS = frozenset({"error_max_turns", "error_max_budget_usd", "error_max_structured_output_retries"})
_DIAGNOSTIC = "[ede_diagnostic]"
"""2.1.325 puts one among the errors of an interrupted turn; it is for the CLI's makers."""


def fold_status(state: State, message: StatusMessage, at: float, out: list[Event]) -> None:
    if message.permission_mode is not None:
        fold_mode(state, message.permission_mode, at, out)
    if message.status is not None:
        begin_turn(state, at, out)
        state.phase = message.status
    elif state.phase == "compacting":
        state.phase = ""
    if message.compact_error is not None or message.compact_result == "failed":
        error = message.compact_error or "compaction failed"
        note(state, at, kind="compaction", text=error, level="error")
        out.append(CompactionEnded(at, error=error))
    settle(state, at, out)


def fold_compact_boundary(state: State, message: CompactBoundaryMessage, at: float, out: list[Event]) -> None:
    facts = message.compact_metadata
    event = CompactionEnded(at)
    if facts is not None:
        duration = None if facts.duration_ms is None else facts.duration_ms / 1000
        event = CompactionEnded(at, facts.trigger, facts.pre_tokens, facts.post_tokens, duration)
    before, after = event.tokens_before, event.tokens_after
    text = f"{before or '?'} → {after or '?'} tokens ({event.trigger or 'unknown'})"
    note(state, at, kind="compaction", text=text)
    if after is not None:
        fold_measured(state, after, 0, "", at, out)
    if state.phase == "compacting":
        state.phase = ""
    out.append(event)
    settle(state, at, out)


def fold_retry(state: State, message: ApiRetryMessage, at: float, out: list[Event]) -> None:
    begin_turn(state, at, out)
    delay_s = (message.retry_delay_ms or 0) / 1000
    state.retry = PendingRetry(message.attempt, message.max_retries, delay_s, message.error_status, message.error, at)
    out.append(
        RetryScheduled(at, message.attempt, message.max_retries, delay_s, message.error_status, message.error)
    )  # fmt: skip
    settle(state, at, out)


def fold_thinking_tokens(state: State, message: ThinkingTokensMessage, at: float, out: list[Event]) -> None:
    state.thinking_tokens = message.estimated_tokens or state.thinking_tokens + (message.estimated_tokens_delta or 0)
    out.append(ThinkingCounted(at, state.thinking_tokens))


def fold_reset(state: State, message: ConversationResetMessage, at: float, out: list[Event]) -> None:
    state.plans = {}
    fold_measured(state, 0, 0, "", at, out)
    note(state, at, kind="reset", text=message.trigger or "")
    out.append(ConversationReset(at, message.trigger))


def fold_turn_end(state: State, message: ResultMessage, at: float, out: list[Event]) -> None:
    """A turn has ended; one whose start was not seen counts too (a failed start, ``shouldQuery`` false)."""
    stop_all(state, at, out)
    stop_children(state, None, at, out)
    started = state.turn_started_at
    if started is None:
        state.turn += 1
    cost, by_model = add_result(state.cost, message)
    tokens = tokens_of(message.typed_usage)
    state.cost.tokens = added(state.cost.tokens, tokens)
    _window(state, message, at, out)
    outcome = _outcome(state, message)
    turn = TurnSummary(
        id=f"turn-{state.turn}",
        at=at,
        number=state.turn,
        outcome=outcome,
        subtype=message.subtype,
        error=_error(message, outcome),
        result=clip(message.result, state.limits.text_chars) if message.result else None,
        structured_output=message.structured_output,
        started_at=started,
        duration_s=message.duration_ms / 1000,
        api_s=message.duration_api_ms / 1000,
        steps=message.num_turns,
        tokens=tokens,
        cost_usd=cost,
        by_model=by_model,
        total_usd=state.cost.total_usd,
        stop_reason=message.stop_reason,
        terminal_reason=message.terminal_reason,
        denied=[str(denial.get("tool_use_id") or "") for denial in message.permission_denials or ()],
        source=_source(message),
        command=message.local_command,
    )
    add_item(state, turn)
    state.turn_started_at, state.interrupting, state.retry, state.phase = None, False, None, ""
    out.append(TurnEnded(at, turn, state.context))
    settle(state, at, out)


def fold_process_end(state: State, at: float, out: list[Event]) -> None:
    """The CLI has ended: nothing will be answered, finished or reported any more."""
    for output in state.outputs.values():
        stop_blocks(state, output, at, out)
    for key in list(state.waiting):
        if (request := open_request(state, key)) is not None:
            fold_cancelled(state, request, at, out)
    end_hooks(state, at, out)
    end_tasks(state, at, out)
    for key in list(state.running):
        if (call := call_of(state, key)) is not None:
            call_stopped(state, call, at, out)
    if state.turn_started_at is not None:
        show(state, at, out, kind="process_ended", text="the CLI exited in the middle of the turn", level="error")
    state.turn_started_at, state.interrupting, state.retry, state.phase = None, False, None, ""
    state.streams, state.asked, state.thinking_tokens = {}, {}, 0
    settle(state, at, out)


def _window(state: State, message: ResultMessage, at: float, out: list[Event]) -> None:
    """The window of the model that spoke last; of the only one there is, if that is not known."""
    sizes = {name: used.context_window for name, used in message.typed_model_usage.items() if used.context_window}
    spoke = state.context.model
    window = sizes.get(spoke) or (next(iter(sizes.values())) if len(sizes) == 1 else 0)
    if window:
        fold_window(state, window, at, out)


def _outcome(state: State, message: ResultMessage) -> TurnOutcome:
    aborted = (message.terminal_reason or "").startswith("aborted")
    if aborted or (message.subtype == "error_during_execution" and state.interrupting):
        return "interrupted"
    if message.subtype in _LIMITS:
        return "limit"
    return "failed" if message.failed else "done"


def _error(message: ResultMessage, outcome: TurnOutcome) -> str | None:
    """An API failure ends as subtype ``success`` with ``is_error`` and its text in ``result`` (2.0.77 to 2.1.325)."""
    if outcome == "done":
        return None
    errors = [error for error in message.errors or () if not error.startswith(_DIAGNOSTIC)]
    if errors:
        return "; ".join(errors)
    if outcome == "interrupted":
        return None
    return message.result or message.startup_failure_reason or _ERRORS.get(message.subtype, message.subtype)


def _source(message: ResultMessage) -> str | None:
    kind = message.origin.get("kind") if message.origin is not None else None
    return str(kind) if kind and kind != "human" else None
