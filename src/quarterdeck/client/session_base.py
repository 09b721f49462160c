"""What all parts of a session share: its state and what is known about it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from quarterdeck.protocol import Exited, ProtocolEvent, TurnClosed, TurnState
from quarterdeck.transport import ByteTransport, ExitStatus
from quarterdeck.wire import (
    CanUseToolRequest,
    InitializeAnswer,
    Message,
    MirrorErrorMessage,
    PermissionResult,
    ResultMessage,
    WireObject,
    permission_answer,
)
from quarterdeck.wire._base import plain

from .connection import Connection
from .cost import CostLedger, TurnCost
from .dispatch import Dispatcher
from .errors import CLIConnectionError
from .journal import Journal
from .mcp_servers import InProcessServers
from .options import ClaudeAgentOptions

if TYPE_CHECKING:
    from .tracing import SessionTracer
    from .transcript_stores.attached import StoredSession

NOT_OPEN = "the session is not open: use `async with`, or call open() first"


class SessionBase:
    """The state of a session."""

    def __init__(self, options: ClaudeAgentOptions | None = None, *, transport: ByteTransport | None = None) -> None:
        """With a ``transport`` of your own, what the options would put on the command line has no effect; the handshake
        (hooks, servers of this process, system prompt, agents …) is the same."""
        self.options = options or ClaudeAgentOptions()
        self._own_transport = transport
        self._discard: Callable[[], None] | None = None
        """Removes the private files that the CLI reads."""
        self.ignored_options: tuple[str, ...] = ()
        """Options that this version of the CLI is known to ignore."""
        self._connection: Connection | None = None
        self._dispatcher: Dispatcher | None = None
        self._in_process_servers: InProcessServers | None = None
        self._ready: Iterator[Message] = iter(())
        """Taken from the inbox but not read yet. An iterator, so that the next reader continues where the last one
        stopped."""
        self._jobs: list[asyncio.Task[None]] = []
        self._client_composed = False
        self._guards_need_input = False
        """This CLI takes a closed input for a yes of every hook."""
        self._closed = False
        self._stored: StoredSession | None = None
        self._tracer: SessionTracer | None = None
        self._lasting: dict[str, tuple[WireObject | str, dict[str, Any]]] = {}
        """Changes made by control calls, to repeat in the next process."""
        self.journal = Journal(self)
        """Every line of the session, for those who add a reader."""
        self.mirror_errors: Collection[MirrorErrorMessage] = ()
        """What did not reach the session store, the latest of it; each also comes as a message."""
        self.costs = CostLedger()
        """What the session has cost so far, in all and by model."""
        self.turn_cost: TurnCost | None = None
        """What the last turn that ended has cost."""

    # What the parts use

    @property
    def _link(self) -> Connection:
        if self._connection is None:
            raise CLIConnectionError(NOT_OPEN)
        return self._connection

    @property
    def _dispatch(self) -> Dispatcher:
        if self._dispatcher is None:
            raise CLIConnectionError(NOT_OPEN)
        return self._dispatcher

    @property
    def _servers(self) -> InProcessServers:
        """Made when first needed: few sessions have servers in this process."""
        if self._in_process_servers is None:
            self._in_process_servers = InProcessServers(self._dispatch.servers, self._link.calls, self._run)
        return self._in_process_servers

    @property
    def _transport_failure(self) -> Exception | None:
        """The transport's own error, if it could not start or continue: a remote host has its own errors."""
        return getattr(self._own_transport, "failure", None)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run in the background; cancelled when the session is closed."""
        job = asyncio.get_running_loop().create_task(work)
        self._jobs.append(job)
        job.add_done_callback(self._jobs.remove)

    def _happened(self, event: ProtocolEvent) -> None:
        if type(event) is TurnClosed:
            self.turn_cost = self.costs.add(event.result)
        elif type(event) is Exited:
            self.journal.exited(event)

    # Known facts

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
        """The CLI's process id, also after it has ended; None before it is started."""
        return None if self._connection is None else self._connection.pid

    @property
    def exit_status(self) -> ExitStatus | None:
        """How the process ended; None while it runs."""
        return self._link.exit

    @property
    def unread_bytes(self) -> int:
        """How far the program is behind: about as many bytes of messages have arrived, and were not read yet."""
        inbox = self._link.inbox
        return inbox.unread_bytes + inbox.spilled_bytes

    @property
    def closed(self) -> bool:
        """Whether the program has closed the session."""
        return self._closed

    @property
    def last_result(self) -> ResultMessage | None:
        return self._link.side.last_result

    # The CLI's requests

    def pending(self) -> dict[str, Any]:
        """The CLI's requests that wait for an answer, by id."""
        return self._link.side.open_requests()

    def answer(self, request_id: str, answer: PermissionResult | Mapping[str, Any] | WireObject, /) -> None:
        """Answer a request whose callback returned ``LATER``. Raises ``LocalProtocolError`` if it is too late."""
        request = self.pending().get(request_id)
        if isinstance(request, CanUseToolRequest) and not isinstance(answer, (Mapping, WireObject)):
            self._link.requests.answer(request_id, permission_answer(answer, request))
        else:
            self._link.requests.answer(request_id, plain(answer))
