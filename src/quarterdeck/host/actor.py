"""One session of the host: its process, its log, and what is asked of it, one thing after the other."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import msgspec

from quarterdeck.client import Session
from quarterdeck.client.errors import ProcessExited, QuarterdeckError
from quarterdeck.client.journal import JournalEntry, JournalReader
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.keeper import KeeperClient, KeptSession
from quarterdeck.protocol import Exited, Handshake
from quarterdeck.protocol.snapshot import snapshot
from quarterdeck.store.records import NewRow
from quarterdeck.transport import ExitStatus
from quarterdeck.wire import ControlResponse, Decoder

from .approving import answer_to
from .bodies import approval_view
from .errors import HostError
from .events import ProcessChanged
from .folding import is_preview
from .launching import LineEnds, Wire, new_process
from .prompt_sending import PromptSender
from .requests import Decision
from .session_log import SessionLog

logger = logging.getLogger("quarterdeck.host")

READ_BYTES = 1024 * 1024
STDERR_CHARS = 2_000
"""How much of stderr is kept with a session."""
T = TypeVar("T")


class _Recorder(JournalReader):
    """Puts the journal into the log, before anything is done about a line."""

    required = True

    def __init__(self, actor: SessionActor) -> None:
        self._actor = actor

    def read(self, entries: Sequence[JournalEntry]) -> Awaitable[Any] | None:
        return self._actor.record(entries)

    def exited(self, exited: Exited, at: float) -> None:
        self._actor.process_ended(exited)


class SessionActor:
    """Starts, feeds and ends the processes of one session."""

    def __init__(
        self,
        log: SessionLog,
        *,
        keeper: Callable[[], Awaitable[KeeperClient | None]],
        options: Callable[[SessionLog], ClaudeAgentOptions],
        may_prompt: Callable[[], None] = lambda: None,
        admit: Callable[[], None] = lambda: None,
    ) -> None:
        """
        Args:
            log: Its rows.
            keeper: Gives the keeper for a new process; None where processes are the host's own.
            options: What a process is started with.
            may_prompt: Raises ``HostError`` where no new prompt may be sent.
            admit: Raises ``HostError`` when no further process may start.
        """
        self.log = log
        self._find_keeper = keeper
        self._keeper: KeeperClient | None = None
        """Whose the process is."""
        self.may_prompt = may_prompt
        self._options = options
        self._admit = admit
        self._starting = False
        self.turn = asyncio.Lock()
        """Commands of one session are done one after the other."""
        self.session: Session | None = None
        self._wire: Wire | None = None
        self._reader: asyncio.Task[None] | None = None
        self._input_number = 0
        self._answers: dict[int, str] = {}
        """Number of a line of ours → the request it answers."""
        self._stream_from: int | None = None
        """Where the message that is being streamed begins in the spool."""
        self.sender = ""
        """Who says the line that is being written; empty: the host."""
        self._leaving = False
        self.prompts = PromptSender(self)

    @property
    def id(self) -> str:
        return self.log.id

    @property
    def has_process(self) -> bool:
        return self._starting or self.session is not None

    @property
    def stderr(self) -> str:
        """The last of what its process wrote to stderr; of the last process, if it has none."""
        return self.log.body.stderr if self._wire is None else str(self._wire.stderr_tail)

    @property
    def running(self) -> Session:
        """Its process. Raises ``HostError`` if it has none."""
        if self.session is None:
            raise HostError(
                "not_running",
                f"Session {self.id} has no process.",
                hint="Resume it first.",
                state=self.log.record.state,
            )
        return self.session

    # The log

    def record(self, entries: Sequence[JournalEntry]) -> Awaitable[Any] | None:
        """Lines as rows, previews between them; returns what to wait for before anything is done about them."""
        wait: asyncio.Future[Any] | None = None
        rows: list[NewRow] = []
        end = 0
        if self._wire is not None:
            self.log.pid = self._wire.pid
        for entry in entries:
            if entry.direction == "in":
                rows.append(self._sent_row(entry))
                continue
            end = self._wire.lines.next() if self._wire is not None else 0
            if not is_preview(entry.message):
                rows.append(self._received_row(entry, end))
                continue
            if rows:
                wait, rows = self.log.append(rows), []
            wait = self.log.preview(entry.message, entry.at) or wait
            if self._stream_from is None and self.log.previews.state.streams:
                self._stream_from = end - len(entry.message.raw) - 1
        if rows:
            wait = self.log.append(rows)
        if not self.log.previews.state.streams:
            self._stream_from = None
        if end and wait is not None:
            self._acknowledge(wait, end if self._stream_from is None else self._stream_from)
        return wait

    def _received_row(self, entry: JournalEntry, spool_end: int) -> NewRow:
        self.log.previews.received(entry.message, at=entry.at)
        return NewRow(
            at=entry.at,
            kind="received",
            origin="agent",
            body=entry.message.raw,
            generation=self.log.body.generation,
            spool_end=spool_end,
        )

    def _sent_row(self, entry: JournalEntry) -> NewRow:
        self._input_number += 1
        self.log.previews.sent(entry.message, at=entry.at)
        request_id = _answered(entry)
        if request_id is not None:
            self._answers[self._input_number] = request_id
        return NewRow(
            at=entry.at,
            kind="sent",
            origin="user" if self.sender else "host",
            body=entry.message.raw,
            generation=self.log.body.generation,
            input_number=self._input_number,
            sender=self.sender,
        )

    def _acknowledge(self, wait: asyncio.Future[Any], offset: int) -> None:
        kept = None if self._wire is None else self._wire.kept
        if kept is not None:
            wait.add_done_callback(lambda done: kept.acknowledge(offset) if _went_well(done) else None)

    def written(self, number: int) -> None:
        """Told by the keeper: our lines up to this number are in the process's pipe."""
        for known in sorted(self._answers):
            if known > number:
                break
            record = self.log.approvals.get(self._answers.pop(known))
            if record is not None and record.state == "decided":
                self.log.move(record, "delivered")

    # Processes

    async def start(self) -> None:
        """Give the session a process. Raises ``HostError``; then its state says why."""
        async with self.turn:
            if self.session is not None:
                return
            self._starting = True
            try:
                self._admit()
                await self._start()
            finally:
                self._starting = False

    async def _start(self) -> None:
        log, body = self.log, self.log.body
        if body.resume is None and body.generation:
            body.resume = body.transcript_id  # it goes on where its last process was
        options = self._options(log)
        generation = body.generation + 1
        self._keeper = await self._find_keeper()
        wire = new_process(options, self._keeper, self.id, generation, **self._hooks())
        body.generation, body.wanted, body.process, body.state_reason = generation, True, "starting", ""
        self._input_number = 0
        await log.tell(ProcessChanged(log.now(), generation, "starting"))
        session = self._attach(options, wire)
        try:
            await session.open()
        except QuarterdeckError as error:
            await self._failed_to_start(error)
            raise HostError("cli_failed", f"Claude Code did not start: {error}") from error
        await self.prompts.look_for_uncertain()
        self._reader = asyncio.get_running_loop().create_task(self._drain(session))
        body.resume, body.fork, body.resume_at = None, False, None

    async def _failed_to_start(self, error: QuarterdeckError) -> None:
        body, log = self.log.body, self.log
        self.session = self._wire = None
        if body.process == "starting":
            body.process, body.state_reason = "exited", str(error)
            await log.tell(ProcessChanged(log.now(), body.generation, "exited", stderr=str(error)[-STDERR_CHARS:]))

    def _hooks(self) -> dict[str, Any]:
        return {} if self._keeper is None else {"on_written": self.written}

    def _attach(self, options: ClaudeAgentOptions, wire: Wire) -> Session:
        self._wire = wire
        self.session = session = Session(options, transport=wire)
        session.journal.add(_Recorder(self))
        return session

    async def _drain(self, session: Session) -> None:
        """The log has everything: what waits for a reader of the session itself is thrown away."""
        with contextlib.suppress(QuarterdeckError):
            async for _ in session.batches():
                pass

    def process_ended(self, exited: Exited) -> None:
        """Told by the session: its process is gone, and everything it wrote is in the log."""
        if self._leaving:
            return  # we are leaving, not the process
        body, log = self.log.body, self.log
        if body.process not in ("starting", "running"):
            return
        body.process = "exited"
        if body.wanted and not body.state_reason:
            how = f"signal {exited.signal}" if exited.signal is not None else f"exit code {exited.code}"
            body.state_reason = f"Claude Code ended with {how}."
        body.stderr = exited.stderr[-STDERR_CHARS:]
        unfinished = list(log.fold.timeline.state.running)
        event = ProcessChanged(
            log.now(),
            body.generation,
            "exited",
            exit_code=exited.code,
            signal=None if exited.signal is None else str(exited.signal),
            stderr="" if exited.expected else exited.stderr[-STDERR_CHARS:],
            unfinished=unfinished,
        )
        log.append([*log.partial_rows(), log.event_row(event)])
        session, self.session, self._wire = self.session, None, None
        if session is not None:
            asyncio.get_running_loop().create_task(self._forget(session, body.generation))

    async def _forget(self, session: Session, generation: int) -> None:
        with contextlib.suppress(QuarterdeckError):
            await session.close()
        await self.log.settled()
        if self._keeper is not None:
            with contextlib.suppress(QuarterdeckError):
                await self._keeper.drop(self.id, generation)

    async def stop(self) -> None:
        """End the process; the session can be resumed."""
        async with self.turn:
            self.log.body.wanted = False
            self.log.body.state_reason = "It was stopped."
            if self.session is not None:
                await self.session.close()
                await self.log.settled()
            elif self.log.record.state == "crashed":
                await self.log.append([])

    async def leave(self) -> None:
        """The host ends. With a keeper the process goes on; without one it ends."""
        if self.session is not None and self._keeper is None:
            await self.stop()
        self._leaving = True
        self.prompts.close()
        if self._reader is not None:
            self._reader.cancel()
        if self.session is not None:
            self.session.detach()
        await self.log.close()

    # What is asked of it

    async def call(self, control: Callable[[Session], Awaitable[T]]) -> T:
        """A control call; it does not wait for other commands."""
        try:
            return await control(self.running)
        except ProcessExited as error:
            raise HostError("not_running", str(error)) from error
        except HostError:
            raise
        except QuarterdeckError as error:
            raise HostError("cli_failed", str(error)) from error

    def check_decision(self, request_id: str, decision: Decision) -> Any:
        """What the CLI will be answered. Raises ``HostError`` for a decision that does not fit."""
        record = self.log.approvals[request_id]
        approval = approval_view(record)
        return answer_to(approval.kind, decision, self.running.pending().get(request_id))

    def deliver(self, request_id: str, answer: Any) -> None:
        """Give the CLI its answer. If the process is gone, the approval becomes undeliverable with it."""
        if self.session is not None:
            with contextlib.suppress(QuarterdeckError):
                self.session.answer(request_id, answer)
                if self._keeper is None:
                    asyncio.get_running_loop().call_soon(self._delivered, request_id)

    def _delivered(self, request_id: str) -> None:
        record = self.log.approvals.get(request_id)
        if record is not None and record.state == "decided":
            self.log.move(record, "delivered")

    # Going on with a process that outlived the host

    async def take_up(self, keeper: KeeperClient, kept: KeptSession, resend: Sequence[tuple[int, bytes]]) -> None:
        """Replay is done (the fold has it); catch up with the spool, then go on in the middle of the turn.

        ``resend``: lines of ours that were committed, by their number; those the keeper does not have are sent again.
        """
        options = self._options(self.log)
        self._keeper = keeper
        if self.log.fold.side.handshake is Handshake.NOT_ASKED:
            await keeper.end(self.id, kept.generation)
            await keeper.drop(self.id, kept.generation)
            await self.lose("The host was killed before it had spoken to the process.")
            return

        async def read(offset: int) -> bytes:
            return await keeper.read(self.id, offset, kept.generation, size=READ_BYTES)

        self.log.pid = kept.pid
        offset = await self.catch_up(kept.first, kept.end, read)
        await self.log.settled()
        self._input_number = max([kept.accepted, *(number for number, _ in resend)])
        again = [line + b"\n" for number, line in resend if number > kept.accepted]
        transport = keeper.attach(self.id, kept.generation, offset, durable=True, on_written=self.written)
        session = self._attach(options, Wire(transport, offset=offset, again=again))
        at = self.log.fold.timeline.state.at
        await session.attach((), snapshot=snapshot(self.log.fold.side, at))
        self._reader = asyncio.get_running_loop().create_task(self._drain(session))
        for record in list(self.log.approvals.values()):
            if record.state == "decided" and record.request_id in session.pending():
                self._deliver_again(record.request_id)
        self.prompts.send_when_idle()

    async def lose(self, reason: str, *, status: ExitStatus | None = None, stderr: str = "") -> None:
        """Its process is gone, with whatever owned it."""
        log, body = self.log, self.log.body
        unfinished = list(log.fold.timeline.state.running)
        body.process, body.state_reason = "exited" if status is not None else "lost", reason
        event = ProcessChanged(
            log.now(),
            body.generation,
            "exited" if status is not None else "lost",
            exit_code=None if status is None else status.code,
            signal=None if status is None or status.signal is None else str(status.signal),
            stderr=stderr[-STDERR_CHARS:],
            unfinished=unfinished,
        )
        await log.append([*log.partial_rows(), log.event_row(event)])

    def _deliver_again(self, request_id: str) -> None:
        record = self.log.approvals[request_id]
        if record.decision is not None:
            decision = msgspec.json.decode(record.decision.body, type=Decision)
            self.deliver(request_id, self.check_decision(request_id, decision))

    async def catch_up(self, first: int, end: int, read: Callable[[int], Awaitable[bytes]]) -> int:
        """Rows of what the process wrote while nobody listened; returns where the next line begins."""
        decoder, lines = Decoder(), LineEnds(first)
        at = self.log.now()
        while lines.offset < end and (data := await read(lines.offset)):
            lines.take(data)
            for message in decoder.feed(data):
                line_end = lines.next()
                entry = JournalEntry(0, at, "out", message)
                if line_end > self.log.spool_end:
                    await self._record_at(entry, line_end)
                else:  # the log has it; the rest of the message that is being streamed is told after it
                    self.log.previews.received(message, at=at)
        return lines.complete

    async def _record_at(self, entry: JournalEntry, end: int) -> None:
        wait = self._record_received(entry, end)
        if wait is not None:
            await wait

    def _record_received(self, entry: JournalEntry, end: int) -> asyncio.Future[Any] | None:
        if is_preview(entry.message):
            return self.log.preview(entry.message, entry.at)
        return self.log.append([self._received_row(entry, end)])


def _answered(entry: JournalEntry) -> str | None:
    message = entry.message
    return message.request_id if isinstance(message, ControlResponse) else None


def _went_well(done: asyncio.Future[Any]) -> bool:
    return not done.cancelled() and done.exception() is None
