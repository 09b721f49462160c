"""Copy a stored session under a new id, up to a message or whole."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from quarterdeck.wire._json import dumps

from .lines import TranscriptFile, record_of
from .links import RecordLink, links_in
from .places import SUFFIX, check_session_id
from .summary import title_of
from .types import ForkSessionResult
from .windows import WINDOW_BYTES, WindowFacts
from .writing import create_transcript, transcript_to_change

_LEFT_BEHIND = ("teamName", "agentName", "slug", "sourceToolAssistantUUID")
"""What ties a record to the session it comes from."""


def now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def fork_session(
    session_id: str,
    directory: str | None = None,
    up_to_message_id: str | None = None,
    title: str | None = None,
) -> ForkSessionResult:
    """Copy a session, completely or up to and including a message. The original stays unchanged.

    Every message gets a new uuid. File checkpoints are not copied. Raises ``ValueError`` for an invalid ID, an unknown
    message or a session without messages, ``SessionNotFound`` and ``TranscriptUnwritable``.
    """
    check_fork(session_id, up_to_message_id)
    path = transcript_to_change(session_id, directory)
    with TranscriptFile(path) as transcript:
        plan = ForkPlan(session_id, list(links_in(transcript)), up_to_message_id)
        records = plan.records(
            lambda source: record_of(transcript.read(*source)),
            _replacements(transcript, session_id),
            title=title,
            derive_title=lambda: title_of(WindowFacts(*transcript.windows(WINDOW_BYTES))),
        )
        target = os.path.join(os.path.dirname(path), plan.session_id + SUFFIX)  # noqa: PTH118, PTH120
        create_transcript(target, map(dumps, records))
    return ForkSessionResult(plan.session_id)


def check_fork(session_id: str, up_to_message_id: str | None) -> None:
    check_session_id(session_id)
    if up_to_message_id:
        check_session_id(up_to_message_id, "up_to_message_id")


def _replacements(transcript: TranscriptFile, session_id: str) -> list[Any]:
    marked = (line for _, line in transcript.lines() if b"content-replacement" in line)
    return replacements_in(filter(None, map(record_of, marked)), session_id)


def replacements_in(records: Iterable[Any], session_id: str) -> list[Any]:
    """What the CLI put in the place of contents that were too large."""
    found: list[Any] = []
    for record in records:
        if record.get("type") == "content-replacement" and record.get("sessionId") == session_id:
            replacements = record.get("replacements")
            found += replacements if isinstance(replacements, list) else []
    return found


class ForkPlan:
    """Which records go into the copy, and under which uuids."""

    def __init__(self, session_id: str, links: Sequence[RecordLink], up_to: str | None) -> None:
        """Raises ``ValueError`` if there is nothing to copy."""
        self._from = session_id
        self.session_id = str(uuid.uuid4())
        main = [link for link in links if not link.is_sidechain]
        if up_to:
            main = main[: self._place(main, up_to) + 1]
        self._written = [link for link in main if link.type != "progress"]
        if not self._written:
            raise ValueError(f"Session {session_id} has no messages to fork")
        self._by_uuid = {link.uuid: link for link in main}
        self._new = {link.uuid: str(uuid.uuid4()) for link in main}

    def _place(self, links: Sequence[RecordLink], message_id: str) -> int:
        for index, link in enumerate(links):
            if link.uuid == message_id:
                return index
        raise ValueError(f"Message {message_id} not found in session {self._from}")

    def records(
        self,
        read: Callable[[Any], dict[str, Any] | None],
        replacements: list[Any],
        *,
        title: str | None,
        derive_title: Callable[[], str | None],
    ) -> Iterator[dict[str, Any]]:
        """The records of the copy, one by one. ``read`` gets a link's source."""
        at = now()
        for link in self._written:
            original = read(link.source)
            if original is not None:
                yield self._copy(link, original, at)
        if replacements:
            yield self._about({"type": "content-replacement"}, at, replacements=replacements)
        name = (title or "").strip() or f"{derive_title() or 'Forked session'} (fork)"
        yield self._about({"type": "custom-title"}, at, customTitle=name)

    def _copy(self, link: RecordLink, original: dict[str, Any], at: str) -> dict[str, Any]:
        logical = original.get("logicalParentUuid")
        copy = {
            **original,
            "uuid": self._new[link.uuid],
            "parentUuid": self._parent(link),
            "logicalParentUuid": self._new.get(logical) if logical else logical,
            "sessionId": self.session_id,
            # The last one gets a new time: the CLI resumes from the newest leaf.
            "timestamp": at if link is self._written[-1] else original.get("timestamp", at),
            "isSidechain": False,
            "forkedFrom": {"sessionId": self._from, "messageUuid": link.uuid},
        }
        for key in _LEFT_BEHIND:
            copy.pop(key, None)
        return copy

    def _parent(self, link: RecordLink) -> str | None:
        """Records of progress are not copied: what hangs on one hangs on its parent in the copy."""
        seen: set[str] = set()
        parent = self._by_uuid.get(link.parent) if link.parent else None
        while parent is not None and parent.type == "progress" and parent.uuid not in seen:
            seen.add(parent.uuid)
            parent = self._by_uuid.get(parent.parent) if parent.parent else None
        return None if parent is None or parent.uuid in seen else self._new[parent.uuid]

    def _about(self, record: dict[str, Any], at: str, **fields: Any) -> dict[str, Any]:
        return {**record, "sessionId": self.session_id, **fields, "uuid": str(uuid.uuid4()), "timestamp": at}
