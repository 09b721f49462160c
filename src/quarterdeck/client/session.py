"""``Session``: one running Claude Code, to prompt, follow, steer and end.

>>> async with connect(ClaudeAgentOptions(model="sonnet")) as session:   # doctest: +SKIP
...     async for message in session.prompt("What is in this folder?"):
...         print(message)
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sys
import warnings
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Collection, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from quarterdeck.protocol import ProtocolEvent, TurnEnded, TurnState
from quarterdeck.transport import ByteTransport, ExitStatus, Grace
from quarterdeck.wire import (
    CanUseToolRequest,
    InitializeAnswer,
    InitializeRequest,
    Message,
    MirrorErrorMessage,
    OutgoingRequest,
    PermissionResult,
    ResultMessage,
    SessionStateChangedMessage,
    TranscriptMirrorMessage,
    WireObject,
)
from quarterdeck.wire._base import plain

from .connection import Connection
from .controls import Controls
from .cost import CostLedger, TurnCost
from .dispatch import Dispatcher, RequestHandler, permission_payload
from .errors import Aborted, CLIConnectionError, CLITooOld, ProcessExited, QuarterdeckError, ResultError
from .launch import LaunchPlan
from .observer import Observer, Observers
from .opening import prepare
from .options import ClaudeAgentOptions
from .turn import Turn
from .which_loop import under_trio

if TYPE_CHECKING:
    from quarterdeck.wire import McpSetServersResult

    from .retry import Retry
    from .tracing import SessionTracer
    from .transcript_stores.attached import StoredSession

SERVER_CLOSE_S = 2.0
"""How long an in-process MCP server may take to end."""

MIRROR_ERRORS_KEPT = 100

_LASTING = frozenset({"set_model", "set_permission_mode", "set_max_thinking_tokens"})

_FOR_US: frozenset[type[Message]] = frozenset({TranscriptMirrorMessage})
_FOR_US_TOO = _FOR_US | {SessionStateChangedMessage}

Content = str | Sequence[Any]
"""A prompt: text, or content blocks (typed or as dicts)."""


class Session(Controls):
    """One conversation with one CLI process. Use it as an async context manager."""

    def __init__(self, options: ClaudeAgentOptions | None = None, *, transport: ByteTransport | None = None) -> None:
        """With a ``transport`` of your own, what the options would put on the command line has no effect."""
        self.options = options or ClaudeAgentOptions()
        self._own_transport = transport
        self._discard: Callable[[], None] | None = None
        """Removes the private files that the CLI reads."""
        self.ignored_options: tuple[str, ...] = ()
        """Options that this version of the CLI is known to ignore."""
        self._connection: Connection | None = None
        self._dispatcher: Dispatcher | None = None
        self._ready: list[Message] = []
        """Taken over and not read yet, the next one last."""
        self._jobs: list[asyncio.Task[None]] = []
        self._client_composed = False
        self._closed = False
        self._stored: StoredSession | None = None
        self._observers: Observers | None = None
        self._tracer: SessionTracer | None = None
        self._lasting: dict[str, tuple[WireObject | str, dict[str, Any]]] = {}
        """Changes made by control calls that the next process has to be told again."""
        self.mirror_errors: Collection[MirrorErrorMessage] = ()
        """What did not reach the session store, the latest of it; each also comes as a message."""
        self.costs = CostLedger()
        """What the session has cost so far, in all and by model."""
        self.turn_cost: TurnCost | None = None
        """What the last turn that ended has cost."""

    # Opening and closing

    async def __aenter__(self) -> Session:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        if self._connection is not None and not self._closed:
            warnings.warn(f"{self!r} was never closed: use `async with`", ResourceWarning, source=self, stacklevel=2)
            self._connection.abandon()

    async def open(self) -> Session:
        """Start the CLI and shake hands. Raises an error that says what to do, and then leaves nothing running."""
        if self._connection is not None:
            raise CLIConnectionError("this session was opened before: make a new one")
        if under_trio():
            from .trio_skin import adopt

            return await adopt(self).open()
        try:
            await self._open()
        except BaseException:
            await self.close()
            raise
        return self

    async def _open(self) -> None:
        initialize, transport = InitializeRequest(), self._own_transport
        hooks: dict[str, Callable[..., Any]] = {}
        plan: LaunchPlan | None = None
        options = self._traced(await self._from_store())
        if transport is None:
            launch = prepare(options)
            self._discard, plan, transport = launch.discard, launch.plan, launch.transport
            initialize, self._client_composed = plan.initialize, plan.client_composed
            self.ignored_options = plan.ignored
            hooks = {key: hook.callback for key, hook in (plan.hooks or {}).items()}
        self._dispatcher = Dispatcher(self.options, hooks)
        self._connection = Connection(
            transport,
            self._dispatcher,
            limit_bytes=self.options.line_limit_bytes,
            request_timeout_s=self.options.request_timeout_s,
            on_event=self._happened,
            hidden=_FOR_US if self.options.session_state_events else _FOR_US_TOO,
            on_hidden=None if self._stored is None else self._stored.take,
            observer=self._observers,
        )
        if self._stored is not None:
            self._stored.show_errors(self._connection.inbox.put)
        await self._connection.start()
        if plan is not None:
            self._connect_servers(plan.sdk_servers or {})
            initialize = await self._with_manifests(initialize)
        self._watch_abort()
        try:
            answer = await self._connection.initialize(initialize, timeout_s=self.options.initialize_timeout_s)
        except ProcessExited as error:
            raise self._why_it_did_not_start(error) from error
        if plan is not None and plan.must_block_on_hook_failure:
            _check_guards(answer)

    async def _from_store(self) -> ClaudeAgentOptions:
        """The options to start the CLI with: with a session store, what is resumed may have to be fetched first."""
        if self.options.session_store is None:
            return self.options
        from .transcript_stores.attached import StoredSession

        self.mirror_errors = errors = deque[MirrorErrorMessage](maxlen=MIRROR_ERRORS_KEPT)
        self._stored = await StoredSession.begin(
            self.options, self.options.session_store, errors, starts_cli=self._own_transport is None
        )
        return self._stored.options

    def _traced(self, options: ClaudeAgentOptions) -> ClaudeAgentOptions:
        """The options with the trace's context for the CLI; as they are when the program does not trace."""
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

    def observe(self, observer: Observer) -> None:
        """Tell ``observer`` what happens; before the session is opened, so that it misses nothing."""
        if self._connection is not None and self._observers is None:
            raise CLIConnectionError("observe() must be called before the session is opened")
        if self._observers is None:
            self._observers = Observers()
        self._observers.add(observer)

    def stop_observing(self, observer: Observer) -> None:
        if self._observers is not None:
            self._observers.remove(observer)

    async def reopen(self, options: ClaudeAgentOptions) -> None:
        """Start another CLI in the place of this one, with other options; what control calls had set is set again.

        Model, permission mode and the like would else fall back to what the options say, which may be more rights than
        the program wanted by then. What was not read is dropped.
        """
        if self._own_transport is not None:
            raise CLIConnectionError("a session with a transport of its own cannot start another CLI")
        await self._end()
        self.options = options
        self._discard = self._connection = self._dispatcher = self._stored = None
        self._ready.clear()
        self._closed = False
        self.costs.process_started()
        await self.open()
        try:
            for request, fields in self._lasting.values():
                await self._link.call(request, **fields)
        except BaseException:
            await self.close()  # with other rights than those that were set it must not go on
            raise

    def _connect_servers(self, servers: Mapping[str, Any]) -> None:
        if not servers:
            return
        from .tools.adapters import adapt_server

        for name, instance in servers.items():
            if (replaced := self._dispatch.servers.get(name)) is not None:
                self._run(replaced.aclose())
            send = functools.partial(self._from_server, name)
            self._dispatch.servers[name] = adapt_server(instance).connect(send)

    async def _with_manifests(self, initialize: InitializeRequest) -> InitializeRequest:
        """What the in-process servers offer, told ahead: saves the CLI (2.1.325) asking each of them."""
        listed = [(name, await server.manifest()) for name, server in self._dispatch.servers.items()]
        manifests = {name: manifest for name, manifest in listed if manifest is not None}
        if not manifests:
            return initialize
        return msgspec.structs.replace(initialize, sdk_mcp_server_manifests=manifests)

    def _from_server(self, name: str, message: dict[str, Any]) -> None:
        """What an in-process MCP server says unasked."""
        with contextlib.suppress(QuarterdeckError):  # the session is ending: nobody to tell
            self._link.post("mcp_message", server_name=name, message=message)

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

    async def close(self) -> ExitStatus | None:
        """End the CLI and everything it started. In bounded time, repeatable, complete also when cancelled."""
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
                grace = Grace(eof_s=self.options.close_grace_s)
                return await self._connection.close(grace)
            return None
        finally:
            if self._discard is not None:
                self._discard()
            if self._stored is not None:
                await self._stored.close()
            await self._close_servers()

    async def _close_servers(self) -> None:
        servers = {} if self._dispatcher is None else self._dispatcher.servers
        while servers:
            _, server = servers.popitem()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SERVER_CLOSE_S):
                    await server.aclose()

    def _run(self, work: Any) -> None:
        job = asyncio.get_running_loop().create_task(work)
        self._jobs.append(job)
        job.add_done_callback(self._jobs.remove)

    @property
    def _link(self) -> Connection:
        if self._connection is None:
            raise CLIConnectionError("the session is not open: use `async with`, or call open() first")
        return self._connection

    @property
    def _dispatch(self) -> Dispatcher:
        if self._dispatcher is None:
            raise CLIConnectionError("the session is not open: use `async with`, or call open() first")
        return self._dispatcher

    # What is known

    @property
    def session_id(self) -> str | None:
        """The CLI's id of the conversation; known from the first turn on. It changes with ``/clear``."""
        return self._link.side.session_id

    @property
    def server_info(self) -> InitializeAnswer:
        """What the CLI said in the handshake: commands, agents, models, account …"""
        return (None if self._connection is None else self._connection.side.initialize_answer) or InitializeAnswer()

    @property
    def version(self) -> str | None:
        return self._link.side.version

    @property
    def capabilities(self) -> frozenset[str]:
        return self._link.side.capabilities

    @property
    def turn_state(self) -> TurnState:
        return self._link.side.turn

    @property
    def pid(self) -> int | None:
        """Of the CLI's process, also after its end; None before it is started."""
        return None if self._connection is None else self._connection.pid

    @property
    def exit_status(self) -> ExitStatus | None:
        """How the process ended; None while it runs."""
        return self._link.exit

    @property
    def closed(self) -> bool:
        """Did the program close it?"""
        return self._closed

    @property
    def last_result(self) -> ResultMessage | None:
        return self._link.side.last_result

    def _happened(self, event: ProtocolEvent) -> None:
        if type(event) is TurnEnded:
            self.turn_cost = self.costs.add(event.result)
        if self._observers is not None:
            self._observers.happened(event)

    # Prompts

    def prompt(
        self, content: Content, /, *, uuid: str | None = None, retry: Retry | None = None, **fields: Any
    ) -> Turn:
        """Ask something: iterate over the turn for its messages, or await it for its result.

        ``retry`` stands in for the option of that name.
        """
        line = self._line(content, uuid, fields)
        chosen = self.options.retry if retry is None else retry
        if chosen is None:
            return Turn(self, line)
        from .retry import RetryingTurn

        return RetryingTurn(self, line, chosen)

    async def send(
        self, content: Content, /, *, priority: str | None = None, uuid: str | None = None, **fields: Any
    ) -> str:
        """Send a prompt without waiting for its turn; its uuid, by which it can be taken back (``cancel_prompt``).

        During a turn it steers it: the CLI folds it in between two tool rounds. ``priority="later"`` gives it a turn of
        its own, ``"now"`` interrupts.
        """
        if priority is not None:
            fields["priority"] = priority
        return await self.send_line(self._line(content, uuid, fields))

    async def send_line(self, line: Mapping[str, Any], /) -> str:
        """Send a whole ``user`` line as it is; its uuid."""
        if self._observers is not None:
            self._observers.sending(line)
        return await self._link.send_user_line(line)

    async def stream(self, prompts: AsyncIterable[Mapping[str, Any] | Content], /) -> None:
        """Send each prompt as it comes, then close the input once nothing needs it any more."""
        async for prompt in prompts:
            line = dict(prompt) if isinstance(prompt, Mapping) else self._line(prompt, None, {})
            if self._client_composed:
                line["client_composed"] = True
            await self.send_line(line)
        self._link.finish_input()

    def stream_in_background(self, prompts: AsyncIterable[Mapping[str, Any] | Content], /) -> None:
        """``stream`` as a task of the session; if the iterable fails, so does reading."""

        async def run() -> None:
            try:
                await self.stream(prompts)
            except Exception as error:  # noqa: BLE001  # given to the reader, who waits for what it would bring
                self._link.inbox.end(error)
                self._link.abandon()

        self._run(run())

    def finish(self) -> None:
        """No more prompts: the CLI ends by itself when its work is done."""
        self._link.finish_input()

    def _line(self, content: Content, uuid: str | None, fields: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(content, str):
            content = [plain(block) for block in content]
        line: dict[str, Any] = {
            "type": "user",
            "message": {"role": "user", "content": content},
            "parent_tool_use_id": None,
            "session_id": "",
            **fields,
        }
        if uuid is not None:
            line["uuid"] = uuid
        if self._client_composed:
            line["client_composed"] = True
        return line

    # Reading

    async def next_message(self) -> Message | None:
        """The next message; None at the end. Raises ``ProcessExited`` when the CLI died in the middle."""
        return self._ready.pop() if self._ready or await self._fill() else None

    async def _fill(self) -> bool:
        """Wait for messages to be ready. False at the end. Not made of smaller coroutines: each would cost every time.

        Whoever sees a result, or the end, finds the session store up to date.
        """
        inbox, ready = self._link.inbox, self._ready
        batch = inbox.take()
        was_there = bool(batch)
        while batch is None:
            await inbox.arrival()
            batch = inbox.take()
        ready.extend(reversed(batch))
        if self._stored is not None and (not batch or any(isinstance(one, ResultMessage) for one in batch)):
            await self._stored.flush()
        if was_there:
            await asyncio.sleep(0)  # let other sessions have their turn
        return bool(ready)

    async def batches(self) -> AsyncIterator[list[Message]]:
        """All messages to the end, as many at once as have arrived: the fastest way to read."""
        ready = self._ready
        while ready or await self._fill():
            batch = ready[::-1]
            ready.clear()
            yield batch

    async def messages(self) -> AsyncGenerator[Message, None]:
        """All messages from here to the end of the session, between turns too. Stopping early loses nothing."""
        ready = self._ready
        while ready or await self._fill():
            yield ready.pop()

    async def response(self) -> AsyncGenerator[Message, None]:
        """The messages up to and with the next result, whichever prompt it answers. Stopping early loses nothing."""
        ready = self._ready
        while ready or await self._fill():
            message = ready.pop()
            yield message
            if type(message) is ResultMessage:
                return

    def ended_early(self) -> Exception:
        """Why a turn has no result: for whoever waited for it."""
        if self._closed:
            return Aborted("the session was closed before the turn ended")
        status = self._link.exit
        if status is not None:
            return status.error(self._link.stderr_tail)
        return CLIConnectionError("the CLI ended its output before the turn ended")

    # Control

    async def request(
        self, request: OutgoingRequest | WireObject | str, /, *, timeout_s: float | None = None, **fields: Any
    ) -> Any:
        """Any control request by its subtype and its fields' wire names: for what has no method yet."""
        answer = await self._link.call(request, timeout_s=timeout_s, **fields)
        subtype = request if isinstance(request, str) else str(request.get("subtype"))
        if subtype in _LASTING:
            self._lasting[subtype] = (request, fields)
        return answer

    def update_environment(self, variables: Mapping[str, str]) -> None:
        """Change environment variables of the running CLI."""
        self._link.update_environment(variables)

    def on_request(self, subtype: str, handler: RequestHandler, /) -> None:
        """Serve requests of the CLI of a subtype that this version does not know."""
        self._dispatch.register(subtype, handler)

    def pending(self) -> dict[str, Any]:
        """The CLI's requests that wait for an answer, by id."""
        return self._link.side.open_requests()

    def answer(self, request_id: str, answer: PermissionResult | Mapping[str, Any] | WireObject, /) -> None:
        """Answer a request whose callback returned ``LATER``. An answer too late is a ``LocalProtocolError``."""
        request = self.pending().get(request_id)
        if isinstance(request, CanUseToolRequest) and not isinstance(answer, Mapping):
            self._link.answer(request_id, permission_payload(answer, request))
        else:
            self._link.answer(request_id, plain(answer))

    async def set_mcp_servers(self, servers: Mapping[str, Any], **more: Any) -> McpSetServersResult:
        result = await super().set_mcp_servers(servers, **more)
        for name in set(result.removed or ()) - set(servers):
            if (removed := self._dispatch.servers.pop(name, None)) is not None:
                await removed.aclose()
        return result

    set_mcp_servers.__doc__ = Controls.set_mcp_servers.__doc__

    def _adopt_servers(self, servers: Mapping[str, Any]) -> dict[str, Any]:
        """Server configurations for the wire; those in this process are connected here."""
        mine = {name: config["instance"] for name, config in servers.items() if config.get("type") == "sdk"}
        self._connect_servers(mine)
        return {
            name: {"type": "sdk", "name": name} if name in mine else plain(config) for name, config in servers.items()
        }


def connect(options: ClaudeAgentOptions | None = None, *, transport: ByteTransport | None = None) -> Session:
    """A session to be used as ``async with connect(options) as session:``."""
    return Session(options, transport=transport)


def _check_guards(answer: InitializeAnswer) -> None:
    """A hook that must block when it fails is no guard on a CLI that does not know of that."""
    if not answer.hook_on_failure_supported or answer.hooks_applied is False:
        raise CLITooOld('this CLI does not support hooks with on_failure="block"; update it')
