"""What a list shows of a session, whether it is on disk or in a store.

Where the facts come from differs: from two windows of a file (``windows``), or from a summary that a store keeps
(``transcript_stores.summary``). What is made of them is decided here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol

from .types import SDKSessionInfo


class SessionFacts(Protocol):
    """What is known about a session. Each fact is computed on demand."""

    def is_sidechain(self) -> bool:
        """A sub-agent's transcript, which no list shows."""
        ...

    def title(self) -> str | None:
        """The one a person gave, else the one the model made up."""
        ...

    def topic(self) -> str | None:
        """What the person asked last, else what the session was about: as far as the CLI has written it down."""
        ...

    def prompt(self) -> str | None:
        """The first prompt, else the first slash command."""
        ...

    def branch(self) -> str | None: ...
    def cwd(self) -> str | None: ...
    def tag(self) -> str | None: ...
    def created_at(self) -> int | None: ...


def session_info(
    session_id: str, facts: SessionFacts, *, mtime: int, size: int | None, project: str | None
) -> SDKSessionInfo | None:
    """None for a sub-agent's transcript and for one that has nothing to show."""
    if facts.is_sidechain():
        return None
    title, prompt = facts.title(), facts.prompt()
    summary = title or facts.topic() or prompt
    if not summary:
        return None
    return SDKSessionInfo(
        session_id,
        summary,
        mtime,
        size,
        title,
        prompt,
        facts.branch(),
        facts.cwd() or project or None,
        facts.tag(),
        facts.created_at(),
    )


def title_of(facts: SessionFacts) -> str | None:
    """The title, or the first prompt if there is none."""
    return facts.title() or facts.prompt()


def epoch_ms(timestamp: Any) -> int | None:
    """An ISO 8601 time in milliseconds since 1970; None if it is not one."""
    if not isinstance(timestamp, str):
        return None
    try:
        return int(datetime.fromisoformat(timestamp).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None
