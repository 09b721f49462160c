"""Rename, tag, delete, fork sessions in a store, and copy sessions from disk into one."""

from __future__ import annotations

import uuid
from typing import Any, cast

from quarterdeck.client.transcripts.changes import tag_record, title_record
from quarterdeck.client.transcripts.errors import SessionNotFound
from quarterdeck.client.transcripts.fork import ForkPlan, check_fork, now, replacements_in
from quarterdeck.client.transcripts.lines import TranscriptFile, record_of
from quarterdeck.client.transcripts.links import links_of
from quarterdeck.client.transcripts.messages import agent_files, agent_meta
from quarterdeck.client.transcripts.places import check_session_id, find_transcript, project_key_for_directory
from quarterdeck.client.transcripts.summary import title_of
from quarterdeck.client.transcripts.types import ForkSessionResult

from .protocol import SessionKey, SessionStore, SessionStoreEntry, implements, key_for
from .reading import AGENT_METADATA
from .summary import FoldedFacts, fold_session_summary

BATCH_ENTRIES = 500
BATCH_BYTES = 1024 * 1024


async def rename_session_via_store(
    session_store: SessionStore, session_id: str, title: str, directory: str | None = None
) -> None:
    """Give a session a title. Raises ``ValueError`` for an empty title or an invalid id."""
    await _append(session_store, title_record(session_id, title), session_id, directory)


async def tag_session_via_store(
    session_store: SessionStore, session_id: str, tag: str | None, directory: str | None = None
) -> None:
    """Set a session's tag; None removes it."""
    await _append(session_store, tag_record(session_id, tag), session_id, directory)


async def _append(store: SessionStore, record: dict[str, Any], session_id: str, directory: str | None) -> None:
    entry = cast("SessionStoreEntry", {**record, "uuid": str(uuid.uuid4()), "timestamp": now()})
    await store.append(key_for(project_key_for_directory(directory), session_id), [entry])


async def delete_session_via_store(session_store: SessionStore, session_id: str, directory: str | None = None) -> None:
    """Remove a session. A store without ``delete`` keeps everything, so nothing happens there."""
    check_session_id(session_id)
    if implements(session_store, "delete"):
        await session_store.delete(key_for(project_key_for_directory(directory), session_id))


async def fork_session_via_store(
    session_store: SessionStore,
    session_id: str,
    directory: str | None = None,
    up_to_message_id: str | None = None,
    title: str | None = None,
) -> ForkSessionResult:
    """A copy of a session under a new id, as ``fork_session`` makes it on disk."""
    check_fork(session_id, up_to_message_id)
    project_key = project_key_for_directory(directory)
    entries = cast("list[Any]", await session_store.load(key_for(project_key, session_id)))
    if not entries:
        raise SessionNotFound(session_id, directory)
    plan = ForkPlan(session_id, list(links_of(entries)), up_to_message_id)
    replacements = replacements_in((entry for entry in entries if isinstance(entry, dict)), session_id)
    records = plan.records(lambda entry: entry, replacements, title=title, derive_title=lambda: _title(entries))
    await session_store.append(key_for(project_key, plan.session_id), cast("list[SessionStoreEntry]", list(records)))
    return ForkSessionResult(plan.session_id)


def _title(entries: list[Any]) -> str | None:
    records = [entry for entry in entries if isinstance(entry, dict)]
    folded = fold_session_summary(None, key_for("", ""), cast("list[SessionStoreEntry]", records))
    return title_of(FoldedFacts(folded["data"]))


async def import_session_to_store(
    session_id: str,
    store: SessionStore,
    *,
    directory: str | None = None,
    include_subagents: bool = True,
    batch_size: int = BATCH_ENTRIES,
) -> None:
    """Copy a session from disk into a store, as if it had been mirrored from the start. Files are streamed.

    Repeating it is safe with a store that keeps a record once by its uuid. Torn and corrupt lines are left out.
    """
    check_session_id(session_id)
    found = find_transcript(session_id, directory)
    if found is None:
        raise SessionNotFound(session_id, directory)
    path, size = found[0], batch_size if batch_size > 0 else BATCH_ENTRIES
    project_key = path.replace("\\", "/").rsplit("/", 2)[-2]
    await _copy(path, key_for(project_key, session_id), store, size)
    for subpath, file in agent_files(path) if include_subagents else ():
        key = key_for(project_key, session_id, subpath)
        await _copy(file, key, store, size)
        meta = agent_meta(file)
        if meta is not None:
            await store.append(key, [cast("SessionStoreEntry", {**meta, "type": AGENT_METADATA})])


async def _copy(path: str, key: SessionKey, store: SessionStore, batch_size: int) -> None:
    batch: list[SessionStoreEntry] = []
    held = 0
    with TranscriptFile(path) as transcript:
        for _, line in transcript.lines():
            record = record_of(line)
            if record is None:
                continue
            batch.append(cast("SessionStoreEntry", record))
            held += len(line)
            if len(batch) >= batch_size or held >= BATCH_BYTES:
                await store.append(key, batch)
                batch, held = [], 0
    if batch:
        await store.append(key, batch)
