"""What happened, for whoever follows live. Every event can be written as JSON and read back (``Event``).

========================  ===========================================================================================
what is said              ``PromptSent`` ``PromptChanged`` ``BlockStarted`` ``TextAdded`` ``TextCompleted``
                          ``ThinkingAdded`` ``ThinkingCounted`` ``ThinkingCompleted`` ``Retracted``
tool calls, plans         ``ToolStarted`` ``ToolInputAdded`` ``ToolCalled`` ``ToolProgressed`` ``ToolOutputAdded``
                          ``ToolBackgrounded`` ``ToolEnded`` ``ToolsSummarised`` ``PlanChanged``
people are asked          ``PermissionAsked`` ``QuestionsAsked`` ``PlanReviewAsked`` ``ElicitationAsked``
                          ``DialogAsked``, then ``RequestAnswered`` or ``RequestCancelled``; ``ElicitationCompleted``
tasks, hooks              ``TaskStarted`` ``TaskProgressed`` ``TaskChanged`` ``TaskEnded`` ``TaskNotified``
                          ``HookStarted`` ``HookProgressed`` ``HookEnded``
turns                     ``TurnStarted`` ``TurnEnded`` ``ActivityChanged`` ``ContextChanged`` ``CompactionEnded``
                          ``RetryScheduled`` ``InterruptSent``
the session               ``SessionChanged`` ``SessionStateChanged`` ``ModelChanged`` ``ModeChanged`` ``McpChanged``
                          ``RateLimitChanged`` ``AuthChanged`` ``ConversationReset`` ``FilesPersisted`` ``FilesRewound``
                          ``PromptSuggested`` ``ControlAnswered`` ``ControlProgressed``
everything else           ``NoticeShown`` ``UnknownSeen`` ``BadLineSeen``
========================  ===========================================================================================

The events of a block or a call are told apart by ``id``, which is also the item's id in the state; ``parent_id`` is the
call of the sub-agent that it belongs to. Whoever prints ``TextAdded.text`` and then ``TextCompleted.rest`` prints each
character once, whether the CLI streams or not.
"""

from __future__ import annotations

from quarterdeck.timeline._words import EventBase

from .requests import (
    DialogAsked,
    ElicitationAsked,
    ElicitationCompleted,
    PermissionAsked,
    PlanReviewAsked,
    QuestionsAsked,
    RequestAnswered,
    RequestCancelled,
)
from .said import (
    BlockStarted,
    PromptChanged,
    PromptSent,
    Retracted,
    TextAdded,
    TextCompleted,
    ThinkingAdded,
    ThinkingCompleted,
    ThinkingCounted,
)
from .session import (
    AuthChanged,
    BadLineSeen,
    ControlAnswered,
    ControlProgressed,
    ConversationReset,
    FilesPersisted,
    FilesRewound,
    McpChanged,
    ModeChanged,
    ModelChanged,
    NoticeShown,
    PromptSuggested,
    RateLimitChanged,
    SessionChanged,
    SessionStateChanged,
    UnknownSeen,
)
from .tasks import (
    HookEnded,
    HookProgressed,
    HookStarted,
    TaskChanged,
    TaskEnded,
    TaskNotified,
    TaskProgressed,
    TaskStarted,
)
from .tools import (
    PlanChanged,
    ToolBackgrounded,
    ToolCalled,
    ToolEnded,
    ToolInputAdded,
    ToolOutputAdded,
    ToolProgressed,
    ToolsSummarised,
    ToolStarted,
)
from .turns import (
    ActivityChanged,
    CompactionEnded,
    ContextChanged,
    InterruptSent,
    RetryScheduled,
    TurnEnded,
    TurnStarted,
)

Event = (
    PromptSent
    | PromptChanged
    | BlockStarted
    | TextAdded
    | TextCompleted
    | ThinkingAdded
    | ThinkingCounted
    | ThinkingCompleted
    | Retracted
    | ToolStarted
    | ToolInputAdded
    | ToolCalled
    | ToolProgressed
    | ToolOutputAdded
    | ToolBackgrounded
    | ToolEnded
    | ToolsSummarised
    | PlanChanged
    | PermissionAsked
    | QuestionsAsked
    | PlanReviewAsked
    | ElicitationAsked
    | DialogAsked
    | RequestAnswered
    | RequestCancelled
    | ElicitationCompleted
    | TaskStarted
    | TaskProgressed
    | TaskChanged
    | TaskEnded
    | TaskNotified
    | HookStarted
    | HookProgressed
    | HookEnded
    | TurnStarted
    | TurnEnded
    | ActivityChanged
    | ContextChanged
    | CompactionEnded
    | RetryScheduled
    | InterruptSent
    | SessionChanged
    | SessionStateChanged
    | ModelChanged
    | ModeChanged
    | McpChanged
    | RateLimitChanged
    | AuthChanged
    | ConversationReset
    | FilesPersisted
    | FilesRewound
    | PromptSuggested
    | ControlAnswered
    | ControlProgressed
    | NoticeShown
    | UnknownSeen
    | BadLineSeen
)

__all__ = [
    "ActivityChanged",
    "AuthChanged",
    "BadLineSeen",
    "BlockStarted",
    "CompactionEnded",
    "ContextChanged",
    "ControlAnswered",
    "ControlProgressed",
    "ConversationReset",
    "DialogAsked",
    "ElicitationAsked",
    "ElicitationCompleted",
    "Event",
    "EventBase",
    "FilesPersisted",
    "FilesRewound",
    "HookEnded",
    "HookProgressed",
    "HookStarted",
    "InterruptSent",
    "McpChanged",
    "ModeChanged",
    "ModelChanged",
    "NoticeShown",
    "PermissionAsked",
    "PlanChanged",
    "PlanReviewAsked",
    "PromptChanged",
    "PromptSent",
    "PromptSuggested",
    "QuestionsAsked",
    "RateLimitChanged",
    "RequestAnswered",
    "RequestCancelled",
    "Retracted",
    "RetryScheduled",
    "SessionChanged",
    "SessionStateChanged",
    "TaskChanged",
    "TaskEnded",
    "TaskNotified",
    "TaskProgressed",
    "TaskStarted",
    "TextAdded",
    "TextCompleted",
    "ThinkingAdded",
    "ThinkingCompleted",
    "ThinkingCounted",
    "ToolBackgrounded",
    "ToolCalled",
    "ToolEnded",
    "ToolInputAdded",
    "ToolOutputAdded",
    "ToolProgressed",
    "ToolStarted",
    "ToolsSummarised",
    "TurnEnded",
    "TurnStarted",
    "UnknownSeen",
]
