"""Operations on prompts: send, queue, change and withdraw."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from msgspec import UNSET

from . import requests as takes
from . import resources as returns
from .callers import PROGRAM, Caller
from .errors import HostError
from .host_base import HostBase
from .idempotency import id_for, once, promise_for


class PromptOperations(HostBase):
    """Operations on prompts."""

    @once
    async def send_prompt(
        self, request: takes.SendPrompt, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.PromptAccepted:
        """Send a prompt, now or queued."""
        actor = await self._actor(request.session_id)
        prompt_id = _checked(request.prompt_id) or id_for("send_prompt", request, caller, key)
        named = key is not None or request.prompt_id is not None
        if named and actor.prompts.knows(prompt_id):  # possibly sent before a crash
            return returns.PromptAccepted(prompt_id=prompt_id, seq=actor.log.fanout.last_seq)
        self._admit_prompt(actor)
        return await actor.prompts.say(
            request.content,
            sender=caller.name,
            priority=request.priority,
            prompt_id=prompt_id,
            not_before=_in_utc(request.not_before, "not_before"),
            receipt=promise_for(
                self,
                "send_prompt",
                request,
                caller,
                key,
                lambda seq: returns.PromptAccepted(prompt_id=prompt_id, seq=seq),
            ),
        )

    async def list_prompts(self, request: takes.OfSession, caller: Caller = PROGRAM) -> returns.PromptList:
        """List queued prompts."""
        actor = await self._actor(request.session_id)
        await actor.log.settled()
        return returns.PromptList(prompts=list(actor.log.fold.queue.prompts))

    @once
    async def update_prompt(
        self, request: takes.UpdatePrompt, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Prompt:
        """Edit, reorder or schedule a queued prompt."""
        actor = await self._actor(request.session_id)
        changes: dict[str, Any] = {}
        if request.content is not UNSET:
            changes["content"] = request.content
        if request.not_before is not UNSET:
            changes["not_before"] = _in_utc(request.not_before, "not_before")
        position = None if request.position is UNSET else request.position
        return await actor.prompts.change(
            request.prompt_id,
            position=position,
            receipt=lambda prompt: promise_for(self, "update_prompt", request, caller, key, lambda _: prompt),
            **changes,
        )

    @once
    async def withdraw_prompt(
        self, request: takes.OfPrompt, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Accepted:
        """Withdraw a queued prompt."""
        actor = await self._actor(request.session_id)
        seq = await actor.prompts.withdraw(
            request.prompt_id,
            receipt=promise_for(self, "withdraw_prompt", request, caller, key, lambda seq: returns.Accepted(seq=seq)),
        )
        return returns.Accepted(seq=seq)


def _in_utc(at: datetime | None, field: str) -> datetime | None:
    """Convert to UTC. Raises ``HostError`` for a time without a zone, which would be ambiguous."""
    if at is None:
        return None
    if at.tzinfo is None:
        raise HostError("invalid", "A time needs its zone, e.g. 2026-01-15T09:30:00Z.", field=field)
    try:
        return at.astimezone(UTC)
    except (OverflowError, ValueError):
        raise HostError("invalid", "This is not a time.", field=field) from None


def _checked(prompt_id: str | None) -> str | None:
    """Validate a caller's UUID. Raises ``HostError``: Claude Code accepts nothing else."""
    try:
        return prompt_id if prompt_id is None else str(uuid.UUID(prompt_id))
    except ValueError:
        raise HostError("invalid", f"{prompt_id!r} is not a UUID.", field="prompt_id") from None
