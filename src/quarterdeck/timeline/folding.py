"""``Timeline``: messages in, events out, and the state in between; and which function handles which message."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from quarterdeck import wire
from quarterdeck._errors import QuarterdeckError
from quarterdeck.wire import Direction, Message

from . import control, hooks, model_output, modes, notices, prompts, requests, session, tasks, toolcalls, turns
from .events import Event
from .state import Limits, State

Handler = Callable[[State, Any, float, list[Event]], None]


def nothing_to_show(state: State, message: Message, at: float, out: list[Event]) -> None:
    """For messages that mean nothing to a person."""


RECEIVED: dict[type[Message], Handler] = {
    wire.StreamEvent: model_output.fold_stream_event,
    wire.AssistantMessage: model_output.fold_assistant,
    wire.UserMessage: prompts.fold_user,
    wire.CommandLifecycleMessage: prompts.fold_lifecycle,
    wire.ResultMessage: turns.fold_turn_end,
    wire.StatusMessage: turns.fold_status,
    wire.CompactBoundaryMessage: turns.fold_compact_boundary,
    wire.ApiRetryMessage: turns.fold_retry,
    wire.ThinkingTokensMessage: turns.fold_thinking_tokens,
    wire.ConversationResetMessage: turns.fold_reset,
    wire.ToolProgressMessage: toolcalls.fold_progress,
    wire.ToolUseSummaryMessage: toolcalls.fold_summary,
    wire.PermissionDeniedMessage: toolcalls.fold_denied,
    wire.TaskStartedMessage: tasks.fold_task_started,
    wire.TaskProgressMessage: tasks.fold_task_progress,
    wire.TaskUpdatedMessage: tasks.fold_task_updated,
    wire.TaskNotificationMessage: tasks.fold_task_notification,
    wire.BackgroundTasksChangedMessage: tasks.fold_background_tasks,
    wire.HookStartedMessage: hooks.fold_hook_started,
    wire.HookProgressMessage: hooks.fold_hook_progress,
    wire.HookResponseMessage: hooks.fold_hook_response,
    wire.InitMessage: session.fold_init,
    wire.SessionStateChangedMessage: session.fold_session_state,
    wire.SessionTitleChangedMessage: session.fold_title,
    wire.CommandsChangedMessage: session.fold_commands,
    wire.RateLimitEvent: session.fold_rate_limit,
    wire.AuthStatusMessage: session.fold_auth,
    wire.FilesPersistedMessage: session.fold_files_persisted,
    wire.PromptSuggestionMessage: session.fold_suggestion,
    wire.ModelFallbackMessage: modes.fold_model_fallback,
    wire.ModelRefusalFallbackMessage: modes.fold_refusal_fallback,
    wire.ModelRefusalNoFallbackMessage: modes.fold_refusal,
    wire.ElicitationCompleteMessage: requests.fold_elicitation_complete,
    wire.ControlRequest: control.fold_request,
    wire.ControlResponse: control.fold_response,
    wire.ControlCancelRequest: control.fold_cancel,
    wire.ControlRequestProgressMessage: control.fold_control_progress,
    wire.InformationalMessage: notices.fold_informational,
    wire.NotificationMessage: notices.fold_notification,
    wire.LocalCommandOutputMessage: notices.fold_local_command_output,
    wire.MemoryRecallMessage: notices.fold_memory_recall,
    wire.PluginInstallMessage: notices.fold_plugin_install,
    wire.WorkerShuttingDownMessage: notices.fold_shutting_down,
    wire.SessionWritesLostMessage: notices.fold_writes_lost,
    wire.MirrorErrorMessage: notices.fold_mirror_error,
    wire.ActiveGoalMessage: notices.fold_goal,
    wire.ErrorMessage: notices.fold_error,
    wire.SystemMessage: notices.fold_unknown_system,
    wire.UnknownMessage: notices.fold_unknown,
    wire.BadLine: notices.fold_bad_line,
    wire.KeepAliveMessage: nothing_to_show,
    wire.TranscriptMirrorMessage: nothing_to_show,  # records of what is reported here anyway
    wire.UpdateEnvironmentVariables: nothing_to_show,  # goes to the CLI only
}
"""What the CLI writes."""

SENT: dict[type[Message], Handler] = {
    wire.UserMessage: prompts.fold_sent_prompt,
    wire.ControlRequest: control.fold_sent_request,
    wire.ControlResponse: control.fold_sent_response,
    wire.ControlCancelRequest: control.fold_sent_cancel,
}
"""What we write. The CLI silently ignores every other type (2.1.325), and so does this."""


class SnapshotError(QuarterdeckError):
    """These bytes are not a snapshot made by this version. Fold the conversation again instead."""


class Timeline:
    """Follows one conversation. Not thread-safe."""

    def __init__(self, *, limits: Limits | None = None) -> None:
        self.state = State(limits=limits or Limits())
        """Everything so far. Read it, do not change it."""

    def take(self, direction: Direction, message: Message, *, at: float) -> list[Event]:
        """Return the events of a message of either direction, as a journal or a recording has it."""
        return self.sent(message, at=at) if direction == "in" else self.received(message, at=at)

    def received(self, message: Message, *, at: float) -> list[Event]:
        """Return the events of a message from the CLI; ``at`` is its time in seconds, by any monotonic clock."""
        out: list[Event] = []
        state = self.state
        state.at = at
        RECEIVED.get(type(message), notices.fold_unknown)(state, message, at, out)
        return out

    def sent(self, message: Message | Mapping[str, Any], *, at: float) -> list[Event]:
        """Return the events of a message that we write. A dict is treated as the line it will be sent as."""
        if not isinstance(message, Message):
            message = wire.decode(wire.encode(message))
        out: list[Event] = []
        self.state.at = at
        SENT.get(type(message), nothing_to_show)(self.state, message, at, out)
        return out

    def process_ended(self, *, at: float) -> list[Event]:
        """The CLI has exited: whatever is open stays unfinished. Its background tasks end with it."""
        out: list[Event] = []
        self.state.at = at
        turns.fold_process_end(self.state, at, out)
        return out

    def process_started(self) -> None:
        """Another process continues the session. CLIs up to 2.1.52 start their totals at 0 then."""
        self.state.cost.running.process_started()

    def snapshot(self) -> bytes:
        """The state as JSON, from which ``restore`` makes a timeline that continues exactly where this one is."""
        return encode(self.state)

    @classmethod
    def restore(cls, snapshot: bytes) -> Timeline:
        """Raises ``SnapshotError``."""
        timeline = cls()
        timeline.state = _decode_state(snapshot)
        return timeline


def encode(value: Event | State) -> bytes:
    """An event or a state as JSON. A lone surrogate, which JavaScript can write, becomes an escape."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value, str_keys=True), separators=(",", ":")).encode("ascii")


def decode_event(data: bytes) -> Event:
    """An event that ``encode`` has written. Raises ``ValueError`` or ``msgspec.ValidationError``."""
    try:
        return _event_decoder().decode(data)
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(data), Event, str_keys=True)  # type: ignore[no-any-return]  # with a lone surrogate


def _decode_state(snapshot: bytes) -> State:
    try:
        return _state_decoder().decode(snapshot)
    except msgspec.MsgspecError as error:
        try:
            return msgspec.convert(
                json.loads(snapshot), State, str_keys=True
            )  # with a lone surrogate, only ``json`` reads it
        except (ValueError, msgspec.MsgspecError):
            raise SnapshotError(f"not a snapshot of a timeline of this version: {error}") from error


_encoder = msgspec.json.Encoder()


@functools.cache
def _state_decoder() -> msgspec.json.Decoder[State]:
    """Made when it is needed: it inspects every class, which takes longer than the rest of this module."""
    return msgspec.json.Decoder(State)


@functools.cache
def _event_decoder() -> msgspec.json.Decoder[Event]:
    return msgspec.json.Decoder(Event)


def fold(
    lines: Iterable[tuple[float, Direction, bytes]], *, timeline: Timeline | None = None
) -> tuple[Timeline, list[Event]]:
    """A whole recorded conversation: time, ``in`` (to the CLI) or ``out`` (from it), and the line."""
    followed = timeline or Timeline()
    events: list[Event] = []
    for at, direction, line in lines:
        if not line.strip():
            continue
        message = wire.decode(line)
        events += followed.take(direction, message, at=at)
    return followed, events
