"""Requests about what the session does: its messages, its tasks, its files."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from quarterdeck.wire._base import WireObject
from quarterdeck.wire.answers.conversation import (
    BackgroundTasksResult,
    CancelAsyncMessageResult,
    ConversationExport,
    ConversationFork,
    ConversationRewind,
    FileContents,
    FileSuggestions,
    RewindFilesResult,
    SessionTitle,
    SideAnswer,
    TaskOutput,
    WorkspaceDiff,
)

from . import OutgoingRequest

FileEncoding: TypeAlias = Literal["utf-8", "base64"]
Sentiment: TypeAlias = Literal["positive", "negative"]
RatedSurface: TypeAlias = Literal["tool_use", "assistant_text"]


class CancelAsyncMessageRequest(OutgoingRequest, tag="cancel_async_message"):
    """Cancel a queued user message."""

    Answer: ClassVar[Any] = CancelAsyncMessageResult

    message_uuid: str


class RewindFilesRequest(OutgoingRequest, tag="rewind_files"):
    """Restore files to their state at a user message. Failure is an error; for a dry run, ``canRewind`` is false."""

    Answer: ClassVar[Any] = RewindFilesResult

    user_message_id: str
    dry_run: bool | None = None


class RewindConversationRequest(OutgoingRequest, tag="rewind_conversation"):
    """Go back to before a user message."""

    Answer: ClassVar[Any] = ConversationRewind

    target_message_uuid: str
    expires_at: str | None = None
    allow_target_behind_compaction: bool | None = None


class ForkConversationRequest(OutgoingRequest, tag="fork_conversation"):
    """Fork the session in the cloud; elsewhere 2.1.325 answers that it is unsupported."""

    Answer: ClassVar[Any] = ConversationFork


class ExportConversationRequest(OutgoingRequest, tag="export_conversation"):
    """The conversation as plain text."""

    Answer: ClassVar[Any] = ConversationExport


class SideExchange(WireObject):
    """An earlier side question and its answer."""

    question: str
    response: str


class SideQuestionRequest(OutgoingRequest, tag="side_question"):
    """Ask about the conversation without being part of it. Can be cancelled."""

    Answer: ClassVar[Any] = SideAnswer

    question: str
    history: list[SideExchange] | None = None


class GenerateSessionTitleRequest(OutgoingRequest, tag="generate_session_title"):
    """Let the model choose a title."""

    Answer: ClassVar[Any] = SessionTitle

    description: str
    persist: bool | None = None


class MessageRatedRequest(OutgoingRequest, tag="message_rated", rename="camel"):
    """Record that the user liked or disliked a message."""

    Answer: ClassVar[Any] = dict

    message_uuid: str
    sentiment: str
    surface: str | None = None
    cleared: bool | None = None


class StopTaskRequest(OutgoingRequest, tag="stop_task"):
    """Stop a background task; an unknown task is not an error."""

    task_id: str


class BackgroundTasksRequest(OutgoingRequest, tag="background_tasks"):
    """Send running commands to the background. In a command's first seconds it has no effect (2.1.325)."""

    Answer: ClassVar[Any] = BackgroundTasksResult

    tool_use_id: str | None = None


class GetTaskOutputRequest(OutgoingRequest, tag="get_task_output"):
    """What a background task has written so far."""

    Answer: ClassVar[Any] = TaskOutput

    task_id: str


class ReadFileRequest(OutgoingRequest, tag="read_file"):
    """Read a file through the session and its permissions."""

    Answer: ClassVar[Any] = FileContents

    path: str
    max_bytes: int | None = None
    encoding: str | None = None
    offset: int | None = None
    anchor: dict[str, Any] | None = None


class SeedReadStateRequest(OutgoingRequest, tag="seed_read_state"):
    """Make the session believe that it has read a file as it was at ``mtime`` (in milliseconds)."""

    path: str
    mtime: int | float


class FileSuggestionsRequest(OutgoingRequest, tag="file_suggestions"):
    """Files whose names match, for completion."""

    Answer: ClassVar[Any] = FileSuggestions

    query: str


class GetWorkspaceDiffRequest(OutgoingRequest, tag="get_workspace_diff"):
    """What has changed in the working tree."""

    Answer: ClassVar[Any] = WorkspaceDiff
