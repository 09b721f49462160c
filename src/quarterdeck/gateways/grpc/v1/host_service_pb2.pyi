from quarterdeck.gateways.grpc.v1 import resources_pb2 as _resources_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WatchHostRequest(_message.Message):
    __slots__ = ("after",)
    AFTER_FIELD_NUMBER: _ClassVar[int]
    after: int
    def __init__(self, after: _Optional[int] = ...) -> None: ...

class WatchHostResponse(_message.Message):
    __slots__ = ("kind", "pos", "id", "session", "approval")
    KIND_FIELD_NUMBER: _ClassVar[int]
    POS_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    kind: _resources_pb2.HostChangeKind
    pos: int
    id: str
    session: _resources_pb2.Session
    approval: _resources_pb2.Approval
    def __init__(self, kind: _Optional[_Union[_resources_pb2.HostChangeKind, str]] = ..., pos: _Optional[int] = ..., id: _Optional[str] = ..., session: _Optional[_Union[_resources_pb2.Session, _Mapping]] = ..., approval: _Optional[_Union[_resources_pb2.Approval, _Mapping]] = ...) -> None: ...

class GetAlertsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetAlertsResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class SetAlertsRequest(_message.Message):
    __slots__ = ("settings_json",)
    SETTINGS_JSON_FIELD_NUMBER: _ClassVar[int]
    settings_json: str
    def __init__(self, settings_json: _Optional[str] = ...) -> None: ...

class SetAlertsResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class GetPresetsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetPresetsResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class SetPresetsRequest(_message.Message):
    __slots__ = ("settings_json",)
    SETTINGS_JSON_FIELD_NUMBER: _ClassVar[int]
    settings_json: str
    def __init__(self, settings_json: _Optional[str] = ...) -> None: ...

class SetPresetsResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class ListFoldersRequest(_message.Message):
    __slots__ = ("prefix",)
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    prefix: str
    def __init__(self, prefix: _Optional[str] = ...) -> None: ...

class ListFoldersResponse(_message.Message):
    __slots__ = ("paths",)
    PATHS_FIELD_NUMBER: _ClassVar[int]
    paths: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, paths: _Optional[_Iterable[str]] = ...) -> None: ...

class ListTranscriptsRequest(_message.Message):
    __slots__ = ("cwd", "q")
    CWD_FIELD_NUMBER: _ClassVar[int]
    Q_FIELD_NUMBER: _ClassVar[int]
    cwd: str
    q: str
    def __init__(self, cwd: _Optional[str] = ..., q: _Optional[str] = ...) -> None: ...

class ListTranscriptsResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class AdoptTranscriptRequest(_message.Message):
    __slots__ = ("transcript_id",)
    TRANSCRIPT_ID_FIELD_NUMBER: _ClassVar[int]
    transcript_id: str
    def __init__(self, transcript_id: _Optional[str] = ...) -> None: ...

class AdoptTranscriptResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _resources_pb2.Session
    def __init__(self, session: _Optional[_Union[_resources_pb2.Session, _Mapping]] = ...) -> None: ...

class ListWorktreesRequest(_message.Message):
    __slots__ = ("cwd",)
    CWD_FIELD_NUMBER: _ClassVar[int]
    cwd: str
    def __init__(self, cwd: _Optional[str] = ...) -> None: ...

class ListWorktreesResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class CreateWorktreeRequest(_message.Message):
    __slots__ = ("cwd", "name", "base")
    CWD_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    cwd: str
    name: str
    base: str
    def __init__(self, cwd: _Optional[str] = ..., name: _Optional[str] = ..., base: _Optional[str] = ...) -> None: ...

class CreateWorktreeResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...

class DeleteWorktreeRequest(_message.Message):
    __slots__ = ("path", "force")
    PATH_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    path: str
    force: bool
    def __init__(self, path: _Optional[str] = ..., force: _Optional[bool] = ...) -> None: ...

class DeleteWorktreeResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class ListTokensRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListTokensResponse(_message.Message):
    __slots__ = ("tokens",)
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    tokens: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Token]
    def __init__(self, tokens: _Optional[_Iterable[_Union[_resources_pb2.Token, _Mapping]]] = ...) -> None: ...

class CreateTokenRequest(_message.Message):
    __slots__ = ("name", "scope", "expires_s", "folders", "may_bypass")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_S_FIELD_NUMBER: _ClassVar[int]
    FOLDERS_FIELD_NUMBER: _ClassVar[int]
    MAY_BYPASS_FIELD_NUMBER: _ClassVar[int]
    name: str
    scope: _resources_pb2.Scope
    expires_s: float
    folders: _containers.RepeatedScalarFieldContainer[str]
    may_bypass: bool
    def __init__(self, name: _Optional[str] = ..., scope: _Optional[_Union[_resources_pb2.Scope, str]] = ..., expires_s: _Optional[float] = ..., folders: _Optional[_Iterable[str]] = ..., may_bypass: _Optional[bool] = ...) -> None: ...

class CreateTokenResponse(_message.Message):
    __slots__ = ("token",)
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    token: _resources_pb2.Token
    def __init__(self, token: _Optional[_Union[_resources_pb2.Token, _Mapping]] = ...) -> None: ...

class RevokeTokenRequest(_message.Message):
    __slots__ = ("token_id",)
    TOKEN_ID_FIELD_NUMBER: _ClassVar[int]
    token_id: str
    def __init__(self, token_id: _Optional[str] = ...) -> None: ...

class RevokeTokenResponse(_message.Message):
    __slots__ = ("token",)
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    token: _resources_pb2.Token
    def __init__(self, token: _Optional[_Union[_resources_pb2.Token, _Mapping]] = ...) -> None: ...

class GetHostRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetHostResponse(_message.Message):
    __slots__ = ("api_version", "version", "features", "cli_versions", "machine_json", "limits_json")
    API_VERSION_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    CLI_VERSIONS_FIELD_NUMBER: _ClassVar[int]
    MACHINE_JSON_FIELD_NUMBER: _ClassVar[int]
    LIMITS_JSON_FIELD_NUMBER: _ClassVar[int]
    api_version: str
    version: str
    features: _containers.RepeatedScalarFieldContainer[str]
    cli_versions: _containers.RepeatedScalarFieldContainer[str]
    machine_json: str
    limits_json: str
    def __init__(self, api_version: _Optional[str] = ..., version: _Optional[str] = ..., features: _Optional[_Iterable[str]] = ..., cli_versions: _Optional[_Iterable[str]] = ..., machine_json: _Optional[str] = ..., limits_json: _Optional[str] = ...) -> None: ...

class GetHealthRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetHealthResponse(_message.Message):
    __slots__ = ("ready", "problems")
    READY_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    ready: bool
    problems: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, ready: _Optional[bool] = ..., problems: _Optional[_Iterable[str]] = ...) -> None: ...

class GetMetricsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetMetricsResponse(_message.Message):
    __slots__ = ("details_json",)
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    details_json: str
    def __init__(self, details_json: _Optional[str] = ...) -> None: ...
