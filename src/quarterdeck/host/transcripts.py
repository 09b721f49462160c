"""The CLI's transcripts on disk, as a host needs them: which there are, what is in one, and who owns it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from quarterdeck.client.transcripts import (
    SDKSessionInfo,
    SearchHit,
    SessionNotFound,
    get_session_info,
    iter_session_records,
    list_sessions,
    search_sessions,
)

from .errors import HostError

SHOWN = 500


def uuids_in(transcript: str, cwd: str) -> set[str] | None:
    """The ids of everything that was written to a transcript; None if it is not where we look."""
    try:
        return {str(record["uuid"]) for record in iter_session_records(transcript, cwd) if "uuid" in record}
    except (SessionNotFound, ValueError, OSError):
        return None


def found(cwd: str | None, text: str) -> list[dict[str, Any]]:
    """Transcripts of a folder, or of all, with a text in them."""
    if not text:
        return [asdict(info) for info in list_sessions(cwd, limit=SHOWN)]
    hits: dict[str, SearchHit] = {}
    for hit in search_sessions(text, cwd):
        hits.setdefault(hit.session_id, hit)
        if len(hits) == SHOWN:
            break
    infos = [(get_session_info(session_id, cwd), hit) for session_id, hit in hits.items()]
    return [{**asdict(info), "excerpt": hit.excerpt} for info, hit in infos if info is not None]


def info_of(transcript: str) -> SDKSessionInfo:
    """What is known about a transcript. Raises ``HostError``."""
    try:
        info = get_session_info(transcript)
    except ValueError as error:
        raise HostError("invalid", str(error), field="transcript_id") from error
    if info is None:
        raise HostError("not_found", f"There is no transcript {transcript}.", field="transcript_id")
    return info


def owner_of(transcript: str) -> int | None:
    """A process on this machine that was started for the transcript. Only where there is a ``/proc``."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended, or is somebody else's
        if any(transcript.encode() in word for word in words) and any(b"claude" in word for word in words[:3]):
            return int(entry.parent.name)
    return None
