"""What happened, for live viewers. Every event can be written as JSON and read back (``Event``).

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

``id`` identifies the block or call of an event, and is also the item's id in the state; ``parent_id`` is the call of
the sub-agent that it belongs to. A program that prints ``TextAdded.text`` and then ``TextCompleted.rest`` prints each
character once, whether the CLI streams or not.
"""

from __future__ import annotations

# ruff: noqa: F403, F405  # a star takes every event that a module defines
from quarterdeck.timeline._words import EventBase as EventBase

from .requests import *
from .said import *
from .session import *
from .tasks import *
from .tools import *
from .turns import *

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
