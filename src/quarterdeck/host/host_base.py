"""How a host opens, recovers and closes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from typing import TypeAlias

from quarterdeck.keeper import (
    KeeperClient,
    KeeperError,
    KeeperRefused,
    KeptSession,
    LeftSession,
    find_keepers,
    left_sessions,
)
from quarterdeck.policy import MissingGrammarError
from quarterdeck.policy.errors import need_grammar
from quarterdeck.store import SqliteStore
from quarterdeck.store.errors import StorageCorrupt
from quarterdeck.store.queries import SessionQuery
from quarterdeck.store.records import LogHead, Row, SessionRecord

from .actor import SessionActor
from .bodies import decode_body
from .errors import HostError
from .folding import FOLD_VERSION
from .loading import Loading
from .taking_up import give_up, take_up

logger = logging.getLogger("quarterdeck.host")

LIVE = ("starting", "authenticating", "limited", "waiting", "compacting", "running", "idle")
"""States of a session with a process."""

RECOVERED_AT_ONCE = 16
UNSENT_ROWS = 1_000
"""How many rows to search first for lines that the keeper doesn't have."""

Running: TypeAlias = dict[tuple[str, int], tuple[KeeperClient, KeptSession]]
"""The keepers' processes, by session and generation."""
Left: TypeAlias = dict[tuple[str, int], LeftSession]
"""Processes of dead keepers, by session and generation."""


class HostBase(Loading):
    """Base of all operations."""

    async def _open(self) -> None:
        """Open the log, find the keeper, and continue every session that has a process."""
        try:
            need_grammar()
        except MissingGrammarError as error:
            raise HostError(
                "unavailable",
                "The shell grammar that the host needs to judge commands is not installed.",
                hint="Run pip install 'quarterdeck[host]'.",
            ) from error
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._opened_at = self._clock()
        self._store = self._given_store or await SqliteStore.open(self.folder)
        try:
            await self._store.use_fold(FOLD_VERSION)
            await self._grants.load(self._store)
            await self._spending.load(self._store)
            await self._drift.load(self._store)
            await self._recover()
            self._warm.open()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Leave; with a keeper, the processes keep running."""
        self.bell.close()
        self.stalls.close()
        self.tokens_bell.close()
        await self._warm.close()
        await asyncio.gather(*(actor.leave() for actor in self._actors.values()), return_exceptions=True)
        self._actors.clear()
        keepers = [*self._former_keepers, *([] if self._keeper is None else [self._keeper])]
        self._keeper, self._former_keepers = None, []
        for keeper in keepers:
            await keeper.close()
        store, self._store = self._store, None
        if store is not None:
            await store.close()

    async def _deleted(self, session_id: str) -> None:
        """Called when a session was deleted, for parts that keep data about it outside the log."""
        await asyncio.to_thread(self._private.forget, session_id)
        await asyncio.to_thread(self._mirror.forget, session_id)

    async def _mode_was_set(self, actor: SessionActor) -> None:
        """Called when a session's mode was set, for parts to which it matters."""

    def _unloaded(self, actor: SessionActor) -> None:
        """Called when a session was unloaded, for parts that haven't caught up with it."""

    # Recovery

    async def _recover(self) -> None:
        """Continue every session that had a process; if it still runs, in the middle of its turn."""
        left = await asyncio.to_thread(self._left_by_dead_keepers)
        running = await self._running()
        cursor: str | None = None
        while True:
            page = await self.store.sessions(SessionQuery(states=LIVE, archived=None, limit=500, cursor=cursor))
            await self._recover_all(page.sessions, running, left)
            cursor = page.next_cursor
            if cursor is None:
                break
        for one in left.values():
            one.remove()
        for keeper, kept in running.values():  # nothing in the log knows of them
            with contextlib.suppress(KeeperRefused):  # the last host has had it dropped meanwhile
                await keeper.end(kept.session, kept.generation)
                await keeper.drop(kept.session, kept.generation)

    async def _recover_all(self, records: Sequence[SessionRecord], running: Running, left: Left) -> None:
        """Recover several at once: each mostly waits for the disk and the keeper."""
        fences = await self.store.claim([record.id for record in records], owner=self.name)
        at_once = asyncio.Semaphore(RECOVERED_AT_ONCE)

        async def recover(record: SessionRecord) -> None:
            body = decode_body(record)
            key = (body.kept_as or record.id, body.generation)
            process, spool = running.pop(key, None), left.pop(key, None)
            async with at_once:
                try:
                    found = await self._found(record.id)
                    actor = await self._load(record.id, (found, fences[record.id]))
                    await self._recover_one(actor, found.head, process, spool)
                except StorageCorrupt as error:  # its process and its spool stay as they are; the others continue
                    logger.error("Session %s cannot be read: %s", record.id, error)
                    self.stalls.tell(record.id, error)

        outcomes = await asyncio.gather(*map(recover, records), return_exceptions=True)
        for error in filter(None, outcomes):
            raise error

    async def _running(self) -> Running:
        """The keepers' processes, by session and generation. A keeper of an older version may still have some; it exits
        with the last of them."""
        current, former = await self._current_keeper(), self._former_keepers
        for place in await asyncio.to_thread(find_keepers, self.folder / "keeper"):
            if place.alive and (current is None or place.folder != current.place.folder):
                former.append(await KeeperClient.connect(place, take_over=True))
        running: Running = {}
        for keeper in [*([] if current is None else [current]), *former]:
            running |= {(one.session, one.generation): (keeper, one) for one in await keeper.list()}
            if keeper is not current:
                await keeper.retire()
        return running

    def _left_by_dead_keepers(self) -> Left:
        """Spools of dead keepers, by session and generation."""
        dead = [place for place in find_keepers(self.folder / "keeper") if not place.alive]
        return {(one.session, one.generation): one for place in dead for one in left_sessions(place)}

    async def _recover_one(
        self,
        actor: SessionActor,
        head: LogHead,
        running: tuple[KeeperClient, KeptSession] | None,
        left: LeftSession | None,
    ) -> None:
        if running is not None:
            keeper, kept = running
            try:
                await take_up(actor, keeper, kept, await self._unsent_lines(head, kept))
            except StorageCorrupt:
                raise
            except Exception as error:
                logger.exception("Session %s could not be restored", actor.id)
                with contextlib.suppress(KeeperError):  # if the keeper is gone, so is the process
                    await give_up(actor, keeper, kept, error)
                    return
            else:
                await actor.finish_ending()
                return
        if left is None:
            await actor.lose("The host was restarted, and the process is gone.")
            return

        async def read(offset: int) -> bytes:
            return await asyncio.to_thread(left.read, offset)

        await actor.recorder.catch_up(left.first, left.end, read)
        await actor.lose("The keeper died, and the process with it.", status=left.status, stderr=left.stderr_tail)
        left.remove()

    async def _unsent_lines(self, head: LogHead, kept: KeptSession) -> list[tuple[int, bytes]]:
        """Our committed lines that the keeper doesn't have, by number. They are at the end of the log."""
        if head.generation != kept.generation or head.input_number <= kept.accepted:
            return []
        lines: dict[int, bytes] = {}
        back = UNSENT_ROWS
        while True:
            seq = after = max(head.last_seq - back, head.first_seq - 1)
            while rows := (await self.store.read(head.session, after=seq)).rows:
                seq = rows[-1].seq
                lines |= {row.input_number: row.body for row in rows if _is_ours(row, kept.generation)}
            if after < head.first_seq or (lines and min(lines) <= kept.accepted + 1):
                return [(number, lines[number]) for number in sorted(lines) if number > kept.accepted]
            back *= 8


def _is_ours(row: Row, generation: int) -> bool:
    return row.kind == "sent" and row.generation == generation and row.input_number > 0
