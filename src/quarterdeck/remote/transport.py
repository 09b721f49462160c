"""``RemoteTransport``: a session's bytes, with the process on a host.

To the session it looks like Claude Code: it answers the handshake, accepts prompts and control requests, asks for
permissions, hooks and tools, and writes Claude Code's messages line by line, as the host logged them. So a remote
session *is* a ``Session``: everything above the transport is the same code.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any

import msgspec

from quarterdeck.client.connection import new_id
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.host.errors import HostError
from quarterdeck.host.events import ApprovalChanged, Gap, ProcessChanged, QueueChanged, RawLine, StatusChange
from quarterdeck.host.requests import Decide, Decision, OfApproval, OfSession, SendPrompt, Wait, WatchSession
from quarterdeck.host.resources import Approval, Frame, Priority
from quarterdeck.protocol.events import AnswerReceived, CancelReceived, Event, RequestFailed, RequestReceived
from quarterdeck.protocol.ledger import subtype_of
from quarterdeck.protocol.side import Side
from quarterdeck.transport import DEFAULT_GRACE, ExitStatus, Grace, Receiver, TransportClosed
from quarterdeck.wire import (
    ControlRequest,
    InitializeRequest,
    KeepAliveMessage,
    UpdateEnvironmentVariables,
    UserMessage,
    WireObject,
    decode,
)

from . import own_lines
from .callbacks import CallbackServer, RefusedError
from .controls import control
from .decisions import decision_of, has_callback
from .output import OutputLines
from .remote_host import RemoteHost
from .session_request import hook_ids, session_request
from .sharing import Borrowed, Place

logger = logging.getLogger("quarterdeck.remote")

STOPPING_S = 10.0
"""For the host to end a session's process, in addition to the session's own timeouts."""
AWAY_S = 300.0
"""How long hooks and tools wait while this program isn't connected. We stop reconnecting sooner; then the program
is gone, and its session must not hang until the hook's own timeout."""
ANSWERING_S = 2.0
"""For answers in progress when the process has ended."""


class _Everything:
    """Accepts every subtype: the host decides."""

    def __contains__(self, subtype: object) -> bool:
        return True


class RemoteTransport:
    """One session on a host."""

    def __init__(
        self,
        options: ClaudeAgentOptions,
        host: Place,
        *,
        token: str | None = None,
        attach: str | None = None,
        after: str | None = None,
        detached_s: float | None = None,
        on_session: Callable[[str], None] = lambda session_id: None,
        on_decided: Callable[[Approval, str | None], None] = lambda approval, tool_use_id: None,
    ) -> None:
        """
        Args:
            attach: Continue this session of the host instead of creating one. It gets a process if it has none.
            after: With ``attach``, the ``cursor`` to read after. Default: read the whole log first.
            detached_s: How long hooks and tools wait while this program isn't connected. Default: ``AWAY_S``.
            on_session: Called with the host's session ID, before anything is read.
            on_decided: Called when somebody else decides a request that this program was asked, with the tool call.
        """
        self._options = options
        self._place = host, token
        self._borrowed = Borrowed(host, token)
        self._attach, self._after = attach, after
        self._detached_s = AWAY_S if detached_s is None else detached_s
        self._on_session, self._on_decided = on_session, on_decided
        self._host: RemoteHost | None = None
        self.session_id: str | None = None
        """The host's session ID."""
        self.cursor: str | None = after
        """How far the log has been read."""
        self._epoch = ""
        self._begins_at = 0
        """The last row that existed when this program attached; what follows is live."""
        self.caught_up = asyncio.Event()
        """Set when everything that was in the log has been read."""
        self._waiting_approvals: dict[str, Approval] = {}
        """Until caught up: requests pending in the part of the log read so far."""
        self.failure: HostError | None = None
        """The host's reason why the session couldn't start or continue."""
        self._side = Side(new_id=new_id, clock=lambda: 0.0, serves=_Everything())
        self._output = OutputLines(deltas=options.include_partial_messages)
        self._receiver: Receiver | None = None
        self._asked: dict[str, asyncio.Future[dict[str, Any]]] = {}
        """Requests to the session, by ID."""
        self._serving: dict[str, asyncio.Task[None]] = {}
        """Requests from the session that are in progress."""
        self._approvals: dict[str, asyncio.Task[None]] = {}
        self._answered_here: set[str] = set()
        """Approvals whose decision is being sent to the host."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._last_input: asyncio.Task[None] | None = None
        self._refused: HostError | None = None
        """Why the host refused a request that nobody waits for; the next prompt reports it."""
        self._said: set[str] = set()
        """The prompts of this session."""
        self._queued: set[str] = set()
        """Prompts queued at the host that Claude Code doesn't have yet."""
        self._may_deliver = asyncio.Event()
        self._may_deliver.set()
        self._input_closed = False
        self._status: ExitStatus | None = None
        self._exit = ExitStatus(code=0)
        """How the last process ended."""
        self._restarts = False
        """The host is restarting the process after a crash."""
        self._done = asyncio.Event()
        self.pid: int | None = None
        self._stderr = ""

    @property
    def stderr_tail(self) -> str:
        return self._stderr if self.failure is None else str(self.failure)

    # The transport's interface

    async def start(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._host = await self._borrowed.open()

    def write(self, data: bytes) -> None:
        if self._input_closed or self._status is not None:
            raise TransportClosed("The session on the host is closed. Open a new one.")
        self._side.receive(data)
        for event in self._side.events():
            self._take(event)

    async def drain(self) -> None:
        """Wait until the host confirms the prompts: then they are in its log."""
        while self._last_input is not None and not self._last_input.done():
            await asyncio.wait([self._last_input])

    def pause_reading(self) -> None:
        self._may_deliver.clear()

    def resume_reading(self) -> None:
        self._may_deliver.set()

    def close_input(self) -> None:
        if not self._input_closed:
            self._input_closed = True
            self._run(self._finish())

    async def wait(self) -> ExitStatus:
        await self._done.wait()
        return self._status or ExitStatus()

    async def close(self, grace: Grace = DEFAULT_GRACE) -> ExitStatus:
        """End the session's process on the host. Its log stays, and it can be resumed."""
        self._input_closed = True
        try:
            runs = self._status is None or self._restarts
            if runs and self._host is not None and self.session_id is not None:
                async with asyncio.timeout(grace.eof_s + grace.term_s + STOPPING_S):
                    await self._host.stop(OfSession(session_id=self.session_id))
        except (HostError, TimeoutError) as error:
            logger.warning("Session %s was left running on the host: %s", self.session_id, error)
        finally:
            self._cancel_tasks()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._may_deliver.set()
            self._end(self._exit)
            await self._borrowed.close()
        return self._status or ExitStatus()

    def abandon(self) -> None:
        """Leave immediately; tells the host in the background, if the loop still runs."""
        host, session_id = self._host, self.session_id
        self._cancel_tasks()
        self._end(ExitStatus(signal=9))

        async def stop() -> None:
            with contextlib.suppress(HostError, TimeoutError):
                if host is not None and session_id is not None:
                    async with asyncio.timeout(STOPPING_S):
                        await host.stop(OfSession(session_id=session_id))
            await self._borrowed.close()

        with contextlib.suppress(RuntimeError):
            self._leaving = asyncio.get_running_loop().create_task(stop())

    def detach(self) -> None:
        """Leave the session running on the host, without this program."""
        self._cancel_tasks()
        self._end(ExitStatus())
        self._leaving = asyncio.get_running_loop().create_task(self._borrowed.close())

    _leaving: asyncio.Task[None] | None = None

    def renewed(self, options: ClaudeAgentOptions, *, continues: bool) -> RemoteTransport:
        """Return a transport to another process after this one was closed: of the same session, if it ``continues``."""
        host, token = self._place
        next_one = RemoteTransport(
            options,
            host,
            token=token,
            attach=self.session_id if continues else None,
            after=self.cursor if continues else None,
            detached_s=self._detached_s,
            on_session=self._on_session,
            on_decided=self._on_decided,
        )
        next_one._said = self._said
        return next_one

    # What the session says

    def _take(self, event: Event) -> None:
        match event:
            case RequestReceived():
                task = self._run(self._serve(event.request_id, event.request))
                self._serving[event.request_id] = task
                task.add_done_callback(lambda _: self._serving.pop(event.request_id, None))
            case CancelReceived():
                if (serving := self._serving.get(event.request_id)) is not None:
                    serving.cancel()
            case AnswerReceived() | RequestFailed():
                self._answered(event)
            case UserMessage():
                self._last_input = self._run(self._prompt(event, self._last_input))
            case UpdateEnvironmentVariables():
                self._last_input = self._run(self._update_environment(event, self._last_input))
            case KeepAliveMessage():
                pass  # the connection has its own timeouts
            case _:
                raise HostError("invalid", f"A session on a host cannot send {type(event).__name__}.")

    def _answered(self, event: AnswerReceived | RequestFailed) -> None:
        asked = self._asked.pop(event.request_id, None)
        if asked is None or asked.done():
            return
        if isinstance(event, AnswerReceived):
            asked.set_result(event.answer if isinstance(event.answer, dict) else {})
        else:
            asked.set_exception(RefusedError(event.error))

    async def _serve(self, request_id: str, request: WireObject) -> None:
        before = self._last_input
        try:
            if isinstance(request, InitializeRequest):
                answer = await self._begin(request)
            else:
                if before is not None:
                    await asyncio.wait([before])
                fields = request.to_dict()
                subtype = fields.pop("subtype", subtype_of(request))
                if subtype == "mcp_message":
                    logger.warning("A host does not pass on what MCP servers of a program say unasked: %s", fields)
                waiting = set(self._queued)
                answer = await control(*self._there, subtype, fields)
                for prompt_id in _taken_back(fields, answer) & waiting:
                    await self._deliver(own_lines.lifecycle(prompt_id, "cancelled"))
        except HostError as error:
            if isinstance(request, InitializeRequest):
                self.failure = error
            if self._side.can_answer(request_id):
                self._side.refuse(request_id, error.message, error_code=_code(error))
        else:
            if self._side.can_answer(request_id):
                self._side.answer(request_id, answer)
        await self._deliver(self._side.outgoing())

    @property
    def _there(self) -> tuple[RemoteHost, str]:
        if self._host is None or self.session_id is None:
            raise HostError("not_running", "The session has not started.")
        return self._host, self.session_id

    async def _begin(self, handshake: InitializeRequest) -> dict[str, Any]:
        """Start the session on the host; returns Claude Code's handshake answer."""
        host = self._host
        if host is None or self.session_id is not None:
            raise HostError("invalid", "A session on a host can be initialized only once.")
        wanted = session_request(self._options, handshake, detached_s=self._detached_s)
        if self._attach is None:
            made = await host.create_session(wanted)
            self.caught_up.set()
        else:
            made = await host.resume(OfSession(session_id=self._attach))
            self._begins_at = made.seq
        self.session_id, self._epoch = made.id, made.epoch
        self._on_session(made.id)
        info = await host.get_info(OfSession(session_id=made.id))
        self._run(self._follow(host, made.id))
        if wanted.callbacks is not None:
            callbacks = CallbackServer(host, made.id, hook_ids(handshake), self._ask)
            self._run(self._guarded(self._serve_callbacks(callbacks)))
        handshake_answer: dict[str, Any] = info.details["handshake"]
        return handshake_answer

    async def _serve_callbacks(self, callbacks: CallbackServer) -> None:
        try:
            await callbacks.serve()
        except HostError as error:
            if self._attach is None or error.code != "conflict":
                raise
            logger.info("Session %s was made without hooks and tools of a program", self.session_id)

    async def _prompt(self, message: UserMessage, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        line: dict[str, Any] = message.data
        prompt_id, priority = line.get("uuid"), line.get("priority") or "next"
        refused, self._refused = self._refused, None
        try:
            if refused is not None:
                raise refused
            host, session_id = self._there
            given = SendPrompt(
                session_id=session_id,
                content=line["message"]["content"],
                priority=msgspec.convert(priority, Priority),
                prompt_id=prompt_id,
            )
            self._said.add(str(prompt_id))
            await host.send_prompt(given)
        except (HostError, msgspec.ValidationError) as error:
            await self._deliver(own_lines.failed_result(prompt_id, str(error)))

    async def _update_environment(self, message: UpdateEnvironmentVariables, before: asyncio.Task[None] | None) -> None:
        """Nobody waits for the answer. If the host refuses, the next prompt fails: it expects the new variables."""
        if before is not None:
            await asyncio.wait([before])
        try:
            await control(*self._there, "update_environment_variables", {"variables": message.variables})
        except HostError as error:
            logger.error("The host did not change the environment of session %s: %s", self.session_id, error)
            self._refused = error

    async def _finish(self) -> None:
        """Accept no more input, and end when all requests are done."""
        with contextlib.suppress(HostError):
            await self.drain()
            host, session_id = self._there
            await host.wait(Wait(session_id=session_id))
            await host.stop(OfSession(session_id=session_id))

    # What the host says

    async def _follow(self, host: RemoteHost, session_id: str) -> None:
        previews = self._options.include_partial_messages
        request = WatchSession(session_id=session_id, after=self._after, view="raw", previews=previews)

        async def follow() -> None:
            self._catch_up(0 if self._after is None else int(self._after.rpartition("-")[2]))
            async with aclosing(host.watch_session(request)) as frames:
                async for frame in frames:
                    if not frame.events:
                        self._output.cut()
                    for event in frame.events:
                        await self._tell(event)
                    if isinstance(frame, Frame):
                        self.cursor = f"{self._epoch}-{frame.seq}"
                        self._catch_up(frame.seq)

        await self._guarded(follow())
        self._end(self._exit)

    def _catch_up(self, seq: int) -> None:
        """Note that this row was read. Once caught up, ask what is still open."""
        if self.caught_up.is_set() or seq < self._begins_at:
            return
        self.caught_up.set()
        for approval in self._waiting_approvals.values():
            self._approval(approval)
        self._waiting_approvals.clear()

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """If the host is lost, the session can't continue: fail everything that waits, with the reason."""
        try:
            await work
        except HostError as error:
            self.failure = error
            self._end(ExitStatus())

    async def _tell(self, event: Any) -> None:
        match event:
            case RawLine():
                for line in self._lines(event):
                    await self._deliver(line + b"\n")
            case ApprovalChanged():
                self._approval(event.approval)
            case QueueChanged():
                waiting = {prompt.id for prompt in event.prompts if prompt.state == "queued"} & self._said
                for prompt_id in waiting - self._queued:
                    await self._deliver(own_lines.lifecycle(prompt_id, "queued"))
                self._queued = waiting
            case ProcessChanged(state="running"):
                self.pid = event.pid
            case ProcessChanged(state="exited" | "lost"):
                self._stderr = event.stderr
                self._exit = ExitStatus(code=event.exit_code, signal=_number(event.signal))
            case StatusChange(state="stopped" | "crashed"):
                if self.caught_up.is_set():  # otherwise it has another process by now
                    self._restarts = event.until is not None
                    await self._answers()
                    self._end(self._exit)  # another process would not finish the turn of this one
            case Gap():
                self._epoch = event.epoch
                await self._deliver(own_lines.gap(event))

    def _lines(self, event: RawLine) -> list[bytes]:
        """Return what the session reads of a line: messages from Claude Code, and other clients' prompts."""
        if event.direction == "received":
            return self._output.lines(event.line)
        prompt = own_lines.prompt_of_others(event.line, self._said)
        return [] if prompt is None else [prompt]

    async def _deliver(self, data: bytes) -> None:
        """Deliver lines as the session accepts them."""
        while not self._may_deliver.is_set():
            await self._may_deliver.wait()
        if data and self._receiver is not None and self._status is None:
            self._receiver.bytes_received(data)

    async def _answers(self) -> None:
        """Wait for answers before the end: one of them may have ended the process."""
        if self._serving:
            await asyncio.wait([*self._serving.values()], timeout=ANSWERING_S)

    # Asking the session

    async def _ask(self, subtype: str, fields: dict[str, Any]) -> dict[str, Any]:
        return await self._ask_session(self._side.request(subtype, timeout_s=None, **fields))

    async def _ask_session(self, request_id: str) -> dict[str, Any]:
        """Ask the session; if the caller stops waiting, the request is withdrawn."""
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked[request_id] = answer
        await self._deliver(self._side.outgoing())
        try:
            return await answer
        except asyncio.CancelledError:
            if self._asked.pop(request_id, None) is not None and self._status is None:
                self._side.cancel(request_id)
                self._side.events()
                if self._receiver is not None:
                    self._receiver.bytes_received(self._side.outgoing())
            raise

    def _approval(self, approval: Approval) -> None:
        if not self.caught_up.is_set():
            if approval.state == "pending":
                self._waiting_approvals[approval.id] = approval
                return
            self._waiting_approvals.pop(approval.id, None)
        if approval.state == "pending":
            if has_callback(self._options, approval.kind) and approval.id not in self._approvals:
                task = self._approvals[approval.id] = self._run(self._decide(approval))
                task.add_done_callback(lambda _: self._approvals.pop(approval.id, None))
            return
        written = self._output.requests.pop(approval.request_id, None)
        deciding = self._approvals.get(approval.id)
        if deciding is not None and approval.id not in self._answered_here:  # somebody else was faster
            deciding.cancel()
            self._on_decided(approval, None if written is None else own_lines.tool_call(written))

    async def _decide(self, approval: Approval) -> None:
        """Pass Claude Code's request to the program. The first decision counts, whoever makes it."""
        written = self._output.requests.get(approval.request_id)
        request = None if written is None else decode(written)
        if not isinstance(request, ControlRequest):
            return
        host, _ = self._there
        try:
            answer = await self._ask_session(self._side.request(request.request, timeout_s=None))
            decision = decision_of(approval, answer)
        except RefusedError as error:
            decision = Decision(decision="deny", message=str(error))
        self._answered_here.add(approval.id)
        try:
            await host.decide(Decide(approval_id=approval.id, decision=decision))
        except HostError as error:
            if error.code in ("already_decided", "withdrawn"):
                with contextlib.suppress(HostError):
                    decided = await host.get_approval(OfApproval(approval_id=approval.id))
                    self._on_decided(decided, own_lines.tool_call(request.raw))
                return
            logger.error("The host refused the decision about %s: %s", approval.summary, error)
            with contextlib.suppress(HostError):
                denied = Decision(decision="deny", message=error.message)
                await host.decide(Decide(approval_id=approval.id, decision=denied))
        finally:
            self._answered_here.discard(approval.id)

    # Ending

    def _run(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _cancel_tasks(self) -> None:
        current = None
        with contextlib.suppress(RuntimeError):
            current = asyncio.current_task()
        for task in self._tasks:
            if task is not current:
                task.cancel()

    def _end(self, status: ExitStatus) -> None:
        if self._status is not None:
            return
        self._status = status
        if self._receiver is not None:
            self._receiver.eof_received()
            self._receiver.exited(status)
        self._done.set()


def _taken_back(fields: dict[str, Any], answer: dict[str, Any]) -> set[str]:
    """The prompts that a control call withdrew."""
    cancelled = answer.get("cancelled")
    return {fields.get("message_uuid", "")} if cancelled is True else set(cancelled or ())


def _code(error: HostError) -> str | None:
    """Claude Code's own error code, if it was Claude Code that refused."""
    return error.details.get("cli_code") if error.code == "cli_failed" else error.code


def _number(signal: str | None) -> int | None:
    return int(signal) if signal is not None and signal.isdigit() else None
