"""Search: an index that follows the log at its own pace, without delaying sessions."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Sequence
from typing import Any

from quarterdeck.store.errors import InvalidCursor, NoSuchSession, StoreError
from quarterdeck.store.queries import Retained, SessionQuery, number_cursor
from quarterdeck.store.records import LogHead, SessionRecord
from quarterdeck.store.search import Indexed, SearchIndex, SearchMatch
from quarterdeck.store.sqlite import SqliteStore

from . import requests as takes
from . import resources as returns
from .actor import SessionActor
from .callers import PROGRAM, Caller
from .errors import HostError
from .folders import is_below
from .retaining import Retaining
from .scopes import sees
from .search_texts import document_about, document_of

logger = logging.getLogger("quarterdeck.host")

LOOK_S = 0.5
"""How often the indexer checks for new rows."""
REST_LOOKS = 4
"""After this many checks without news or a search, the index releases its memory."""
PIECE_ROWS = 100
PIECE_BYTES = 256 * 1024
"""How much to index at a time."""
BUSY_REST = 20.0
"""While sessions write, pause this many times as long as indexing took: searches can wait, sessions can't."""
BUSY_ROWS_PER_S = 200.0
MOST_HITS = 200
LOOKED_AT = 5_000
"""Documents to check for one page: a filter may reject most of them."""
WORDS = 32


class Searching(Retaining):
    """The index, and the search operation."""

    def __init__(self, *args: Any, index: bool = True, **options: Any) -> None:
        """``index``: whether to index at all."""
        super().__init__(*args, **options)
        self._wants_index = index
        self._index: SearchIndex | None = None
        self._indexed: dict[str, Indexed] = {}
        self._left_behind: dict[str, int] = {}
        """Sessions unloaded before they were fully indexed → their last row."""
        self._indexer: asyncio.Task[None] | None = None
        self._index_ready = asyncio.Event()
        self._quiet_looks = 0
        """Checks since the last news or search."""
        self._rows_seen = 0
        self._rows_seen_at = 0.0

    async def _open(self) -> None:
        await super()._open()
        if self._wants_index:
            self._index = SearchIndex(self.folder if isinstance(self.store, SqliteStore) else None)
            self._indexer = asyncio.get_running_loop().create_task(self._index_always())

    async def close(self) -> None:
        """Leave; with a keeper, the processes keep running."""
        indexer, self._indexer = self._indexer, None
        if indexer is not None:
            indexer.cancel()
            await asyncio.gather(indexer, return_exceptions=True)
        index, self._index = self._index, None
        if index is not None:
            await index.close()
        await super().close()

    @property
    def index(self) -> SearchIndex:
        if self._index is None:
            raise HostError("unavailable", "This host has no search index.")
        return self._index

    # Asking

    async def search(self, request: takes.Search, caller: Caller = PROGRAM) -> returns.SearchResults:
        """Search names, prompts and text."""
        words = request.q.split()[:WORDS]
        if not any(char.isalnum() for word in words for char in word):
            raise HostError("invalid", "Give at least one search word.", field="q")
        index = self.index
        session = None
        if request.session is not None:
            record = await self.find_session(request.session)
            if record is None:
                raise HostError("not_found", f"There is no session {request.session}.", field="session")
            session = record.id
        try:
            offset = number_cursor(request.cursor) or 0
        except InvalidCursor as error:
            raise HostError("invalid", f"{request.cursor!r} is not a cursor.", field="cursor") from error
        await self._index_ready.wait()
        self._quiet_looks = 0
        limit, wanted = min(max(request.limit, 1), MOST_HITS), _Wanted(self, request, caller)
        if wanted.takes_all:
            page = await index.find(words, session=session, limit=limit, offset=offset)
            chosen = [match for match in page if await wanted.takes(match)]
            end = None if len(page) < limit else offset + limit
        else:
            page = await index.ranked(words, session=session, limit=LOOKED_AT, offset=offset)
            chosen, seen = await _first(page, wanted, limit)
            end = None if seen == len(page) < LOOKED_AT else offset + seen
            chosen = await index.with_excerpts(words, chosen)
        return self._results([wanted.hit(match) for match in chosen], end)

    def _results(self, hits: list[returns.Hit], offset: int | None) -> returns.SearchResults:
        ends = self._left_behind | {actor.id: actor.log.fanout.last_seq for actor in self._actors.values()}
        behind = sum(max(last_seq - self._seq_of(session), 0) for session, last_seq in ends.items())
        return returns.SearchResults(hits=hits, next_cursor=None if offset is None else str(offset), behind=behind)

    def _seq_of(self, session: str) -> int:
        known = self._indexed.get(session)
        return 0 if known is None else known.seq

    # Following

    async def _index_always(self) -> None:
        while True:
            try:
                self._indexed = await self.index.open()
                self._index_ready.set()
                await self._compare()
                while True:
                    await self._follow()
                    self._quiet_looks += 1
                    if self._quiet_looks == REST_LOOKS:
                        await self.index.rest()
                    await asyncio.sleep(LOOK_S)
            except StoreError as error:
                logger.warning("The search index is behind: %s", error)
            except Exception:
                logger.exception("The search index failed")
            await asyncio.sleep(10 * LOOK_S)

    async def _compare(self) -> None:
        """Catch up with what was written, deleted or trimmed while the index wasn't following."""
        heads = {head.session: head for head in await self.store.heads()}
        for session in [one for one in self._indexed if one not in heads]:
            await self.unindex(session)
        cursor: str | None = None
        while True:
            page = await self.store.sessions(SessionQuery(archived=None, limit=200, cursor=cursor))
            for record in page.sessions:
                head = heads.get(record.id)
                if head is not None:
                    await self._index_session(record, head)
            cursor = page.next_cursor
            if cursor is None:
                return

    async def _follow(self) -> None:
        """Index what this host's sessions have written since the last check."""
        behind = [session for session, actor in self._actors.items() if self._is_behind(actor)]
        for session in [*behind, *self._left_behind]:
            actor = self._actors.get(session)
            record = await self.store.session(session) if actor is None else actor.log.written_record
            actor = None  # it may leave memory meanwhile
            head = await self.store.head(session)
            if record is not None and head is not None:
                await self._index_session(record, head)
            if head is None or self._seq_of(session) >= self._left_behind.get(session, 0):
                self._left_behind.pop(session, None)

    def _is_behind(self, actor: SessionActor) -> bool:
        log, known = actor.log, self._indexed.get(actor.id)
        return known is None or known.seq < log.fanout.last_seq or known.about != _about(log.written_record)

    def _unloaded(self, actor: SessionActor) -> None:
        super()._unloaded(actor)
        if self._is_behind(actor):
            self._left_behind[actor.id] = actor.log.fanout.last_seq

    async def _index_session(self, record: SessionRecord, head: LogHead) -> None:
        """Index a session up to its last row."""
        known, about = self._indexed.get(record.id), _about(record)
        if known is not None and (known.epoch != head.epoch or known.seq > head.last_seq):
            await self.unindex(record.id)  # another log: restored or recreated
            known = None
        documents = [] if known is not None and known.about == about else [document_about(record)]
        seq = max(0 if known is None else known.seq, head.first_seq - 1)
        while documents or seq < head.last_seq:
            began = time.perf_counter()
            if seq < head.last_seq:
                try:
                    page = await self.store.read(
                        record.id, after=seq, limit_rows=min(PIECE_ROWS, head.last_seq - seq), limit_bytes=PIECE_BYTES
                    )
                except NoSuchSession:
                    return
                documents += [one for row in page.rows if (one := document_of(row)) is not None]
                seq = page.rows[-1].seq if page.rows else head.last_seq
            now = Indexed(head.epoch, seq, about)
            await self.index.add(record.id, now, documents)
            self._quiet_looks = 0
            self._indexed[record.id] = now
            documents = []
            await self._rest(time.perf_counter() - began)

    async def _rest(self, worked_s: float) -> None:
        rows, now = sum(actor.log.fanout.last_seq for actor in self._actors.values()), time.perf_counter()
        new, over_s = rows - self._rows_seen, now - self._rows_seen_at
        self._rows_seen, self._rows_seen_at = rows, now
        is_busy = new > BUSY_ROWS_PER_S * over_s or self.store.commits_waiting
        await asyncio.sleep(worked_s * BUSY_REST if is_busy else 0)

    async def _deleted(self, session_id: str) -> None:
        await super()._deleted(session_id)
        with contextlib.suppress(StoreError):
            await self.unindex(session_id)

    async def retain(self) -> Retained:
        """Delete rows that exceed the retention limits. The host calls this once an hour."""
        removed = await super().retain()
        if removed.rows and self._index is not None:
            for head in await self.store.heads():
                if head.first_seq > 1 and head.session in self._indexed:
                    await self.unindex(head.session, before=head.first_seq)
        return removed

    async def unindex(self, session: str, *, before: int | None = None) -> None:
        """Remove a session, or its rows before one, from the index."""
        if self._index is not None:
            await self._index.forget(session, before=before)
        if before is None:
            self._indexed.pop(session, None)


async def _first(matches: Sequence[SearchMatch], wanted: _Wanted, limit: int) -> tuple[list[SearchMatch], int]:
    """The first wanted ones, and how many were looked at for them."""
    chosen: list[SearchMatch] = []
    for number, match in enumerate(matches, 1):
        if await wanted.takes(match):
            chosen.append(match)
            if len(chosen) == limit:
                return chosen, number
    return chosen, len(matches)


class _Wanted:
    """Selects the documents that a caller may see and wants, checking each session once."""

    def __init__(self, host: Searching, request: takes.Search, caller: Caller) -> None:
        self._host = host
        self._request = request
        self._caller = caller
        self._records: dict[str, SessionRecord] = {}
        self._left_out: set[str] = set()
        self.takes_all = not caller.folders and not request.cwd and request.archived

    async def takes(self, found: SearchMatch) -> bool:
        session = found.session
        if session not in self._records and session not in self._left_out:
            record = await self._host.find_session(session)
            if record is not None and self._takes(record):
                self._records[session] = record
            else:
                self._left_out.add(session)
        return session in self._records

    def hit(self, found: SearchMatch) -> returns.Hit:
        """What the caller gets for a document that it takes."""
        record = self._records[found.session]
        kind: Any = found.kind
        return returns.Hit(
            session_id=record.id, name=record.name, cwd=record.cwd, seq=found.seq, kind=kind, excerpt=found.excerpt
        )

    def _takes(self, record: SessionRecord) -> bool:
        request = self._request
        return (
            sees(self._caller, record.cwd)
            and (request.archived or not record.archived)
            and (not request.cwd or is_below(record.cwd, [request.cwd]))
        )


def _about(record: SessionRecord) -> str:
    return document_about(record).text
