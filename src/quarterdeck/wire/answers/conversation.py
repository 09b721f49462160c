"""Answers about what the session does: its messages, its tasks, its files."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from quarterdeck.wire._base import OpenObject
from quarterdeck.wire._shapes import Number

from .base import Answer

NoDiffReason: TypeAlias = Literal["no-repository", "repository-refused", "repository-busy", "diff-failed", "root-moved"]


class CancelAsyncMessageResult(Answer):
    """Whether the message was still waiting."""

    cancelled: bool = False


class RewindFilesResult(Answer, rename="camel"):
    """What a rewind did. A dry run reports files and lines, a real one only the links it left alone (2.1.325)."""

    can_rewind: bool
    error: str | None = None
    files_changed: list[str] | None = None
    insertions: int | None = None
    deletions: int | None = None
    skipped_links: int | None = None


class ConversationRewind(Answer, rename="camel"):
    """Whether the conversation was rewound, and the prompt it was rewound to."""

    rewound: bool = False
    target_message_uuid: str | None = None
    prefill_text: str | None = None
    preceding_assistant_uuid: str | None = None
    error: str | None = None
    reason: str | None = None


class ConversationFork(Answer):
    """Whether the session was forked."""

    forked: bool = False
    error: str | None = None
    reason: str | None = None


class ConversationExport(Answer):
    """The conversation as text, and a name for its file."""

    text: str
    default_filename: str | None = None


class SideAnswer(Answer):
    """The answer to a side question; ``synthetic`` if the CLI wrote it."""

    response: str | None = None
    synthetic: bool = False
    refusal_fallback: dict[str, Any] | None = None


class SessionTitle(Answer):
    """A title; None if there is too little context."""

    title: str | None = None


class BackgroundTasksResult(Answer):
    """Whether something went to the background; 2.1.325 does not say so for a request without ``tool_use_id``."""

    backgrounded: bool | None = None


class TaskOutput(Answer):
    """The end of what a task has written."""

    output: str
    total_bytes: int | None = None
    truncated: bool | None = None


class FileContents(Answer):
    """A file; ``encoding`` is set only if it is ``base64``."""

    contents: str
    abs_path: str | None = msgspec.field(name="absPath", default=None)
    truncated: bool | None = None
    encoding: str | None = None
    lossy: bool | None = None
    requested_path: str | None = None
    anchor: str | None = None
    offset: int | None = None
    read_bytes: int | None = None
    total_bytes: int | None = None
    etag: str | None = None


class SuggestedFile(OpenObject):
    """A file that matches."""

    path: str
    score: Number | None = None


class FileSuggestions(Answer):
    """Files that match, relative to ``cwd``."""

    suggestions: list[SuggestedFile] | None = None
    cwd: str | None = None


class DiffStats(OpenObject, rename="camel"):
    """The size of a diff."""

    files_count: int | None = None
    lines_added: int | None = None
    lines_removed: int | None = None


class DiffFileStats(OpenObject, rename="camel"):
    """The size of a diff in one file."""

    path: str
    added: int | None = None
    removed: int | None = None
    is_binary: bool | None = None
    is_untracked: bool | None = None
    status: str | None = None
    previous_path: str | None = None
    new_path: str | None = None


class DiffHunk(OpenObject, rename="camel"):
    """Lines that changed together, each with its ``+``, ``-`` or space before it."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: list[str]


class DiffFileHunks(OpenObject):
    """The changes in one file."""

    path: str
    hunks: list[DiffHunk]


class Diff(OpenObject, rename="camel"):
    """The changes against the last commit or a base branch."""

    stats: DiffStats | None = None
    per_file_stats: list[DiffFileStats] | None = None
    hunks: list[DiffFileHunks] | None = None
    omitted: dict[str, Any] | None = None
    skipped_large: list[str] | None = None
    restricted: list[str] | None = None
    source: dict[str, Any] | None = None


class WorkspaceDiff(Answer, rename="camel"):
    """The changes in the working tree, or why there is no diff."""

    diff: Diff | None = None
    no_diff_reason: str | None = None
