"""The life of a session: starting its CLI, replacing it by another one, and ending it."""

from __future__ import annotations

import sys
from collections import deque

from quarterdeck.protocol import TurnState
from quarterdeck.transport import ExitStatus, Grace
from quarterdeck.wire import (
    InitializeAnswer,
    InitializeRequest,
    Message,
    MirrorErrorMessage,
    SessionStateChangedMessage,
    TranscriptMirrorMessage,
)

from .connection import Connection
from .dispatch import Dispatcher
from .errors import Aborted, CLIConnectionError, CLITooOld, ProcessExited, ResultError
from .launch import LaunchPlan
from .launch_initialize import RegisteredHook
from .opening import prepare
from .options import ClaudeAgentOptions
from .session_base import SessionBase

MIRROR_ERRORS_KEPT = 100

HIDDEN: frozenset[type[Message]] = frozenset({TranscriptMirrorMessage})
"""Messages for the session itself, not for its reader."""
HIDDEN_WITH_STATE = HIDDEN | {SessionStateChangedMessage}


class SessionLifecycle(SessionBase):
    """Starts, replaces and ends the CLI of a session."""

    # Starting

    async def _start(self) -> None:
        """Start the CLI and shake hands. Leaves nothing running when it fails."""
        try:
            await self._connect()
        except BaseException:
            await self.close()
            raise

    async def _connect(self) -> None:
        initialize, transport = InitializeRequest(), self._own_transport
        hooks: dict[str, RegisteredHook] = {}
        plan: LaunchPlan | None = None
        options = self._traced(await self._from_store())
        if transport is None:
            launch = prepare(options)
            self._discard, plan, transport = launch.discard, launch.plan, launch.transport
            initialize, self._client_composed = plan.initialize, plan.client_composed
            self.ignored_options = plan.ignored
            hooks = plan.hooks or {}
        self._dispatcher = Dispatcher(self.options, hooks)
        self._connection = connection = Connection(
            transport,
            self._dispatcher,
            limit_bytes=self.options.line_limit_bytes,
            request_timeout_s=self.options.request_timeout_s,
            on_event=self._happened,
            hidden=HIDDEN if self.options.session_state_events else HIDDEN_WITH_STATE,
            on_hidden=None if self._stored is None else self._stored.take,
            observer=self._observers,
        )
        if self._stored is not None:
            self._stored.show_errors(connection.inbox.put)
        await connection.start()
        if plan is not None and plan.sdk_servers:
            self._servers.connect(plan.sdk_servers)
            initialize = await self._servers.announced_in(initialize)
        self._watch_abort()
        try:
            answer = await connection.calls.initialize(initialize, timeout_s=self.options.initialize_timeout_s)
        except ProcessExited as error:
            raise self._why_it_did_not_start(error) from error
        if plan is not None and plan.must_block_on_hook_failure:
            _check_guards(answer)
        self._guards_need_input = not answer.hook_on_failure_supported and any(hook.guards for hook in hooks.values())

    async def _from_store(self) -> ClaudeAgentOptions:
        """The options to start the CLI with. With a session store, a resumed session may have to be fetched first."""
        if self.options.session_store is None:
            return self.options
        from .transcript_stores.attached import StoredSession

        self.mirror_errors = errors = deque[MirrorErrorMessage](maxlen=MIRROR_ERRORS_KEPT)
        self._stored = await StoredSession.begin(
            self.options, self.options.session_store, errors, starts_cli=self._own_transport is None
        )
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
                raise ImportError("tracing=True needs the package opentelemetry-api (quarterdeck[otel])") from error

            self._tracer = SessionTracer(self.options)
            if self._tracer.recording:
                self.observe(self._tracer)
        return self._tracer.propagated(options)

    def _why_it_did_not_start(self, error: ProcessExited) -> Exception:
        result = self._link.side.last_result
        return error if result is None else ResultError.of(result, error.exit_code)

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
        """Replace this CLI by another one with other options, and repeat the settings made by control calls.

        Without that, model, permission mode and the like would fall back to what the options say, which may allow more
        than the program wanted by then. Unread messages are dropped.
        """
        if self._own_transport is not None:
            raise CLIConnectionError("a session with a transport of its own cannot start another CLI")
        await self._end()
        self.options = options
        self._discard = self._connection = self._dispatcher = self._in_process_servers = self._stored = None
        self._ready.clear()
        self._closed = False
        self.costs.process_started()
        await self._start()
        try:
            for request, fields in self._lasting.values():
                await self._link.calls.call(request, **fields)
        except BaseException:
            await self.close()  # it must not go on with other rights than those that were set
            raise

    # Ending

    async def close(self) -> ExitStatus | None:
        """End the CLI and everything it started. Takes bounded time, can be repeated, and completes when cancelled."""
        try:
            return await self._end()
        finally:
            if self._observers is not None:
                self._observers.closed()

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
                await self._stored.close()
            if self._in_process_servers is not None:
                await self._in_process_servers.close()


def _check_guards(answer: InitializeAnswer) -> None:
    """A hook that must block when it fails is no guard on a CLI that does not know ``on_failure``."""
    if not answer.hook_on_failure_supported or answer.hooks_applied is False:
        raise CLITooOld('this CLI does not support hooks with on_failure="block"; update it')
