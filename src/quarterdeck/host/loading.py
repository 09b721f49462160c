"""Loads sessions: claims and folds a session's log, and prepares the options of its processes."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from quarterdeck.client.connection import new_id
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.transcripts.places import CONFIG_DIR, config_dir
from quarterdeck.store.errors import StorageCorrupt, StoreError
from quarterdeck.store.queries import ApprovalQuery, LoadedSession
from quarterdeck.store.records import ApprovalRecord, SessionRecord

from . import resources as returns
from .actor import SessionActor
from .bodies import SessionBody, decode_body, session_view
from .callbacks import OpenCalls
from .deciding import Deciding
from .errors import HostError
from .folding import RowFold
from .host_parts import HostParts
from .launching import SIMULATOR, check_options, options_for, split_options
from .lifetimes import life_of
from .policies import SessionPolicy, own_policy
from .remote_callbacks import add_callbacks
from .requests import Callbacks, CreateSession
from .session_log import SessionLog
from .warm_processes import WarmProcess, WarmProcesses, key_of

logger = logging.getLogger("quarterdeck.host")

CALLBACKS = "callbacks"
"""The private option that holds a session's declared callbacks."""


class Loading(HostParts):
    """Finds and loads sessions by any of their IDs."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._warm = WarmProcesses(
            self._wanted_warm,
            options=self._warm_options,
            keeper=self._current_keeper,
            room=self._room,
            clock=self._clock,
        )

    # Options

    def _callbacks(self, log: SessionLog) -> Callbacks | None:
        """The session's declared callbacks."""
        if CALLBACKS not in log.body.private_options:
            return None
        kept = self._private.of(log.id, [CALLBACKS])[CALLBACKS]
        return msgspec.convert(kept, Callbacks)

    def _private_options(self, log: SessionLog) -> dict[str, Any]:
        return self._private.of(log.id, [name for name in log.body.private_options if name != CALLBACKS])

    def _launch_options(self, body: SessionBody, cwd: str, private: Mapping[str, Any]) -> ClaudeAgentOptions:
        """The options of a process, before permission handling is added."""
        options = options_for(body, cwd, agents=self._agents, private=private)
        env = {**self._env, **self._accounts.env(body.account), **options.env}
        if options.cli_path == list(SIMULATOR):  # keep simulated sessions apart from real ones
            env = {**env, CONFIG_DIR: f"{config_dir(env)}-simulator"}
        options.env = env
        return options

    def _options(self, log: SessionLog, calls: OpenCalls) -> ClaudeAgentOptions:
        options = self._launch_options(log.body, log.record.cwd, self._private_options(log))
        log.approvals.policy = self._session_policy(log.record.cwd, log, options.env)
        options.can_use_tool = Deciding(log)
        if (callbacks := self._callbacks(log)) is not None:
            add_callbacks(options, callbacks, calls, log)
        return options

    def _session_policy(
        self, cwd: str, log: SessionLog | None = None, env: Mapping[str, str] | None = None
    ) -> SessionPolicy:
        """The policy of a session, or of new sessions in a folder."""
        return SessionPolicy(
            cwd,
            state_folder=self.folder,
            grants=self._grants,
            host=self._policy,
            own=None if log is None else own_policy(log.body.policy),
            session=None if log is None else log.id,
            env=self._env if env is None else env,
            folders_above=() if log is None else log.body.folders_above,
        )

    # Warm processes

    def _room(self) -> int:
        """How many more processes may start."""
        if self.limits.processes is None:
            return sys.maxsize
        used = sum(1 for actor in self._actors.values() if actor.has_process)
        return self.limits.processes - used - self._warm.count

    def _warm_options(self, like: CreateSession) -> tuple[bytes | None, ClaudeAgentOptions]:
        """The options for a session like this one, and the key that identifies equal ones."""
        check_options(like.options, admin=True)
        cwd = self.folders.check(like.cwd)
        public, private = split_options(like.options)
        body = SessionBody(
            agent=like.agent,
            model=like.model,
            permission_mode=like.permission_mode,
            options=public,
            private_options=[*private, *([] if like.callbacks is None else [CALLBACKS])],
            account=like.account,
            cli_pin=like.cli_version,
            resume=like.resume,
            fork=like.fork,
        )
        return key_of(cwd, body, private), self._launch_options(body, cwd, private)

    async def _take_warm(self, log: SessionLog) -> WarmProcess | None:
        """Return a warm process for this session. If there is none, end another one if its place is needed."""
        process = await self._warm.take(key_of(log.record.cwd, log.body, self._private_options(log)))
        if process is None and self._room() < 0:
            self._warm.make_room()
        return process

    # Sessions

    async def find_session(self, any_id: str) -> SessionRecord | None:
        """Find a session by any of its IDs; doesn't read the disk if it is loaded."""
        actor = self._actors.get(any_id)
        return await self.store.session(any_id) if actor is None else actor.log.record

    async def _actor(self, any_id: str) -> SessionActor:
        actor = self._actors.get(any_id)
        if actor is None:
            record = await self.store.session(any_id)
            if record is None:
                raise HostError(
                    "not_found", f"There is no session {any_id}.", hint="List the sessions to see their ids."
                )
            actor = self._actors.get(record.id) or await self._load(record.id)
        actor.touched = asyncio.get_running_loop().time()
        return actor

    async def _load(self, session_id: str, claimed: tuple[LoadedSession, int] | None = None) -> SessionActor:
        """Load the session's actor; concurrent callers get the same one. ``claimed``: what the store has of it, and the
        fence."""
        async with self._loading.setdefault(session_id, asyncio.Lock()):
            if session_id not in self._actors:
                if claimed is None:
                    fence = (await self.store.claim([session_id], owner=self.name))[session_id]
                    claimed = await self._found(session_id), fence
                self._actors[session_id] = await self._made(*claimed)
        self._loading.pop(session_id, None)
        return self._actors[session_id]

    async def _found(self, session_id: str) -> LoadedSession:
        """What the store has of a session."""
        if (found := await self.store.load(session_id)) is None:
            raise HostError("not_found", f"There is no session {session_id}.")
        return found

    async def _made(self, found: LoadedSession, fence: int) -> SessionActor:
        """Fold the rows of a session that is claimed."""
        record, head, session_id = found.record, found.head, found.record.id
        body = decode_body(record)
        try:
            fold = await self._folded(found)
        except StoreError:
            raise
        except Exception as error:
            logger.exception("Session %s cannot be folded", session_id)
            raise StorageCorrupt(f"What is stored of it makes no sense ({error}). Restore a backup.") from error
        log = SessionLog(
            self.store,
            record,
            body,
            fence=fence,
            epoch=head.epoch,
            last_seq=head.last_seq,
            fold=fold,
            snapshot_seq=0 if found.snapshot is None else found.snapshot.seq,
            spool_end=head.spool_end if head.generation == body.generation else 0,
            new_id=new_id,
            clock=self._clock,
            changed=self.bell.ring,
            stalls=self.stalls,
        )
        log.approvals.load(found.unfinished, stranded=found.stranded)
        log.pending.update(one.id for one in found.unfinished if one.state == "pending")
        gauge = log.standing.gauge = self._accounts.gauge(body.account)
        for limit in fold.timeline.state.rate_limits.values():
            gauge.take(limit, fold.timeline.state.at)
        self._spending.families.note(session_id, body)
        log.standing.counted = lambda entries: self._spending.count(session_id, body, entries, self._clock())
        calls = OpenCalls(log)
        actor = SessionActor(
            log,
            keeper=self._current_keeper,
            options=lambda log: self._options(log, calls),
            calls=calls,
            warm=self._take_warm,
            admit=lambda: self._admit_process(actor),
            may_prompt=lambda: self._spending.check(session_id, body, self._clock()),
            life=lambda: life_of(self._lifecycle, body.lifecycle),
            tally=self.tally,
            mirror=self._mirror,
        )
        actor.touched = asyncio.get_running_loop().time()
        actor.recorder.drift = self._drift
        return actor

    async def _folded(self, found: LoadedSession) -> RowFold:
        fold = RowFold() if found.snapshot is None else RowFold.restore(found.snapshot.body)
        rows = found.rows
        while rows:
            for row in rows:
                fold.events(row)
            last = rows[-1].seq
            rows = (await self.store.read(found.record.id, after=last)).rows if last < found.head.last_seq else []
        return fold

    async def _approval(self, approval_id: str) -> ApprovalRecord:
        record = await self.store.approval(approval_id)
        if record is None:
            raise HostError("not_found", f"There is no approval {approval_id}.")
        return record

    async def _view(self, actor: SessionActor) -> returns.Session:
        """The session as last published; reads nothing."""
        log = actor.log
        await log.settled()
        seen = (log.written_record, log.fanout.last_seq, len(log.pending), self.stalls.why(log.id))
        if log.viewed is None or log.viewed[0] != seen:
            record, seq, pending, _ = seen
            log.viewed = seen, self._shown(record, log.epoch, seq, pending)
        return log.viewed[1]

    async def _record_view(self, record: SessionRecord) -> returns.Session:
        if (actor := self._actors.get(record.id)) is not None:
            log = actor.log
            return self._shown(record, log.epoch, log.fanout.last_seq, len(log.pending))
        head = await self.store.head(record.id)
        if head is None:
            raise HostError("not_found", f"There is no session {record.id}.")
        page = await self.store.approvals(ApprovalQuery(session=record.id, states=["pending"], limit=1_000))
        return self._shown(record, head.epoch, head.last_seq, len(page.approvals))

    def _shown(self, record: SessionRecord, epoch: str, seq: int, pending: int) -> returns.Session:
        view = session_view(record, epoch, seq, pending=pending, host=self.name)
        if (error := self.stalls.why(record.id)) is not None:
            return msgspec.structs.replace(view, state_reason=f"Its log cannot be written: {error}")
        return view
