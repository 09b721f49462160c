import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from quarterdeck.gateways.grpc.v1 import resources_pb2 as _resources_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetUsageRequest(_message.Message):
    __slots__ = ("by", "since", "to")
    BY_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    by: _containers.RepeatedScalarFieldContainer[_resources_pb2.GetUsageBy]
    since: _timestamp_pb2.Timestamp
    to: _timestamp_pb2.Timestamp
    def __init__(self, by: _Optional[_Iterable[_Union[_resources_pb2.GetUsageBy, str]]] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., to: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GetUsageResponse(_message.Message):
    __slots__ = ("usage",)
    USAGE_FIELD_NUMBER: _ClassVar[int]
    usage: _containers.RepeatedCompositeFieldContainer[_resources_pb2.UsageRow]
    def __init__(self, usage: _Optional[_Iterable[_Union[_resources_pb2.UsageRow, _Mapping]]] = ...) -> None: ...

class GetBudgetsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetBudgetsResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class SetBudgetsRequest(_message.Message):
    __slots__ = ("settings_json",)
    SETTINGS_JSON_FIELD_NUMBER: _ClassVar[int]
    settings_json: str
    def __init__(self, settings_json: _Optional[str] = ...) -> None: ...

class SetBudgetsResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class GetLimitsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetLimitsResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...
