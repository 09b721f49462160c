"""What a session works on: worktrees, its changes, transcripts to adopt, files and events from outside."""

from __future__ import annotations

import argparse
import asyncio
import mimetypes
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from quarterdeck.cli.common import OK, USAGE_ERROR, Look, ReportedError, sanitize
from quarterdeck.cli.common.resolving import matching
from quarterdeck.cli.common.table import Column, one_line, path_end, short_ids, table
from quarterdeck.host.requests import (
    AddEvent,
    CreateWorktree,
    DeleteWorktree,
    InFolder,
    ListTranscripts,
    OfSession,
    OfTranscript,
    Upload,
)

from .naming import find_session, only
from .showing import print_json, since
from .steering import shown

if TYPE_CHECKING:
    from quarterdeck.remote import RemoteHost

DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan", "d": "bold", "i": "bold"}
"""By the first character of a line of a diff."""


async def list_worktrees(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck worktree list``."""
    found = (await host.list_worktrees(InFolder(cwd=given.cwd))).details["worktrees"]
    if given.json:
        _print_dicts(found)
        return OK
    columns = [
        Column("BRANCH", [one_line(one["branch"] or "(detached)", 40) for one in found], "bold"),
        Column("COMMIT", [(one["commit"] or "")[:10] for one in found], "dim"),
    ]
    print(
        "\n".join(table(columns, Column("PATH", [one_line(one["path"], 1_000) for one in found]), Look.of(sys.stdout)))
    )
    return OK


async def create_worktree(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck worktree create``: its path alone on stdout, so that a script can take it."""
    made = await host.create_worktree(CreateWorktree(cwd=given.cwd, name=given.name, base=given.base))
    if given.json:
        print_json(made)
    else:
        print(made.details["path"])
    return OK


async def remove_worktree(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck worktree remove``."""
    accepted = await host.delete_worktree(DeleteWorktree(path=given.path, force=given.force))
    if given.json:
        print_json(accepted)
    else:
        print(f"{given.path}  removed")
    return OK


async def show_diff(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck diff``: on a terminal in colour and without control characters, in a pipe as it is."""
    session = await find_session(host, given.session)
    details = (await host.get_diff(OfSession(session_id=session.id))).details
    if given.json:
        _print_dicts([details])
        return OK
    look = Look.of(sys.stdout)
    text: str = details["diff"]
    if sys.stdout.isatty():
        text = "\n".join(_coloured(line, look) for line in text.splitlines())
    if text:
        print(text.rstrip("\n"))
    if details["truncated"]:
        print("quarterdeck diff: the diff is too long; not all of it is shown", file=sys.stderr)
    for path in details["left_out"]:
        print(look.paint("yellow", f"new, not shown: {sanitize(path, one_line=True)}"), file=sys.stderr)
    if not text and not details["untracked"]:
        print("Nothing changed.", file=sys.stderr)
    return OK


def _coloured(line: str, look: Look) -> str:
    return look.paint(DIFF_STYLES.get(line[:1], ""), sanitize(line, one_line=True)) if line else ""


async def adopt(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck adopt``."""
    listed = await host.list_transcripts(ListTranscripts(cwd=given.cwd, q=given.search))
    found: list[dict[str, Any]] = listed.details["transcripts"]
    if given.transcript is None:
        return _list_transcripts(found, as_json=given.json)
    wanted = given.transcript
    matches = matching(wanted, found, ids=lambda one: (one["session_id"],), title=_title)
    rows = [f"{one['session_id']}  {one_line(_title(one), 40)}" for one in matches]
    none, several = f"no such transcript: {wanted!r}", f"{wanted!r} matches several transcripts"
    transcript = only(matches, rows, none, several, "adopt")["session_id"]
    session = await host.adopt_transcript(OfTranscript(transcript_id=transcript))
    if given.json:
        print_json(session)
    else:
        print(f"{shown(session)}  adopted; continue with quarterdeck attach {session.id[:8]}")
    return OK


def _list_transcripts(found: list[dict[str, Any]], *, as_json: bool) -> int:
    if as_json:
        _print_dicts(found)
        return OK
    if not found:
        print("No transcripts.")
        return OK
    look, home = Look.of(sys.stdout), str(Path.home())
    columns = [
        Column("ID", short_ids([one["session_id"] for one in found]), "cyan"),
        Column("CHANGED", [_changed(one["last_modified"]) for one in found], "dim", right=True),
        Column("SESSION", [(one["adopted_as"] or "")[:8] for one in found], "green"),
        Column("FOLDER", [path_end(one.get("cwd") or "", max(look.width // 4, 12), home=home) for one in found], "dim"),
    ]
    print("\n".join(table(columns, Column("TITLE", [one_line(_title(one), 1_000) for one in found]), look)))
    return OK


def _title(transcript: dict[str, Any]) -> str:
    return str(transcript.get("custom_title") or transcript.get("summary") or "")


def _changed(milliseconds: int) -> str:
    return since(datetime.fromtimestamp(milliseconds / 1_000, UTC))


async def upload(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck upload``: all files are read before one is sent."""
    session = await find_session(host, given.session)
    for path, body in [(path, await asyncio.to_thread(_read, path)) for path in given.files]:
        media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        kept = await host.upload(Upload(session_id=session.id, name=path.name, media_type=media_type, body=body))
        if given.json:
            _print_dicts([kept.details])
        else:
            print(kept.details["path"])
    return OK


def _read(path: Path) -> bytes:
    try:
        return path.expanduser().read_bytes()
    except OSError as error:
        raise ReportedError(f"cannot read {path}: {error.strerror}", "Check the path.", code=USAGE_ERROR) from error


async def add_event(host: RemoteHost, given: argparse.Namespace, data: dict[str, Any]) -> int:
    """``quarterdeck event``."""
    session = await find_session(host, given.session)
    event = AddEvent(session_id=session.id, type=given.type, data=data, prompt=given.prompt)
    accepted = await host.add_event(event)
    if given.json:
        print_json(accepted)
    return OK


def _print_dicts(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        sys.stdout.write(msgspec.json.encode(row).decode() + "\n")
    sys.stdout.flush()
