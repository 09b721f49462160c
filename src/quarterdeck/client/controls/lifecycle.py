"""The session's beginning and end, and who watches it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quarterdeck import wire

from .base import ControlsBase

if TYPE_CHECKING:
    from quarterdeck.wire import (
        ClaimedSession,
        ClaimSessionRequest,
        InitializeAnswer,
        InitializeRequest,
    )


class LifecycleControls(ControlsBase):
    """The session's beginning and end."""

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
        """Tell whether anybody watches: a CLI that holds deltas back to join them may then hold them longer.

        None for not known, which counts as yes. Send it when it changes only.
        """
        await self._tell(wire.SetHasSubscribersRequest(has_subscribers))

    async def end(self, reason: str | None = None) -> None:
        """Let the CLI answer and then exit by itself, with code 0; the session is over, ``close`` it still."""
        await self._tell(wire.EndSessionRequest(reason))
