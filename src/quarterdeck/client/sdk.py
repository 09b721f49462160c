"""``ClaudeSDKClient`` as in the official SDK, on top of ``Session``."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from quarterdeck.transport import ByteTransport
from quarterdeck.wire import Message, ResultMessage, StreamEvent
from quarterdeck.wire.codec import prepare

from .controls import Controls
from .errors import CLIConnectionError
from .official_messages import official_message, official_messages
from .official_transport import Transport, as_byte_transport
from .oneshot import raise_error_result
from .options import ClaudeAgentOptions
from .session import Place, Session, connect

if TYPE_CHECKING:
    from quarterdeck.wire import InitializeAnswer, McpSetServersResult, OutgoingRequest, WireObject

    from .answer_dicts import ContextUsageResponse, McpStatusResponse


class ClaudeSDKClient(Controls):
    """A conversation of many turns. ``client.session`` is the same conversation with everything ``Session`` offers."""

    def __init__(
        self,
        options: ClaudeAgentOptions | None = None,
        transport: Transport | ByteTransport | None = None,
        *,
        host: Place | None = None,
        token: str | None = None,
    ) -> None:
        """``host`` and ``token`` are those of ``quarterdeck.connect``."""
        self.options = options or ClaudeAgentOptions()
        self._transport = transport
        self._place = host, token
        self._session: Session | None = None

    @property
    def session(self) -> Session:
        if self._session is None:
            raise CLIConnectionError("Not connected. Call connect() first.")
        return self._session

    async def connect(self, prompt: str | AsyncIterable[dict[str, Any]] | None = None) -> None:
        """Start the CLI and send the prompt, or each prompt of the stream, if given."""
        host, token = self._place
        session = connect(self.options, transport=as_byte_transport(self._transport), host=host, token=token)
        await session.open()
        prepare()  # already done, unless the CLI answered immediately: the first turn must not wait for it
        self._session = session
        try:
            if isinstance(prompt, str):
                await session.send(prompt, session_id="default")
            elif prompt is not None:
                session.stream_in_background(prompt)
        except BaseException:
            await self.disconnect()
            raise

    async def receive_messages(self) -> AsyncIterator[Message]:
        """Every message until the session ends."""
        session = self.session
        async for message in official_messages(session):
            yield message
        raise_error_result(session)

    async def receive_response(self) -> AsyncIterator[Message]:
        """Every message up to and including the next result."""
        session = self.session
        while True:
            for message in session._ready:
                if type(message) is StreamEvent:  # nearly all of them
                    yield message
                elif (shown := official_message(message)) is not None:
                    yield shown
                    if type(shown) is ResultMessage:
                        return
            if not await session._fill():
                return

    async def query(self, prompt: str | AsyncIterable[dict[str, Any]], session_id: str = "default") -> None:
        """Send a prompt, or each prompt of a stream. Read the answer with ``receive_response``."""
        session = self.session
        if isinstance(prompt, str):
            await session.send(prompt, session_id=session_id)
            return
        async for line in prompt:
            await session.send_line({"session_id": session_id, **line})

    # What can be asked of the CLI besides: ``interrupt``, ``set_model`` … are the methods of ``Controls``

    async def request(
        self, request: OutgoingRequest | WireObject | str, /, *, timeout_s: float | None = None, **fields: Any
    ) -> Any:
        """Any control request by its subtype and wire field names: for requests that have no method yet."""
        return await self.session.request(request, timeout_s=timeout_s, **fields)

    @property
    def server_info(self) -> InitializeAnswer:
        """What the CLI said in the handshake."""
        return self.session.server_info

    async def set_mcp_servers(self, servers: Mapping[str, Any], **more: Any) -> McpSetServersResult:
        return await self.session.set_mcp_servers(servers, **more)

    set_mcp_servers.__doc__ = Controls.set_mcp_servers.__doc__

    def _adopt_servers(self, servers: Mapping[str, Any]) -> dict[str, Any]:
        return self.session._adopt_servers(servers)

    async def get_mcp_status(self) -> McpStatusResponse:
        """A plain dict with the wire's keys, as in the official SDK; ``client.session.mcp_status()`` has attributes."""
        return cast("McpStatusResponse", (await self.session.mcp_status()).to_dict())

    async def get_context_usage(self) -> ContextUsageResponse:
        return cast("ContextUsageResponse", (await self.session.context_usage()).to_dict())

    async def get_server_info(self) -> dict[str, Any] | None:
        """What the CLI said in the handshake."""
        return self.session.server_info.to_dict()

    async def disconnect(self) -> None:
        """End the CLI. Does nothing if it is not connected."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def __aenter__(self) -> ClaudeSDKClient:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        await self.disconnect()
        return False
