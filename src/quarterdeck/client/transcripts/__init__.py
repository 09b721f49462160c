"""Sessions on disk: list, search, read, rename, tag, delete, fork, import, export.

The names, arguments and results are those of the official SDK; what it lacks (search, import, export, iterators) has
names of its own.
"""

from __future__ import annotations

from .changes import delete_session, rename_session, tag_session
from .errors import (
    NotATranscript,
    SessionExists,
    SessionNotFound,
    TranscriptError,
    TranscriptOutside,
    TranscriptUnwritable,
)
from .export import ExportFormat, export_session, import_session
from .fork import fork_session
from .listing import get_session_info, list_sessions
from .messages import (
    get_session_messages,
    get_subagent_messages,
    iter_session_messages,
    iter_session_records,
    list_subagents,
)
from .places import project_key_for_directory
from .search import search_sessions
from .types import ForkSessionResult, SDKSessionInfo, SearchHit, SessionMessage

__all__ = [
    "ExportFormat",
    "ForkSessionResult",
    "NotATranscript",
    "SDKSessionInfo",
    "SearchHit",
    "SessionExists",
    "SessionMessage",
    "SessionNotFound",
    "TranscriptError",
    "TranscriptOutside",
    "TranscriptUnwritable",
    "delete_session",
    "export_session",
    "fork_session",
    "get_session_info",
    "get_session_messages",
    "get_subagent_messages",
    "import_session",
    "iter_session_messages",
    "iter_session_records",
    "list_sessions",
    "list_subagents",
    "project_key_for_directory",
    "rename_session",
    "search_sessions",
    "tag_session",
]
