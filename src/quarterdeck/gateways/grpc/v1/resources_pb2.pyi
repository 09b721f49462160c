import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LifecycleLimited(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LIFECYCLE_LIMITED_UNSPECIFIED: _ClassVar[LifecycleLimited]
    LIFECYCLE_LIMITED_WAIT: _ClassVar[LifecycleLimited]
    LIFECYCLE_LIMITED_CONTINUE: _ClassVar[LifecycleLimited]
    LIFECYCLE_LIMITED_REFUSE: _ClassVar[LifecycleLimited]

class HookCallbackOnFailure(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOOK_CALLBACK_ON_FAILURE_UNSPECIFIED: _ClassVar[HookCallbackOnFailure]
    HOOK_CALLBACK_ON_FAILURE_BLOCK: _ClassVar[HookCallbackOnFailure]
    HOOK_CALLBACK_ON_FAILURE_CONTINUE: _ClassVar[HookCallbackOnFailure]

class SessionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_STATE_UNSPECIFIED: _ClassVar[SessionState]
    SESSION_STATE_CRASHED: _ClassVar[SessionState]
    SESSION_STATE_STOPPED: _ClassVar[SessionState]
    SESSION_STATE_PARKED: _ClassVar[SessionState]
    SESSION_STATE_STARTING: _ClassVar[SessionState]
    SESSION_STATE_AUTHENTICATING: _ClassVar[SessionState]
    SESSION_STATE_LIMITED: _ClassVar[SessionState]
    SESSION_STATE_WAITING: _ClassVar[SessionState]
    SESSION_STATE_COMPACTING: _ClassVar[SessionState]
    SESSION_STATE_RUNNING: _ClassVar[SessionState]
    SESSION_STATE_IDLE: _ClassVar[SessionState]

class HitKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HIT_KIND_UNSPECIFIED: _ClassVar[HitKind]
    HIT_KIND_SESSION: _ClassVar[HitKind]
    HIT_KIND_PROMPT: _ClassVar[HitKind]
    HIT_KIND_TEXT: _ClassVar[HitKind]
    HIT_KIND_TOOL: _ClassVar[HitKind]
    HIT_KIND_EVENT: _ClassVar[HitKind]

class PromptState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROMPT_STATE_UNSPECIFIED: _ClassVar[PromptState]
    PROMPT_STATE_QUEUED: _ClassVar[PromptState]
    PROMPT_STATE_SENT: _ClassVar[PromptState]
    PROMPT_STATE_UNCERTAIN: _ClassVar[PromptState]

class Priority(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PRIORITY_UNSPECIFIED: _ClassVar[Priority]
    PRIORITY_NOW: _ClassVar[Priority]
    PRIORITY_NEXT: _ClassVar[Priority]
    PRIORITY_LATER: _ClassVar[Priority]

class DeciderKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECIDER_KIND_UNSPECIFIED: _ClassVar[DeciderKind]
    DECIDER_KIND_USER: _ClassVar[DeciderKind]
    DECIDER_KIND_TOKEN: _ClassVar[DeciderKind]
    DECIDER_KIND_RULE: _ClassVar[DeciderKind]
    DECIDER_KIND_DEADLINE: _ClassVar[DeciderKind]

class ApprovalKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    APPROVAL_KIND_UNSPECIFIED: _ClassVar[ApprovalKind]
    APPROVAL_KIND_PERMISSION: _ClassVar[ApprovalKind]
    APPROVAL_KIND_QUESTIONS: _ClassVar[ApprovalKind]
    APPROVAL_KIND_PLAN_REVIEW: _ClassVar[ApprovalKind]
    APPROVAL_KIND_ELICITATION: _ClassVar[ApprovalKind]
    APPROVAL_KIND_DIALOG: _ClassVar[ApprovalKind]

class ApprovalState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    APPROVAL_STATE_UNSPECIFIED: _ClassVar[ApprovalState]
    APPROVAL_STATE_PENDING: _ClassVar[ApprovalState]
    APPROVAL_STATE_DECIDED: _ClassVar[ApprovalState]
    APPROVAL_STATE_DELIVERED: _ClassVar[ApprovalState]
    APPROVAL_STATE_APPLIED: _ClassVar[ApprovalState]
    APPROVAL_STATE_UNDELIVERABLE: _ClassVar[ApprovalState]
    APPROVAL_STATE_WITHDRAWN: _ClassVar[ApprovalState]
    APPROVAL_STATE_STRANDED: _ClassVar[ApprovalState]

class GrantScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GRANT_SCOPE_UNSPECIFIED: _ClassVar[GrantScope]
    GRANT_SCOPE_SESSION: _ClassVar[GrantScope]
    GRANT_SCOPE_PROJECT: _ClassVar[GrantScope]
    GRANT_SCOPE_USER: _ClassVar[GrantScope]

class DecisionDecision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECISION_DECISION_UNSPECIFIED: _ClassVar[DecisionDecision]
    DECISION_DECISION_ALLOW: _ClassVar[DecisionDecision]
    DECISION_DECISION_DENY: _ClassVar[DecisionDecision]

class DecisionPlan(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECISION_PLAN_UNSPECIFIED: _ClassVar[DecisionPlan]
    DECISION_PLAN_APPROVE: _ClassVar[DecisionPlan]
    DECISION_PLAN_REVISE: _ClassVar[DecisionPlan]
    DECISION_PLAN_REJECT: _ClassVar[DecisionPlan]

class Scope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCOPE_UNSPECIFIED: _ClassVar[Scope]
    SCOPE_READ: _ClassVar[Scope]
    SCOPE_APPROVE: _ClassVar[Scope]
    SCOPE_OPERATE: _ClassVar[Scope]
    SCOPE_ADMIN: _ClassVar[Scope]

class CallKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CALL_KIND_UNSPECIFIED: _ClassVar[CallKind]
    CALL_KIND_HOOK: _ClassVar[CallKind]
    CALL_KIND_TOOL: _ClassVar[CallKind]
    CALL_KIND_PERMISSION: _ClassVar[CallKind]
    CALL_KIND_CANCELLED: _ClassVar[CallKind]

class View(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VIEW_UNSPECIFIED: _ClassVar[View]
    VIEW_TIMELINE: _ClassVar[View]
    VIEW_RAW: _ClassVar[View]

class WaitFor(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WAIT_FOR_UNSPECIFIED: _ClassVar[WaitFor]
    WAIT_FOR_IDLE: _ClassVar[WaitFor]
    WAIT_FOR_WAITING: _ClassVar[WaitFor]
    WAIT_FOR_STOPPED: _ClassVar[WaitFor]

class ExportFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EXPORT_FORMAT_UNSPECIFIED: _ClassVar[ExportFormat]
    EXPORT_FORMAT_NDJSON: _ClassVar[ExportFormat]
    EXPORT_FORMAT_MD: _ClassVar[ExportFormat]
    EXPORT_FORMAT_HTML: _ClassVar[ExportFormat]

class HostChangeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOST_CHANGE_KIND_UNSPECIFIED: _ClassVar[HostChangeKind]
    HOST_CHANGE_KIND_HELLO: _ClassVar[HostChangeKind]
    HOST_CHANGE_KIND_GAP: _ClassVar[HostChangeKind]
    HOST_CHANGE_KIND_SESSION: _ClassVar[HostChangeKind]
    HOST_CHANGE_KIND_APPROVAL: _ClassVar[HostChangeKind]

class TryRuleBehavior(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRY_RULE_BEHAVIOR_UNSPECIFIED: _ClassVar[TryRuleBehavior]
    TRY_RULE_BEHAVIOR_ALLOW: _ClassVar[TryRuleBehavior]
    TRY_RULE_BEHAVIOR_ASK: _ClassVar[TryRuleBehavior]
    TRY_RULE_BEHAVIOR_DENY: _ClassVar[TryRuleBehavior]

class GetUsageBy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GET_USAGE_BY_UNSPECIFIED: _ClassVar[GetUsageBy]
    GET_USAGE_BY_DAY: _ClassVar[GetUsageBy]
    GET_USAGE_BY_MODEL: _ClassVar[GetUsageBy]
    GET_USAGE_BY_SESSION: _ClassVar[GetUsageBy]
    GET_USAGE_BY_CWD: _ClassVar[GetUsageBy]
LIFECYCLE_LIMITED_UNSPECIFIED: LifecycleLimited
LIFECYCLE_LIMITED_WAIT: LifecycleLimited
LIFECYCLE_LIMITED_CONTINUE: LifecycleLimited
LIFECYCLE_LIMITED_REFUSE: LifecycleLimited
HOOK_CALLBACK_ON_FAILURE_UNSPECIFIED: HookCallbackOnFailure
HOOK_CALLBACK_ON_FAILURE_BLOCK: HookCallbackOnFailure
HOOK_CALLBACK_ON_FAILURE_CONTINUE: HookCallbackOnFailure
SESSION_STATE_UNSPECIFIED: SessionState
SESSION_STATE_CRASHED: SessionState
SESSION_STATE_STOPPED: SessionState
SESSION_STATE_PARKED: SessionState
SESSION_STATE_STARTING: SessionState
SESSION_STATE_AUTHENTICATING: SessionState
SESSION_STATE_LIMITED: SessionState
SESSION_STATE_WAITING: SessionState
SESSION_STATE_COMPACTING: SessionState
SESSION_STATE_RUNNING: SessionState
SESSION_STATE_IDLE: SessionState
HIT_KIND_UNSPECIFIED: HitKind
HIT_KIND_SESSION: HitKind
HIT_KIND_PROMPT: HitKind
HIT_KIND_TEXT: HitKind
HIT_KIND_TOOL: HitKind
HIT_KIND_EVENT: HitKind
PROMPT_STATE_UNSPECIFIED: PromptState
PROMPT_STATE_QUEUED: PromptState
PROMPT_STATE_SENT: PromptState
PROMPT_STATE_UNCERTAIN: PromptState
PRIORITY_UNSPECIFIED: Priority
PRIORITY_NOW: Priority
PRIORITY_NEXT: Priority
PRIORITY_LATER: Priority
DECIDER_KIND_UNSPECIFIED: DeciderKind
DECIDER_KIND_USER: DeciderKind
DECIDER_KIND_TOKEN: DeciderKind
DECIDER_KIND_RULE: DeciderKind
DECIDER_KIND_DEADLINE: DeciderKind
APPROVAL_KIND_UNSPECIFIED: ApprovalKind
APPROVAL_KIND_PERMISSION: ApprovalKind
APPROVAL_KIND_QUESTIONS: ApprovalKind
APPROVAL_KIND_PLAN_REVIEW: ApprovalKind
APPROVAL_KIND_ELICITATION: ApprovalKind
APPROVAL_KIND_DIALOG: ApprovalKind
APPROVAL_STATE_UNSPECIFIED: ApprovalState
APPROVAL_STATE_PENDING: ApprovalState
APPROVAL_STATE_DECIDED: ApprovalState
APPROVAL_STATE_DELIVERED: ApprovalState
APPROVAL_STATE_APPLIED: ApprovalState
APPROVAL_STATE_UNDELIVERABLE: ApprovalState
APPROVAL_STATE_WITHDRAWN: ApprovalState
APPROVAL_STATE_STRANDED: ApprovalState
GRANT_SCOPE_UNSPECIFIED: GrantScope
GRANT_SCOPE_SESSION: GrantScope
GRANT_SCOPE_PROJECT: GrantScope
GRANT_SCOPE_USER: GrantScope
DECISION_DECISION_UNSPECIFIED: DecisionDecision
DECISION_DECISION_ALLOW: DecisionDecision
DECISION_DECISION_DENY: DecisionDecision
DECISION_PLAN_UNSPECIFIED: DecisionPlan
DECISION_PLAN_APPROVE: DecisionPlan
DECISION_PLAN_REVISE: DecisionPlan
DECISION_PLAN_REJECT: DecisionPlan
SCOPE_UNSPECIFIED: Scope
SCOPE_READ: Scope
SCOPE_APPROVE: Scope
SCOPE_OPERATE: Scope
SCOPE_ADMIN: Scope
CALL_KIND_UNSPECIFIED: CallKind
CALL_KIND_HOOK: CallKind
CALL_KIND_TOOL: CallKind
CALL_KIND_PERMISSION: CallKind
CALL_KIND_CANCELLED: CallKind
VIEW_UNSPECIFIED: View
VIEW_TIMELINE: View
VIEW_RAW: View
WAIT_FOR_UNSPECIFIED: WaitFor
WAIT_FOR_IDLE: WaitFor
WAIT_FOR_WAITING: WaitFor
WAIT_FOR_STOPPED: WaitFor
EXPORT_FORMAT_UNSPECIFIED: ExportFormat
EXPORT_FORMAT_NDJSON: ExportFormat
EXPORT_FORMAT_MD: ExportFormat
EXPORT_FORMAT_HTML: ExportFormat
HOST_CHANGE_KIND_UNSPECIFIED: HostChangeKind
HOST_CHANGE_KIND_HELLO: HostChangeKind
HOST_CHANGE_KIND_GAP: HostChangeKind
HOST_CHANGE_KIND_SESSION: HostChangeKind
HOST_CHANGE_KIND_APPROVAL: HostChangeKind
TRY_RULE_BEHAVIOR_UNSPECIFIED: TryRuleBehavior
TRY_RULE_BEHAVIOR_ALLOW: TryRuleBehavior
TRY_RULE_BEHAVIOR_ASK: TryRuleBehavior
TRY_RULE_BEHAVIOR_DENY: TryRuleBehavior
GET_USAGE_BY_UNSPECIFIED: GetUsageBy
GET_USAGE_BY_DAY: GetUsageBy
GET_USAGE_BY_MODEL: GetUsageBy
GET_USAGE_BY_SESSION: GetUsageBy
GET_USAGE_BY_CWD: GetUsageBy

class Content(_message.Message):
    __slots__ = ("text", "blocks_json")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_JSON_FIELD_NUMBER: _ClassVar[int]
    text: str
    blocks_json: str
    def __init__(self, text: _Optional[str] = ..., blocks_json: _Optional[str] = ...) -> None: ...

class Lifecycle(_message.Message):
    __slots__ = ("restarts", "tell_model", "hang_s", "park_s", "limited", "clear")
    RESTARTS_FIELD_NUMBER: _ClassVar[int]
    TELL_MODEL_FIELD_NUMBER: _ClassVar[int]
    HANG_S_FIELD_NUMBER: _ClassVar[int]
    PARK_S_FIELD_NUMBER: _ClassVar[int]
    LIMITED_FIELD_NUMBER: _ClassVar[int]
    CLEAR_FIELD_NUMBER: _ClassVar[int]
    restarts: int
    tell_model: bool
    hang_s: float
    park_s: float
    limited: LifecycleLimited
    clear: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, restarts: _Optional[int] = ..., tell_model: _Optional[bool] = ..., hang_s: _Optional[float] = ..., park_s: _Optional[float] = ..., limited: _Optional[_Union[LifecycleLimited, str]] = ..., clear: _Optional[_Iterable[str]] = ...) -> None: ...

class HookCallback(_message.Message):
    __slots__ = ("event", "matcher", "timeout_s", "on_failure")
    EVENT_FIELD_NUMBER: _ClassVar[int]
    MATCHER_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_S_FIELD_NUMBER: _ClassVar[int]
    ON_FAILURE_FIELD_NUMBER: _ClassVar[int]
    event: str
    matcher: str
    timeout_s: float
    on_failure: HookCallbackOnFailure
    def __init__(self, event: _Optional[str] = ..., matcher: _Optional[str] = ..., timeout_s: _Optional[float] = ..., on_failure: _Optional[_Union[HookCallbackOnFailure, str]] = ...) -> None: ...

class ToolCallback(_message.Message):
    __slots__ = ("server", "name", "description", "title", "input_schema_json", "output_schema_json", "annotations_json", "meta_json")
    SERVER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_JSON_FIELD_NUMBER: _ClassVar[int]
    META_JSON_FIELD_NUMBER: _ClassVar[int]
    server: str
    name: str
    description: str
    title: str
    input_schema_json: str
    output_schema_json: str
    annotations_json: str
    meta_json: str
    def __init__(self, server: _Optional[str] = ..., name: _Optional[str] = ..., description: _Optional[str] = ..., title: _Optional[str] = ..., input_schema_json: _Optional[str] = ..., output_schema_json: _Optional[str] = ..., annotations_json: _Optional[str] = ..., meta_json: _Optional[str] = ...) -> None: ...

class Callbacks(_message.Message):
    __slots__ = ("hooks", "tools", "instructions", "permission", "deadline_s", "detached_s")
    class InstructionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    HOOKS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_S_FIELD_NUMBER: _ClassVar[int]
    DETACHED_S_FIELD_NUMBER: _ClassVar[int]
    hooks: _containers.RepeatedCompositeFieldContainer[HookCallback]
    tools: _containers.RepeatedCompositeFieldContainer[ToolCallback]
    instructions: _containers.ScalarMap[str, str]
    permission: bool
    deadline_s: float
    detached_s: float
    def __init__(self, hooks: _Optional[_Iterable[_Union[HookCallback, _Mapping]]] = ..., tools: _Optional[_Iterable[_Union[ToolCallback, _Mapping]]] = ..., instructions: _Optional[_Mapping[str, str]] = ..., permission: _Optional[bool] = ..., deadline_s: _Optional[float] = ..., detached_s: _Optional[float] = ...) -> None: ...

class HostTools(_message.Message):
    __slots__ = ("sessions", "depth", "children_outlive")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_OUTLIVE_FIELD_NUMBER: _ClassVar[int]
    sessions: int
    depth: int
    children_outlive: bool
    def __init__(self, sessions: _Optional[int] = ..., depth: _Optional[int] = ..., children_outlive: _Optional[bool] = ...) -> None: ...

class TokenCounts(_message.Message):
    __slots__ = ("input", "output", "cache_read", "cache_write")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    CACHE_READ_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_FIELD_NUMBER: _ClassVar[int]
    input: int
    output: int
    cache_read: int
    cache_write: int
    def __init__(self, input: _Optional[int] = ..., output: _Optional[int] = ..., cache_read: _Optional[int] = ..., cache_write: _Optional[int] = ...) -> None: ...

class Session(_message.Message):
    __slots__ = ("id", "state", "state_since", "cwd", "created_at", "last_activity_at", "seq", "epoch", "agent", "name", "tags", "state_reason", "state_until", "model", "permission_mode", "cli_version", "transcript_id", "parent_id", "pending_approvals", "cost_usd", "tokens", "budget_usd", "current", "worktree", "account", "host", "archived")
    ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATE_SINCE_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_ACTIVITY_AT_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    STATE_REASON_FIELD_NUMBER: _ClassVar[int]
    STATE_UNTIL_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_MODE_FIELD_NUMBER: _ClassVar[int]
    CLI_VERSION_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    PENDING_APPROVALS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_USD_FIELD_NUMBER: _ClassVar[int]
    CURRENT_FIELD_NUMBER: _ClassVar[int]
    WORKTREE_FIELD_NUMBER: _ClassVar[int]
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    ARCHIVED_FIELD_NUMBER: _ClassVar[int]
    id: str
    state: SessionState
    state_since: _timestamp_pb2.Timestamp
    cwd: str
    created_at: _timestamp_pb2.Timestamp
    last_activity_at: _timestamp_pb2.Timestamp
    seq: int
    epoch: str
    agent: str
    name: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    state_reason: str
    state_until: _timestamp_pb2.Timestamp
    model: str
    permission_mode: str
    cli_version: str
    transcript_id: str
    parent_id: str
    pending_approvals: int
    cost_usd: str
    tokens: TokenCounts
    budget_usd: str
    current: str
    worktree: str
    account: str
    host: str
    archived: bool
    def __init__(self, id: _Optional[str] = ..., state: _Optional[_Union[SessionState, str]] = ..., state_since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., cwd: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_activity_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., seq: _Optional[int] = ..., epoch: _Optional[str] = ..., agent: _Optional[str] = ..., name: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., state_reason: _Optional[str] = ..., state_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., model: _Optional[str] = ..., permission_mode: _Optional[str] = ..., cli_version: _Optional[str] = ..., transcript_id: _Optional[str] = ..., parent_id: _Optional[str] = ..., pending_approvals: _Optional[int] = ..., cost_usd: _Optional[str] = ..., tokens: _Optional[_Union[TokenCounts, _Mapping]] = ..., budget_usd: _Optional[str] = ..., current: _Optional[str] = ..., worktree: _Optional[str] = ..., account: _Optional[str] = ..., host: _Optional[str] = ..., archived: _Optional[bool] = ...) -> None: ...

class Hit(_message.Message):
    __slots__ = ("session_id", "name", "cwd", "seq", "kind", "excerpt")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    EXCERPT_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    name: str
    cwd: str
    seq: int
    kind: HitKind
    excerpt: str
    def __init__(self, session_id: _Optional[str] = ..., name: _Optional[str] = ..., cwd: _Optional[str] = ..., seq: _Optional[int] = ..., kind: _Optional[_Union[HitKind, str]] = ..., excerpt: _Optional[str] = ...) -> None: ...

class Prompt(_message.Message):
    __slots__ = ("id", "content", "state", "priority", "not_before", "by")
    ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    NOT_BEFORE_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    id: str
    content: Content
    state: PromptState
    priority: Priority
    not_before: _timestamp_pb2.Timestamp
    by: str
    def __init__(self, id: _Optional[str] = ..., content: _Optional[_Union[Content, _Mapping]] = ..., state: _Optional[_Union[PromptState, str]] = ..., priority: _Optional[_Union[Priority, str]] = ..., not_before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., by: _Optional[str] = ...) -> None: ...

class Decider(_message.Message):
    __slots__ = ("kind", "name")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    kind: DeciderKind
    name: str
    def __init__(self, kind: _Optional[_Union[DeciderKind, str]] = ..., name: _Optional[str] = ...) -> None: ...

class Approval(_message.Message):
    __slots__ = ("id", "request_id", "session_id", "kind", "state", "asked_at", "replaces", "tool", "input_json", "summary", "diffs_json", "risk", "reason", "reason_kind", "blocked_path", "agent_id", "tool_id", "suggestions_json", "questions_json", "plan", "decided_at", "decided_by", "via", "decision_json", "delivered_at", "applied_at", "waited_s")
    ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ASKED_AT_FIELD_NUMBER: _ClassVar[int]
    REPLACES_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    DIFFS_JSON_FIELD_NUMBER: _ClassVar[int]
    RISK_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REASON_KIND_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_PATH_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    SUGGESTIONS_JSON_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_JSON_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    DECIDED_AT_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    VIA_FIELD_NUMBER: _ClassVar[int]
    DECISION_JSON_FIELD_NUMBER: _ClassVar[int]
    DELIVERED_AT_FIELD_NUMBER: _ClassVar[int]
    APPLIED_AT_FIELD_NUMBER: _ClassVar[int]
    WAITED_S_FIELD_NUMBER: _ClassVar[int]
    id: str
    request_id: str
    session_id: str
    kind: ApprovalKind
    state: ApprovalState
    asked_at: _timestamp_pb2.Timestamp
    replaces: str
    tool: str
    input_json: str
    summary: str
    diffs_json: str
    risk: str
    reason: str
    reason_kind: str
    blocked_path: str
    agent_id: str
    tool_id: str
    suggestions_json: str
    questions_json: str
    plan: str
    decided_at: _timestamp_pb2.Timestamp
    decided_by: Decider
    via: str
    decision_json: str
    delivered_at: _timestamp_pb2.Timestamp
    applied_at: _timestamp_pb2.Timestamp
    waited_s: float
    def __init__(self, id: _Optional[str] = ..., request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., kind: _Optional[_Union[ApprovalKind, str]] = ..., state: _Optional[_Union[ApprovalState, str]] = ..., asked_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., replaces: _Optional[str] = ..., tool: _Optional[str] = ..., input_json: _Optional[str] = ..., summary: _Optional[str] = ..., diffs_json: _Optional[str] = ..., risk: _Optional[str] = ..., reason: _Optional[str] = ..., reason_kind: _Optional[str] = ..., blocked_path: _Optional[str] = ..., agent_id: _Optional[str] = ..., tool_id: _Optional[str] = ..., suggestions_json: _Optional[str] = ..., questions_json: _Optional[str] = ..., plan: _Optional[str] = ..., decided_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., decided_by: _Optional[_Union[Decider, _Mapping]] = ..., via: _Optional[str] = ..., decision_json: _Optional[str] = ..., delivered_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., applied_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., waited_s: _Optional[float] = ...) -> None: ...

class Remember(_message.Message):
    __slots__ = ("rule", "scope", "lasts_s")
    RULE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    LASTS_S_FIELD_NUMBER: _ClassVar[int]
    rule: str
    scope: GrantScope
    lasts_s: float
    def __init__(self, rule: _Optional[str] = ..., scope: _Optional[_Union[GrantScope, str]] = ..., lasts_s: _Optional[float] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("decision", "updated_input_json", "remember", "message", "interrupt", "answers_json", "plan", "mode")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    UPDATED_INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    REMEMBER_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    INTERRUPT_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_JSON_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    decision: DecisionDecision
    updated_input_json: str
    remember: Remember
    message: str
    interrupt: bool
    answers_json: str
    plan: DecisionPlan
    mode: str
    def __init__(self, decision: _Optional[_Union[DecisionDecision, str]] = ..., updated_input_json: _Optional[str] = ..., remember: _Optional[_Union[Remember, _Mapping]] = ..., message: _Optional[str] = ..., interrupt: _Optional[bool] = ..., answers_json: _Optional[str] = ..., plan: _Optional[_Union[DecisionPlan, str]] = ..., mode: _Optional[str] = ...) -> None: ...

class ApprovalFilter(_message.Message):
    __slots__ = ("session", "kind", "tool", "cwd")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    session: str
    kind: ApprovalKind
    tool: str
    cwd: str
    def __init__(self, session: _Optional[str] = ..., kind: _Optional[_Union[ApprovalKind, str]] = ..., tool: _Optional[str] = ..., cwd: _Optional[str] = ...) -> None: ...

class Grant(_message.Message):
    __slots__ = ("id", "rule", "scope", "created_at", "by", "session_id", "cwd", "expires_at", "revoked_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    REVOKED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    rule: str
    scope: GrantScope
    created_at: _timestamp_pb2.Timestamp
    by: str
    session_id: str
    cwd: str
    expires_at: _timestamp_pb2.Timestamp
    revoked_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., rule: _Optional[str] = ..., scope: _Optional[_Union[GrantScope, str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., by: _Optional[str] = ..., session_id: _Optional[str] = ..., cwd: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., revoked_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class UsageRow(_message.Message):
    __slots__ = ("cost_usd", "tokens", "by")
    class ByEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    cost_usd: str
    tokens: TokenCounts
    by: _containers.ScalarMap[str, str]
    def __init__(self, cost_usd: _Optional[str] = ..., tokens: _Optional[_Union[TokenCounts, _Mapping]] = ..., by: _Optional[_Mapping[str, str]] = ...) -> None: ...

class AuditEntry(_message.Message):
    __slots__ = ("id", "at", "who", "via", "operation", "session_id", "details_json")
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    WHO_FIELD_NUMBER: _ClassVar[int]
    VIA_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    id: int
    at: _timestamp_pb2.Timestamp
    who: str
    via: str
    operation: str
    session_id: str
    details_json: str
    def __init__(self, id: _Optional[int] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., who: _Optional[str] = ..., via: _Optional[str] = ..., operation: _Optional[str] = ..., session_id: _Optional[str] = ..., details_json: _Optional[str] = ...) -> None: ...

class Token(_message.Message):
    __slots__ = ("id", "name", "scope", "created_at", "may_bypass", "expires_at", "last_used_at", "revoked_at", "folders", "secret")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    MAY_BYPASS_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_USED_AT_FIELD_NUMBER: _ClassVar[int]
    REVOKED_AT_FIELD_NUMBER: _ClassVar[int]
    FOLDERS_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    scope: Scope
    created_at: _timestamp_pb2.Timestamp
    may_bypass: bool
    expires_at: _timestamp_pb2.Timestamp
    last_used_at: _timestamp_pb2.Timestamp
    revoked_at: _timestamp_pb2.Timestamp
    folders: _containers.RepeatedScalarFieldContainer[str]
    secret: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., scope: _Optional[_Union[Scope, str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., may_bypass: _Optional[bool] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_used_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., revoked_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., folders: _Optional[_Iterable[str]] = ..., secret: _Optional[str] = ...) -> None: ...
