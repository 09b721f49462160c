"""Every message that is not a control message, by the ``type`` on its line.

======================  ============================================  ======================================
``assistant`` ``user``  ``AssistantMessage`` ``UserMessage``          here
``result``              ``ResultMessage``: the end of a turn          ``result.py``
``stream_event``        ``StreamEvent``: a message while it is said   ``stream.py`` (``events.py``)
``system``              ``SystemMessage``, a subclass per subtype     ``system.py`` ``notices.py`` ``tasks.py``
the others              see ``MESSAGE_TYPES``                         here
======================  ============================================  ======================================

``AssistantMessage`` and ``UserMessage`` show the parts of their inner ``message`` as attributes of their own
(``content``, ``model``, ``usage`` …), as the official SDK does.

Required is only what a message means nothing without. Words from a fixed list on the wire are plain ``str`` here, with
the words known today as a ``Literal`` beside: a new word is news, not an error.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

import msgspec

from ._base import HIDDEN, Message, WireObject
from ._json import loads
from ._official import check_required, official
from ._shapes import Number, OriginDict, Word
from .api import ApiError, ApiMessage, MessageParam
from .blocks import ContentBlock
from .result import MessageOrigin, ResultMessage
from .stream import StreamEvent
from .system import SystemMessage
from .usage import ContextUsage, RateLimitInfo, Usage, UsageReport

AssistantMessageError = Literal[
    "authentication_failed",
    "oauth_org_not_allowed",
    "account_on_hold",
    "verification_required",
    "billing_error",
    "rate_limit",
    "overloaded",
    "invalid_request",
    "model_not_found",
    "server_error",
    "unknown",
    "max_output_tokens",
    "cloud_credential_error",
]
UserMessagePriority = Literal["now", "next", "later"]
ConversationResetTrigger = Literal["clear", "plan_mode_exit", "fresh_session", "onboarding"]
CommandState = Literal["queued", "started", "completed", "cancelled"]


_T = TypeVar("_T")

_INNER = {"message_id": "id"}
_INNER_FIELDS = frozenset({"content", "model", "usage", "message_id", "stop_reason"})
"""What the official SDK shows as attributes of the line and the wire has inside ``message``."""


class _Inner(property, Generic[_T]):
    """An attribute of the inner message."""

    def __init__(self, name: str, *, doc: str | None = None) -> None:
        def write(message: Any, value: _T) -> None:
            setattr(message.message, name, value)

        super().__init__(attrgetter(f"message.{name}"), write, doc=doc)

    if TYPE_CHECKING:

        def __get__(self, message: Any, owner: type | None = None) -> _T: ...  # type: ignore[override]

        def __set__(self, message: Any, value: _T) -> None: ...


class ToolUseMeta(WireObject):
    """Display name of a tool call (2.1.325: MCP tools only)."""

    id: str
    tool_name: str | None = None
    display_name: str | None = None
    server_display_name: str | None = None


@official("content model", "parent_tool_use_id error usage message_id stop_reason session_id uuid")
class AssistantMessage(Message, tag="assistant"):
    """One content block from the model; the blocks of one message share ``message_id``."""

    message: ApiMessage
    parent_tool_use_id: str | None = None
    error: Word[AssistantMessageError] | None = None
    session_id: str | None = None
    uuid: str | None = None
    request_id: str | None = None
    timestamp: str | None = None
    user_message_uuid: str | None = None
    user_message_uuids: list[str] | None = None
    agent_id: str | None = None
    subagent_type: str | None = None
    task_description: str | None = None
    tool_use_meta: list[ToolUseMeta] | None = None
    aborted: bool | None = None
    supersedes: list[str] | None = None
    resume_reason: str | None = None
    resumed_from_incomplete_thinking: bool | None = None
    thinking_display: str | None = None
    thinking_duration_ms: Number | None = None
    context_usage: ContextUsage | None = None
    usage_report: UsageReport | None = None
    is_api_error_message: bool | None = None
    api_error: str | None = None
    api_error_type: str | None = None
    api_error_status: int | None = None
    api_error_params: dict[str, Any] | None = None
    refused_message_id: str | None = None
    local_command_source: str | None = None
    local_command_run: dict[str, Any] | None = None
    local_command_outcome: Any = None

    if TYPE_CHECKING:

        @overload
        def __init__(
            self,
            content: list[ContentBlock],
            model: str,
            parent_tool_use_id: str | None = None,
            error: Word[AssistantMessageError] | None = None,
            usage: dict[str, Any] | None = None,
            message_id: str | None = None,
            stop_reason: str | None = None,
            session_id: str | None = None,
            uuid: str | None = None,
        ) -> None: ...

        @overload
        def __init__(self, *, message: ApiMessage, **fields: Any) -> None: ...

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    @classmethod
    def _built(cls, given: dict[str, Any]) -> AssistantMessage | None:
        if "message" in given:
            return None
        check_required(cls, given)
        inner = {_INNER.get(name, name): value for name, value in given.items() if name in _INNER_FIELDS}
        outer = {name: value for name, value in given.items() if name not in _INNER_FIELDS}
        return cls.plainly_built(message=ApiMessage(**inner), **outer)  # type: ignore[no-any-return]

    if TYPE_CHECKING:
        content: list[ContentBlock]  # type: ignore[misc]  # no field
    else:
        content = _Inner[list[ContentBlock]]("content")
    model = _Inner[str]("model", doc="``<synthetic>`` when the CLI itself speaks, e.g. to report an API error.")
    message_id = _Inner[str | None]("id")
    stop_reason = _Inner[str | None]("stop_reason")
    usage = _Inner[dict[str, Any] | None]("usage", doc="As on the wire; see ``typed_usage``.")

    @property
    def typed_usage(self) -> Usage | None:
        return None if self.usage is None else Usage.of(self.usage)


class ToolResultMeta(WireObject):
    """Why a tool call ran or not: who decided, and why it was not executed (2.1.325)."""

    id: str
    permission_decision: dict[str, Any] | None = None
    non_execution_kind: str | None = None


@official("content", "uuid parent_tool_use_id tool_use_result origin")
class UserMessage(Message, tag="user"):
    """What the user says, in both directions: a prompt on stdin, a tool's result or a replayed prompt on stdout."""

    message: MessageParam
    uuid: str | None = None
    parent_tool_use_id: str | None = None
    origin: OriginDict | None = None
    """Who put it into the session; typed: ``MessageOrigin.of(message.origin)``."""
    session_id: str | None = None
    timestamp: str | None = None
    is_synthetic: bool | None = msgspec.field(default=None, name="isSynthetic")
    is_replay: bool | None = msgspec.field(default=None, name="isReplay")
    priority: str | None = None
    should_query: bool | None = msgspec.field(default=None, name="shouldQuery")
    client_composed: bool | None = None
    pasted_content: list[str | list[ContentBlock]] | None = None
    inline_pastes: list[str] | None = None
    file_attachments: list[Any] | None = None
    agent_id: str | None = None
    subagent_type: str | None = None
    task_description: str | None = None
    tool_result_meta: list[ToolResultMeta] | None = None
    refused_message_id: str | None = None

    result_: Any = msgspec.field(default=None, name=HIDDEN + "result")

    if TYPE_CHECKING:

        @overload
        def __init__(
            self,
            content: str | list[ContentBlock],
            uuid: str | None = None,
            parent_tool_use_id: str | None = None,
            tool_use_result: Any = None,
            origin: OriginDict | MessageOrigin | None = None,
        ) -> None: ...

        @overload
        def __init__(self, *, message: MessageParam, **fields: Any) -> None: ...

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    @classmethod
    def _built(cls, given: dict[str, Any]) -> UserMessage | None:
        if "message" not in given:
            check_required(cls, given)
            given = {**given, "message": MessageParam(given["content"])}
            del given["content"]
        elif "tool_use_result" not in given:
            return None
        result = given.pop("tool_use_result", None)
        return cls.plainly_built(**given, result_=result)  # type: ignore[no-any-return]

    content = _Inner[str | list[ContentBlock]]("content")

    @property
    def tool_use_result(self) -> Any:
        """What the tool gave back, as the CLI has it. Decoded when asked for: it says the content once more."""
        if self.result_ is None and self.line_ is not None:
            self.result_ = self.data.get("tool_use_result") if self.data_ is not None else _tool_use_result(self.raw)
        return self.result_

    @tool_use_result.setter
    def tool_use_result(self, result: Any) -> None:
        self.result_ = result

    def to_dict(self) -> dict[str, Any]:
        result = self.tool_use_result
        return super().to_dict() if result is None else {**super().to_dict(), "tool_use_result": result}


class _ToolResultHolder(msgspec.Struct, gc=False):
    tool_use_result: Any = None


_tool_result_holder = msgspec.json.Decoder(_ToolResultHolder)


def _tool_use_result(line: bytes) -> Any:
    try:
        return _tool_result_holder.decode(line).tool_use_result
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return loads(line).get("tool_use_result")


class SubagentRetry(WireObject):
    """A sub-agent's call of the API that will be made again."""

    agent_id: str | None = None
    attempt: int | None = None
    max_retries: int | None = None
    retry_delay_ms: Number | None = None
    error_status: int | None = None
    error_category: str | None = None


class ToolProgressMessage(Message, tag="tool_progress"):
    """A tool is still running. On 2.1.325 a heartbeat has an id of its own; ``parent_tool_use_id`` is the call."""

    tool_use_id: str
    tool_name: str | None = None
    parent_tool_use_id: str | None = None
    elapsed_time_seconds: Number | None = None
    task_id: str | None = None
    uuid: str | None = None
    session_id: str | None = None
    heartbeat: bool | None = None
    subagent_type: str | None = None
    subagent_retry: SubagentRetry | None = None


class ToolUseSummaryMessage(Message, tag="tool_use_summary"):
    """One sentence about the tool calls before it."""

    summary: str
    preceding_tool_use_ids: list[str] | None = None
    uuid: str | None = None
    session_id: str | None = None


class AuthStatusMessage(Message, tag="auth_status"):
    """A login that is under way in the CLI."""

    is_authenticating: bool | None = msgspec.field(default=None, name="isAuthenticating")
    output: list[str] | None = None
    error: str | None = None
    uuid: str | None = None
    session_id: str | None = None


@official("rate_limit_info uuid session_id")
class RateLimitEvent(Message, tag="rate_limit_event"):
    """The account is near or over a limit. Subscriptions only."""

    if TYPE_CHECKING:
        rate_limit_info: RateLimitInfo
    else:
        rate_limit_info: Any
    uuid: str | None = None
    session_id: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.rate_limit_info, dict):
            raw = self.rate_limit_info
            self.rate_limit_info = RateLimitInfo.of(raw)
            self.rate_limit_info.raw = raw
        elif isinstance(self.rate_limit_info, str | int | float | list | None):
            raise ValueError("rate_limit_info is not an object")  # a program may put any object there, JSON may not


@official("new_conversation_id uuid session_id")
class ConversationResetMessage(Message, tag="conversation_reset"):
    """The conversation starts over in the same process, e.g. after ``/clear``; ``session_id`` is still the old one's.

    The totals on ``ResultMessage`` start at zero again. ``new_conversation_id`` is not the next ``session_id``.
    """

    new_conversation_id: str
    uuid: str | None = None
    session_id: str | None = None
    trigger: str | None = None
    user_message_uuid: str | None = None
    timestamp: str | None = None


class PromptSuggestionMessage(Message, tag="prompt_suggestion"):
    """What the user might say next."""

    suggestion: str
    uuid: str | None = None
    session_id: str | None = None


class ActiveGoal(WireObject):
    """The condition that the session works towards; ``set_at`` is in milliseconds since 1970."""

    condition: str
    iterations: int | None = None
    set_at: Number | None = None
    tokens_at_start: int | None = None
    last_reason: str | None = None


class ActiveGoalMessage(Message, tag="active_goal"):
    """The session's goal was set, has changed, or (``value`` None) was removed."""

    value: ActiveGoal | None = None
    uuid: str | None = None
    session_id: str | None = None


class CommandLifecycleMessage(Message, tag="command_lifecycle"):
    """Progress of a user message sent with a ``uuid`` (here ``command_uuid``); see ``CommandState``."""

    command_uuid: str
    state: str
    uuid: str | None = None
    session_id: str | None = None


class TranscriptMirrorMessage(Message, tag="transcript_mirror"):
    """Records that were added to a transcript file, with ``--session-mirror``."""

    file_path: str = msgspec.field(name="filePath")
    entries: list[dict[str, Any]]


class KeepAliveMessage(Message, tag="keep_alive"):
    """Nothing, in either direction, so that the line is not silent."""


class UpdateEnvironmentVariables(Message, tag="update_environment_variables"):
    """To the CLI: set these variables in its own environment. There is no answer."""

    variables: dict[str, str]


class ErrorMessage(Message, tag="error"):
    """An API error on its own line. Part of a published description, never seen from a CLI up to 2.1.325."""

    error: ApiError
    uuid: str | None = None
    session_id: str | None = None


MESSAGE_TYPES: tuple[type[Message], ...] = (
    StreamEvent,
    AssistantMessage,
    UserMessage,
    SystemMessage,
    ResultMessage,
    ToolProgressMessage,
    ToolUseSummaryMessage,
    AuthStatusMessage,
    RateLimitEvent,
    ConversationResetMessage,
    PromptSuggestionMessage,
    ActiveGoalMessage,
    CommandLifecycleMessage,
    TranscriptMirrorMessage,
    KeepAliveMessage,
    UpdateEnvironmentVariables,
    ErrorMessage,
)
"""One class for each ``type`` on the wire, control messages aside."""
