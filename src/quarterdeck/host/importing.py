"""Imports an exported session: archived, without a process, grants or anything pending.

The file is untrusted, so we read and fold all of it before writing a row, and reject any line that couldn't be in a log
of this host. Its parts are collected in a file next to the database.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import math
import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from quarterdeck.store import Commit
from quarterdeck.store.commits import Change, DeleteSession, PutSession, PutSetting, PutSnapshot
from quarterdeck.store.records import NewRow, SessionRecord
from quarterdeck.timeline.events import PromptSent

from . import requests as takes
from . import resources as returns
from .bodies import SessionBody, encode_body
from .callers import PROGRAM, Caller
from .errors import HostError
from .events import CustomEvent, ProcessChanged, QueueChanged
from .exporting import FORMAT, ExportedRow, ExportHeader
from .folders import as_path
from .folding import RowFold, encode_event
from .idempotency import id_for, once
from .scopes import sees
from .session_operations import SessionOperations
from .standing import searchable

UNFINISHED = "imports"
"""The setting that lists sessions whose import is in progress."""
LINE_BYTES = 96 * 1024 * 1024
"""A row has at most 64 MiB, and may be base64-encoded."""
PAGE_BYTES = 1024 * 1024
KEPT_S = 86_400.0
"""How long to keep the parts of an incomplete file."""
MOST_INCOMPLETE = 100
"""How many files may be incomplete at the same time."""
NAME_CHARS = 200
LATEST = 253_402_300_000.0
"""A time after the year 9999 could be stored, but not shown."""

_decode_header = msgspec.json.Decoder(ExportHeader).decode
_decode_row = msgspec.json.Decoder(ExportedRow).decode


class ImportOperations(SessionOperations):
    """Imports sessions of other hosts."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._importing = asyncio.Lock()

    async def _open(self) -> None:
        await super()._open()
        await self._remove_unfinished()

    async def _remove_unfinished(self) -> None:
        """Remove sessions whose import a crash interrupted."""
        kept = await self.store.setting(UNFINISHED)
        for session in [] if kept is None else msgspec.json.decode(kept, type=list[str]):
            if await self.store.head(session) is not None:
                fence = (await self.store.claim([session], owner=self.name))[session]
                await self.store.commit(Commit(session=session, fence=fence, changes=[DeleteSession()]))
        if kept is not None:
            await self.store.commit(Commit(changes=[PutSetting(UNFINISHED, None)]))

    @once
    async def import_session(
        self, request: takes.ImportSession, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Imported:
        """Import an exported session. It is archived."""
        place = self.folder / "imports"
        import_id = _checked_id(request.import_id)
        session_id = id_for("import_session", request, caller, key)
        async with self._importing:
            if key is not None and await self.store.session(session_id) is not None:  # imported before a crash
                size = request.offset + len(request.body)
                session = await self._view(await self._actor(session_id))
                return returns.Imported(import_id=import_id, size_bytes=size, session=session)
            size = await asyncio.to_thread(_collect, place, import_id, request, self.limits.import_bytes)
            if request.more:
                return returns.Imported(import_id=import_id, size_bytes=size)
            path = place / import_id
            try:
                read = await asyncio.to_thread(_read_whole, path)
                await self._write_session(session_id, path, read, request, caller)
            finally:
                await asyncio.to_thread(path.unlink, missing_ok=True)
        actor = await self._actor(session_id)
        return returns.Imported(import_id=import_id, size_bytes=size, session=await self._view(actor))

    async def _write_session(
        self, session_id: str, path: Path, read: _Whole, request: takes.ImportSession, caller: Caller
    ) -> None:
        header, now = read.header, self.now()
        cwd = as_path(header.cwd, absolute=True) if request.cwd is None else as_path(request.cwd)
        if not self.folders.allows(cwd) or not sees(caller, str(cwd)):
            raise HostError(
                "folder_not_allowed",
                f"Sessions are not allowed in {cwd}.",
                hint="Set cwd to another folder.",
                field="cwd",
            )
        await self._admit_session()
        name = header.name if request.name is None else request.name
        body = SessionBody(
            agent="claude",
            model=header.model,
            permission_mode=None,
            cli_version=header.cli_version,
            process="lost",
            state_since=now,
            state_reason="It was imported.",
            generation=read.generation,
            imported=True,
        )
        record = SessionRecord(
            id=session_id,
            state="stopped",
            cwd=str(cwd),
            created_at=header.created_at,
            active_at=read.last_at,
            name=name[:NAME_CHARS],
            tags=tuple(header.tags),
            text=read.text,
            archived=True,
            body=encode_body(body),
        )
        changes: list[Change] = [PutSession(record), PutSetting(UNFINISHED, msgspec.json.encode([session_id]))]
        changes.append(self._audit("import_session", caller, session_id, name=record.name, cwd=record.cwd))
        await self.store.commit(Commit(session=session_id, changes=changes, owner=self.name))
        fence = (await self.store.claim([session_id], owner=self.name))[session_id]
        try:
            pages = _pages(path)
            last_seq = 0
            while rows := await asyncio.to_thread(next, pages, None):
                last_seq = (await self.store.commit(Commit(session=session_id, fence=fence, rows=rows))).last_seq
            closing = _closing(header, caller, now, read.generation)
            for row in closing:
                read.fold.events(row)
            end: list[Change] = [
                PutSnapshot(last_seq + len(closing), read.fold.snapshot()),
                PutSetting(UNFINISHED, None),
            ]
            await self.store.commit(Commit(session=session_id, fence=fence, rows=closing, changes=end))
        except BaseException:
            with contextlib.suppress(Exception):
                await self.store.commit(Commit(session=session_id, fence=fence, changes=[DeleteSession()]))
            raise
        self.bell.ring()


def _closing(header: ExportHeader, caller: Caller, now: float, generation: int) -> list[NewRow]:
    """Rows to append so that nothing is running or pending, whatever the file says."""
    events = (
        QueueChanged(now, []),
        ProcessChanged(now, generation, "lost"),
        CustomEvent(now, "imported", {"session": header.id, "cwd": header.cwd}, caller.name),
    )
    return [NewRow(at=now, kind="event", origin="host", body=encode_event(event)) for event in events]


# Parts


def _checked_id(given: str | None) -> str:
    try:
        return str(uuid.uuid4() if given is None else uuid.UUID(given))
    except ValueError:
        raise HostError("invalid", f"{given!r} is not an import.", field="import_id") from None


def _collect(place: Path, import_id: str, request: takes.ImportSession, limit: int) -> int:
    """Store a part; returns how much has arrived. ``limit``: of one file, and of all that are incomplete."""
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = place / import_id
    others = _incomplete(place, but=path)
    if request.import_id is not None and not path.exists():
        raise HostError("not_found", f"There is no import {import_id}.", hint="Begin again.", field="import_id")
    size = path.stat().st_size if path.exists() else 0
    if not 0 <= request.offset <= size:
        raise HostError("invalid", f"{size} bytes received; send the next part from that offset.", field="offset")
    end = request.offset + len(request.body)
    if end > limit:
        path.unlink(missing_ok=True)
        raise HostError("too_large", f"Imports are limited to {limit} bytes.", field="body", limit_bytes=limit)
    if len(others) >= MOST_INCOMPLETE or end + sum(others) > limit:
        raise HostError(
            "busy",
            f"{len(others)} other imports are incomplete, with {sum(others)} bytes.",
            hint="Complete them first; after a day they are removed.",
            limit_bytes=limit,
        )
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.seek(request.offset)
        file.write(request.body)
        file.truncate()
    return end


def _incomplete(place: Path, *, but: Path) -> list[int]:
    """The sizes of the other incomplete files, without old ones, which are removed."""
    sizes: list[int] = []
    for path in place.iterdir():
        with contextlib.suppress(FileNotFoundError):
            status = path.stat()
            if status.st_mtime < time.time() - KEPT_S:
                path.unlink()
            elif path != but:
                sizes.append(status.st_size)
    return sizes


# Reading


class _Whole(msgspec.Struct):
    """A file that was read completely."""

    header: ExportHeader
    fold: RowFold
    text: str
    last_at: float
    generation: int


def _read_whole(path: Path) -> _Whole:
    """Read and fold the whole file. Raises ``HostError`` with the number of an invalid line."""
    lines = _lines(path)
    header = _header(next(lines, b""))
    fold, text, last_at, generation = RowFold(), "", header.created_at, 0
    count = 0
    for count, line in enumerate(lines, 1):
        row = _row(line, count + 1)
        try:
            events = fold.events(row)
        except Exception as error:  # whatever it is, no log of ours contains such a row
            raise _bad(count + 1, f"invalid row: {error}") from error
        for event in events:
            if isinstance(event, PromptSent):
                text = searchable(text, event.text)
        last_at, generation = max(last_at, row.at), max(generation, row.generation)
    if not count:
        raise _bad(2, "there are no rows")
    return _Whole(header, fold, text, last_at, generation)


def _pages(path: Path) -> Iterator[list[NewRow]]:
    lines = _lines(path)
    next(lines)
    page: list[NewRow] = []
    size = 0
    for count, line in enumerate(lines, 2):
        row = _row(line, count)
        page.append(row)
        size += len(row.body)
        if size >= PAGE_BYTES or len(page) >= 1_000:
            yield page
            page, size = [], 0
    if page:
        yield page


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        count = 0
        while line := file.readline(LINE_BYTES + 1):
            count += 1
            if len(line) > LINE_BYTES:
                raise _bad(count, "the line is too long")
            if line.strip():
                yield line


def _header(line: bytes) -> ExportHeader:
    try:
        header = _decode_header(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise HostError(
            "invalid", f"This is not an exported session: {error}.", hint="Export it as ndjson.", field="body"
        ) from error
    if header.quarterdeck_session != FORMAT:
        raise _bad(1, f"this version reads format {FORMAT}, not {header.quarterdeck_session}")
    if not _is_time(header.created_at):
        raise _bad(1, "created_at is not a time")
    if not all(_is_text(one) for one in (header.name, header.cwd, *header.tags)) or len(header.tags) > 100:
        raise _bad(1, "a name, a folder or a tag is not a string, or there are too many tags")
    if header.model is not None and not _is_text(header.model):
        raise _bad(1, "the model is not a string")
    return header


def _row(line: bytes, number: int) -> NewRow:
    try:
        read = _decode_row(line)
        body = bytes(read.line) or base64.b64decode(read.bytes_base64, validate=True)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, binascii.Error) as error:
        raise _bad(number, str(error)) from error
    if not body or not _is_time(read.at) or not 0 <= read.generation < 2**31 or not _is_text(read.sender):
        raise _bad(number, "a value is out of range")
    return NewRow(
        at=read.at, kind=read.kind, origin=read.origin, body=body, generation=read.generation, sender=read.sender
    )


def _is_time(at: float) -> bool:
    return math.isfinite(at) and 0 <= at < LATEST


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text and len(text) <= 4_096


def _bad(line: int, why: str) -> HostError:
    return HostError("invalid", f"Line {line} of the file cannot be imported: {why[:300]}.", field="body", line=line)
