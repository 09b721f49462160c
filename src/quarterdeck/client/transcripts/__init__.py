"""Sessions on disk: list, search, read, rename, tag, archive, delete, fork, import, export.

The names, arguments and results are those of the official SDK; what it lacks (search, import, export, iterators) has
names of its own. Each name is imported when it is first used.
"""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from .archive import archive_session, unarchive_session
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

__all__: list[str] = []
_names = LazyNames(globals())
_names.of(".archive")
__all__ += ["archive_session", "unarchive_session"]
_names.of(".changes")
__all__ += ["delete_session", "rename_session", "tag_session"]
_names.of(".errors")
__all__ += ["NotATranscript", "SessionExists", "SessionNotFound", "TranscriptError", "TranscriptOutside"]
__all__ += ["TranscriptUnwritable"]
_names.of(".export")
__all__ += ["ExportFormat", "export_session", "import_session"]
_names.of(".fork")
__all__ += ["fork_session"]
_names.of(".listing")
__all__ += ["get_session_info", "list_sessions"]
_names.of(".messages")
__all__ += ["get_session_messages", "get_subagent_messages", "iter_session_messages", "iter_session_records"]
__all__ += ["list_subagents"]
_names.of(".places")
__all__ += ["project_key_for_directory"]
_names.of(".search")
__all__ += ["search_sessions"]
_names.of(".types")
__all__ += ["ForkSessionResult", "SDKSessionInfo", "SearchHit", "SessionMessage"]
