"""What all operations of a host share: its parts, its sessions, and how it opens, recovers and closes."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from quarterdeck.client.connection import new_id
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.keeper import KeeperClient, KeptSession, LeftSession, find_keepers, left_sessions
from quarterdeck.policy import MissingGrammarError, Policy
from quarterdeck.policy.errors import need_grammar
from quarterdeck.store import EventStore, SqliteStore
from quarterdeck.store.errors import StorageCorrupt
from quarterdeck.store.queries import ApprovalQuery, SessionQuery
from quarterdeck.store.records import ApprovalRecord, Row, SessionRecord

from . import resources as returns
from .accounts import Accounts
from .actor import SessionActor
from .bodies import decode_body, session_view
from .budgets import Spending
from .deciding import Deciding
from .drift import Drift
from .errors import HostError
from .fanout import Bell
from .folding import FOLD_VERSION, RowFold
from .grants import Grants
from .launching import options_for
from .lifetimes import life_of
from .limits import Folders, Limits
from .policies import SessionPolicy, own_policy
from .private_options import PrivateOptions
from .requests import Lifecycle
from .session_log import SessionLog
from .stalls import Stalls
from .taking_up import take_up

logger = logging.getLogger("quarterdeck.host")

LIVE = ("starting", "authenticating", "limited", "waiting", "compacting", "running", "idle")
"""States of sessions that have a process."""

RECOVERED_AT_ONCE = 16
UNSENT_ROWS = 1_000
"""How far back to look first for lines that the keeper does not have."""

Running: TypeAlias = dict[tuple[str, int], tuple[KeeperClient, KeptSession]]
"""What keepers run, by session and generation."""
Left: TypeAlias = dict[tuple[str, int], LeftSession]
"""What dead keepers left, by session and generation."""


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, and through which face. The default is the program that has the host."""

    name: str = "program"
    via: str = "library"
    scope: returns.Scope = "admin"
    token_id: str | None = None
    may_bypass: bool = True
    """May have sessions in ``bypassPermissions``."""
    folders: tuple[str, ...] = ()
    """Sees only sessions in these folders and below; empty: all."""
    expires_at: float | None = None
    """When its token ends, by the host's clock. Whoever streams to the caller ends the stream then."""


PROGRAM = Caller()


class HostBase:
    """Opens, recovers and closes; finds sessions."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        keeper: bool = True,
        store: EventStore | None = None,
        agents: Mapping[str, Sequence[str] | str] | None = None,
        env: Mapping[str, str] | None = None,
        policy: Policy | None = None,
        folders: Iterable[str | os.PathLike[str]] | None = None,
        limits: Limits | None = None,
        lifecycle: Lifecycle | None = None,
        accounts: Mapping[str, str | os.PathLike[str]] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """
        Args:
            folder: Where the log and everything else is kept.
            keeper: Whether processes belong to a keeper, and so outlive the host.
            store: Another store than SQLite in ``folder``.
            agents: The programs behind names of agents, e.g. ``{"claude": "/opt/claude"}``.
            env: What every process gets on top of the inherited environment.
            policy: Rules for all sessions, e.g. ``Policy.from_rules(allow=[…], deny=[…])``. Of several rules about a
                call the strictest counts: the host's, those of the settings files, and the session's own.
            folders: Where sessions may start; None: anywhere.
            limits: How much the host takes on.
            lifecycle: What becomes of the processes of sessions that do not say otherwise.
            accounts: Names of accounts, each with its configuration folder (``CLAUDE_CONFIG_DIR``).
            clock: The time, in seconds since 1970.
        """
        self.folder = Path(folder).expanduser()
        self._with_keeper = keeper
        self._given_store = store
        self._agents = dict(agents or {})
        self._private = PrivateOptions(self.folder / "private")
        self._env = dict(env or {})
        self._clock = clock
        self._policy = policy
        self._grants = Grants(clock)
        self._spending = Spending()
        self._drift = Drift()
        self.folders = Folders(folders)
        self.limits = limits or Limits()
        self._lifecycle = lifecycle or Lifecycle()
        life_of(self._lifecycle)
        self._accounts = Accounts(accounts, self._account_changed)
        self.keys_in_use: dict[tuple[str, str], asyncio.Future[None]] = {}
        """Writes with an idempotency key that are being done."""
        self.receipts_kept: set[tuple[str, str]] = set()
        """Those of them whose receipt is part of their own commit."""
        self.stalls = Stalls()
        """Sessions whose log cannot be written now."""
        self.bell = Bell()
        """Rings when sessions or approvals have changed."""
        self.tokens_bell = Bell()
        """Rings when a token was revoked."""
        self._opened_at = 0.0
        self._actors: dict[str, SessionActor] = {}
        self._loading: dict[str, asyncio.Lock] = {}
        self._store: EventStore | None = None
        self._keeper: KeeperClient | None = None
        self._opening_keeper = asyncio.Lock()
        self._former_keepers: list[KeeperClient] = []
        self.name = socket.gethostname()

    # Opening and closing

    async def _open(self) -> None:
        """Open the log, find the keeper, and take up every session that has a process."""
        try:
            need_grammar()
        except MissingGrammarError as error:
            raise HostError(
                "unavailable",
                "A host judges the commands of its sessions, and the grammar for that is not installed.",
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
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Leave; with a keeper, the processes go on."""
        self.bell.close()
        self.stalls.close()
        self.tokens_bell.close()
        await asyncio.gather(*(actor.leave() for actor in self._actors.values()), return_exceptions=True)
        self._actors.clear()
        keepers = [*self._former_keepers, *([] if self._keeper is None else [self._keeper])]
        self._keeper, self._former_keepers = None, []
        for keeper in keepers:
            await keeper.close()
        store, self._store = self._store, None
        if store is not None:
            await store.close()

    @property
    def store(self) -> EventStore:
        if self._store is None:
            raise HostError("unavailable", "The host is not open.", hint="Use `async with Host(…) as host`.")
        return self._store

    def now(self) -> float:
        """The time by the host's clock."""
        return self._clock()

    def _admit_process(self) -> None:
        """Raises ``HostError`` when no further process may start."""
        limit = self.limits.processes
        if limit is not None and sum(1 for actor in self._actors.values() if actor.has_process) > limit:
            raise HostError(
                "busy",
                f"{limit} processes run, which is as many as this host allows.",
                hint="Stop a session first.",
                limit="processes",
            )

    def _admit_prompt(self, actor: SessionActor) -> None:
        """Raises ``HostError`` when too many prompts wait."""
        if len(actor.log.fold.queue.prompts) >= self.limits.queue:
            raise HostError(
                "busy",
                f"{self.limits.queue} prompts wait in this session, which is as many as this host allows.",
                hint="Withdraw one, or wait.",
                limit="queue",
            )

    # Loading

    def _options(self, log: SessionLog) -> ClaudeAgentOptions:
        private = self._private.of(log.id, log.body.private_options)
        options = options_for(log.body, log.record.cwd, agents=self._agents, private=private)
        options.env = {**self._env, **self._accounts.env(log.body.account), **options.env}
        log.approvals.policy = self._session_policy(log.record.cwd, log, options.env)
        options.can_use_tool = Deciding(log)
        return options

    def _session_policy(
        self, cwd: str, log: SessionLog | None = None, env: Mapping[str, str] | None = None
    ) -> SessionPolicy:
        """Of a session, or of sessions that would start in a folder."""
        return SessionPolicy(
            cwd,
            state_folder=self.folder,
            grants=self._grants,
            host=self._policy,
            own=None if log is None else own_policy(log.body.policy),
            session=None if log is None else log.id,
            env=self._env if env is None else env,
        )

    async def find_session(self, any_id: str) -> SessionRecord | None:
        """A session by any of its ids; of one that is loaded, without a look at the disk."""
        actor = self._actors.get(any_id)
        return await self.store.session(any_id) if actor is None else actor.log.record

    async def _actor(self, any_id: str) -> SessionActor:
        if any_id in self._actors:
            return self._actors[any_id]
        record = await self.store.session(any_id)
        if record is None:
            raise HostError("not_found", f"There is no session {any_id}.", hint="List the sessions to see their ids.")
        return self._actors.get(record.id) or await self._load(record.id)

    async def _load(self, session_id: str, fence: int | None = None) -> SessionActor:
        """The session's actor; whoever asks meanwhile gets the same one. ``fence``: it is claimed already."""
        async with self._loading.setdefault(session_id, asyncio.Lock()):
            if session_id not in self._actors:
                self._actors[session_id] = await self._loaded(session_id, fence)
        self._loading.pop(session_id, None)
        return self._actors[session_id]

    async def _loaded(self, session_id: str, fence: int | None) -> SessionActor:
        """Own the session, and fold its rows."""
        if fence is None:
            fence = (await self.store.claim([session_id], owner=self.name))[session_id]
        record, head = await self.store.session(session_id), await self.store.head(session_id)
        if record is None or head is None:
            raise HostError("not_found", f"There is no session {session_id}.")
        fold, snapshot_seq = await self._folded(session_id, head.last_seq)
        body = decode_body(record)
        log = SessionLog(
            self.store,
            record,
            body,
            fence=fence,
            last_seq=head.last_seq,
            fold=fold,
            snapshot_seq=snapshot_seq,
            spool_end=head.spool_end if head.generation == body.generation else 0,
            new_id=new_id,
            clock=self._clock,
            changed=self.bell.ring,
            stalls=self.stalls,
        )
        page = await self.store.approvals(
            ApprovalQuery(session=session_id, states=["pending", "decided", "delivered"], limit=10_000)
        )
        lost = await self.store.approvals(ApprovalQuery(session=session_id, states=["stranded"], limit=1_000))
        log.approvals.load(page.approvals, stranded=lost.approvals)
        gauge = log.standing.gauge = self._accounts.gauge(body.account)
        for limit in fold.timeline.state.rate_limits.values():
            gauge.take(limit, fold.timeline.state.at)
        log.standing.counted = lambda entries: self._spending.count(entries, self._clock())
        actor = SessionActor(
            log,
            keeper=self._current_keeper,
            options=self._options,
            admit=self._admit_process,
            may_prompt=lambda: self._spending.check(log.body, self._clock()),
            life=lambda: life_of(self._lifecycle, body.lifecycle),
        )
        actor.recorder.drift = self._drift
        return actor

    def _account_changed(self, account: str) -> None:
        """Its limit is reached, or is not any more: all of its sessions say so."""

        def look_again() -> None:
            for actor in self._actors.values():
                if actor.log.body.account == account and actor.session is not None:
                    actor.log.append([])

        asyncio.get_running_loop().call_soon(look_again)

    async def _folded(self, session_id: str, last_seq: int) -> tuple[RowFold, int]:
        kept = await self.store.snapshot(session_id)
        fold = RowFold() if kept is None else RowFold.restore(kept.body)
        seq = snapshot_seq = 0 if kept is None else kept.seq
        while seq < last_seq:
            for row in (await self.store.read(session_id, after=seq)).rows:
                fold.events(row)
                seq = row.seq
        return fold, snapshot_seq

    async def _approval(self, approval_id: str) -> ApprovalRecord:
        record = await self.store.approval(approval_id)
        if record is None:
            raise HostError("not_found", f"There is no approval {approval_id}.")
        return record

    async def _view(self, actor: SessionActor) -> returns.Session:
        await actor.log.settled()
        return await self._record_view(actor.log.record)

    async def _record_view(self, record: SessionRecord) -> returns.Session:
        head = await self.store.head(record.id)
        if head is None:
            raise HostError("not_found", f"There is no session {record.id}.")
        page = await self.store.approvals(ApprovalQuery(session=record.id, states=["pending"], limit=1_000))
        view = session_view(record, head, pending=len(page.approvals), host=self.name)
        if (error := self.stalls.why(record.id)) is not None:
            return msgspec.structs.replace(view, state_reason=f"Its log cannot be written: {error}")
        return view

    # Recovery

    async def _current_keeper(self) -> KeeperClient | None:
        """The keeper for a new process; another one if the last has died."""
        if not self._with_keeper:
            return None
        async with self._opening_keeper:
            if self._keeper is None or self._keeper.why_lost is not None:
                self._keeper = await KeeperClient.open(self.folder / "keeper", take_over=True)
            return self._keeper

    async def _recover(self) -> None:
        """Take up every session that had a process: where it still runs, in the middle of its turn."""
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
            await keeper.end(kept.session, kept.generation)
            await keeper.drop(kept.session, kept.generation)

    async def _recover_all(self, records: Sequence[SessionRecord], running: Running, left: Left) -> None:
        """Several at once: each waits for the disk and for the keeper most of the time."""
        fences = await self.store.claim([record.id for record in records], owner=self.name)
        at_once = asyncio.Semaphore(RECOVERED_AT_ONCE)

        async def recover(record: SessionRecord) -> None:
            key = (record.id, decode_body(record).generation)
            process, spool = running.pop(key, None), left.pop(key, None)
            async with at_once:
                try:
                    actor = await self._load(record.id, fences[record.id])
                    await self._recover_one(actor, process, spool)
                except StorageCorrupt as error:  # its process and its spool stay as they are; the others go on
                    logger.error("Session %s cannot be read: %s", record.id, error)
                    self.stalls.tell(record.id, error)

        outcomes = await asyncio.gather(*map(recover, records), return_exceptions=True)
        for error in filter(None, outcomes):
            raise error

    async def _running(self) -> Running:
        """What each keeper has, by session and generation. One of a former version may still have some."""
        keepers = [] if (keeper := await self._current_keeper()) is None else [keeper]
        for place in await asyncio.to_thread(find_keepers, self.folder / "keeper"):
            if place.alive and place.folder not in [known.place.folder for known in keepers]:
                keepers.append(await KeeperClient.connect(place, take_over=True))
        self._former_keepers = keepers[1:]
        return {(one.session, one.generation): (keeper, one) for keeper in keepers for one in await keeper.list()}

    def _left_by_dead_keepers(self) -> Left:
        """Spools that nobody serves any more, by session and generation."""
        dead = [place for place in find_keepers(self.folder / "keeper") if not place.alive]
        return {(one.session, one.generation): one for place in dead for one in left_sessions(place)}

    async def _recover_one(
        self, actor: SessionActor, running: tuple[KeeperClient, KeptSession] | None, left: LeftSession | None
    ) -> None:
        if running is not None:
            keeper, kept = running
            try:
                await take_up(actor, keeper, kept, await self._unsent_lines(actor.id, kept))
            except Exception:
                logger.exception("Session %s could not be taken up", actor.id)
            else:
                return
        if left is None:
            await actor.lose("The host was restarted, and the process is gone.")
            return

        async def read(offset: int) -> bytes:
            return await asyncio.to_thread(left.read, offset)

        await actor.recorder.catch_up(left.first, left.end, read)
        await actor.lose("The keeper died, and the process with it.", status=left.status, stderr=left.stderr_tail)
        left.remove()

    async def _unsent_lines(self, session_id: str, kept: KeptSession) -> list[tuple[int, bytes]]:
        """Our lines that were committed and that the keeper does not have, by number. They are at the log's end."""
        head = await self.store.head(session_id)
        if head is None or head.generation != kept.generation or head.input_number <= kept.accepted:
            return []
        lines: dict[int, bytes] = {}
        back = UNSENT_ROWS
        while True:
            seq = after = max(head.last_seq - back, head.first_seq - 1)
            while rows := (await self.store.read(session_id, after=seq)).rows:
                seq = rows[-1].seq
                lines |= {row.input_number: row.body for row in rows if _is_ours(row, kept.generation)}
            if after < head.first_seq or (lines and min(lines) <= kept.accepted + 1):
                return [(number, lines[number]) for number in sorted(lines) if number > kept.accepted]
            back *= 8


def _is_ours(row: Row, generation: int) -> bool:
    return row.kind == "sent" and row.generation == generation and row.input_number > 0
