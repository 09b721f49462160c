"""The messages of a session and its sub-agents."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from .chain import agent_conversation, shown_in
from .lines import TranscriptFile, record_of
from .links import RecordLink, links_in
from .places import SUFFIX, find_transcript, is_session_id
from .types import SessionMessage

META_SUFFIX = ".meta.json"


def page(links: Sequence[RecordLink], limit: int | None, offset: int) -> Sequence[RecordLink]:
    if limit is not None and limit > 0:
        return links[offset : offset + limit]
    return links[offset:] if offset > 0 else links


def session_message(record: dict[str, Any], parents: tuple[str | None, str | None] = (None, None)) -> SessionMessage:
    kind = cast("Literal['user', 'assistant', 'system']", record["type"])
    said = record if kind == "system" else record.get("message")
    return SessionMessage(kind, record["uuid"], record.get("sessionId", ""), said, *parents)


def get_session_messages(
    session_id: str,
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
    *,
    include_system_messages: bool = False,
) -> list[SessionMessage]:
    """The current conversation: prompts, answers and tool results of the current branch, oldest first.

    ``include_system_messages`` adds the CLI's notices, such as where the conversation was compacted. Empty if there is
    no such session. Only the requested messages are held in memory.
    """
    found = iter_session_messages(session_id, directory, limit, offset, include_system_messages=include_system_messages)
    return list(found)


def iter_session_messages(
    session_id: str,
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
    *,
    include_system_messages: bool = False,
) -> Iterator[SessionMessage]:
    """``get_session_messages`` one by one, for transcripts that are too large to hold."""
    found = find_transcript(session_id, directory) if is_session_id(session_id) else None
    if found is None:
        return
    with TranscriptFile(found[0]) as transcript:
        shown = shown_in(list(links_in(transcript)), include_system=include_system_messages)
        yield from _read(transcript, page(shown, limit, offset))


def _read(
    transcript: TranscriptFile, links: Sequence[RecordLink], parents: tuple[str | None, str | None] = (None, None)
) -> Iterator[SessionMessage]:
    for link in links:
        record = record_of(transcript.read(*link.source))
        if record is not None:
            yield session_message(record, parents)


def iter_session_records(session_id: str, directory: str | None = None) -> Iterator[dict[str, Any]]:
    """Every record of the transcript, unchanged: all branches, including unknown kinds of records."""
    found = find_transcript(session_id, directory) if is_session_id(session_id) else None
    if found is not None:
        with TranscriptFile(found[0]) as transcript:
            yield from transcript.records()


# Sub-agents


def agent_files(transcript: str) -> Iterator[tuple[str, str]]:
    """(path below the session's folder, file) of each ``*.jsonl`` that belongs to a session's sub-agents.

    A link to a folder is not followed: it may lead round in a circle.
    """
    folder = transcript.removesuffix(SUFFIX)
    yield from _walk(f"{folder}{os.sep}subagents", "subagents")


def _walk(folder: str, below: str) -> Iterator[tuple[str, str]]:
    try:
        with os.scandir(folder) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in ordered:
        name = f"{below}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, name)
        elif entry.name.endswith(SUFFIX) and entry.is_file():
            yield name.removesuffix(SUFFIX), entry.path


def agent_id_of(subpath: str) -> str | None:
    """The sub-agent whose transcript it is; None if it is something else."""
    name = subpath.rsplit("/", 1)[-1]
    return name.removeprefix("agent-") if name.startswith("agent-") else None


def _agents(session_id: str, directory: str | None) -> Iterator[tuple[str, str]]:
    found = find_transcript(session_id, directory) if is_session_id(session_id) else None
    if found is not None:
        for subpath, file in agent_files(found[0]):
            agent_id = agent_id_of(subpath)
            if agent_id is not None:
                yield agent_id, file


def list_subagents(session_id: str, directory: str | None = None) -> list[str]:
    """The ids of a session's sub-agents."""
    return [agent_id for agent_id, _ in _agents(session_id, directory)]


def get_subagent_messages(
    session_id: str,
    agent_id: str,
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[SessionMessage]:
    """The conversation of a sub-agent. Empty if there is no such sub-agent."""
    file = next((path for found, path in _agents(session_id, directory) if agent_id and found == agent_id), None)
    if file is None:
        return []
    try:
        with TranscriptFile(file) as transcript:
            said = agent_conversation(list(links_in(transcript)))
            shown = [link for link in said if link.type in ("user", "assistant")]
            return list(_read(transcript, page(shown, limit, offset), parents_of(agent_meta(file))))
    except OSError:
        return []


def meta_path(agent_file: str) -> Path:
    return Path(agent_file.removesuffix(SUFFIX) + META_SUFFIX)


def agent_meta(agent_file: str) -> dict[str, Any] | None:
    """What the CLI stores next to a sub-agent's transcript: its kind, what called it … None if unreadable."""
    try:
        meta = json.loads(meta_path(agent_file).read_bytes())
    except (OSError, ValueError):
        return None
    return meta if isinstance(meta, dict) else None


def parents_of(meta: dict[str, Any] | None) -> tuple[str | None, str | None]:
    """(the call, the sub-agent) that started a sub-agent."""
    call, agent = (meta or {}).get("toolUseId"), (meta or {}).get("parentAgentId")
    return call if isinstance(call, str) else None, agent if isinstance(agent, str) else None
