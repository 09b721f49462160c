"""``Session`` for programs without an event loop: scripts, notebooks, threaded servers.

>>> with connect(ClaudeAgentOptions(model="sonnet")) as session:   # doctest: +SKIP
...     for message in session.prompt("What is in this folder?"):
...         print(message)
"""

from __future__ import annotations

import os
import warnings
import weakref
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any

from quarterdeck.client.cost import CostLedger, TurnCost
from quarterdeck.client.dispatch import RequestHandler
from quarterdeck.client.journal import Journal, JournalEntry
from quarterdeck.client.loop_thread import LOOP_THREAD
from quarterdeck.client.offload import CallbackRunner, offload_options, offload_retry
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.retry import Retry
from quarterdeck.client.session import Content, transport_to
from quarterdeck.client.session import Session as AsyncSession
from quarterdeck.protocol import TurnState
from quarterdeck.transport import ByteTransport, ExitStatus
from quarterdeck.wire import Message, ResultMessage

from .controls import Controls
from .facade import blocking, in_loop_thread
from .thread_runner import ThreadRunner
from .turn import Turn


class Session(Controls):
    """One conversation with one CLI process. Use it as a context manager, from as many threads as you like."""

    _core: AsyncSession

    next_message = blocking(AsyncSession.next_message)
    send = blocking(AsyncSession.send)
    send_line = blocking(AsyncSession.send_line)
    answer_to = blocking(AsyncSession.answer_to)
    answer = in_loop_thread(AsyncSession.answer)
    detach = in_loop_thread(AsyncSession.detach)
    ended_early = in_loop_thread(AsyncSession.ended_early)
    finish = in_loop_thread(AsyncSession.finish)
    pending = in_loop_thread(AsyncSession.pending)
    update_environment = in_loop_thread(AsyncSession.update_environment)

    def __init__(self, options: ClaudeAgentOptions | None = None, *, transport: ByteTransport | None = None) -> None:
        """With a ``transport`` of your own, what the options would put on the command line has no effect; the handshake
        (hooks, servers of this process, system prompt, agents …) is the same."""
        self.options = options or ClaudeAgentOptions()
        self._runner: CallbackRunner = ThreadRunner()
        super().__init__(AsyncSession(offload_options(self.options, self._runner), transport=transport))
        self._core.journal.session = weakref.ref(self)

    @classmethod
    def around(cls, core: AsyncSession, options: ClaudeAgentOptions, runner: CallbackRunner) -> Session:
        """Wrap a session that is already open in the loop's thread."""
        session = cls.__new__(cls)
        session._core, session._runner, session._pid = core, runner, os.getpid()
        session.options = options
        return session

    # Opening and closing

    def open(self) -> Session:
        """Start the CLI and initialize the session. If that fails, nothing is left running."""

        self._enter(self._core.open)
        return self

    def attach(self, record: Iterable[JournalEntry], *, snapshot: bytes | None = None) -> Session:
        self._enter(lambda: self._core.attach(record, snapshot=snapshot))
        return self

    attach.__doc__ = AsyncSession.attach.__doc__

    def _enter(self, begin: Callable[[], Awaitable[object]]) -> None:
        async def enter() -> None:
            LOOP_THREAD.opened(self._core)
            await begin()

        self._wait(enter)

    def close(self) -> ExitStatus | None:
        """End the CLI and everything it started. Takes bounded time and can be repeated; a second Ctrl-C speeds it
        up."""
        return self._wait(self._core.close)

    def reopen(self, options: ClaudeAgentOptions) -> None:
        """Replace this CLI by another one with other options."""
        self._wait(lambda: self._core.reopen(offload_options(options, self._runner)))
        self.options = options

    def __enter__(self) -> Session:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        core: AsyncSession | None = self.__dict__.get("_core")
        if core is None or core._connection is None or core._closed or self._pid != os.getpid():
            return
        warnings.warn(f"{self!r} was never closed: use `with`", ResourceWarning, source=self, stacklevel=2)
        LOOP_THREAD.post(core.close)

    # Known facts

    @property
    def journal(self) -> Journal:
        """Every line of the session, for those who add a reader; readers run in the event loop's thread."""
        return self._core.journal

    @property
    def session_id(self) -> str | None:
        """The CLI's id of the conversation; known from the first turn on. It changes with ``/clear``."""
        return self._core.session_id

    @property
    def version(self) -> str | None:
        return self._core.version

    @property
    def capabilities(self) -> frozenset[str]:
        return self._core.capabilities

    @property
    def turn_state(self) -> TurnState:
        return self._core.turn_state

    @property
    def unread_bytes(self) -> int:
        """How far the program is behind: about as many bytes of messages have arrived, and were not read yet."""
        return self._core.unread_bytes

    @property
    def pid(self) -> int | None:
        """The CLI's process id, also after it has ended; None before it is started."""
        return self._core.pid

    @property
    def ignored_options(self) -> tuple[str, ...]:
        """Options that this version of the CLI is known to ignore."""
        return self._core.ignored_options

    @property
    def exit_status(self) -> ExitStatus | None:
        """How the process ended; None while it runs."""
        return self._core.exit_status

    @property
    def closed(self) -> bool:
        """Whether the program has closed the session."""
        return self._core.closed

    @property
    def last_result(self) -> ResultMessage | None:
        return self._core.last_result

    @property
    def costs(self) -> CostLedger:
        """What the session has cost so far, in all and by model."""
        return self._core.costs

    @property
    def turn_cost(self) -> TurnCost | None:
        """What the last turn that ended has cost."""
        return self._core.turn_cost

    def __getattr__(self, name: str) -> Any:
        """Attributes of the session. Its methods are all here and in ``Controls``: a missing one would not wait."""
        if not name.startswith("_") and not callable(value := getattr(self._core, name)):
            return value
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    # Prompts and reading

    def prompt(
        self, content: Content, /, *, uuid: str | None = None, retry: Retry | None = None, **fields: Any
    ) -> Turn:
        """Ask something: iterate over the turn for its messages, or ``wait()`` for its result.

        ``retry`` replaces the option of that name.
        """
        chosen = None if retry is None else offload_retry(retry, self._runner)
        return Turn(self._core.prompt(content, uuid=uuid, retry=chosen, **fields))

    def stream(self, prompts: Iterable[Mapping[str, Any] | Content], /) -> None:
        """Send each prompt as it comes, then close the input once nothing needs it any more."""
        self._wait(lambda: self._core.stream(self._runner.prompts(prompts)))

    def stream_in_background(self, prompts: Iterable[Mapping[str, Any] | Content], /) -> None:
        """``stream`` in a separate thread; if the iterable fails, so does reading."""
        LOOP_THREAD.call_function(self._core.stream_in_background, self._runner.prompts(prompts))

    def messages(self) -> Iterator[Message]:
        """All messages from here to the end of the session, between turns too."""
        return self._iterate(self._core.messages())

    def response(self) -> Iterator[Message]:
        """The messages up to and including the next result, whichever prompt it answers."""
        return self._iterate(self._core.response())

    def batches(self) -> Iterator[list[Message]]:
        """All messages to the end, as many at once as have arrived: the fastest way to read."""
        return self._iterate(self._core.batches())

    def on_request(self, subtype: str, handler: RequestHandler, /) -> None:
        """Serve requests of the CLI of a subtype that this version does not know."""
        LOOP_THREAD.call_function(self._core.on_request, subtype, self._runner.callback(handler))


def connect(
    options: ClaudeAgentOptions | None = None,
    *,
    transport: ByteTransport | None = None,
    host: str | os.PathLike[str] | None = None,
    token: str | None = None,
    attach: str | None = None,
) -> Session:
    """A session, for ``with connect(options) as session:``; with a ``host``, on that host.

    ``attach`` is the id of a session on the host to continue.
    """
    if host is not None:
        options = options or ClaudeAgentOptions()
        transport = transport_to(host, options, token, attach=attach)
    elif attach is not None:
        raise ValueError("attach needs host=")
    return Session(options, transport=transport)
