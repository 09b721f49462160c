"""The conversation as a whole: title, export, rewind, side questions, handshake and end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from quarterdeck import wire

from .base import ControlsBase

if TYPE_CHECKING:
    from quarterdeck.wire import (
        ClaimedSession,
        ClaimSessionRequest,
        ConversationExport,
        ConversationFork,
        ConversationRewind,
        InitializeAnswer,
        InitializeRequest,
        RatedSurface,
        Sentiment,
        SideAnswer,
        SideExchange,
    )

SIDE_QUESTION_S = 300.0
"""The model answers, and may think first."""
TITLE_S = 120.0
"""A short answer from a small model, with time for retries when the API is busy."""


class ConversationControls(ControlsBase):
    """The conversation as a whole."""

    async def side_question(
        self, question: str, *, history: Sequence[SideExchange] = (), timeout_s: float | None = SIDE_QUESTION_S
    ) -> SideAnswer:
        """Ask the model a question outside the conversation, even during a turn.

        Args:
            question: What to ask.
            history: Earlier side questions with their answers, for a follow-up.
            timeout_s: How long to wait; the model has to answer.

        Its cost is in the session's totals, and in the next result's cost.
        """
        request = wire.SideQuestionRequest(question, list(history) or None)
        return await self._ask(request, wire.SideAnswer, timeout_s=timeout_s)

    async def export(self) -> ConversationExport:
        """The conversation as plain text, with a name for its file."""
        return await self._ask(wire.ExportConversationRequest(), wire.ConversationExport)

    async def rename(self, title: str, *, source: str | None = None, session_id: str | None = None) -> None:
        """Give the session a title. With a ``session_id`` that is not (or no longer) the current one it is refused."""
        await self._tell(wire.RenameSessionRequest(title, source, session_id))

    async def generate_title(
        self, description: str, *, persist: bool = False, timeout_s: float | None = TITLE_S
    ) -> str | None:
        """Let a model choose a title for a conversation with this description. ``persist`` also renames the session.

        None when the model has none.
        """
        request = wire.GenerateSessionTitleRequest(description, persist)
        answer = await self._ask(request, wire.SessionTitle, timeout_s=timeout_s)
        title: str | None = answer.get("title")
        return title

    async def rewind_conversation(
        self,
        target_message_uuid: str,
        *,
        expires_at: str | None = None,
        allow_target_behind_compaction: bool = False,
    ) -> ConversationRewind:
        """Go back to before a prompt, given by its uuid; ``prefill_text`` is its text, to edit and send again.

        Files stay as they are: see ``rewind_files``. If it cannot go back, the answer is ``rewound=False`` with a
        ``reason``, not an error.
        """
        request = wire.RewindConversationRequest(
            target_message_uuid, expires_at, allow_target_behind_compaction or None
        )
        return await self._ask(request, wire.ConversationRewind)

    async def fork_conversation(self) -> ConversationFork:
        """Fork a session that runs in the cloud. Elsewhere the answer is ``forked=False`` (2.1.325).

        To fork any other session, connect with ``resume`` and ``fork_session``.
        """
        return await self._ask(wire.ForkConversationRequest(), wire.ConversationFork)

    async def rate_message(
        self,
        message_uuid: str,
        sentiment: Sentiment,
        *,
        surface: RatedSurface = "assistant_text",
        cleared: bool = False,
    ) -> dict[str, Any]:
        """Record that the user liked or disliked a message; ``cleared`` removes the rating."""
        return await self._ask_freely(wire.MessageRatedRequest(message_uuid, sentiment, surface, cleared))

    async def set_color(self, color: str) -> None:
        """Colour the session's prompt bar. 2.1.325 has the request in its types but refuses it without a terminal."""
        await self._tell(wire.SetColorRequest(color))

    # Beginning and end

    async def reinitialize(self, request: InitializeRequest | None = None) -> InitializeAnswer:
        """Shake hands again: what the session offers now. ``server_info`` keeps what it said first.

        With a ``request`` the CLI takes its hooks in place of those it has, and gives up waiting for a callback of the
        old ones; without one they stay (2.1.325). The hooks' callback ids are the caller's to serve. 2.1.52 refuses
        ("Already initialized").
        """
        return await self._ask(request or wire.InitializeRequest(), wire.InitializeAnswer)

    async def claim(self, request: ClaimSessionRequest) -> ClaimedSession:
        """Make a process that was started with ``--await-claim`` a session; any other refuses (``not_a_spare``)."""
        return await self._ask(request, wire.ClaimedSession)

    async def set_has_subscribers(self, has_subscribers: bool | None) -> None:
        """Say whether anyone is watching. If not, a CLI that joins deltas may hold them back longer.

        None: unknown, which counts as yes. Send it only when it changes.
        """
        await self._tell(wire.SetHasSubscribersRequest(has_subscribers))

    async def end(self, reason: str | None = None) -> None:
        """Ask the CLI to exit with code 0. You still have to close the session."""
        await self._tell(wire.EndSessionRequest(reason))
