"""The CLI's transcripts on disk: which exist, what they contain, and which process uses one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from quarterdeck.client.transcripts import (
    SDKSessionInfo,
    SearchHit,
    SessionNotFound,
    get_session_info,
    iter_session_records,
    list_sessions,
    search_sessions,
)
from quarterdeck.client.transcripts.places import CONFIG_DIR, config_dir, started_with

from .errors import HostError

SHOWN = 500


def uuids_in(transcript: str, cwd: str, env: Mapping[str, str]) -> set[str] | None:
    """The IDs of all records in a transcript; None if it isn't found."""
    try:
        with started_with(env):
            return {str(record["uuid"]) for record in iter_session_records(transcript, cwd) if "uuid" in record}
    except (SessionNotFound, ValueError, OSError):
        return None


def is_there(transcript: str, env: Mapping[str, str]) -> bool:
    """Whether Claude Code with this environment would find the transcript."""
    try:
        with started_with(env):
            return get_session_info(transcript) is not None
    except (ValueError, OSError):
        return False


class Home(msgspec.Struct, frozen=True):
    """A configuration folder of Claude Code."""

    folder: str
    account: str = ""
    own_env: dict[str, str] = {}
    """The environment variables with which a session uses it."""

    @property
    def env(self) -> dict[str, str]:
        return {CONFIG_DIR: self.folder}


def found(homes: Iterable[Home], cwd: str | None, text: str) -> list[dict[str, Any]]:
    """List transcripts of one or all folders that contain a text, newest first."""
    listed: list[dict[str, Any]] = []
    for home in homes:
        with started_with(home.env):
            listed += [{**one, "account": home.account, "home": home.folder} for one in _found(cwd, text)]
    return sorted(listed, key=lambda one: one["last_modified"], reverse=True)[:SHOWN]


def _found(cwd: str | None, text: str) -> list[dict[str, Any]]:
    if not text:
        return [asdict(info) for info in list_sessions(cwd, limit=SHOWN)]
    hits: dict[str, SearchHit] = {}
    for hit in search_sessions(text, cwd):
        hits.setdefault(hit.session_id, hit)
        if len(hits) == SHOWN:
            break
    infos = [(get_session_info(session_id, cwd), hit) for session_id, hit in hits.items()]
    return [{**asdict(info), "excerpt": hit.excerpt} for info, hit in infos if info is not None]


def info_of(homes: Iterable[Home], transcript: str) -> tuple[Home, SDKSessionInfo]:
    """Return a transcript's metadata and location. Raises ``HostError``."""
    for home in homes:
        try:
            with started_with(home.env):
                info = get_session_info(transcript)
        except ValueError as error:
            raise HostError("invalid", str(error), field="transcript_id") from error
        if info is not None:
            return home, info
    raise HostError("not_found", f"There is no transcript {transcript}.", field="transcript_id")


class _Running(msgspec.Struct, rename="camel"):
    """What a running CLI records in its configuration folder (``sessions/PID.json``; seen in 2.1.325)."""

    pid: int
    session_id: str
    proc_start: str = ""


def owner_of(transcript: str, env: Mapping[str, str]) -> int | None:
    """Find a process on this machine that uses the transcript. Needs ``/proc``.

    Checks a process's command line or, if that doesn't name a transcript, what the process recorded.
    """
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended, or belongs to someone else
        if any(transcript.encode() in word for word in words) and any(b"claude" in word for word in words[:3]):
            return int(entry.parent.name)
    for path in Path(config_dir(env), "sessions").glob("*.json"):
        try:
            running = msgspec.json.decode(path.read_bytes(), type=_Running)
        except (OSError, msgspec.MsgspecError):
            continue
        if running.session_id == transcript and _began(running.pid) == running.proc_start:
            return running.pid
    return None


def _began(pid: int) -> str | None:
    """A process's start time in ticks since boot, which distinguishes it from a later one with the same ID."""
    try:
        stat = Path("/proc", str(pid), "stat").read_text(errors="replace")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]
