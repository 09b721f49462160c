"""``Turn``: the messages that answer one prompt, to iterate over, or the result, to await."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any

from quarterdeck.wire import (
    AssistantMessage,
    Message,
    ResultMessage,
    StreamEvent,
    TextBlock,
)

from .errors import ResultError

if TYPE_CHECKING:
    from .session import Session


class Turn(AsyncIterator[Message]):
    """The messages of one turn, up to and including its result.

    ``async for message in turn`` follows it, ``await turn`` waits for its ``ResultMessage``, ``turn.text()`` streams
    the text only. The prompt is sent when the turn is first read; stopping early leaves the rest to the next reader. A
    session that ends before the result is an error: ``ProcessExited``, or ``Aborted`` when it was closed.
    """

    def __init__(self, session: Session, line: Mapping[str, Any]) -> None:
        self._session = session
        self._line = line
        self.prompt_id: str | None = None
        """The prompt's uuid, once it is sent."""
        self.result: ResultMessage | None = None
        """The end of the turn, once it is reached."""

    async def send(self) -> str:
        """Send the prompt now unless it was sent; returns its uuid."""
        if self.prompt_id is None:
            self.prompt_id = await self._session.send_line(self._line)
        return self.prompt_id

    def __aiter__(self) -> Turn:
        return self

    async def __anext__(self) -> Message:
        if self.result is not None:
            raise StopAsyncIteration
        if self.prompt_id is None:
            await self.send()
        session = self._session
        message = next(session._ready, None)
        if message is None:
            if not await session._fill():
                raise session.ended_early()
            message = next(session._ready)
        if isinstance(message, ResultMessage) and self._is_mine(message):
            self.result = message
        return message

    def _is_mine(self, result: ResultMessage) -> bool:
        """A turn that the CLI started itself, or for another prompt, may end before ours."""
        if result.user_message_uuids is not None:
            return self.prompt_id in result.user_message_uuids
        if result.user_message_uuid is not None:
            return self.prompt_id == result.user_message_uuid
        return result.origin is None or result.origin.get("kind") != "task-notification"

    def __await__(self) -> Generator[Any, None, ResultMessage]:
        return self._finish().__await__()

    async def _finish(self) -> ResultMessage:
        while self.result is None:
            await anext(self)
        return self.result

    async def checked(self) -> ResultMessage:
        """Wait for the result. Raises ``ResultError`` for an error result."""
        result = await self
        if result.failed:
            raise ResultError.of(result)
        return result

    async def text(self) -> AsyncIterator[str]:
        """The text of the main agent as it arrives: deltas if the session streams them, otherwise whole blocks."""
        accumulator = TextAccumulator()
        async for message in self:
            if piece := accumulator.add(message):
                yield piece


class TextAccumulator:
    """Joins text deltas and completed blocks, each piece once, excluding sub-agents.

    >>> accumulator = TextAccumulator()
    >>> accumulator.text
    ''
    """

    def __init__(self, on_text: Callable[[str], None] | None = None) -> None:
        self._on_text = on_text
        self._pieces: list[str] = []
        self._streamed = False

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, message: Message) -> str:
        """The new text in ``message``; empty for most messages."""
        piece = self._piece(message)
        if piece:
            self._pieces.append(piece)
            if self._on_text is not None:
                self._on_text(piece)
        return piece

    def _piece(self, message: Message) -> str:
        if isinstance(message, StreamEvent):
            match message.event:
                case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": str(text)}}:
                    if message.parent_tool_use_id is None:
                        self._streamed = True
                        return text
            return ""
        if isinstance(message, AssistantMessage) and message.parent_tool_use_id is None:
            whole = "".join(block.text for block in message.content if isinstance(block, TextBlock))
            if whole and self._streamed:
                self._streamed = False  # this block came as deltas before
                return ""
            return whole
        return ""
