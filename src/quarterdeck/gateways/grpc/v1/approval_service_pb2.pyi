from quarterdeck.gateways.grpc.v1 import resources_pb2 as _resources_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WatchApprovalsRequest(_message.Message):
    __slots__ = ("state", "session", "kind", "limit", "cursor")
    STATE_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    state: _containers.RepeatedScalarFieldContainer[_resources_pb2.ApprovalState]
    session: str
    kind: _containers.RepeatedScalarFieldContainer[_resources_pb2.ApprovalKind]
    limit: int
    cursor: str
    def __init__(self, state: _Optional[_Iterable[_Union[_resources_pb2.ApprovalState, str]]] = ..., session: _Optional[str] = ..., kind: _Optional[_Iterable[_Union[_resources_pb2.ApprovalKind, str]]] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class WatchApprovalsResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: _resources_pb2.Approval
    def __init__(self, approval: _Optional[_Union[_resources_pb2.Approval, _Mapping]] = ...) -> None: ...

class ListApprovalsRequest(_message.Message):
    __slots__ = ("state", "session", "kind", "limit", "cursor")
    STATE_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    state: _containers.RepeatedScalarFieldContainer[_resources_pb2.ApprovalState]
    session: str
    kind: _containers.RepeatedScalarFieldContainer[_resources_pb2.ApprovalKind]
    limit: int
    cursor: str
    def __init__(self, state: _Optional[_Iterable[_Union[_resources_pb2.ApprovalState, str]]] = ..., session: _Optional[str] = ..., kind: _Optional[_Iterable[_Union[_resources_pb2.ApprovalKind, str]]] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListApprovalsResponse(_message.Message):
    __slots__ = ("approvals", "next_cursor")
    APPROVALS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    approvals: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Approval]
    next_cursor: str
    def __init__(self, approvals: _Optional[_Iterable[_Union[_resources_pb2.Approval, _Mapping]]] = ..., next_cursor: _Optional[str] = ...) -> None: ...

class GetApprovalRequest(_message.Message):
    __slots__ = ("approval_id",)
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    def __init__(self, approval_id: _Optional[str] = ...) -> None: ...

class GetApprovalResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: _resources_pb2.Approval
    def __init__(self, approval: _Optional[_Union[_resources_pb2.Approval, _Mapping]] = ...) -> None: ...

class DecideRequest(_message.Message):
    __slots__ = ("approval_id", "decision")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    decision: _resources_pb2.Decision
    def __init__(self, approval_id: _Optional[str] = ..., decision: _Optional[_Union[_resources_pb2.Decision, _Mapping]] = ...) -> None: ...

class DecideResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: _resources_pb2.Approval
    def __init__(self, approval: _Optional[_Union[_resources_pb2.Approval, _Mapping]] = ...) -> None: ...

class DecideManyRequest(_message.Message):
    __slots__ = ("filter", "decision", "dry_run")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    filter: _resources_pb2.ApprovalFilter
    decision: _resources_pb2.Decision
    dry_run: bool
    def __init__(self, filter: _Optional[_Union[_resources_pb2.ApprovalFilter, _Mapping]] = ..., decision: _Optional[_Union[_resources_pb2.Decision, _Mapping]] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class DecideManyResponse(_message.Message):
    __slots__ = ("approvals", "dry_run")
    APPROVALS_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    approvals: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Approval]
    dry_run: bool
    def __init__(self, approvals: _Optional[_Iterable[_Union[_resources_pb2.Approval, _Mapping]]] = ..., dry_run: _Optional[bool] = ...) -> None: ...
