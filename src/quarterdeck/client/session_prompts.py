"""Prompting a session."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from quarterdeck.protocol.prompts import user_line

from .session_base import SessionBase
from .turn import Turn

if TYPE_CHECKING:
    from .retry import Retry
    from .session import Session

logger = logging.getLogger(__name__)

Content = str | Sequence[Any]
"""A prompt: text, or content blocks (typed or as dicts)."""


class SessionPrompts(SessionBase):
    """Sends prompts."""

    def prompt(
        self, content: Content, /, *, uuid: str | None = None, retry: Retry | None = None, **fields: Any
    ) -> Turn:
        """Send a prompt: iterate over the turn for its messages, or await it for its result.

        ``retry`` replaces the option of that name.
        """
        session, line = cast("Session", self), self._line(content, uuid, fields)
        chosen = self.options.retry if retry is None else retry
        if chosen is None:
            return Turn(session, line)
        from .retry import RetryingTurn

        return RetryingTurn(session, line, chosen)

    async def send(
        self, content: Content, /, *, priority: str | None = None, uuid: str | None = None, **fields: Any
    ) -> str:
        """Send a prompt without waiting for its turn. Returns its uuid, which ``cancel_prompt`` takes.

        During a turn it steers that turn: the CLI folds it in between two tool rounds. ``priority="later"`` gives it a
        separate turn, ``"now"`` interrupts."""
        if priority is not None:
            fields["priority"] = priority
        return await self.send_line(self._line(content, uuid, fields))

    async def send_line(self, line: Mapping[str, Any], /) -> str:
        """Send a complete ``user`` line unchanged; returns its uuid."""
        return await self._link.send_user_line(line)

    async def stream(self, prompts: AsyncIterable[Mapping[str, Any] | Content], /) -> None:
        """Send each prompt as it arrives, then close the input once it is no longer needed."""
        async for prompt in prompts:
            line = dict(prompt) if isinstance(prompt, Mapping) else self._line(prompt, None, {})
            if self._client_composed:
                line["client_composed"] = True
            await self.send_line(line)
        self._link.finish_input()

    def stream_in_background(self, prompts: AsyncIterable[Mapping[str, Any] | Content], /) -> None:
        """``stream`` as a task of the session. If the iterable fails, that is logged; what was sent is answered."""

        async def run() -> None:
            try:
                await self.stream(prompts)
            except Exception as error:
                logger.exception("Prompt stream failed; closing stdin: %s", error)
                self._link.finish_input()

        self._run(run())

    def finish(self) -> None:
        """Send no more prompts: the CLI exits when its work is done."""
        self._link.finish_input()

    def _line(self, content: Content, uuid: str | None, fields: dict[str, Any]) -> dict[str, Any]:
        line = user_line(content, uuid=uuid, **fields)
        if self._client_composed:
            line["client_composed"] = True
        return line
