"""One session of the host: its process, its log, and its commands, run one at a time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from quarterdeck.client import Session
from quarterdeck.client.calls import next_ids
from quarterdeck.client.errors import ProcessExited, QuarterdeckError
from quarterdeck.client.journal import Journal
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.keeper import KeeperClient
from quarterdeck.protocol import Exited
from quarterdeck.timeline.items import Text, Thinking, ToolCall
from quarterdeck.transport import ExitStatus
from quarterdeck.wire import ControlResponse, ControlSuccess, decode

from .approving import answer_to
from .bodies import approval_view
from .callbacks import OpenCalls
from .errors import HostError
from .events import ProcessChanged, TranscriptNoticed
from .launching import Wire, new_process
from .lifetimes import Life, cut_off, plan_restart
from .mirroring import Mirror
from .prompt_sending import PromptSender
from .recording import Recorder
from .requests import Decision
from .session_log import SessionLog
from .state import has_reason_to_end
from .tally import Tally
from .times import moment
from .transcripts import is_there, owner_of
from .warm_processes import WarmProcess

logger = logging.getLogger("quarterdeck.host")

STDERR_CHARS = 2_000
"""How much of stderr is kept per session."""
T = TypeVar("T")


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
        life: Callable[[], Life] = Life,
        tally: Tally | None = None,
        calls: OpenCalls | None = None,
        warm: Callable[[SessionLog], Awaitable[WarmProcess | None]] | None = None,
        mirror: Mirror | None = None,
    ) -> None:
        """
        Args:
            log: Its rows.
            keeper: Returns the keeper for a new process; None if processes belong to the host.
            options: Returns the options for a new process.
            may_prompt: Raises ``HostError`` if no new prompt may be sent.
            admit: Raises ``HostError`` if no further process may start.
            life: How long its processes live.
            tally: Counts its processes.
            calls: Its program's open calls.
            warm: Returns a warm process for a session like this one, if there is one.
            mirror: Keeps copies of transcripts while sessions are parked.
        """
        self._tally = tally or Tally()
        self.log = log
        self._find_keeper = keeper
        self.keeper: KeeperClient | None = None
        """The keeper that owns the process."""
        self.may_prompt = may_prompt
        self.options = options
        self._admit = admit
        self._life = life
        self._warm = warm
        self._mirror = mirror
        self.touched = 0.0
        """When it was last used, by the loop's clock."""
        self.woken_at = -math.inf
        """When it was last started for a prompt that was due."""
        self._starting = False
        self._keeps_trying = False
        """The current start is a restart, which is retried if it fails."""
        self.turn = asyncio.Lock()
        """Commands of one session run one after another."""
        self.session: Session | None = None
        self.recorder = Recorder(log, ended=self._process_ended)
        self._leaving = False
        self.prompts = PromptSender(self)
        self.calls = calls or OpenCalls(log)
        """What its program is asked."""
        log.shown = self._shown

    def _shown(self) -> None:
        """Called when rows have been written and published."""
        self.prompts.send_when_idle()
        self.calls.look()

    @property
    def id(self) -> str:
        return self.log.id

    @property
    def has_process(self) -> bool:
        return self._starting or self.session is not None

    @property
    def is_idle(self) -> bool:
        """Whether it has a process that is idle."""
        return self.session is not None and self.log.record.state == "idle" and not self.log.in_turn

    @property
    def stderr(self) -> str:
        """The end of its process's stderr; if it has none, of its last process."""
        wire = self.recorder.wire
        return self.log.body.stderr if wire is None else str(wire.stderr_tail)

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

    @property
    def life(self) -> Life:
        return self._life()

    @property
    def limited_until(self) -> float | None:
        """When its account's rate limit ends; None if it isn't reached."""
        return self.log.standing.gauge.until(self.log.now())

    # Processes

    async def start(self, *, again: bool = False) -> None:
        """Start a process. If this raises ``HostError``, the session's state says why.

        ``again``: restart after a crash. If it fails, the next attempt is scheduled.
        """
        async with self.turn:
            if self.session is not None or (again and not self.log.body.wanted):
                return
            self._starting, self._keeps_trying = True, again
            self.log.body.restart_at = None
            if not again:
                self.log.body.unfinished = []
            try:
                self._admit()
                began = time.perf_counter()
                await self._start()
                self._tally.cli_ready.observe(time.perf_counter() - began)
            except HostError:
                if again and self.log.body.restart_at is None:  # it failed before there was a process
                    self._plan_restart()
                    await self.log.update()
                raise
            finally:
                self._starting = False

    async def _start(self) -> None:
        log, body = self.log, self.log.body
        if body.imported:
            raise HostError(
                "conflict",
                "This session was imported; its conversation is on another machine.",
                hint="Bring its transcript here with quarterdeck sessions, and adopt that.",
            )
        anew = False
        if not body.generation:
            body.has_past = body.resume is not None
        elif body.resume is None:
            anew = await self._left_nothing()
            body.resume = None if anew else body.transcript_id  # it continues where its last process was
        await self._compare_transcript()
        options = self.options(log)
        warm = await self._find_warm(log)
        if warm is not None:
            await self._take_over(warm)
            await self.prompts.look_for_uncertain(options.env, anew=anew)
            return
        self.keeper = await self._find_keeper()
        wire = new_process(options, self.keeper, self.id, body.generation + 1, **self._hooks())
        await self._begin("")
        session = self.attach(options, wire)
        try:
            await session.open()
        except QuarterdeckError as error:
            hint = await _what_to_do(options)
            await self._failed_to_start(error, hint)
            raise HostError("cli_failed", f"Claude Code did not start: {error}", hint=hint) from error
        await self.prompts.look_for_uncertain(options.env, anew=anew)
        session.ignore_messages()  # the log has them
        body.resume, body.fork, body.resume_at = None, False, None

    async def _left_nothing(self) -> bool:
        """Whether the last process ended before it did anything or wrote a transcript: there is nothing to resume."""
        log, body = self.log, self.log.body
        items = log.fold.timeline.state.items.values()
        if (
            body.has_past
            or body.transcript_id is None
            or any(isinstance(one, Thinking | Text | ToolCall) for one in items)
        ):
            return False
        return not await asyncio.to_thread(is_there, body.transcript_id, self.options(log).env)

    async def _compare_transcript(self) -> None:
        """Whether the transcript is unchanged since parking. Raises ``HostError`` if it is in use."""
        log, mirrored = self.log, self.log.body.mirrored
        if self._mirror is None or mirrored is None or self.log.body.resume != mirrored.transcript:
            return
        owner = await asyncio.to_thread(owner_of, mirrored.transcript, self.options(log).env)
        if owner is not None:
            raise HostError(
                "conflict",
                f"Process {owner} is using this conversation, e.g. in a terminal.",
                hint="Quit it there, or fork the session.",
                pid=owner,
            )
        try:
            change = await asyncio.to_thread(self._mirror.compare, self.id, mirrored)
        except OSError as error:
            logger.warning("Session %s: its transcript cannot be compared: %s", self.id, error)
            return
        log.body.mirrored = None
        if change is not None:
            await log.tell(TranscriptNoticed(log.now(), change.what, mirrored.transcript, change.records))

    async def _keep_transcript(self) -> None:
        """Copy the transcript. If this raises ``HostError``, the session keeps its process."""
        body, mirror = self.log.body, self._mirror
        if mirror is None or body.transcript_id is None:
            return
        transcript, cwd, env = body.transcript_id, self.log.record.cwd, self.options(self.log).env
        try:
            body.mirrored = await asyncio.to_thread(mirror.keep, self.id, transcript, cwd, env, body.mirrored)
        except OSError as error:
            raise HostError("storage", f"The transcript cannot be copied: {error}") from error

    async def _begin(self, kept_as: str) -> None:
        """Report the new process."""
        log, body = self.log, self.log.body
        body.generation, body.wanted, body.process, body.state_reason = body.generation + 1, True, "starting", ""
        body.parked, body.kept_as = False, kept_as
        self._tally.cli_starts += 1
        await log.tell(ProcessChanged(log.now(), body.generation, "starting"))

    async def _take_over(self, warm: WarmProcess) -> None:
        """Use a warm process for a session like this one."""
        self.keeper = warm.keeper
        await self._begin(warm.name)
        warm.deciding.bind(self.log)
        self.session = warm.session
        wait = warm.hand_over(self.recorder)
        if wait is not None:
            await wait
        if warm.session.exit_status is not None:  # it has just exited, unreported
            status = warm.session.exit_status
            error = ProcessExited(status.code, status.signal)
            await self._failed_to_start(error)
            raise HostError("cli_failed", f"Claude Code did not start: {error}", hint="Resume it.")
        warm.session.ignore_messages()

    async def _find_warm(self, log: SessionLog) -> WarmProcess | None:
        return None if self._warm is None else await self._warm(log)

    async def _failed_to_start(self, error: QuarterdeckError, hint: str = "") -> None:
        body, log = self.log.body, self.log
        self.session = None
        self.recorder.forget()
        if body.process == "starting":
            body.process, body.state_reason = "exited", f"{error} {hint}".strip()
            await self._tell_end(None, None, str(error))
        elif hint:  # its end has already been reported
            body.state_reason = f"{body.state_reason} {hint}"
            await log.update()
        await log.settled()  # the lists must show the failure before it is reported

    def _hooks(self) -> dict[str, Any]:
        return {} if self.keeper is None else {"on_written": self.recorder.written}

    def attach(self, options: ClaudeAgentOptions, wire: Wire, *, input_number: int = 0) -> Session:
        """Attach a session over this wire and log its lines. ``input_number``: the number of the last line sent."""
        self.recorder.begin(wire, input_number)
        self.session = session = Session(options, transport=wire)
        session.journal = Journal(session, clock=self.log.now)
        session.journal.add(self.recorder)
        return session

    def _process_ended(self, exited: Exited) -> None:
        """Called by the session when its process has exited and all its output is in the log."""
        if self._leaving:
            return  # the host is closing; the process keeps running
        body = self.log.body
        if body.process not in ("starting", "running"):
            return
        said = exited.stderr.strip().splitlines()[-1:] if body.process == "starting" else []
        body.process = "exited"
        if body.wanted and not has_reason_to_end(body):
            how = f"signal {exited.signal}" if exited.signal is not None else f"exit code {exited.code}"
            body.state_reason = " ".join([f"Claude Code ended with {how}.", *said])
        body.stderr = exited.stderr[-STDERR_CHARS:]
        self._tell_end(exited.code, exited.signal, "" if exited.expected else exited.stderr)
        session, self.session = self.session, None
        self.recorder.forget()
        if session is not None:
            kept_as = body.kept_as or self.id
            asyncio.get_running_loop().create_task(self._forget(session, kept_as, body.generation))

    async def _forget(self, session: Session, kept_as: str, generation: int) -> None:
        with contextlib.suppress(QuarterdeckError):
            await session.close()
        await self.log.drained()  # until then the spool holds what it wrote
        if self.keeper is not None:
            with contextlib.suppress(QuarterdeckError):
                await self.keeper.drop(kept_as, generation)

    async def lose(self, reason: str, *, status: ExitStatus | None = None, stderr: str = "") -> None:
        """Report that the process was lost with its owner."""
        body = self.log.body
        body.process, body.state_reason = "lost" if status is None else "exited", reason
        code, signal = (None, None) if status is None else (status.code, status.signal)
        await self._tell_end(code, signal, stderr)

    def _plan_restart(self) -> None:
        """Schedule a restart, unless a caller is waiting for this start."""
        if not self._starting or self._keeps_trying:
            plan_restart(self.log.body, self.life, self.log.now())

    def _tell_end(self, code: int | None, signal: int | None, stderr: str) -> Awaitable[Any]:
        log = self.log
        self._tally.cli_crashes += log.body.wanted
        self._plan_restart()
        log.body.unfinished = cut_off(log.fold.timeline.state) or log.body.unfinished
        event = ProcessChanged(
            log.now(),
            log.body.generation,
            log.body.process,  # type: ignore[arg-type]  # just set
            exit_code=code,
            signal=None if signal is None else str(signal),
            stderr=stderr[-STDERR_CHARS:],
            restart_at=None if log.body.restart_at is None else moment(log.body.restart_at),
            unfinished=list(log.fold.timeline.state.running),
        )
        return log.append([*log.partial_rows(), log.event_row(event)])

    async def stop(self) -> None:
        """End the process; the session can be resumed."""
        async with self.turn:
            body = self.log.body
            body.wanted, body.parked, body.restart_at = False, False, None
            body.state_reason = "Stopped."
            if self.session is not None:
                self.log.append(
                    []
                )  # so that a host that dies now leaves it stopped; not awaited: the log may be stalled
                await self._close()
                await self.log.settled()
            elif self.log.record.state in ("crashed", "parked"):
                await self.log.append([])

    async def park(self) -> None:
        """End the process of an idle session; the next prompt starts another one."""
        async with self.turn:
            body = self.log.body
            if not self.is_idle:
                return
            await self._keep_transcript()
            if not self.is_idle:
                return  # it is no longer idle
            body.wanted, body.parked = False, True
            body.state_reason = f"It was idle for {self.log.now() - self.recorder.heard_at:.0f} s."
            await self.log.update()  # first: its end is no crash, also if the host dies before it sees it
            if self.is_idle:
                await self._end_parked()
            else:
                body.wanted, body.parked, body.state_reason = True, False, ""

    async def finish_ending(self) -> None:
        """End a process that the last host was about to end when it died."""
        async with self.turn:
            body = self.log.body
            if self.session is None or body.wanted:
                return
            if body.parked:
                await self._end_parked()
            else:
                await self._close()
                await self.log.settled()

    async def _end_parked(self) -> None:
        await self._close()
        with contextlib.suppress(HostError):  # what it wrote when it ended; the rest is kept
            await self._keep_transcript()
        await self.log.update()
        await self.log.settled()

    async def end(self, reason: str) -> None:
        """End the process and its family, as a failure."""
        async with self.turn:
            if self.session is not None:
                self.log.body.state_reason = reason
                await self._close()
                await self.log.settled()

    async def _close(self) -> None:
        """End the process and its family."""
        session = self.running
        status = await session.close() or ExitStatus()
        if self.session is session:  # its end is queued behind lines that can't be written
            self._process_ended(Exited(code=status.code, signal=status.signal, stderr=self.stderr, expected=True))

    async def leave(self) -> None:
        """Leave the session when the host closes. With a keeper the process keeps running; otherwise it ends."""
        if self.session is not None and self.keeper is None:
            await self.stop()
        self._leaving = True
        self.prompts.close()
        self.calls.close()
        if self.session is not None:
            self.session.detach()
            self.recorder.leave()
        await self.log.close()

    # Commands

    async def call(self, control: Callable[[Session], Awaitable[T]], *, request_id: str | None = None) -> T:
        """Send a control request, without waiting for other commands.

        With a ``request_id``, a request sent before the host restarted isn't sent again.
        """
        ids = next_ids.set(None if request_id is None else [request_id])
        try:
            if request_id in self.log.fold.named:
                return cast("T", await self._asked_before(request_id))
            return await control(self.running)
        except ProcessExited as error:
            raise HostError("not_running", str(error)) from error
        except HostError:
            raise
        except QuarterdeckError as error:
            code = getattr(error, "code", None)  # Claude Code's own term, if it has one
            raise HostError("cli_failed", str(error), **({} if code is None else {"cli_code": code})) from error
        finally:
            next_ids.reset(ids)

    async def _asked_before(self, request_id: str) -> Any:
        answer = self.log.fold.named[request_id]
        if answer is None:
            return await self.running.answer_to(request_id)
        message = decode(answer.encode())
        response = message.response if isinstance(message, ControlResponse) else None
        if isinstance(response, ControlSuccess):
            return response.response
        raise HostError("cli_failed", getattr(response, "error", "Claude Code refused."))

    def check_decision(self, request_id: str, decision: Decision) -> Any:
        """Return the answer for the CLI. Raises ``HostError`` for a decision that doesn't fit."""
        record = self.log.approvals[request_id]
        approval = approval_view(record)
        return answer_to(approval.kind, decision, self.running.pending().get(request_id))

    def deliver(self, request_id: str, answer: Any) -> None:
        """Send the CLI its answer. If the process is gone, the approval becomes undeliverable."""
        if self.session is not None:
            with contextlib.suppress(QuarterdeckError):
                self.session.answer(request_id, answer)
                if self.keeper is None:
                    asyncio.get_running_loop().call_soon(self.recorder.delivered, request_id)


async def _what_to_do(options: ClaudeAgentOptions) -> str:
    """Return a hint for a process that didn't start, e.g. that its conversation is missing."""
    if options.resume is None or await asyncio.to_thread(is_there, options.resume, options.env):
        return ""
    return f"The transcript {options.resume} is gone: put it back, or start a new session. The log has what was said."
