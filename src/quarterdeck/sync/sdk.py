"""``ClaudeSDKClient`` for programs without an event loop."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any

from quarterdeck.client.loop_thread import LOOP_THREAD
from quarterdeck.client.official_transport import Transport
from quarterdeck.client.offload import offload_options
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.sdk import ClaudeSDKClient as AsyncClient
from quarterdeck.transport import ByteTransport
from quarterdeck.wire import Message

from .controls import Controls
from .facade import blocking
from .session import Session
from .thread_runner import ThreadRunner

Prompts = Iterable[dict[str, Any]]


class ClaudeSDKClient(Controls):
    """A conversation of many turns. ``client.session`` is the same conversation with everything ``Session`` offers."""

    _core: AsyncClient

    def __init__(
        self,
        options: ClaudeAgentOptions | None = None,
        transport: Transport | ByteTransport | None = None,
        *,
        host: str | os.PathLike[str] | None = None,
        token: str | None = None,
    ) -> None:
        """``host`` and ``token`` are those of ``quarterdeck.sync.connect``."""
        self.options = options or ClaudeAgentOptions()
        self._runner = ThreadRunner()
        self._session: Session | None = None
        super().__init__(AsyncClient(offload_options(self.options, self._runner), transport, host=host, token=token))

    @property
    def session(self) -> Session:
        core = self._core.session
        if self._session is None or self._session._core is not core:
            self._session = Session.around(core, self.options, self._runner)
        return self._session

    def connect(self, prompt: str | Prompts | None = None) -> None:
        """Start the CLI; with a prompt, send it, or send those of the iterable as they come."""
        prompts = prompt if prompt is None or isinstance(prompt, str) else self._runner.prompts(prompt)

        async def connect() -> None:
            await self._core.connect(prompts)
            LOOP_THREAD.opened(self._core.session)

        self._wait(connect)
        self._session = self.session

    def query(self, prompt: str | Prompts, session_id: str = "default") -> None:
        """Send a prompt, or each prompt of an iterable. Read the answer with ``receive_response``."""
        prompts = prompt if isinstance(prompt, str) else self._runner.prompts(prompt)
        self._wait(lambda: self._core.query(prompts, session_id))

    def receive_messages(self) -> Iterator[Message]:
        """Every message until the session ends."""
        return self._iterate(self._core.receive_messages())

    def receive_response(self) -> Iterator[Message]:
        """Every message up to and including the next result."""
        return self._iterate(self._core.receive_response())

    get_mcp_status = blocking(AsyncClient.get_mcp_status)
    get_context_usage = blocking(AsyncClient.get_context_usage)
    get_server_info = blocking(AsyncClient.get_server_info)
    disconnect = blocking(AsyncClient.disconnect)

    def __enter__(self) -> ClaudeSDKClient:
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.disconnect()
