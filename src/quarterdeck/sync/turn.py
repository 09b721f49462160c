"""``Turn``: the messages that answer one prompt, to iterate over, or the result, to wait for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quarterdeck.client.turn import Turn as AsyncTurn
from quarterdeck.wire import Message, ResultMessage

from .facade import Facade, blocking


class Turn(Facade, Iterator[Message]):
    """The messages of one prompt's turn, up to and including its result.

    ``for message in turn`` follows it, ``turn.wait()`` waits for its ``ResultMessage``, ``turn.text()`` yields the text
    only. The prompt is sent when the turn is first read; stopping early leaves the rest to the next reader.
    """

    _core: AsyncTurn

    @property
    def prompt_id(self) -> str | None:
        """The prompt's uuid, once it is sent."""
        return self._core.prompt_id

    @property
    def result(self) -> ResultMessage | None:
        """The result; None until the turn ends."""
        return self._core.result

    send = blocking(AsyncTurn.send)
    checked = blocking(AsyncTurn.checked)

    def __next__(self) -> Message:
        try:
            return self._wait(self._core.__anext__)
        except StopAsyncIteration:
            raise StopIteration from None

    def wait(self) -> ResultMessage:
        """Wait for the result, even an error result; ``checked`` raises for those."""
        return self._wait(self._core._finish)

    def text(self) -> Iterator[str]:
        """The text of the main agent as it comes."""
        return self._iterate(self._core.text())

    def __getattr__(self, name: str) -> Any:
        """What special turns have in addition."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._core, name)
