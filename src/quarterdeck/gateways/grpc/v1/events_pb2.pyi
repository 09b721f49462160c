import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from quarterdeck.gateways.grpc.v1 import resources_pb2 as _resources_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DiffKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DIFF_KIND_UNSPECIFIED: _ClassVar[DiffKind]
    DIFF_KIND_CREATE: _ClassVar[DiffKind]
    DIFF_KIND_UPDATE: _ClassVar[DiffKind]
    DIFF_KIND_DELETE: _ClassVar[DiffKind]
    DIFF_KIND_WRITE: _ClassVar[DiffKind]

class PlanStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLAN_STATUS_UNSPECIFIED: _ClassVar[PlanStatus]
    PLAN_STATUS_PENDING: _ClassVar[PlanStatus]
    PLAN_STATUS_IN_PROGRESS: _ClassVar[PlanStatus]
    PLAN_STATUS_COMPLETED: _ClassVar[PlanStatus]

class RequestStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REQUEST_STATUS_UNSPECIFIED: _ClassVar[RequestStatus]
    REQUEST_STATUS_OPEN: _ClassVar[RequestStatus]
    REQUEST_STATUS_ANSWERED: _ClassVar[RequestStatus]
    REQUEST_STATUS_CANCELLED: _ClassVar[RequestStatus]

class TurnOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TURN_OUTCOME_UNSPECIFIED: _ClassVar[TurnOutcome]
    TURN_OUTCOME_DONE: _ClassVar[TurnOutcome]
    TURN_OUTCOME_FAILED: _ClassVar[TurnOutcome]
    TURN_OUTCOME_INTERRUPTED: _ClassVar[TurnOutcome]
    TURN_OUTCOME_LIMIT: _ClassVar[TurnOutcome]

class PromptStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROMPT_STATUS_UNSPECIFIED: _ClassVar[PromptStatus]
    PROMPT_STATUS_SENT: _ClassVar[PromptStatus]
    PROMPT_STATUS_QUEUED: _ClassVar[PromptStatus]
    PROMPT_STATUS_STARTED: _ClassVar[PromptStatus]
    PROMPT_STATUS_COMPLETED: _ClassVar[PromptStatus]
    PROMPT_STATUS_CANCELLED: _ClassVar[PromptStatus]

class BlockStartedKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BLOCK_STARTED_KIND_UNSPECIFIED: _ClassVar[BlockStartedKind]
    BLOCK_STARTED_KIND_TEXT: _ClassVar[BlockStartedKind]
    BLOCK_STARTED_KIND_THINKING: _ClassVar[BlockStartedKind]

class ToolStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_STATUS_UNSPECIFIED: _ClassVar[ToolStatus]
    TOOL_STATUS_WRITING: _ClassVar[ToolStatus]
    TOOL_STATUS_WAITING: _ClassVar[ToolStatus]
    TOOL_STATUS_RUNNING: _ClassVar[ToolStatus]
    TOOL_STATUS_BACKGROUND: _ClassVar[ToolStatus]
    TOOL_STATUS_FINISHED: _ClassVar[ToolStatus]
    TOOL_STATUS_FAILED: _ClassVar[ToolStatus]
    TOOL_STATUS_DENIED: _ClassVar[ToolStatus]
    TOOL_STATUS_INTERRUPTED: _ClassVar[ToolStatus]

class PlanChangedSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLAN_CHANGED_SOURCE_UNSPECIFIED: _ClassVar[PlanChangedSource]
    PLAN_CHANGED_SOURCE_TODO: _ClassVar[PlanChangedSource]
    PLAN_CHANGED_SOURCE_TASKS: _ClassVar[PlanChangedSource]

class TaskStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TASK_STATUS_UNSPECIFIED: _ClassVar[TaskStatus]
    TASK_STATUS_RUNNING: _ClassVar[TaskStatus]
    TASK_STATUS_PAUSED: _ClassVar[TaskStatus]
    TASK_STATUS_COMPLETED: _ClassVar[TaskStatus]
    TASK_STATUS_FAILED: _ClassVar[TaskStatus]
    TASK_STATUS_STOPPED: _ClassVar[TaskStatus]

class HookSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOOK_SOURCE_UNSPECIFIED: _ClassVar[HookSource]
    HOOK_SOURCE_COMMAND: _ClassVar[HookSource]
    HOOK_SOURCE_CALLBACK: _ClassVar[HookSource]

class Activity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACTIVITY_UNSPECIFIED: _ClassVar[Activity]
    ACTIVITY_IDLE: _ClassVar[Activity]
    ACTIVITY_REQUESTING: _ClassVar[Activity]
    ACTIVITY_COMPACTING: _ClassVar[Activity]
    ACTIVITY_RESPONDING: _ClassVar[Activity]
    ACTIVITY_WORKING: _ClassVar[Activity]
    ACTIVITY_WAITING: _ClassVar[Activity]

class By(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BY_UNSPECIFIED: _ClassVar[By]
    BY_US: _ClassVar[By]
    BY_CLI: _ClassVar[By]

class PolicyDecidedDecision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    POLICY_DECIDED_DECISION_UNSPECIFIED: _ClassVar[PolicyDecidedDecision]
    POLICY_DECIDED_DECISION_ALLOW: _ClassVar[PolicyDecidedDecision]
    POLICY_DECIDED_DECISION_DENY: _ClassVar[PolicyDecidedDecision]
    POLICY_DECIDED_DECISION_ASK: _ClassVar[PolicyDecidedDecision]

class PolicyDecidedAskedIn(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    POLICY_DECIDED_ASKED_IN_UNSPECIFIED: _ClassVar[PolicyDecidedAskedIn]
    POLICY_DECIDED_ASKED_IN_CAN_USE_TOOL: _ClassVar[PolicyDecidedAskedIn]
    POLICY_DECIDED_ASKED_IN_PRE_TOOL_USE: _ClassVar[PolicyDecidedAskedIn]

class ProcessState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROCESS_STATE_UNSPECIFIED: _ClassVar[ProcessState]
    PROCESS_STATE_STARTING: _ClassVar[ProcessState]
    PROCESS_STATE_RUNNING: _ClassVar[ProcessState]
    PROCESS_STATE_EXITED: _ClassVar[ProcessState]
    PROCESS_STATE_LOST: _ClassVar[ProcessState]

class HangNoticedAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HANG_NOTICED_ACTION_UNSPECIFIED: _ClassVar[HangNoticedAction]
    HANG_NOTICED_ACTION_INTERRUPT: _ClassVar[HangNoticedAction]
    HANG_NOTICED_ACTION_END: _ClassVar[HangNoticedAction]

class DriftNoticedWhat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DRIFT_NOTICED_WHAT_UNSPECIFIED: _ClassVar[DriftNoticedWhat]
    DRIFT_NOTICED_WHAT_MESSAGE: _ClassVar[DriftNoticedWhat]
    DRIFT_NOTICED_WHAT_SUBTYPE: _ClassVar[DriftNoticedWhat]
    DRIFT_NOTICED_WHAT_FIELD: _ClassVar[DriftNoticedWhat]
    DRIFT_NOTICED_WHAT_REQUEST: _ClassVar[DriftNoticedWhat]
    DRIFT_NOTICED_WHAT_VERSION: _ClassVar[DriftNoticedWhat]

class TranscriptNoticedWhat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRANSCRIPT_NOTICED_WHAT_UNSPECIFIED: _ClassVar[TranscriptNoticedWhat]
    TRANSCRIPT_NOTICED_WHAT_CONTINUED: _ClassVar[TranscriptNoticedWhat]
    TRANSCRIPT_NOTICED_WHAT_RESTORED: _ClassVar[TranscriptNoticedWhat]

class BudgetChangedState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BUDGET_CHANGED_STATE_UNSPECIFIED: _ClassVar[BudgetChangedState]
    BUDGET_CHANGED_STATE_SET: _ClassVar[BudgetChangedState]
    BUDGET_CHANGED_STATE_NEAR: _ClassVar[BudgetChangedState]
    BUDGET_CHANGED_STATE_REACHED: _ClassVar[BudgetChangedState]
    BUDGET_CHANGED_STATE_INTERRUPTED: _ClassVar[BudgetChangedState]

class BudgetChangedScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BUDGET_CHANGED_SCOPE_UNSPECIFIED: _ClassVar[BudgetChangedScope]
    BUDGET_CHANGED_SCOPE_SESSION: _ClassVar[BudgetChangedScope]
    BUDGET_CHANGED_SCOPE_PARENT: _ClassVar[BudgetChangedScope]
    BUDGET_CHANGED_SCOPE_HOST: _ClassVar[BudgetChangedScope]

class GapReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GAP_REASON_UNSPECIFIED: _ClassVar[GapReason]
    GAP_REASON_RETENTION: _ClassVar[GapReason]
    GAP_REASON_EPOCH: _ClassVar[GapReason]
    GAP_REASON_AHEAD: _ClassVar[GapReason]

class RawLineDirection(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RAW_LINE_DIRECTION_UNSPECIFIED: _ClassVar[RawLineDirection]
    RAW_LINE_DIRECTION_RECEIVED: _ClassVar[RawLineDirection]
    RAW_LINE_DIRECTION_SENT: _ClassVar[RawLineDirection]
DIFF_KIND_UNSPECIFIED: DiffKind
DIFF_KIND_CREATE: DiffKind
DIFF_KIND_UPDATE: DiffKind
DIFF_KIND_DELETE: DiffKind
DIFF_KIND_WRITE: DiffKind
PLAN_STATUS_UNSPECIFIED: PlanStatus
PLAN_STATUS_PENDING: PlanStatus
PLAN_STATUS_IN_PROGRESS: PlanStatus
PLAN_STATUS_COMPLETED: PlanStatus
REQUEST_STATUS_UNSPECIFIED: RequestStatus
REQUEST_STATUS_OPEN: RequestStatus
REQUEST_STATUS_ANSWERED: RequestStatus
REQUEST_STATUS_CANCELLED: RequestStatus
TURN_OUTCOME_UNSPECIFIED: TurnOutcome
TURN_OUTCOME_DONE: TurnOutcome
TURN_OUTCOME_FAILED: TurnOutcome
TURN_OUTCOME_INTERRUPTED: TurnOutcome
TURN_OUTCOME_LIMIT: TurnOutcome
PROMPT_STATUS_UNSPECIFIED: PromptStatus
PROMPT_STATUS_SENT: PromptStatus
PROMPT_STATUS_QUEUED: PromptStatus
PROMPT_STATUS_STARTED: PromptStatus
PROMPT_STATUS_COMPLETED: PromptStatus
PROMPT_STATUS_CANCELLED: PromptStatus
BLOCK_STARTED_KIND_UNSPECIFIED: BlockStartedKind
BLOCK_STARTED_KIND_TEXT: BlockStartedKind
BLOCK_STARTED_KIND_THINKING: BlockStartedKind
TOOL_STATUS_UNSPECIFIED: ToolStatus
TOOL_STATUS_WRITING: ToolStatus
TOOL_STATUS_WAITING: ToolStatus
TOOL_STATUS_RUNNING: ToolStatus
TOOL_STATUS_BACKGROUND: ToolStatus
TOOL_STATUS_FINISHED: ToolStatus
TOOL_STATUS_FAILED: ToolStatus
TOOL_STATUS_DENIED: ToolStatus
TOOL_STATUS_INTERRUPTED: ToolStatus
PLAN_CHANGED_SOURCE_UNSPECIFIED: PlanChangedSource
PLAN_CHANGED_SOURCE_TODO: PlanChangedSource
PLAN_CHANGED_SOURCE_TASKS: PlanChangedSource
TASK_STATUS_UNSPECIFIED: TaskStatus
TASK_STATUS_RUNNING: TaskStatus
TASK_STATUS_PAUSED: TaskStatus
TASK_STATUS_COMPLETED: TaskStatus
TASK_STATUS_FAILED: TaskStatus
TASK_STATUS_STOPPED: TaskStatus
HOOK_SOURCE_UNSPECIFIED: HookSource
HOOK_SOURCE_COMMAND: HookSource
HOOK_SOURCE_CALLBACK: HookSource
ACTIVITY_UNSPECIFIED: Activity
ACTIVITY_IDLE: Activity
ACTIVITY_REQUESTING: Activity
ACTIVITY_COMPACTING: Activity
ACTIVITY_RESPONDING: Activity
ACTIVITY_WORKING: Activity
ACTIVITY_WAITING: Activity
BY_UNSPECIFIED: By
BY_US: By
BY_CLI: By
POLICY_DECIDED_DECISION_UNSPECIFIED: PolicyDecidedDecision
POLICY_DECIDED_DECISION_ALLOW: PolicyDecidedDecision
POLICY_DECIDED_DECISION_DENY: PolicyDecidedDecision
POLICY_DECIDED_DECISION_ASK: PolicyDecidedDecision
POLICY_DECIDED_ASKED_IN_UNSPECIFIED: PolicyDecidedAskedIn
POLICY_DECIDED_ASKED_IN_CAN_USE_TOOL: PolicyDecidedAskedIn
POLICY_DECIDED_ASKED_IN_PRE_TOOL_USE: PolicyDecidedAskedIn
PROCESS_STATE_UNSPECIFIED: ProcessState
PROCESS_STATE_STARTING: ProcessState
PROCESS_STATE_RUNNING: ProcessState
PROCESS_STATE_EXITED: ProcessState
PROCESS_STATE_LOST: ProcessState
HANG_NOTICED_ACTION_UNSPECIFIED: HangNoticedAction
HANG_NOTICED_ACTION_INTERRUPT: HangNoticedAction
HANG_NOTICED_ACTION_END: HangNoticedAction
DRIFT_NOTICED_WHAT_UNSPECIFIED: DriftNoticedWhat
DRIFT_NOTICED_WHAT_MESSAGE: DriftNoticedWhat
DRIFT_NOTICED_WHAT_SUBTYPE: DriftNoticedWhat
DRIFT_NOTICED_WHAT_FIELD: DriftNoticedWhat
DRIFT_NOTICED_WHAT_REQUEST: DriftNoticedWhat
DRIFT_NOTICED_WHAT_VERSION: DriftNoticedWhat
TRANSCRIPT_NOTICED_WHAT_UNSPECIFIED: TranscriptNoticedWhat
TRANSCRIPT_NOTICED_WHAT_CONTINUED: TranscriptNoticedWhat
TRANSCRIPT_NOTICED_WHAT_RESTORED: TranscriptNoticedWhat
BUDGET_CHANGED_STATE_UNSPECIFIED: BudgetChangedState
BUDGET_CHANGED_STATE_SET: BudgetChangedState
BUDGET_CHANGED_STATE_NEAR: BudgetChangedState
BUDGET_CHANGED_STATE_REACHED: BudgetChangedState
BUDGET_CHANGED_STATE_INTERRUPTED: BudgetChangedState
BUDGET_CHANGED_SCOPE_UNSPECIFIED: BudgetChangedScope
BUDGET_CHANGED_SCOPE_SESSION: BudgetChangedScope
BUDGET_CHANGED_SCOPE_PARENT: BudgetChangedScope
BUDGET_CHANGED_SCOPE_HOST: BudgetChangedScope
GAP_REASON_UNSPECIFIED: GapReason
GAP_REASON_RETENTION: GapReason
GAP_REASON_EPOCH: GapReason
GAP_REASON_AHEAD: GapReason
RAW_LINE_DIRECTION_UNSPECIFIED: RawLineDirection
RAW_LINE_DIRECTION_RECEIVED: RawLineDirection
RAW_LINE_DIRECTION_SENT: RawLineDirection

class Event(_message.Message):
    __slots__ = ("session_id", "seq", "at", "preview", "json", "unknown", "oversized", "text_delta", "thinking_added", "tool_input_added", "prompt_sent", "prompt_changed", "block_started", "text_completed", "thinking_counted", "thinking_completed", "retracted", "tool_started", "tool_called", "tool_progressed", "tool_output_added", "tool_backgrounded", "tool_ended", "tools_summarised", "plan_changed", "permission_asked", "questions_asked", "plan_review_asked", "elicitation_asked", "dialog_asked", "request_answered", "request_cancelled", "elicitation_completed", "task_started", "task_progressed", "task_changed", "task_ended", "task_notified", "hook_started", "hook_progressed", "hook_ended", "turn_started", "turn_ended", "activity_changed", "context_changed", "compaction_ended", "retry_scheduled", "interrupt_sent", "session_changed", "session_state_changed", "model_changed", "mode_changed", "mcp_changed", "rate_limit_changed", "auth_changed", "conversation_reset", "files_persisted", "files_rewound", "prompt_suggested", "control_answered", "control_progressed", "notice_shown", "unknown_seen", "bad_line_seen", "status_change", "usage_report", "approval_changed", "policy_decided", "queue_changed", "process_changed", "hang_noticed", "drift_noticed", "transcript_noticed", "budget_changed", "custom_event", "gap", "raw_line")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    OVERSIZED_FIELD_NUMBER: _ClassVar[int]
    TEXT_DELTA_FIELD_NUMBER: _ClassVar[int]
    THINKING_ADDED_FIELD_NUMBER: _ClassVar[int]
    TOOL_INPUT_ADDED_FIELD_NUMBER: _ClassVar[int]
    PROMPT_SENT_FIELD_NUMBER: _ClassVar[int]
    PROMPT_CHANGED_FIELD_NUMBER: _ClassVar[int]
    BLOCK_STARTED_FIELD_NUMBER: _ClassVar[int]
    TEXT_COMPLETED_FIELD_NUMBER: _ClassVar[int]
    THINKING_COUNTED_FIELD_NUMBER: _ClassVar[int]
    THINKING_COMPLETED_FIELD_NUMBER: _ClassVar[int]
    RETRACTED_FIELD_NUMBER: _ClassVar[int]
    TOOL_STARTED_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLED_FIELD_NUMBER: _ClassVar[int]
    TOOL_PROGRESSED_FIELD_NUMBER: _ClassVar[int]
    TOOL_OUTPUT_ADDED_FIELD_NUMBER: _ClassVar[int]
    TOOL_BACKGROUNDED_FIELD_NUMBER: _ClassVar[int]
    TOOL_ENDED_FIELD_NUMBER: _ClassVar[int]
    TOOLS_SUMMARISED_FIELD_NUMBER: _ClassVar[int]
    PLAN_CHANGED_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_ASKED_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_ASKED_FIELD_NUMBER: _ClassVar[int]
    PLAN_REVIEW_ASKED_FIELD_NUMBER: _ClassVar[int]
    ELICITATION_ASKED_FIELD_NUMBER: _ClassVar[int]
    DIALOG_ASKED_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ANSWERED_FIELD_NUMBER: _ClassVar[int]
    REQUEST_CANCELLED_FIELD_NUMBER: _ClassVar[int]
    ELICITATION_COMPLETED_FIELD_NUMBER: _ClassVar[int]
    TASK_STARTED_FIELD_NUMBER: _ClassVar[int]
    TASK_PROGRESSED_FIELD_NUMBER: _ClassVar[int]
    TASK_CHANGED_FIELD_NUMBER: _ClassVar[int]
    TASK_ENDED_FIELD_NUMBER: _ClassVar[int]
    TASK_NOTIFIED_FIELD_NUMBER: _ClassVar[int]
    HOOK_STARTED_FIELD_NUMBER: _ClassVar[int]
    HOOK_PROGRESSED_FIELD_NUMBER: _ClassVar[int]
    HOOK_ENDED_FIELD_NUMBER: _ClassVar[int]
    TURN_STARTED_FIELD_NUMBER: _ClassVar[int]
    TURN_ENDED_FIELD_NUMBER: _ClassVar[int]
    ACTIVITY_CHANGED_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_CHANGED_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_ENDED_FIELD_NUMBER: _ClassVar[int]
    RETRY_SCHEDULED_FIELD_NUMBER: _ClassVar[int]
    INTERRUPT_SENT_FIELD_NUMBER: _ClassVar[int]
    SESSION_CHANGED_FIELD_NUMBER: _ClassVar[int]
    SESSION_STATE_CHANGED_FIELD_NUMBER: _ClassVar[int]
    MODEL_CHANGED_FIELD_NUMBER: _ClassVar[int]
    MODE_CHANGED_FIELD_NUMBER: _ClassVar[int]
    MCP_CHANGED_FIELD_NUMBER: _ClassVar[int]
    RATE_LIMIT_CHANGED_FIELD_NUMBER: _ClassVar[int]
    AUTH_CHANGED_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_RESET_FIELD_NUMBER: _ClassVar[int]
    FILES_PERSISTED_FIELD_NUMBER: _ClassVar[int]
    FILES_REWOUND_FIELD_NUMBER: _ClassVar[int]
    PROMPT_SUGGESTED_FIELD_NUMBER: _ClassVar[int]
    CONTROL_ANSWERED_FIELD_NUMBER: _ClassVar[int]
    CONTROL_PROGRESSED_FIELD_NUMBER: _ClassVar[int]
    NOTICE_SHOWN_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_SEEN_FIELD_NUMBER: _ClassVar[int]
    BAD_LINE_SEEN_FIELD_NUMBER: _ClassVar[int]
    STATUS_CHANGE_FIELD_NUMBER: _ClassVar[int]
    USAGE_REPORT_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_CHANGED_FIELD_NUMBER: _ClassVar[int]
    POLICY_DECIDED_FIELD_NUMBER: _ClassVar[int]
    QUEUE_CHANGED_FIELD_NUMBER: _ClassVar[int]
    PROCESS_CHANGED_FIELD_NUMBER: _ClassVar[int]
    HANG_NOTICED_FIELD_NUMBER: _ClassVar[int]
    DRIFT_NOTICED_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_NOTICED_FIELD_NUMBER: _ClassVar[int]
    BUDGET_CHANGED_FIELD_NUMBER: _ClassVar[int]
    CUSTOM_EVENT_FIELD_NUMBER: _ClassVar[int]
    GAP_FIELD_NUMBER: _ClassVar[int]
    RAW_LINE_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    seq: int
    at: float
    preview: bool
    json: str
    unknown: UnknownEvent
    oversized: OversizedEvent
    text_delta: TextDelta
    thinking_added: ThinkingAdded
    tool_input_added: ToolInputAdded
    prompt_sent: PromptSent
    prompt_changed: PromptChanged
    block_started: BlockStarted
    text_completed: TextCompleted
    thinking_counted: ThinkingCounted
    thinking_completed: ThinkingCompleted
    retracted: Retracted
    tool_started: ToolStarted
    tool_called: ToolCalled
    tool_progressed: ToolProgressed
    tool_output_added: ToolOutputAdded
    tool_backgrounded: ToolBackgrounded
    tool_ended: ToolEnded
    tools_summarised: ToolsSummarised
    plan_changed: PlanChanged
    permission_asked: PermissionAsked
    questions_asked: QuestionsAsked
    plan_review_asked: PlanReviewAsked
    elicitation_asked: ElicitationAsked
    dialog_asked: DialogAsked
    request_answered: RequestAnswered
    request_cancelled: RequestCancelled
    elicitation_completed: ElicitationCompleted
    task_started: TaskStarted
    task_progressed: TaskProgressed
    task_changed: TaskChanged
    task_ended: TaskEnded
    task_notified: TaskNotified
    hook_started: HookStarted
    hook_progressed: HookProgressed
    hook_ended: HookEnded
    turn_started: TurnStarted
    turn_ended: TurnEnded
    activity_changed: ActivityChanged
    context_changed: ContextChanged
    compaction_ended: CompactionEnded
    retry_scheduled: RetryScheduled
    interrupt_sent: InterruptSent
    session_changed: SessionChanged
    session_state_changed: SessionStateChanged
    model_changed: ModelChanged
    mode_changed: ModeChanged
    mcp_changed: McpChanged
    rate_limit_changed: RateLimitChanged
    auth_changed: AuthChanged
    conversation_reset: ConversationReset
    files_persisted: FilesPersisted
    files_rewound: FilesRewound
    prompt_suggested: PromptSuggested
    control_answered: ControlAnswered
    control_progressed: ControlProgressed
    notice_shown: NoticeShown
    unknown_seen: UnknownSeen
    bad_line_seen: BadLineSeen
    status_change: StatusChange
    usage_report: UsageReport
    approval_changed: ApprovalChanged
    policy_decided: PolicyDecided
    queue_changed: QueueChanged
    process_changed: ProcessChanged
    hang_noticed: HangNoticed
    drift_noticed: DriftNoticed
    transcript_noticed: TranscriptNoticed
    budget_changed: BudgetChanged
    custom_event: CustomEvent
    gap: Gap
    raw_line: RawLine
    def __init__(self, session_id: _Optional[str] = ..., seq: _Optional[int] = ..., at: _Optional[float] = ..., preview: _Optional[bool] = ..., json: _Optional[str] = ..., unknown: _Optional[_Union[UnknownEvent, _Mapping]] = ..., oversized: _Optional[_Union[OversizedEvent, _Mapping]] = ..., text_delta: _Optional[_Union[TextDelta, _Mapping]] = ..., thinking_added: _Optional[_Union[ThinkingAdded, _Mapping]] = ..., tool_input_added: _Optional[_Union[ToolInputAdded, _Mapping]] = ..., prompt_sent: _Optional[_Union[PromptSent, _Mapping]] = ..., prompt_changed: _Optional[_Union[PromptChanged, _Mapping]] = ..., block_started: _Optional[_Union[BlockStarted, _Mapping]] = ..., text_completed: _Optional[_Union[TextCompleted, _Mapping]] = ..., thinking_counted: _Optional[_Union[ThinkingCounted, _Mapping]] = ..., thinking_completed: _Optional[_Union[ThinkingCompleted, _Mapping]] = ..., retracted: _Optional[_Union[Retracted, _Mapping]] = ..., tool_started: _Optional[_Union[ToolStarted, _Mapping]] = ..., tool_called: _Optional[_Union[ToolCalled, _Mapping]] = ..., tool_progressed: _Optional[_Union[ToolProgressed, _Mapping]] = ..., tool_output_added: _Optional[_Union[ToolOutputAdded, _Mapping]] = ..., tool_backgrounded: _Optional[_Union[ToolBackgrounded, _Mapping]] = ..., tool_ended: _Optional[_Union[ToolEnded, _Mapping]] = ..., tools_summarised: _Optional[_Union[ToolsSummarised, _Mapping]] = ..., plan_changed: _Optional[_Union[PlanChanged, _Mapping]] = ..., permission_asked: _Optional[_Union[PermissionAsked, _Mapping]] = ..., questions_asked: _Optional[_Union[QuestionsAsked, _Mapping]] = ..., plan_review_asked: _Optional[_Union[PlanReviewAsked, _Mapping]] = ..., elicitation_asked: _Optional[_Union[ElicitationAsked, _Mapping]] = ..., dialog_asked: _Optional[_Union[DialogAsked, _Mapping]] = ..., request_answered: _Optional[_Union[RequestAnswered, _Mapping]] = ..., request_cancelled: _Optional[_Union[RequestCancelled, _Mapping]] = ..., elicitation_completed: _Optional[_Union[ElicitationCompleted, _Mapping]] = ..., task_started: _Optional[_Union[TaskStarted, _Mapping]] = ..., task_progressed: _Optional[_Union[TaskProgressed, _Mapping]] = ..., task_changed: _Optional[_Union[TaskChanged, _Mapping]] = ..., task_ended: _Optional[_Union[TaskEnded, _Mapping]] = ..., task_notified: _Optional[_Union[TaskNotified, _Mapping]] = ..., hook_started: _Optional[_Union[HookStarted, _Mapping]] = ..., hook_progressed: _Optional[_Union[HookProgressed, _Mapping]] = ..., hook_ended: _Optional[_Union[HookEnded, _Mapping]] = ..., turn_started: _Optional[_Union[TurnStarted, _Mapping]] = ..., turn_ended: _Optional[_Union[TurnEnded, _Mapping]] = ..., activity_changed: _Optional[_Union[ActivityChanged, _Mapping]] = ..., context_changed: _Optional[_Union[ContextChanged, _Mapping]] = ..., compaction_ended: _Optional[_Union[CompactionEnded, _Mapping]] = ..., retry_scheduled: _Optional[_Union[RetryScheduled, _Mapping]] = ..., interrupt_sent: _Optional[_Union[InterruptSent, _Mapping]] = ..., session_changed: _Optional[_Union[SessionChanged, _Mapping]] = ..., session_state_changed: _Optional[_Union[SessionStateChanged, _Mapping]] = ..., model_changed: _Optional[_Union[ModelChanged, _Mapping]] = ..., mode_changed: _Optional[_Union[ModeChanged, _Mapping]] = ..., mcp_changed: _Optional[_Union[McpChanged, _Mapping]] = ..., rate_limit_changed: _Optional[_Union[RateLimitChanged, _Mapping]] = ..., auth_changed: _Optional[_Union[AuthChanged, _Mapping]] = ..., conversation_reset: _Optional[_Union[ConversationReset, _Mapping]] = ..., files_persisted: _Optional[_Union[FilesPersisted, _Mapping]] = ..., files_rewound: _Optional[_Union[FilesRewound, _Mapping]] = ..., prompt_suggested: _Optional[_Union[PromptSuggested, _Mapping]] = ..., control_answered: _Optional[_Union[ControlAnswered, _Mapping]] = ..., control_progressed: _Optional[_Union[ControlProgressed, _Mapping]] = ..., notice_shown: _Optional[_Union[NoticeShown, _Mapping]] = ..., unknown_seen: _Optional[_Union[UnknownSeen, _Mapping]] = ..., bad_line_seen: _Optional[_Union[BadLineSeen, _Mapping]] = ..., status_change: _Optional[_Union[StatusChange, _Mapping]] = ..., usage_report: _Optional[_Union[UsageReport, _Mapping]] = ..., approval_changed: _Optional[_Union[ApprovalChanged, _Mapping]] = ..., policy_decided: _Optional[_Union[PolicyDecided, _Mapping]] = ..., queue_changed: _Optional[_Union[QueueChanged, _Mapping]] = ..., process_changed: _Optional[_Union[ProcessChanged, _Mapping]] = ..., hang_noticed: _Optional[_Union[HangNoticed, _Mapping]] = ..., drift_noticed: _Optional[_Union[DriftNoticed, _Mapping]] = ..., transcript_noticed: _Optional[_Union[TranscriptNoticed, _Mapping]] = ..., budget_changed: _Optional[_Union[BudgetChanged, _Mapping]] = ..., custom_event: _Optional[_Union[CustomEvent, _Mapping]] = ..., gap: _Optional[_Union[Gap, _Mapping]] = ..., raw_line: _Optional[_Union[RawLine, _Mapping]] = ...) -> None: ...

class UnknownEvent(_message.Message):
    __slots__ = ("type", "json")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    type: str
    json: str
    def __init__(self, type: _Optional[str] = ..., json: _Optional[str] = ...) -> None: ...

class OversizedEvent(_message.Message):
    __slots__ = ("type", "size_bytes")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    type: str
    size_bytes: int
    def __init__(self, type: _Optional[str] = ..., size_bytes: _Optional[int] = ...) -> None: ...

class PromptSent(_message.Message):
    __slots__ = ("id", "text", "source", "attachments", "parent_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    text: str
    source: str
    attachments: _containers.RepeatedScalarFieldContainer[str]
    parent_id: str
    def __init__(self, id: _Optional[str] = ..., text: _Optional[str] = ..., source: _Optional[str] = ..., attachments: _Optional[_Iterable[str]] = ..., parent_id: _Optional[str] = ...) -> None: ...

class PromptChanged(_message.Message):
    __slots__ = ("id", "status")
    ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    id: str
    status: PromptStatus
    def __init__(self, id: _Optional[str] = ..., status: _Optional[_Union[PromptStatus, str]] = ...) -> None: ...

class BlockStarted(_message.Message):
    __slots__ = ("id", "kind", "parent_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: BlockStartedKind
    parent_id: str
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[_Union[BlockStartedKind, str]] = ..., parent_id: _Optional[str] = ...) -> None: ...

class TextDelta(_message.Message):
    __slots__ = ("id", "text")
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    id: str
    text: str
    def __init__(self, id: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class TextCompleted(_message.Message):
    __slots__ = ("id", "text", "rest", "parent_id", "error", "synthetic", "stopped")
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    REST_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    SYNTHETIC_FIELD_NUMBER: _ClassVar[int]
    STOPPED_FIELD_NUMBER: _ClassVar[int]
    id: str
    text: str
    rest: str
    parent_id: str
    error: str
    synthetic: bool
    stopped: bool
    def __init__(self, id: _Optional[str] = ..., text: _Optional[str] = ..., rest: _Optional[str] = ..., parent_id: _Optional[str] = ..., error: _Optional[str] = ..., synthetic: _Optional[bool] = ..., stopped: _Optional[bool] = ...) -> None: ...

class ThinkingAdded(_message.Message):
    __slots__ = ("id", "text")
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    id: str
    text: str
    def __init__(self, id: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class ThinkingCounted(_message.Message):
    __slots__ = ("tokens",)
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    tokens: int
    def __init__(self, tokens: _Optional[int] = ...) -> None: ...

class ThinkingCompleted(_message.Message):
    __slots__ = ("id", "text", "rest", "parent_id", "hidden", "duration_s", "stopped")
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    REST_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_FIELD_NUMBER: _ClassVar[int]
    DURATION_S_FIELD_NUMBER: _ClassVar[int]
    STOPPED_FIELD_NUMBER: _ClassVar[int]
    id: str
    text: str
    rest: str
    parent_id: str
    hidden: bool
    duration_s: float
    stopped: bool
    def __init__(self, id: _Optional[str] = ..., text: _Optional[str] = ..., rest: _Optional[str] = ..., parent_id: _Optional[str] = ..., hidden: _Optional[bool] = ..., duration_s: _Optional[float] = ..., stopped: _Optional[bool] = ...) -> None: ...

class Retracted(_message.Message):
    __slots__ = ("ids",)
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ToolStarted(_message.Message):
    __slots__ = ("id", "name", "label", "parent_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    label: str
    parent_id: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., label: _Optional[str] = ..., parent_id: _Optional[str] = ...) -> None: ...

class ToolInputAdded(_message.Message):
    __slots__ = ("id", "json")
    ID_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    json: str
    def __init__(self, id: _Optional[str] = ..., json: _Optional[str] = ...) -> None: ...

class ToolCalled(_message.Message):
    __slots__ = ("id", "name", "label", "about", "input_json", "diffs", "agent_type", "parent_id", "run_by_api")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    ABOUT_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    DIFFS_FIELD_NUMBER: _ClassVar[int]
    AGENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_BY_API_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    label: str
    about: str
    input_json: str
    diffs: _containers.RepeatedCompositeFieldContainer[FileDiff]
    agent_type: str
    parent_id: str
    run_by_api: bool
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., label: _Optional[str] = ..., about: _Optional[str] = ..., input_json: _Optional[str] = ..., diffs: _Optional[_Iterable[_Union[FileDiff, _Mapping]]] = ..., agent_type: _Optional[str] = ..., parent_id: _Optional[str] = ..., run_by_api: _Optional[bool] = ...) -> None: ...

class ToolProgressed(_message.Message):
    __slots__ = ("id", "elapsed_s", "retry")
    ID_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_S_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    id: str
    elapsed_s: float
    retry: str
    def __init__(self, id: _Optional[str] = ..., elapsed_s: _Optional[float] = ..., retry: _Optional[str] = ...) -> None: ...

class ToolOutputAdded(_message.Message):
    __slots__ = ("id", "output", "task_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    output: Kept
    task_id: str
    def __init__(self, id: _Optional[str] = ..., output: _Optional[_Union[Kept, _Mapping]] = ..., task_id: _Optional[str] = ...) -> None: ...

class ToolBackgrounded(_message.Message):
    __slots__ = ("id", "name", "output", "task_id", "parent_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    output: Kept
    task_id: str
    parent_id: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., output: _Optional[_Union[Kept, _Mapping]] = ..., task_id: _Optional[str] = ..., parent_id: _Optional[str] = ...) -> None: ...

class ToolEnded(_message.Message):
    __slots__ = ("id", "name", "status", "output", "elapsed_s", "diffs", "images", "output_path", "reason", "parent_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_S_FIELD_NUMBER: _ClassVar[int]
    DIFFS_FIELD_NUMBER: _ClassVar[int]
    IMAGES_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_PATH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    status: ToolStatus
    output: Kept
    elapsed_s: float
    diffs: _containers.RepeatedCompositeFieldContainer[FileDiff]
    images: int
    output_path: str
    reason: str
    parent_id: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., status: _Optional[_Union[ToolStatus, str]] = ..., output: _Optional[_Union[Kept, _Mapping]] = ..., elapsed_s: _Optional[float] = ..., diffs: _Optional[_Iterable[_Union[FileDiff, _Mapping]]] = ..., images: _Optional[int] = ..., output_path: _Optional[str] = ..., reason: _Optional[str] = ..., parent_id: _Optional[str] = ...) -> None: ...

class ToolsSummarised(_message.Message):
    __slots__ = ("text", "tool_ids")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOOL_IDS_FIELD_NUMBER: _ClassVar[int]
    text: str
    tool_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, text: _Optional[str] = ..., tool_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class PlanChanged(_message.Message):
    __slots__ = ("entries", "source", "parent_id")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[PlanEntry]
    source: PlanChangedSource
    parent_id: str
    def __init__(self, entries: _Optional[_Iterable[_Union[PlanEntry, _Mapping]]] = ..., source: _Optional[_Union[PlanChangedSource, str]] = ..., parent_id: _Optional[str] = ...) -> None: ...

class PermissionAsked(_message.Message):
    __slots__ = ("request",)
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    request: Permission
    def __init__(self, request: _Optional[_Union[Permission, _Mapping]] = ...) -> None: ...

class QuestionsAsked(_message.Message):
    __slots__ = ("request",)
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    request: Questions
    def __init__(self, request: _Optional[_Union[Questions, _Mapping]] = ...) -> None: ...

class PlanReviewAsked(_message.Message):
    __slots__ = ("request",)
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    request: PlanReview
    def __init__(self, request: _Optional[_Union[PlanReview, _Mapping]] = ...) -> None: ...

class ElicitationAsked(_message.Message):
    __slots__ = ("request",)
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    request: Elicitation
    def __init__(self, request: _Optional[_Union[Elicitation, _Mapping]] = ...) -> None: ...

class DialogAsked(_message.Message):
    __slots__ = ("request",)
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    request: Dialog
    def __init__(self, request: _Optional[_Union[Dialog, _Mapping]] = ...) -> None: ...

class RequestAnswered(_message.Message):
    __slots__ = ("id", "kind", "answer", "note", "answers", "rules_added", "mode", "input_changed", "interrupts", "tool_id")
    class AnswersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    RULES_ADDED_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    INPUT_CHANGED_FIELD_NUMBER: _ClassVar[int]
    INTERRUPTS_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    answer: str
    note: str
    answers: _containers.ScalarMap[str, str]
    rules_added: _containers.RepeatedScalarFieldContainer[str]
    mode: str
    input_changed: bool
    interrupts: bool
    tool_id: str
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., answer: _Optional[str] = ..., note: _Optional[str] = ..., answers: _Optional[_Mapping[str, str]] = ..., rules_added: _Optional[_Iterable[str]] = ..., mode: _Optional[str] = ..., input_changed: _Optional[bool] = ..., interrupts: _Optional[bool] = ..., tool_id: _Optional[str] = ...) -> None: ...

class RequestCancelled(_message.Message):
    __slots__ = ("id", "kind", "tool_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    tool_id: str
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., tool_id: _Optional[str] = ...) -> None: ...

class ElicitationCompleted(_message.Message):
    __slots__ = ("id", "server")
    ID_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    id: str
    server: str
    def __init__(self, id: _Optional[str] = ..., server: _Optional[str] = ...) -> None: ...

class TaskStarted(_message.Message):
    __slots__ = ("id", "tool_id", "description", "kind", "agent_type", "background", "parent_task_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    AGENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    BACKGROUND_FIELD_NUMBER: _ClassVar[int]
    PARENT_TASK_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    tool_id: str
    description: str
    kind: str
    agent_type: str
    background: bool
    parent_task_id: str
    def __init__(self, id: _Optional[str] = ..., tool_id: _Optional[str] = ..., description: _Optional[str] = ..., kind: _Optional[str] = ..., agent_type: _Optional[str] = ..., background: _Optional[bool] = ..., parent_task_id: _Optional[str] = ...) -> None: ...

class TaskProgressed(_message.Message):
    __slots__ = ("id", "tool_id", "doing", "tokens", "tool_uses", "duration_s", "last_tool", "summary")
    ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    DOING_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOOL_USES_FIELD_NUMBER: _ClassVar[int]
    DURATION_S_FIELD_NUMBER: _ClassVar[int]
    LAST_TOOL_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    id: str
    tool_id: str
    doing: str
    tokens: int
    tool_uses: int
    duration_s: float
    last_tool: str
    summary: str
    def __init__(self, id: _Optional[str] = ..., tool_id: _Optional[str] = ..., doing: _Optional[str] = ..., tokens: _Optional[int] = ..., tool_uses: _Optional[int] = ..., duration_s: _Optional[float] = ..., last_tool: _Optional[str] = ..., summary: _Optional[str] = ...) -> None: ...

class TaskChanged(_message.Message):
    __slots__ = ("id", "status", "background", "description", "tool_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    BACKGROUND_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    status: TaskStatus
    background: bool
    description: str
    tool_id: str
    def __init__(self, id: _Optional[str] = ..., status: _Optional[_Union[TaskStatus, str]] = ..., background: _Optional[bool] = ..., description: _Optional[str] = ..., tool_id: _Optional[str] = ...) -> None: ...

class TaskEnded(_message.Message):
    __slots__ = ("id", "tool_id", "status", "description", "error", "background", "tokens", "tool_uses", "duration_s")
    ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    BACKGROUND_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOOL_USES_FIELD_NUMBER: _ClassVar[int]
    DURATION_S_FIELD_NUMBER: _ClassVar[int]
    id: str
    tool_id: str
    status: TaskStatus
    description: str
    error: str
    background: bool
    tokens: int
    tool_uses: int
    duration_s: float
    def __init__(self, id: _Optional[str] = ..., tool_id: _Optional[str] = ..., status: _Optional[_Union[TaskStatus, str]] = ..., description: _Optional[str] = ..., error: _Optional[str] = ..., background: _Optional[bool] = ..., tokens: _Optional[int] = ..., tool_uses: _Optional[int] = ..., duration_s: _Optional[float] = ...) -> None: ...

class TaskNotified(_message.Message):
    __slots__ = ("id", "tool_id", "status", "summary", "output_path", "background", "while_idle")
    ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_PATH_FIELD_NUMBER: _ClassVar[int]
    BACKGROUND_FIELD_NUMBER: _ClassVar[int]
    WHILE_IDLE_FIELD_NUMBER: _ClassVar[int]
    id: str
    tool_id: str
    status: TaskStatus
    summary: str
    output_path: str
    background: bool
    while_idle: bool
    def __init__(self, id: _Optional[str] = ..., tool_id: _Optional[str] = ..., status: _Optional[_Union[TaskStatus, str]] = ..., summary: _Optional[str] = ..., output_path: _Optional[str] = ..., background: _Optional[bool] = ..., while_idle: _Optional[bool] = ...) -> None: ...

class HookStarted(_message.Message):
    __slots__ = ("id", "event", "name", "source", "tool_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    event: str
    name: str
    source: HookSource
    tool_id: str
    def __init__(self, id: _Optional[str] = ..., event: _Optional[str] = ..., name: _Optional[str] = ..., source: _Optional[_Union[HookSource, str]] = ..., tool_id: _Optional[str] = ...) -> None: ...

class HookProgressed(_message.Message):
    __slots__ = ("id", "output")
    ID_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    id: str
    output: Kept
    def __init__(self, id: _Optional[str] = ..., output: _Optional[_Union[Kept, _Mapping]] = ...) -> None: ...

class HookEnded(_message.Message):
    __slots__ = ("id", "event", "outcome", "name", "output", "exit_code", "tool_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    event: str
    outcome: str
    name: str
    output: Kept
    exit_code: int
    tool_id: str
    def __init__(self, id: _Optional[str] = ..., event: _Optional[str] = ..., outcome: _Optional[str] = ..., name: _Optional[str] = ..., output: _Optional[_Union[Kept, _Mapping]] = ..., exit_code: _Optional[int] = ..., tool_id: _Optional[str] = ...) -> None: ...

class TurnStarted(_message.Message):
    __slots__ = ("number",)
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class TurnEnded(_message.Message):
    __slots__ = ("turn", "context")
    TURN_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    turn: TurnSummary
    context: Context
    def __init__(self, turn: _Optional[_Union[TurnSummary, _Mapping]] = ..., context: _Optional[_Union[Context, _Mapping]] = ...) -> None: ...

class ActivityChanged(_message.Message):
    __slots__ = ("activity",)
    ACTIVITY_FIELD_NUMBER: _ClassVar[int]
    activity: Activity
    def __init__(self, activity: _Optional[_Union[Activity, str]] = ...) -> None: ...

class ContextChanged(_message.Message):
    __slots__ = ("context",)
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    context: Context
    def __init__(self, context: _Optional[_Union[Context, _Mapping]] = ...) -> None: ...

class CompactionEnded(_message.Message):
    __slots__ = ("trigger", "tokens_before", "tokens_after", "duration_s", "error")
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    TOKENS_BEFORE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_AFTER_FIELD_NUMBER: _ClassVar[int]
    DURATION_S_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    trigger: str
    tokens_before: int
    tokens_after: int
    duration_s: float
    error: str
    def __init__(self, trigger: _Optional[str] = ..., tokens_before: _Optional[int] = ..., tokens_after: _Optional[int] = ..., duration_s: _Optional[float] = ..., error: _Optional[str] = ...) -> None: ...

class RetryScheduled(_message.Message):
    __slots__ = ("attempt", "max_retries", "delay_s", "status", "error")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    MAX_RETRIES_FIELD_NUMBER: _ClassVar[int]
    DELAY_S_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    max_retries: int
    delay_s: float
    status: int
    error: str
    def __init__(self, attempt: _Optional[int] = ..., max_retries: _Optional[int] = ..., delay_s: _Optional[float] = ..., status: _Optional[int] = ..., error: _Optional[str] = ...) -> None: ...

class InterruptSent(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SessionChanged(_message.Message):
    __slots__ = ("session_id", "changed")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    changed: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, session_id: _Optional[str] = ..., changed: _Optional[_Iterable[str]] = ...) -> None: ...

class SessionStateChanged(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: str
    def __init__(self, state: _Optional[str] = ...) -> None: ...

class ModelChanged(_message.Message):
    __slots__ = ("model", "by", "before", "reason")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    model: str
    by: By
    before: str
    reason: str
    def __init__(self, model: _Optional[str] = ..., by: _Optional[_Union[By, str]] = ..., before: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class ModeChanged(_message.Message):
    __slots__ = ("mode", "by", "before")
    MODE_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    mode: str
    by: By
    before: str
    def __init__(self, mode: _Optional[str] = ..., by: _Optional[_Union[By, str]] = ..., before: _Optional[str] = ...) -> None: ...

class McpChanged(_message.Message):
    __slots__ = ("servers",)
    SERVERS_FIELD_NUMBER: _ClassVar[int]
    servers: _containers.RepeatedCompositeFieldContainer[McpServer]
    def __init__(self, servers: _Optional[_Iterable[_Union[McpServer, _Mapping]]] = ...) -> None: ...

class RateLimitChanged(_message.Message):
    __slots__ = ("limit",)
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    limit: RateLimitState
    def __init__(self, limit: _Optional[_Union[RateLimitState, _Mapping]] = ...) -> None: ...

class AuthChanged(_message.Message):
    __slots__ = ("authenticating", "output", "error")
    AUTHENTICATING_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    authenticating: bool
    output: _containers.RepeatedScalarFieldContainer[str]
    error: str
    def __init__(self, authenticating: _Optional[bool] = ..., output: _Optional[_Iterable[str]] = ..., error: _Optional[str] = ...) -> None: ...

class ConversationReset(_message.Message):
    __slots__ = ("trigger",)
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    trigger: str
    def __init__(self, trigger: _Optional[str] = ...) -> None: ...

class FilesPersisted(_message.Message):
    __slots__ = ("files", "failed")
    class FailedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    FILES_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    files: _containers.RepeatedScalarFieldContainer[str]
    failed: _containers.ScalarMap[str, str]
    def __init__(self, files: _Optional[_Iterable[str]] = ..., failed: _Optional[_Mapping[str, str]] = ...) -> None: ...

class FilesRewound(_message.Message):
    __slots__ = ("prompt_id", "dry_run", "files", "insertions", "deletions")
    PROMPT_ID_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    INSERTIONS_FIELD_NUMBER: _ClassVar[int]
    DELETIONS_FIELD_NUMBER: _ClassVar[int]
    prompt_id: str
    dry_run: bool
    files: _containers.RepeatedScalarFieldContainer[str]
    insertions: int
    deletions: int
    def __init__(self, prompt_id: _Optional[str] = ..., dry_run: _Optional[bool] = ..., files: _Optional[_Iterable[str]] = ..., insertions: _Optional[int] = ..., deletions: _Optional[int] = ...) -> None: ...

class PromptSuggested(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class ControlAnswered(_message.Message):
    __slots__ = ("id", "subtype", "error", "error_code")
    ID_FIELD_NUMBER: _ClassVar[int]
    SUBTYPE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    id: str
    subtype: str
    error: str
    error_code: str
    def __init__(self, id: _Optional[str] = ..., subtype: _Optional[str] = ..., error: _Optional[str] = ..., error_code: _Optional[str] = ...) -> None: ...

class ControlProgressed(_message.Message):
    __slots__ = ("id", "subtype", "status", "attempt", "max_retries")
    ID_FIELD_NUMBER: _ClassVar[int]
    SUBTYPE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    MAX_RETRIES_FIELD_NUMBER: _ClassVar[int]
    id: str
    subtype: str
    status: str
    attempt: int
    max_retries: int
    def __init__(self, id: _Optional[str] = ..., subtype: _Optional[str] = ..., status: _Optional[str] = ..., attempt: _Optional[int] = ..., max_retries: _Optional[int] = ...) -> None: ...

class NoticeShown(_message.Message):
    __slots__ = ("id", "kind", "text", "level", "parent_id", "tool_ids", "details_json")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_IDS_FIELD_NUMBER: _ClassVar[int]
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    text: str
    level: str
    parent_id: str
    tool_ids: _containers.RepeatedScalarFieldContainer[str]
    details_json: str
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., text: _Optional[str] = ..., level: _Optional[str] = ..., parent_id: _Optional[str] = ..., tool_ids: _Optional[_Iterable[str]] = ..., details_json: _Optional[str] = ...) -> None: ...

class UnknownSeen(_message.Message):
    __slots__ = ("what", "raw", "reason")
    WHAT_FIELD_NUMBER: _ClassVar[int]
    RAW_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    what: str
    raw: Kept
    reason: str
    def __init__(self, what: _Optional[str] = ..., raw: _Optional[_Union[Kept, _Mapping]] = ..., reason: _Optional[str] = ...) -> None: ...

class BadLineSeen(_message.Message):
    __slots__ = ("reason", "head", "size")
    REASON_FIELD_NUMBER: _ClassVar[int]
    HEAD_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    reason: str
    head: str
    size: int
    def __init__(self, reason: _Optional[str] = ..., head: _Optional[str] = ..., size: _Optional[int] = ...) -> None: ...

class StatusChange(_message.Message):
    __slots__ = ("state", "since", "before", "reason", "remedies", "until")
    STATE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REMEDIES_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    state: _resources_pb2.SessionState
    since: _timestamp_pb2.Timestamp
    before: _resources_pb2.SessionState
    reason: str
    remedies: _containers.RepeatedScalarFieldContainer[str]
    until: _timestamp_pb2.Timestamp
    def __init__(self, state: _Optional[_Union[_resources_pb2.SessionState, str]] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., before: _Optional[_Union[_resources_pb2.SessionState, str]] = ..., reason: _Optional[str] = ..., remedies: _Optional[_Iterable[str]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class UsageReport(_message.Message):
    __slots__ = ("turn", "cost_usd", "tokens", "by_model", "session_cost_usd", "beside")
    class ByModelEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    TURN_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    BY_MODEL_FIELD_NUMBER: _ClassVar[int]
    SESSION_COST_USD_FIELD_NUMBER: _ClassVar[int]
    BESIDE_FIELD_NUMBER: _ClassVar[int]
    turn: int
    cost_usd: str
    tokens: _resources_pb2.TokenCounts
    by_model: _containers.ScalarMap[str, str]
    session_cost_usd: str
    beside: _resources_pb2.TokenCounts
    def __init__(self, turn: _Optional[int] = ..., cost_usd: _Optional[str] = ..., tokens: _Optional[_Union[_resources_pb2.TokenCounts, _Mapping]] = ..., by_model: _Optional[_Mapping[str, str]] = ..., session_cost_usd: _Optional[str] = ..., beside: _Optional[_Union[_resources_pb2.TokenCounts, _Mapping]] = ...) -> None: ...

class ApprovalChanged(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: _resources_pb2.Approval
    def __init__(self, approval: _Optional[_Union[_resources_pb2.Approval, _Mapping]] = ...) -> None: ...

class PolicyDecided(_message.Message):
    __slots__ = ("tool_use_id", "tool", "decision", "reason", "rule", "grant_id", "asked_in")
    TOOL_USE_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    ASKED_IN_FIELD_NUMBER: _ClassVar[int]
    tool_use_id: str
    tool: str
    decision: PolicyDecidedDecision
    reason: str
    rule: str
    grant_id: str
    asked_in: PolicyDecidedAskedIn
    def __init__(self, tool_use_id: _Optional[str] = ..., tool: _Optional[str] = ..., decision: _Optional[_Union[PolicyDecidedDecision, str]] = ..., reason: _Optional[str] = ..., rule: _Optional[str] = ..., grant_id: _Optional[str] = ..., asked_in: _Optional[_Union[PolicyDecidedAskedIn, str]] = ...) -> None: ...

class QueueChanged(_message.Message):
    __slots__ = ("prompts",)
    PROMPTS_FIELD_NUMBER: _ClassVar[int]
    prompts: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Prompt]
    def __init__(self, prompts: _Optional[_Iterable[_Union[_resources_pb2.Prompt, _Mapping]]] = ...) -> None: ...

class ProcessChanged(_message.Message):
    __slots__ = ("generation", "state", "pid", "exit_code", "signal", "stderr", "restart_at", "unfinished")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    STDERR_FIELD_NUMBER: _ClassVar[int]
    RESTART_AT_FIELD_NUMBER: _ClassVar[int]
    UNFINISHED_FIELD_NUMBER: _ClassVar[int]
    generation: int
    state: ProcessState
    pid: int
    exit_code: int
    signal: str
    stderr: str
    restart_at: _timestamp_pb2.Timestamp
    unfinished: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, generation: _Optional[int] = ..., state: _Optional[_Union[ProcessState, str]] = ..., pid: _Optional[int] = ..., exit_code: _Optional[int] = ..., signal: _Optional[str] = ..., stderr: _Optional[str] = ..., restart_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., unfinished: _Optional[_Iterable[str]] = ...) -> None: ...

class HangNoticed(_message.Message):
    __slots__ = ("generation", "silent_s", "action")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    SILENT_S_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    generation: int
    silent_s: float
    action: HangNoticedAction
    def __init__(self, generation: _Optional[int] = ..., silent_s: _Optional[float] = ..., action: _Optional[_Union[HangNoticedAction, str]] = ...) -> None: ...

class DriftNoticed(_message.Message):
    __slots__ = ("what", "name", "cli_version")
    WHAT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CLI_VERSION_FIELD_NUMBER: _ClassVar[int]
    what: DriftNoticedWhat
    name: str
    cli_version: str
    def __init__(self, what: _Optional[_Union[DriftNoticedWhat, str]] = ..., name: _Optional[str] = ..., cli_version: _Optional[str] = ...) -> None: ...

class TranscriptNoticed(_message.Message):
    __slots__ = ("what", "transcript_id", "records")
    WHAT_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_ID_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    what: TranscriptNoticedWhat
    transcript_id: str
    records: int
    def __init__(self, what: _Optional[_Union[TranscriptNoticedWhat, str]] = ..., transcript_id: _Optional[str] = ..., records: _Optional[int] = ...) -> None: ...

class BudgetChanged(_message.Message):
    __slots__ = ("state", "budget_usd", "spent_usd", "scope")
    STATE_FIELD_NUMBER: _ClassVar[int]
    BUDGET_USD_FIELD_NUMBER: _ClassVar[int]
    SPENT_USD_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    state: BudgetChangedState
    budget_usd: str
    spent_usd: str
    scope: BudgetChangedScope
    def __init__(self, state: _Optional[_Union[BudgetChangedState, str]] = ..., budget_usd: _Optional[str] = ..., spent_usd: _Optional[str] = ..., scope: _Optional[_Union[BudgetChangedScope, str]] = ...) -> None: ...

class CustomEvent(_message.Message):
    __slots__ = ("name", "data_json", "by", "prompt_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATA_JSON_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    PROMPT_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    data_json: str
    by: str
    prompt_id: str
    def __init__(self, name: _Optional[str] = ..., data_json: _Optional[str] = ..., by: _Optional[str] = ..., prompt_id: _Optional[str] = ...) -> None: ...

class Gap(_message.Message):
    __slots__ = ("reason", "epoch", "first_seq", "seq")
    REASON_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    FIRST_SEQ_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    reason: GapReason
    epoch: str
    first_seq: int
    seq: int
    def __init__(self, reason: _Optional[_Union[GapReason, str]] = ..., epoch: _Optional[str] = ..., first_seq: _Optional[int] = ..., seq: _Optional[int] = ...) -> None: ...

class RawLine(_message.Message):
    __slots__ = ("direction", "line")
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    direction: RawLineDirection
    line: str
    def __init__(self, direction: _Optional[_Union[RawLineDirection, str]] = ..., line: _Optional[str] = ...) -> None: ...

class Hunk(_message.Message):
    __slots__ = ("old_start", "old_lines", "new_start", "new_lines", "lines")
    OLD_START_FIELD_NUMBER: _ClassVar[int]
    OLD_LINES_FIELD_NUMBER: _ClassVar[int]
    NEW_START_FIELD_NUMBER: _ClassVar[int]
    NEW_LINES_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, old_start: _Optional[int] = ..., old_lines: _Optional[int] = ..., new_start: _Optional[int] = ..., new_lines: _Optional[int] = ..., lines: _Optional[_Iterable[str]] = ...) -> None: ...

class FileDiff(_message.Message):
    __slots__ = ("path", "kind", "hunks", "added", "removed", "numbered", "cell", "left_out")
    PATH_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    HUNKS_FIELD_NUMBER: _ClassVar[int]
    ADDED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    NUMBERED_FIELD_NUMBER: _ClassVar[int]
    CELL_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    path: str
    kind: DiffKind
    hunks: _containers.RepeatedCompositeFieldContainer[Hunk]
    added: int
    removed: int
    numbered: bool
    cell: str
    left_out: int
    def __init__(self, path: _Optional[str] = ..., kind: _Optional[_Union[DiffKind, str]] = ..., hunks: _Optional[_Iterable[_Union[Hunk, _Mapping]]] = ..., added: _Optional[int] = ..., removed: _Optional[int] = ..., numbered: _Optional[bool] = ..., cell: _Optional[str] = ..., left_out: _Optional[int] = ...) -> None: ...

class Kept(_message.Message):
    __slots__ = ("text", "tail", "left_out")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TAIL_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    text: str
    tail: str
    left_out: int
    def __init__(self, text: _Optional[str] = ..., tail: _Optional[str] = ..., left_out: _Optional[int] = ...) -> None: ...

class PlanEntry(_message.Message):
    __slots__ = ("id", "text", "status", "doing", "details", "owner", "blocked_by")
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    DOING_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_BY_FIELD_NUMBER: _ClassVar[int]
    id: str
    text: str
    status: PlanStatus
    doing: str
    details: str
    owner: str
    blocked_by: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., text: _Optional[str] = ..., status: _Optional[_Union[PlanStatus, str]] = ..., doing: _Optional[str] = ..., details: _Optional[str] = ..., owner: _Optional[str] = ..., blocked_by: _Optional[_Iterable[str]] = ...) -> None: ...

class PermissionSuggestion(_message.Message):
    __slots__ = ("text", "destination", "update_json", "rules")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    UPDATE_JSON_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    text: str
    destination: str
    update_json: str
    rules: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, text: _Optional[str] = ..., destination: _Optional[str] = ..., update_json: _Optional[str] = ..., rules: _Optional[_Iterable[str]] = ...) -> None: ...

class Permission(_message.Message):
    __slots__ = ("id", "at", "parent_id", "status", "closed_at", "tool_id", "agent_id", "tool_name", "label", "about", "input_json", "description", "diffs", "suggestions", "reason", "reason_kind", "blocked_path", "mcp_server", "default_to_no", "needs_person", "allowed", "note", "interrupted", "input_changed", "rules_added")
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CLOSED_AT_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    ABOUT_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    DIFFS_FIELD_NUMBER: _ClassVar[int]
    SUGGESTIONS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REASON_KIND_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_PATH_FIELD_NUMBER: _ClassVar[int]
    MCP_SERVER_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_TO_NO_FIELD_NUMBER: _ClassVar[int]
    NEEDS_PERSON_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    INTERRUPTED_FIELD_NUMBER: _ClassVar[int]
    INPUT_CHANGED_FIELD_NUMBER: _ClassVar[int]
    RULES_ADDED_FIELD_NUMBER: _ClassVar[int]
    id: str
    at: float
    parent_id: str
    status: RequestStatus
    closed_at: float
    tool_id: str
    agent_id: str
    tool_name: str
    label: str
    about: str
    input_json: str
    description: str
    diffs: _containers.RepeatedCompositeFieldContainer[FileDiff]
    suggestions: _containers.RepeatedCompositeFieldContainer[PermissionSuggestion]
    reason: str
    reason_kind: str
    blocked_path: str
    mcp_server: str
    default_to_no: bool
    needs_person: bool
    allowed: bool
    note: str
    interrupted: bool
    input_changed: bool
    rules_added: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., at: _Optional[float] = ..., parent_id: _Optional[str] = ..., status: _Optional[_Union[RequestStatus, str]] = ..., closed_at: _Optional[float] = ..., tool_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., label: _Optional[str] = ..., about: _Optional[str] = ..., input_json: _Optional[str] = ..., description: _Optional[str] = ..., diffs: _Optional[_Iterable[_Union[FileDiff, _Mapping]]] = ..., suggestions: _Optional[_Iterable[_Union[PermissionSuggestion, _Mapping]]] = ..., reason: _Optional[str] = ..., reason_kind: _Optional[str] = ..., blocked_path: _Optional[str] = ..., mcp_server: _Optional[str] = ..., default_to_no: _Optional[bool] = ..., needs_person: _Optional[bool] = ..., allowed: _Optional[bool] = ..., note: _Optional[str] = ..., interrupted: _Optional[bool] = ..., input_changed: _Optional[bool] = ..., rules_added: _Optional[_Iterable[str]] = ...) -> None: ...

class Choice(_message.Message):
    __slots__ = ("label", "description", "preview")
    LABEL_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    label: str
    description: str
    preview: str
    def __init__(self, label: _Optional[str] = ..., description: _Optional[str] = ..., preview: _Optional[str] = ...) -> None: ...

class Question(_message.Message):
    __slots__ = ("text", "header", "choices", "several")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    CHOICES_FIELD_NUMBER: _ClassVar[int]
    SEVERAL_FIELD_NUMBER: _ClassVar[int]
    text: str
    header: str
    choices: _containers.RepeatedCompositeFieldContainer[Choice]
    several: bool
    def __init__(self, text: _Optional[str] = ..., header: _Optional[str] = ..., choices: _Optional[_Iterable[_Union[Choice, _Mapping]]] = ..., several: _Optional[bool] = ...) -> None: ...

class Questions(_message.Message):
    __slots__ = ("id", "at", "parent_id", "status", "closed_at", "tool_id", "agent_id", "questions", "answers", "declined", "note")
    class AnswersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CLOSED_AT_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    DECLINED_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    id: str
    at: float
    parent_id: str
    status: RequestStatus
    closed_at: float
    tool_id: str
    agent_id: str
    questions: _containers.RepeatedCompositeFieldContainer[Question]
    answers: _containers.ScalarMap[str, str]
    declined: bool
    note: str
    def __init__(self, id: _Optional[str] = ..., at: _Optional[float] = ..., parent_id: _Optional[str] = ..., status: _Optional[_Union[RequestStatus, str]] = ..., closed_at: _Optional[float] = ..., tool_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., questions: _Optional[_Iterable[_Union[Question, _Mapping]]] = ..., answers: _Optional[_Mapping[str, str]] = ..., declined: _Optional[bool] = ..., note: _Optional[str] = ...) -> None: ...

class PlanReview(_message.Message):
    __slots__ = ("id", "at", "parent_id", "status", "closed_at", "tool_id", "agent_id", "plan", "path", "allowed_prompts", "approved", "note", "mode")
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CLOSED_AT_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_PROMPTS_FIELD_NUMBER: _ClassVar[int]
    APPROVED_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    id: str
    at: float
    parent_id: str
    status: RequestStatus
    closed_at: float
    tool_id: str
    agent_id: str
    plan: str
    path: str
    allowed_prompts: _containers.RepeatedScalarFieldContainer[str]
    approved: bool
    note: str
    mode: str
    def __init__(self, id: _Optional[str] = ..., at: _Optional[float] = ..., parent_id: _Optional[str] = ..., status: _Optional[_Union[RequestStatus, str]] = ..., closed_at: _Optional[float] = ..., tool_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., plan: _Optional[str] = ..., path: _Optional[str] = ..., allowed_prompts: _Optional[_Iterable[str]] = ..., approved: _Optional[bool] = ..., note: _Optional[str] = ..., mode: _Optional[str] = ...) -> None: ...

class Elicitation(_message.Message):
    __slots__ = ("id", "at", "parent_id", "status", "closed_at", "tool_id", "agent_id", "server", "message", "url", "form_json", "elicitation_id", "action", "completed")
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CLOSED_AT_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    FORM_JSON_FIELD_NUMBER: _ClassVar[int]
    ELICITATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_FIELD_NUMBER: _ClassVar[int]
    id: str
    at: float
    parent_id: str
    status: RequestStatus
    closed_at: float
    tool_id: str
    agent_id: str
    server: str
    message: str
    url: str
    form_json: str
    elicitation_id: str
    action: str
    completed: bool
    def __init__(self, id: _Optional[str] = ..., at: _Optional[float] = ..., parent_id: _Optional[str] = ..., status: _Optional[_Union[RequestStatus, str]] = ..., closed_at: _Optional[float] = ..., tool_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., server: _Optional[str] = ..., message: _Optional[str] = ..., url: _Optional[str] = ..., form_json: _Optional[str] = ..., elicitation_id: _Optional[str] = ..., action: _Optional[str] = ..., completed: _Optional[bool] = ...) -> None: ...

class Dialog(_message.Message):
    __slots__ = ("id", "at", "parent_id", "status", "closed_at", "tool_id", "agent_id", "kind", "payload_json", "behavior")
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CLOSED_AT_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_JSON_FIELD_NUMBER: _ClassVar[int]
    BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    id: str
    at: float
    parent_id: str
    status: RequestStatus
    closed_at: float
    tool_id: str
    agent_id: str
    kind: str
    payload_json: str
    behavior: str
    def __init__(self, id: _Optional[str] = ..., at: _Optional[float] = ..., parent_id: _Optional[str] = ..., status: _Optional[_Union[RequestStatus, str]] = ..., closed_at: _Optional[float] = ..., tool_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., kind: _Optional[str] = ..., payload_json: _Optional[str] = ..., behavior: _Optional[str] = ...) -> None: ...

class Tokens(_message.Message):
    __slots__ = ("input", "output", "cache_read", "cache_write", "thinking", "web_searches")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    CACHE_READ_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_FIELD_NUMBER: _ClassVar[int]
    THINKING_FIELD_NUMBER: _ClassVar[int]
    WEB_SEARCHES_FIELD_NUMBER: _ClassVar[int]
    input: int
    output: int
    cache_read: int
    cache_write: int
    thinking: int
    web_searches: int
    def __init__(self, input: _Optional[int] = ..., output: _Optional[int] = ..., cache_read: _Optional[int] = ..., cache_write: _Optional[int] = ..., thinking: _Optional[int] = ..., web_searches: _Optional[int] = ...) -> None: ...

class ModelCost(_message.Message):
    __slots__ = ("tokens", "cost_usd")
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    tokens: Tokens
    cost_usd: float
    def __init__(self, tokens: _Optional[_Union[Tokens, _Mapping]] = ..., cost_usd: _Optional[float] = ...) -> None: ...

class TurnSummary(_message.Message):
    __slots__ = ("id", "at", "parent_id", "number", "outcome", "subtype", "error", "result", "structured_output_json", "started_at", "duration_s", "api_s", "steps", "tokens", "cost_usd", "by_model", "total_usd", "stop_reason", "terminal_reason", "denied", "source", "command")
    class ByModelEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: ModelCost
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[ModelCost, _Mapping]] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    SUBTYPE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    DURATION_S_FIELD_NUMBER: _ClassVar[int]
    API_S_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    BY_MODEL_FIELD_NUMBER: _ClassVar[int]
    TOTAL_USD_FIELD_NUMBER: _ClassVar[int]
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    TERMINAL_REASON_FIELD_NUMBER: _ClassVar[int]
    DENIED_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    id: str
    at: float
    parent_id: str
    number: int
    outcome: TurnOutcome
    subtype: str
    error: str
    result: Kept
    structured_output_json: str
    started_at: float
    duration_s: float
    api_s: float
    steps: int
    tokens: Tokens
    cost_usd: float
    by_model: _containers.MessageMap[str, ModelCost]
    total_usd: float
    stop_reason: str
    terminal_reason: str
    denied: _containers.RepeatedScalarFieldContainer[str]
    source: str
    command: str
    def __init__(self, id: _Optional[str] = ..., at: _Optional[float] = ..., parent_id: _Optional[str] = ..., number: _Optional[int] = ..., outcome: _Optional[_Union[TurnOutcome, str]] = ..., subtype: _Optional[str] = ..., error: _Optional[str] = ..., result: _Optional[_Union[Kept, _Mapping]] = ..., structured_output_json: _Optional[str] = ..., started_at: _Optional[float] = ..., duration_s: _Optional[float] = ..., api_s: _Optional[float] = ..., steps: _Optional[int] = ..., tokens: _Optional[_Union[Tokens, _Mapping]] = ..., cost_usd: _Optional[float] = ..., by_model: _Optional[_Mapping[str, ModelCost]] = ..., total_usd: _Optional[float] = ..., stop_reason: _Optional[str] = ..., terminal_reason: _Optional[str] = ..., denied: _Optional[_Iterable[str]] = ..., source: _Optional[str] = ..., command: _Optional[str] = ...) -> None: ...

class Context(_message.Message):
    __slots__ = ("tokens", "window", "model")
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    tokens: int
    window: int
    model: str
    def __init__(self, tokens: _Optional[int] = ..., window: _Optional[int] = ..., model: _Optional[str] = ...) -> None: ...

class McpServer(_message.Message):
    __slots__ = ("name", "status", "error", "tools")
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    name: str
    status: str
    error: str
    tools: int
    def __init__(self, name: _Optional[str] = ..., status: _Optional[str] = ..., error: _Optional[str] = ..., tools: _Optional[int] = ...) -> None: ...

class RateLimitState(_message.Message):
    __slots__ = ("status", "kind", "used", "resets_at", "overage_status", "windows")
    class WindowsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    STATUS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    RESETS_AT_FIELD_NUMBER: _ClassVar[int]
    OVERAGE_STATUS_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    status: str
    kind: str
    used: float
    resets_at: float
    overage_status: str
    windows: _containers.ScalarMap[str, float]
    def __init__(self, status: _Optional[str] = ..., kind: _Optional[str] = ..., used: _Optional[float] = ..., resets_at: _Optional[float] = ..., overage_status: _Optional[str] = ..., windows: _Optional[_Mapping[str, float]] = ...) -> None: ...

class Frame(_message.Message):
    __slots__ = ("session", "seq", "at", "events")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    session: str
    seq: int
    at: float
    events: _containers.RepeatedCompositeFieldContainer[Event]
    def __init__(self, session: _Optional[str] = ..., seq: _Optional[int] = ..., at: _Optional[float] = ..., events: _Optional[_Iterable[_Union[Event, _Mapping]]] = ...) -> None: ...
