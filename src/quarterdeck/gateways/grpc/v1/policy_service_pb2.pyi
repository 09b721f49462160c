from quarterdeck.gateways.grpc.v1 import resources_pb2 as _resources_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListRulesRequest(_message.Message):
    __slots__ = ("cwd",)
    CWD_FIELD_NUMBER: _ClassVar[int]
    cwd: str
    def __init__(self, cwd: _Optional[str] = ...) -> None: ...

class ListRulesResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class ListGrantsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListGrantsResponse(_message.Message):
    __slots__ = ("grants",)
    GRANTS_FIELD_NUMBER: _ClassVar[int]
    grants: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Grant]
    def __init__(self, grants: _Optional[_Iterable[_Union[_resources_pb2.Grant, _Mapping]]] = ...) -> None: ...

class RevokeGrantRequest(_message.Message):
    __slots__ = ("grant_id",)
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    grant_id: str
    def __init__(self, grant_id: _Optional[str] = ...) -> None: ...

class RevokeGrantResponse(_message.Message):
    __slots__ = ("grant",)
    GRANT_FIELD_NUMBER: _ClassVar[int]
    grant: _resources_pb2.Grant
    def __init__(self, grant: _Optional[_Union[_resources_pb2.Grant, _Mapping]] = ...) -> None: ...

class ExplainPolicyRequest(_message.Message):
    __slots__ = ("tool", "input_json", "cwd")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    tool: str
    input_json: str
    cwd: str
    def __init__(self, tool: _Optional[str] = ..., input_json: _Optional[str] = ..., cwd: _Optional[str] = ...) -> None: ...

class ExplainPolicyResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class TryRuleRequest(_message.Message):
    __slots__ = ("rule", "behavior", "cwd", "limit")
    RULE_FIELD_NUMBER: _ClassVar[int]
    BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    rule: str
    behavior: _resources_pb2.TryRuleBehavior
    cwd: str
    limit: int
    def __init__(self, rule: _Optional[str] = ..., behavior: _Optional[_Union[_resources_pb2.TryRuleBehavior, str]] = ..., cwd: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class TryRuleResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...
