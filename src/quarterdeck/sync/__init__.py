"""The client for programs without an event loop: the same names, and every call waits.

All sessions share one event loop in a thread of its own, so this also works where a loop runs already (a notebook) and
from several threads at once. Callbacks may be plain functions: each call gets a thread, so it may block and may use the
session.
"""

from __future__ import annotations

from .oneshot import prompt, query, resume_session
from .sdk import ClaudeSDKClient
from .session import Session, connect
from .turn import Turn

__all__ = ["ClaudeSDKClient", "Session", "Turn", "connect", "prompt", "query", "resume_session"]
