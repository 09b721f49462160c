"""Operations on callbacks: receive and answer the calls of a session's hooks, tools and permissions."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from . import requests as takes
from . import resources as returns
from .actor import SessionActor
from .approval_operations import ApprovalOperations
from .callers import PROGRAM, Caller
from .errors import HostError
from .idempotency import once, promise_for


class CallbackOperations(ApprovalOperations):
    """Operations on callbacks."""

    async def attach_callbacks(
        self, request: takes.AttachCallbacks, caller: Caller = PROGRAM
    ) -> AsyncGenerator[returns.Call, None]:
        """Receive the calls of a session's hooks and tools: open ones first, then new ones."""
        actor = await self._actor(request.session_id)
        declared = await self._declared(actor)
        with self.attend(caller) if declared.permission else contextlib.nullcontext():
            async with aclosing(actor.calls.attach()) as calls:
                async for call in calls:
                    yield call

    async def _declared(self, actor: SessionActor) -> takes.Callbacks:
        declared = self._callbacks(actor.log)
        if declared is None:
            raise HostError(
                "conflict",
                f"Session {actor.id} was created without callbacks.",
                hint="Declare them when you create the session.",
            )
        actor.calls.decides = declared.permission
        return declared

    @once
    async def answer_callback(
        self, request: takes.AnswerCallback, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Accepted:
        """Answer a call. When this returns, the answer is in the log."""
        if (request.result is None) == (request.error is None):
            raise HostError("invalid", "An answer needs either a result or an error.", field="result")
        actor = await self._actor(request.session_id)
        approval = await self.store.approval(request.call_id)
        if approval is not None and approval.session == actor.id:
            return await self._answer_permission(actor, request, caller)
        one = actor.calls.find(request.call_id)
        told = None
        if one.request_id is not None:
            told = actor.recorder.expect(
                one.request_id,
                sender=caller.name,
                receipt=promise_for(
                    self, "answer_callback", request, caller, key, lambda seq: returns.Accepted(seq=seq)
                ),
            )
        actor.calls.answer(one, request.result, request.error)
        return returns.Accepted(seq=None if told is None else (await told).first_seq)

    async def _answer_permission(
        self, actor: SessionActor, request: takes.AnswerCallback, caller: Caller
    ) -> returns.Accepted:
        if not (await self._declared(actor)).permission:
            raise HostError("conflict", "This session has no permission callback.", field="call_id")
        if request.result is None:
            actor.calls.pass_on(request.call_id)
            return returns.Accepted()
        try:
            decision = msgspec.convert(request.result, takes.Decision)
        except msgspec.ValidationError as error:
            raise HostError("invalid", f"Not a valid decision: {error}", field="result") from error
        with actor.calls.answering(request.call_id):
            await self.decide(takes.Decide(approval_id=request.call_id, decision=decision), caller)
        return returns.Accepted()
