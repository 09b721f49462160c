import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from quarterdeck.gateways.grpc.v1 import resources_pb2 as _resources_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListAuditRequest(_message.Message):
    __slots__ = ("session", "who", "since", "limit", "cursor")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    WHO_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    session: str
    who: str
    since: _timestamp_pb2.Timestamp
    limit: int
    cursor: str
    def __init__(self, session: _Optional[str] = ..., who: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListAuditResponse(_message.Message):
    __slots__ = ("audit", "next_cursor")
    AUDIT_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    audit: _containers.RepeatedCompositeFieldContainer[_resources_pb2.AuditEntry]
    next_cursor: str
    def __init__(self, audit: _Optional[_Iterable[_Union[_resources_pb2.AuditEntry, _Mapping]]] = ..., next_cursor: _Optional[str] = ...) -> None: ...
