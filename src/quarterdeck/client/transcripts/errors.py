"""What can go wrong with transcripts on disk.

::

    QuarterdeckError
    └── TranscriptError
        ├── SessionNotFound          (FileNotFoundError)  no such session in the folders searched
        ├── SessionExists            (FileExistsError)    an import would overwrite a session
        ├── TranscriptUnwritable     (OSError)            read-only, full or failing disk; nothing was changed
        ├── TranscriptOutside        (PermissionError)    a symbolic link leads out of the projects folder
        └── NotATranscript           (ValueError)         an import found no session in the file

Each is also the built-in error that the official SDK raises for it, so ``except`` clauses written for it still work.
"""

from __future__ import annotations

import errno
import os

from quarterdeck._errors import QuarterdeckError

from .places import projects_dir


class TranscriptError(QuarterdeckError):
    """A stored session could not be read or changed."""


class SessionNotFound(TranscriptError, FileNotFoundError):  # noqa: N818  # says what happened
    """The session does not exist."""

    def __init__(self, session_id: str, directory: str | None = None) -> None:
        where = f"in project directory for {directory}" if directory else "in any project directory"
        if not directory and not os.path.isdir(projects_dir()):  # noqa: PTH112
            where = "(no projects directory)"
        super().__init__(f"Session {session_id} not found {where}; list_sessions() lists what exists")
        self.session_id = session_id


class SessionExists(TranscriptError, FileExistsError):  # noqa: N818  # says what happened
    """A session with this id already exists."""


class NotATranscript(TranscriptError, ValueError):  # noqa: N818  # says what happened
    """No line of the file belongs to a session."""


class TranscriptOutside(TranscriptError, PermissionError):  # noqa: N818  # says what happened
    """A symbolic link leads out of the projects folder; its target belongs to someone else and is left alone."""


class TranscriptUnwritable(TranscriptError, OSError):  # noqa: N818  # says what happened
    """The disk did not take a change. The session is as it was before."""

    @classmethod
    def because(cls, error: OSError, what: str) -> TranscriptUnwritable:
        advice = {
            errno.ENOSPC: "free some space",
            errno.EDQUOT: "free some space",
            errno.EROFS: "the file system is read-only",
            errno.EACCES: "check who owns it",
            errno.EPERM: "check who owns it",
        }
        code = error.errno or 0
        hint = advice.get(code)
        reason = os.strerror(code) if code else str(error)
        return cls(code, f"{what}: {reason}{f' ({hint})' if hint else ''}; nothing was changed", error.filename)
