import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from quarterdeck.gateways.grpc.v1 import approval_service_pb2 as _approval_service_pb2
from quarterdeck.gateways.grpc.v1 import events_pb2 as _events_pb2
from quarterdeck.gateways.grpc.v1 import resources_pb2 as _resources_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateSessionRequest(_message.Message):
    __slots__ = ("cwd", "prompt", "name", "tags", "agent", "model", "permission_mode", "options_json", "policy_json", "budget_usd", "worktree", "resume", "fork", "account", "cli_version", "lifecycle", "callbacks", "host_tools", "preset")
    CWD_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_MODE_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_JSON_FIELD_NUMBER: _ClassVar[int]
    POLICY_JSON_FIELD_NUMBER: _ClassVar[int]
    BUDGET_USD_FIELD_NUMBER: _ClassVar[int]
    WORKTREE_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    FORK_FIELD_NUMBER: _ClassVar[int]
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    CLI_VERSION_FIELD_NUMBER: _ClassVar[int]
    LIFECYCLE_FIELD_NUMBER: _ClassVar[int]
    CALLBACKS_FIELD_NUMBER: _ClassVar[int]
    HOST_TOOLS_FIELD_NUMBER: _ClassVar[int]
    PRESET_FIELD_NUMBER: _ClassVar[int]
    cwd: str
    prompt: _resources_pb2.Content
    name: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    agent: str
    model: str
    permission_mode: str
    options_json: str
    policy_json: str
    budget_usd: str
    worktree: str
    resume: str
    fork: bool
    account: str
    cli_version: str
    lifecycle: _resources_pb2.Lifecycle
    callbacks: _resources_pb2.Callbacks
    host_tools: _resources_pb2.HostTools
    preset: str
    def __init__(self, cwd: _Optional[str] = ..., prompt: _Optional[_Union[_resources_pb2.Content, _Mapping]] = ..., name: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., agent: _Optional[str] = ..., model: _Optional[str] = ..., permission_mode: _Optional[str] = ..., options_json: _Optional[str] = ..., policy_json: _Optional[str] = ..., budget_usd: _Optional[str] = ..., worktree: _Optional[str] = ..., resume: _Optional[str] = ..., fork: _Optional[bool] = ..., account: _Optional[str] = ..., cli_version: _Optional[str] = ..., lifecycle: _Optional[_Union[_resources_pb2.Lifecycle, _Mapping]] = ..., callbacks: _Optional[_Union[_resources_pb2.Callbacks, _Mapping]] = ..., host_tools: _Optional[_Union[_resources_pb2.HostTools, _Mapping]] = ..., preset: _Optional[str] = ...) -> None: ...

class CreateSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _resources_pb2.Session
    def __init__(self, session: _Optional[_Union[_resources_pb2.Session, _Mapping]] = ...) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = ("state", "tag", "q", "cwd", "archived", "limit", "cursor")
    STATE_FIELD_NUMBER: _ClassVar[int]
    TAG_FIELD_NUMBER: _ClassVar[int]
    Q_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    ARCHIVED_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    state: _containers.RepeatedScalarFieldContainer[_resources_pb2.SessionState]
    tag: _containers.RepeatedScalarFieldContainer[str]
    q: str
    cwd: str
    archived: bool
    limit: int
    cursor: str
    def __init__(self, state: _Optional[_Iterable[_Union[_resources_pb2.SessionState, str]]] = ..., tag: _Optional[_Iterable[str]] = ..., q: _Optional[str] = ..., cwd: _Optional[str] = ..., archived: _Optional[bool] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ("sessions", "next_cursor")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    sessions: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Session]
    next_cursor: str
    def __init__(self, sessions: _Optional[_Iterable[_Union[_resources_pb2.Session, _Mapping]]] = ..., next_cursor: _Optional[str] = ...) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class GetSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _resources_pb2.Session
    def __init__(self, session: _Optional[_Union[_resources_pb2.Session, _Mapping]] = ...) -> None: ...

class ImportSessionRequest(_message.Message):
    __slots__ = ("body", "import_id", "offset", "more", "cwd", "name")
    BODY_FIELD_NUMBER: _ClassVar[int]
    IMPORT_ID_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    body: bytes
    import_id: str
    offset: int
    more: bool
    cwd: str
    name: str
    def __init__(self, body: _Optional[bytes] = ..., import_id: _Optional[str] = ..., offset: _Optional[int] = ..., more: _Optional[bool] = ..., cwd: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class ImportSessionResponse(_message.Message):
    __slots__ = ("import_id", "size_bytes", "session")
    IMPORT_ID_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    import_id: str
    size_bytes: int
    session: _resources_pb2.Session
    def __init__(self, import_id: _Optional[str] = ..., size_bytes: _Optional[int] = ..., session: _Optional[_Union[_resources_pb2.Session, _Mapping]] = ...) -> None: ...

class SearchRequest(_message.Message):
    __slots__ = ("q", "session", "cwd", "archived", "limit", "cursor")
    Q_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    ARCHIVED_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    q: str
    session: str
    cwd: str
    archived: bool
    limit: int
    cursor: str
    def __init__(self, q: _Optional[str] = ..., session: _Optional[str] = ..., cwd: _Optional[str] = ..., archived: _Optional[bool] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("hits", "next_cursor", "behind")
    HITS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    BEHIND_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Hit]
    next_cursor: str
    behind: int
    def __init__(self, hits: _Optional[_Iterable[_Union[_resources_pb2.Hit, _Mapping]]] = ..., next_cursor: _Optional[str] = ..., behind: _Optional[int] = ...) -> None: ...

class UpdateSessionRequest(_message.Message):
    __slots__ = ("session_id", "name", "tags", "model", "permission_mode", "max_thinking_tokens", "archived", "budget_usd", "lifecycle", "clear")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_MODE_FIELD_NUMBER: _ClassVar[int]
    MAX_THINKING_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ARCHIVED_FIELD_NUMBER: _ClassVar[int]
    BUDGET_USD_FIELD_NUMBER: _ClassVar[int]
    LIFECYCLE_FIELD_NUMBER: _ClassVar[int]
    CLEAR_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    name: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    model: str
    permission_mode: str
    max_thinking_tokens: int
    archived: bool
    budget_usd: str
    lifecycle: _resources_pb2.Lifecycle
    clear: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, session_id: _Optional[str] = ..., name: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., model: _Optional[str] = ..., permission_mode: _Optional[str] = ..., max_thinking_tokens: _Optional[int] = ..., archived: _Optional[bool] = ..., budget_usd: _Optional[str] = ..., lifecycle: _Optional[_Union[_resources_pb2.Lifecycle, _Mapping]] = ..., clear: _Optional[_Iterable[str]] = ...) -> None: ...

class UpdateSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _resources_pb2.Session
    def __init__(self, session: _Optional[_Union[_resources_pb2.Session, _Mapping]] = ...) -> None: ...

class DeleteSessionRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class DeleteSessionResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class SendPromptRequest(_message.Message):
    __slots__ = ("session_id", "content", "priority", "prompt_id", "not_before")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    PROMPT_ID_FIELD_NUMBER: _ClassVar[int]
    NOT_BEFORE_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    content: _resources_pb2.Content
    priority: _resources_pb2.Priority
    prompt_id: str
    not_before: _timestamp_pb2.Timestamp
    def __init__(self, session_id: _Optional[str] = ..., content: _Optional[_Union[_resources_pb2.Content, _Mapping]] = ..., priority: _Optional[_Union[_resources_pb2.Priority, str]] = ..., prompt_id: _Optional[str] = ..., not_before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SendPromptResponse(_message.Message):
    __slots__ = ("prompt_id", "seq")
    PROMPT_ID_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    prompt_id: str
    seq: int
    def __init__(self, prompt_id: _Optional[str] = ..., seq: _Optional[int] = ...) -> None: ...

class ListPromptsRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class ListPromptsResponse(_message.Message):
    __slots__ = ("prompts",)
    PROMPTS_FIELD_NUMBER: _ClassVar[int]
    prompts: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Prompt]
    def __init__(self, prompts: _Optional[_Iterable[_Union[_resources_pb2.Prompt, _Mapping]]] = ...) -> None: ...

class UpdatePromptRequest(_message.Message):
    __slots__ = ("session_id", "prompt_id", "content", "position", "not_before", "clear")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    NOT_BEFORE_FIELD_NUMBER: _ClassVar[int]
    CLEAR_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    prompt_id: str
    content: _resources_pb2.Content
    position: int
    not_before: _timestamp_pb2.Timestamp
    clear: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, session_id: _Optional[str] = ..., prompt_id: _Optional[str] = ..., content: _Optional[_Union[_resources_pb2.Content, _Mapping]] = ..., position: _Optional[int] = ..., not_before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., clear: _Optional[_Iterable[str]] = ...) -> None: ...

class UpdatePromptResponse(_message.Message):
    __slots__ = ("prompt",)
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    prompt: _resources_pb2.Prompt
    def __init__(self, prompt: _Optional[_Union[_resources_pb2.Prompt, _Mapping]] = ...) -> None: ...

class WithdrawPromptRequest(_message.Message):
    __slots__ = ("session_id", "prompt_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    prompt_id: str
    def __init__(self, session_id: _Optional[str] = ..., prompt_id: _Optional[str] = ...) -> None: ...

class WithdrawPromptResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class SendControlRequest(_message.Message):
    __slots__ = ("session_id", "subtype", "fields_json")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SUBTYPE_FIELD_NUMBER: _ClassVar[int]
    FIELDS_JSON_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    subtype: str
    fields_json: str
    def __init__(self, session_id: _Optional[str] = ..., subtype: _Optional[str] = ..., fields_json: _Optional[str] = ...) -> None: ...

class SendControlResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class InterruptRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class InterruptResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class StopRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class StopResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class ResumeRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class ResumeResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _resources_pb2.Session
    def __init__(self, session: _Optional[_Union[_resources_pb2.Session, _Mapping]] = ...) -> None: ...

class ForkRequest(_message.Message):
    __slots__ = ("session_id", "at", "name")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    at: str
    name: str
    def __init__(self, session_id: _Optional[str] = ..., at: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class ForkResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _resources_pb2.Session
    def __init__(self, session: _Optional[_Union[_resources_pb2.Session, _Mapping]] = ...) -> None: ...

class RewindRequest(_message.Message):
    __slots__ = ("session_id", "to", "dry_run")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    to: str
    dry_run: bool
    def __init__(self, session_id: _Optional[str] = ..., to: _Optional[str] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class RewindResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class CompactRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class CompactResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class AttachCallbacksRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class AttachCallbacksResponse(_message.Message):
    __slots__ = ("call_id", "kind", "deadline_s", "hook", "server", "tool", "tool_use_id", "input_json", "approval")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_S_FIELD_NUMBER: _ClassVar[int]
    HOOK_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    TOOL_USE_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    kind: _resources_pb2.CallKind
    deadline_s: float
    hook: int
    server: str
    tool: str
    tool_use_id: str
    input_json: str
    approval: _resources_pb2.Approval
    def __init__(self, call_id: _Optional[str] = ..., kind: _Optional[_Union[_resources_pb2.CallKind, str]] = ..., deadline_s: _Optional[float] = ..., hook: _Optional[int] = ..., server: _Optional[str] = ..., tool: _Optional[str] = ..., tool_use_id: _Optional[str] = ..., input_json: _Optional[str] = ..., approval: _Optional[_Union[_resources_pb2.Approval, _Mapping]] = ...) -> None: ...

class AnswerCallbackRequest(_message.Message):
    __slots__ = ("session_id", "call_id", "result_json", "error")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    call_id: str
    result_json: str
    error: str
    def __init__(self, session_id: _Optional[str] = ..., call_id: _Optional[str] = ..., result_json: _Optional[str] = ..., error: _Optional[str] = ...) -> None: ...

class AnswerCallbackResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class GetTimelineRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class GetTimelineResponse(_message.Message):
    __slots__ = ("seq", "epoch", "state_json")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    STATE_JSON_FIELD_NUMBER: _ClassVar[int]
    seq: int
    epoch: str
    state_json: str
    def __init__(self, seq: _Optional[int] = ..., epoch: _Optional[str] = ..., state_json: _Optional[str] = ...) -> None: ...

class GetInfoRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class GetInfoResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class GetContextRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class GetContextResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class ListMcpServersRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class ListMcpServersResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class ListTasksRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class ListTasksResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class GetStderrRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class GetStderrResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class GetDiffRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class GetDiffResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class GetResultRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class GetResultResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class GetSubagentRequest(_message.Message):
    __slots__ = ("session_id", "subagent_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SUBAGENT_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    subagent_id: str
    def __init__(self, session_id: _Optional[str] = ..., subagent_id: _Optional[str] = ...) -> None: ...

class GetSubagentResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class ListFilesRequest(_message.Message):
    __slots__ = ("session_id", "q")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    Q_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    q: str
    def __init__(self, session_id: _Optional[str] = ..., q: _Optional[str] = ...) -> None: ...

class ListFilesResponse(_message.Message):
    __slots__ = ("paths",)
    PATHS_FIELD_NUMBER: _ClassVar[int]
    paths: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, paths: _Optional[_Iterable[str]] = ...) -> None: ...

class ReadEventsRequest(_message.Message):
    __slots__ = ("session_id", "after", "limit", "view")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    after: str
    limit: int
    view: _resources_pb2.View
    def __init__(self, session_id: _Optional[str] = ..., after: _Optional[str] = ..., limit: _Optional[int] = ..., view: _Optional[_Union[_resources_pb2.View, str]] = ...) -> None: ...

class ReadEventsResponse(_message.Message):
    __slots__ = ("frames", "last_seq", "epoch", "gap")
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQ_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    GAP_FIELD_NUMBER: _ClassVar[int]
    frames: _containers.RepeatedCompositeFieldContainer[_events_pb2.Frame]
    last_seq: int
    epoch: str
    gap: _events_pb2.Gap
    def __init__(self, frames: _Optional[_Iterable[_Union[_events_pb2.Frame, _Mapping]]] = ..., last_seq: _Optional[int] = ..., epoch: _Optional[str] = ..., gap: _Optional[_Union[_events_pb2.Gap, _Mapping]] = ...) -> None: ...

class WaitRequest(_message.Message):
    __slots__ = ("session_id", "states", "timeout_s")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_S_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    states: _containers.RepeatedScalarFieldContainer[_resources_pb2.WaitFor]
    timeout_s: float
    def __init__(self, session_id: _Optional[str] = ..., states: _Optional[_Iterable[_Union[_resources_pb2.WaitFor, str]]] = ..., timeout_s: _Optional[float] = ...) -> None: ...

class WaitResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _resources_pb2.Session
    def __init__(self, session: _Optional[_Union[_resources_pb2.Session, _Mapping]] = ...) -> None: ...

class ExportSessionRequest(_message.Message):
    __slots__ = ("session_id", "format", "cursor")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    format: _resources_pb2.ExportFormat
    cursor: str
    def __init__(self, session_id: _Optional[str] = ..., format: _Optional[_Union[_resources_pb2.ExportFormat, str]] = ..., cursor: _Optional[str] = ...) -> None: ...

class ExportSessionResponse(_message.Message):
    __slots__ = ("media_type", "body", "next_cursor")
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    media_type: str
    body: bytes
    next_cursor: str
    def __init__(self, media_type: _Optional[str] = ..., body: _Optional[bytes] = ..., next_cursor: _Optional[str] = ...) -> None: ...

class WatchSessionRequest(_message.Message):
    __slots__ = ("session_id", "after", "view", "previews", "after_seq", "max_event_bytes", "with_json")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    PREVIEWS_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    MAX_EVENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    WITH_JSON_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    after: str
    view: _resources_pb2.View
    previews: bool
    after_seq: int
    max_event_bytes: int
    with_json: bool
    def __init__(self, session_id: _Optional[str] = ..., after: _Optional[str] = ..., view: _Optional[_Union[_resources_pb2.View, str]] = ..., previews: _Optional[bool] = ..., after_seq: _Optional[int] = ..., max_event_bytes: _Optional[int] = ..., with_json: _Optional[bool] = ...) -> None: ...

class WatchSessionResponse(_message.Message):
    __slots__ = ("hello", "events", "cursor")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    events: _containers.RepeatedCompositeFieldContainer[_events_pb2.Event]
    cursor: str
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping]] = ..., events: _Optional[_Iterable[_Union[_events_pb2.Event, _Mapping]]] = ..., cursor: _Optional[str] = ...) -> None: ...

class AddEventRequest(_message.Message):
    __slots__ = ("session_id", "type", "data_json", "prompt")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DATA_JSON_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    type: str
    data_json: str
    prompt: str
    def __init__(self, session_id: _Optional[str] = ..., type: _Optional[str] = ..., data_json: _Optional[str] = ..., prompt: _Optional[str] = ...) -> None: ...

class AddEventResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class UploadRequest(_message.Message):
    __slots__ = ("session_id", "name", "media_type", "body")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    name: str
    media_type: str
    body: bytes
    def __init__(self, session_id: _Optional[str] = ..., name: _Optional[str] = ..., media_type: _Optional[str] = ..., body: _Optional[bytes] = ...) -> None: ...

class UploadResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class ReconnectMcpServerRequest(_message.Message):
    __slots__ = ("session_id", "server")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    server: str
    def __init__(self, session_id: _Optional[str] = ..., server: _Optional[str] = ...) -> None: ...

class ReconnectMcpServerResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class EnableMcpServerRequest(_message.Message):
    __slots__ = ("session_id", "server")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    server: str
    def __init__(self, session_id: _Optional[str] = ..., server: _Optional[str] = ...) -> None: ...

class EnableMcpServerResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class DisableMcpServerRequest(_message.Message):
    __slots__ = ("session_id", "server")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    server: str
    def __init__(self, session_id: _Optional[str] = ..., server: _Optional[str] = ...) -> None: ...

class DisableMcpServerResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class SetMcpServersRequest(_message.Message):
    __slots__ = ("session_id", "servers_json")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SERVERS_JSON_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    servers_json: str
    def __init__(self, session_id: _Optional[str] = ..., servers_json: _Optional[str] = ...) -> None: ...

class SetMcpServersResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class StopTaskRequest(_message.Message):
    __slots__ = ("session_id", "task_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    task_id: str
    def __init__(self, session_id: _Optional[str] = ..., task_id: _Optional[str] = ...) -> None: ...

class StopTaskResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("session_id", "epoch", "last_seq", "resumed")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQ_FIELD_NUMBER: _ClassVar[int]
    RESUMED_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    epoch: str
    last_seq: int
    resumed: bool
    def __init__(self, session_id: _Optional[str] = ..., epoch: _Optional[str] = ..., last_seq: _Optional[int] = ..., resumed: _Optional[bool] = ...) -> None: ...

class ConverseRequest(_message.Message):
    __slots__ = ("ref", "idempotency_key", "open", "send_prompt", "decide", "interrupt", "withdraw_prompt", "update_session")
    REF_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    SEND_PROMPT_FIELD_NUMBER: _ClassVar[int]
    DECIDE_FIELD_NUMBER: _ClassVar[int]
    INTERRUPT_FIELD_NUMBER: _ClassVar[int]
    WITHDRAW_PROMPT_FIELD_NUMBER: _ClassVar[int]
    UPDATE_SESSION_FIELD_NUMBER: _ClassVar[int]
    ref: str
    idempotency_key: str
    open: ConverseOpen
    send_prompt: SendPromptRequest
    decide: _approval_service_pb2.DecideRequest
    interrupt: InterruptRequest
    withdraw_prompt: WithdrawPromptRequest
    update_session: UpdateSessionRequest
    def __init__(self, ref: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., open: _Optional[_Union[ConverseOpen, _Mapping]] = ..., send_prompt: _Optional[_Union[SendPromptRequest, _Mapping]] = ..., decide: _Optional[_Union[_approval_service_pb2.DecideRequest, _Mapping]] = ..., interrupt: _Optional[_Union[InterruptRequest, _Mapping]] = ..., withdraw_prompt: _Optional[_Union[WithdrawPromptRequest, _Mapping]] = ..., update_session: _Optional[_Union[UpdateSessionRequest, _Mapping]] = ...) -> None: ...

class ConverseOpen(_message.Message):
    __slots__ = ("create", "session_id", "after", "without_previews", "max_event_bytes", "with_json")
    CREATE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_PREVIEWS_FIELD_NUMBER: _ClassVar[int]
    MAX_EVENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    WITH_JSON_FIELD_NUMBER: _ClassVar[int]
    create: CreateSessionRequest
    session_id: str
    after: str
    without_previews: bool
    max_event_bytes: int
    with_json: bool
    def __init__(self, create: _Optional[_Union[CreateSessionRequest, _Mapping]] = ..., session_id: _Optional[str] = ..., after: _Optional[str] = ..., without_previews: _Optional[bool] = ..., max_event_bytes: _Optional[int] = ..., with_json: _Optional[bool] = ...) -> None: ...

class ConverseResponse(_message.Message):
    __slots__ = ("opened", "events", "answer")
    OPENED_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    opened: ConverseOpened
    events: WatchSessionResponse
    answer: ConverseAnswer
    def __init__(self, opened: _Optional[_Union[ConverseOpened, _Mapping]] = ..., events: _Optional[_Union[WatchSessionResponse, _Mapping]] = ..., answer: _Optional[_Union[ConverseAnswer, _Mapping]] = ...) -> None: ...

class ConverseOpened(_message.Message):
    __slots__ = ("ref", "session", "hello")
    REF_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    ref: str
    session: _resources_pb2.Session
    hello: Hello
    def __init__(self, ref: _Optional[str] = ..., session: _Optional[_Union[_resources_pb2.Session, _Mapping]] = ..., hello: _Optional[_Union[Hello, _Mapping]] = ...) -> None: ...

class ConverseAnswer(_message.Message):
    __slots__ = ("ref", "replayed", "error", "send_prompt", "decide", "interrupt", "withdraw_prompt", "update_session")
    REF_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    SEND_PROMPT_FIELD_NUMBER: _ClassVar[int]
    DECIDE_FIELD_NUMBER: _ClassVar[int]
    INTERRUPT_FIELD_NUMBER: _ClassVar[int]
    WITHDRAW_PROMPT_FIELD_NUMBER: _ClassVar[int]
    UPDATE_SESSION_FIELD_NUMBER: _ClassVar[int]
    ref: str
    replayed: bool
    error: ConverseError
    send_prompt: SendPromptResponse
    decide: _approval_service_pb2.DecideResponse
    interrupt: InterruptResponse
    withdraw_prompt: WithdrawPromptResponse
    update_session: UpdateSessionResponse
    def __init__(self, ref: _Optional[str] = ..., replayed: _Optional[bool] = ..., error: _Optional[_Union[ConverseError, _Mapping]] = ..., send_prompt: _Optional[_Union[SendPromptResponse, _Mapping]] = ..., decide: _Optional[_Union[_approval_service_pb2.DecideResponse, _Mapping]] = ..., interrupt: _Optional[_Union[InterruptResponse, _Mapping]] = ..., withdraw_prompt: _Optional[_Union[WithdrawPromptResponse, _Mapping]] = ..., update_session: _Optional[_Union[UpdateSessionResponse, _Mapping]] = ...) -> None: ...

class ConverseError(_message.Message):
    __slots__ = ("code", "message", "hint", "details")
    class DetailsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    hint: str
    details: _containers.ScalarMap[str, str]
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ..., hint: _Optional[str] = ..., details: _Optional[_Mapping[str, str]] = ...) -> None: ...
