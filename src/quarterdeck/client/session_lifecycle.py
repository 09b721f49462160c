"""The life of a session: starting its CLI, replacing it by another one, and ending it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from collections.abc import Container, Sequence

import msgspec

from quarterdeck.protocol import HostSide, TurnState
from quarterdeck.protocol.states import IDLE_WAIT_S
from quarterdeck.transport import ByteTransport, ExitStatus, Grace
from quarterdeck.wire import (
    InitializeAnswer,
    Message,
    MirrorErrorMessage,
    ResultMessage,
    SessionStateChangedMessage,
    TranscriptMirrorMessage,
)

from .connection import Connection, new_id
from .dispatch import Dispatcher
from .errors import Aborted, CLIConnectionError, CLITooOld, ControlError, ProcessExited, ResultError
from .journal import JournalEntry
from .launch import LaunchPlan, plan_launch
from .opening import prepare
from .options import ClaudeAgentOptions
from .session_base import SessionBase

MIRROR_ERRORS_KEPT = 100

HIDDEN: frozenset[type[Message]] = frozenset({TranscriptMirrorMessage})
"""Messages for the session itself, not for its reader."""
HIDDEN_WITH_STATE = HIDDEN | {SessionStateChangedMessage}


class Resumed(msgspec.Struct, frozen=True):
    """A conversation to continue."""

    record: tuple[JournalEntry, ...]
    snapshot: bytes | None

    def side(self, *, serves: Container[str], limit_bytes: int) -> HostSide:
        clock = asyncio.get_running_loop().time
        if self.snapshot is not None:
            from quarterdeck.protocol.snapshot import restore

            side = restore(self.snapshot, new_id=new_id, clock=clock, serves=serves, limit_bytes=limit_bytes)
        else:
            side = HostSide(new_id=new_id, clock=clock, serves=serves, limit_bytes=limit_bytes)
        for entry in self.record:
            take = side.sent if entry.direction == "in" else side.received
            take(entry.message, entry.at)
        return side


def _from_environment(options: ClaudeAgentOptions, name: str) -> str | None:
    """As the CLI will see it."""
    return options.env.get(name, os.environ.get(name))


def _shows_states(options: ClaudeAgentOptions) -> bool:
    """By our option, or by the variable that programs of the official SDK set."""
    wanted = _from_environment(options, "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") or ""
    return options.session_state_events or wanted.strip().lower() in ("1", "true", "yes", "on")


def _idle_wait_s(options: ClaudeAgentOptions) -> float | None:
    """The CLI's own limit for work in the background, which counts only once its input is closed; 0: none."""
    given = _from_environment(options, "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS") or ""
    if not given.isdecimal():
        return IDLE_WAIT_S
    return int(given) / 1000 or None


class SessionLifecycle(SessionBase):
    """Starts, replaces and ends the CLI of a session."""

    # Starting

    async def _start(self, resumed: Resumed | None = None) -> None:
        """Start the CLI and shake hands. Leaves nothing running when it fails."""
        try:
            await self._connect(resumed)
        except BaseException:
            await self.close()
            raise

    async def _connect(self, resumed: Resumed | None) -> None:
        options = self._traced(await self._from_store())
        plan, transport = self._planned(options)
        self._client_composed, self.ignored_options = plan.client_composed, plan.ignored
        hooks = plan.hooks or {}
        self._dispatcher = Dispatcher(self.options, hooks, version=lambda: self.version)
        limit_bytes = self.options.line_limit_bytes
        self._connection = connection = Connection(
            transport,
            self._dispatcher,
            journal=self.journal,
            limit_bytes=limit_bytes,
            request_timeout_s=self.options.request_timeout_s,
            on_event=self._happened,
            hidden=HIDDEN if _shows_states(self.options) else HIDDEN_WITH_STATE,
            idle_wait_s=_idle_wait_s(self.options),
            side=None if resumed is None else resumed.side(serves=self._dispatcher.served, limit_bytes=limit_bytes),
        )
        if self._stored is not None:
            self._stored.show_errors(connection.inbox.put)
        if resumed is not None:
            self._take_back(resumed.record)
        await connection.start()
        self._dispatcher.prepare()
        if plan.sdk_servers:
            self._servers.connect(plan.sdk_servers)
        self._watch_abort()
        answer = self.server_info if resumed is not None else await self._shake_hands(plan)
        self._guards_need_input = not answer.hook_on_failure_supported and any(hook.guards for hook in hooks.values())
        if resumed is not None:
            connection.serve_what_is_open()

    def _planned(self, options: ClaudeAgentOptions) -> tuple[LaunchPlan, ByteTransport]:
        """What to send the CLI first, and how to reach it: its process, or the program's own transport."""
        if self._own_transport is not None:
            return plan_launch(options, cli=("claude",), read_bytes=lambda _: b"{}"), self._own_transport
        launch = prepare(options)
        self._discard = launch.discard
        return launch.plan, launch.transport

    def _take_back(self, record: Sequence[JournalEntry]) -> None:
        for entry in record:
            if entry.direction == "out" and isinstance(entry.message, ResultMessage):
                self.turn_cost = self.costs.add(entry.message)
        if record:
            self.journal.continue_after(record[-1])

    async def _shake_hands(self, plan: LaunchPlan) -> InitializeAnswer:
        initialize = plan.initialize
        if plan.sdk_servers:
            initialize = await self._servers.announced_in(initialize)
        try:
            answer = await self._link.calls.initialize(initialize, timeout_s=self.options.initialize_timeout_s)
        except (ControlError, ProcessExited) as error:
            raise self._why_it_did_not_start(error) from error
        if plan.must_block_on_hook_failure:
            _check_guards(answer)
        return answer

    async def _from_store(self) -> ClaudeAgentOptions:
        """The options to start the CLI with. With a session store, a resumed session may have to be fetched first."""
        if self.options.session_store is None:
            return self.options
        from .transcript_stores.attached import StoredSession

        self.mirror_errors = errors = deque[MirrorErrorMessage](maxlen=MIRROR_ERRORS_KEPT)
        self._stored = await StoredSession.begin(
            self.options, self.options.session_store, errors, starts_cli=self._own_transport is None
        )
        self.journal.add(self._stored)
        return self._stored.options

    def _traced(self, options: ClaudeAgentOptions) -> ClaudeAgentOptions:
        """The options with the trace context for the CLI; unchanged when the program does not trace."""
        wanted = self.options.tracing
        if wanted is False or (wanted is None and "opentelemetry.trace" not in sys.modules):
            return options
        if self._tracer is None:
            try:
                from .tracing import SessionTracer
            except ImportError as error:
                raise ImportError("tracing=True needs opentelemetry-api: pip install 'quarterdeck[otel]'") from error

            self._tracer = SessionTracer(self.options)
            if self._tracer.recording:
                self.journal.add(self._tracer)
        return self._tracer.propagated(options)

    def _why_it_did_not_start(self, error: ControlError | ProcessExited) -> Exception:
        if (failure := self._transport_failure) is not None:
            return failure
        result = self._link.side.last_result
        if result is None or isinstance(error, ControlError):
            return error
        return ResultError.of(result, error.exit_code)

    def _watch_abort(self) -> None:
        abort = self.options.abort
        if abort is not None:

            async def end() -> None:
                await abort.wait()
                self._link.inbox.end(Aborted("the session was aborted by its abort option"))
                self._link.abandon()

            self._run(end())

    # Replacing

    async def reopen(self, options: ClaudeAgentOptions) -> None:
        """Restart the CLI with other options, and repeat the settings made by control calls.

        Without that, model, permission mode and the like would fall back to what the options say, which may allow more
        than the program wanted by then. Unread messages are dropped.
        """
        renewed = getattr(self._own_transport, "renewed", None)
        if self._own_transport is not None and renewed is None:
            raise CLIConnectionError("a session with a custom transport cannot start another CLI")
        await self._end()
        if renewed is not None:  # on a host
            continues = options.resume is not None and options.resume in (self.session_id, self.options.resume)
            self._own_transport = renewed(options, continues=continues)
        if self._stored is not None:
            self.journal.remove(self._stored)
        self.options = options
        self._discard = self._connection = self._dispatcher = self._in_process_servers = self._stored = None
        deque(self._ready, 0)
        self._closed = False
        self.costs.process_started()
        await self._start()
        try:
            for request, fields in self._lasting.values():
                await self._link.calls.call(request, **fields)
        except BaseException:
            await self.close()  # it must not continue with other permissions than those set
            raise

    # Ending

    def detach(self) -> None:
        """Leave the process running for another session to ``attach``: nothing is sent, and nothing is ended.

        For a transport that continues without this program. Everyone who waits here gets the error that the session was
        closed.
        """
        self._closed = True
        for job in tuple(self._jobs):
            job.cancel()
        if self._connection is not None:
            self._connection.detach()
        if (leave := getattr(self._own_transport, "detach", None)) is not None:
            leave()

    async def close(self) -> ExitStatus | None:
        """End the CLI and everything it started. Takes bounded time, can be repeated, and completes when cancelled."""
        try:
            return await self._end()
        finally:
            self.journal.closed()

    async def _end(self) -> ExitStatus | None:
        self._closed = True
        for job in tuple(self._jobs):
            job.cancel()
        try:
            if self._connection is not None:
                unguarded = self._guards_need_input and self.turn_state is not TurnState.IDLE
                grace = Grace(eof_s=0.0 if unguarded else self.options.close_grace_s)
                return await self._connection.close(grace)
            return None
        finally:
            if self._discard is not None:
                self._discard()
            if self._stored is not None:
                await self._stored.end()
            if self._in_process_servers is not None:
                await self._in_process_servers.close()


def _check_guards(answer: InitializeAnswer) -> None:
    """A hook that must block when it fails is no guard on a CLI that does not know ``on_failure``."""
    if not answer.hook_on_failure_supported or answer.hooks_applied is False:
        raise CLITooOld('this CLI does not support hooks with on_failure="block"; update it')
