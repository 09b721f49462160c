"""Calls that a program answers for a session: hooks, tools and permissions.

The contract for gateways and clients:

* ``CreateSession.callbacks`` declares them. They stay with the session: each of its processes is started with them.
* ``attach_callbacks`` streams ``Call`` objects: open ones first, oldest first, then new ones. Only the newest program
    answers: when another one attaches, the earlier stream ends.
* ``call_id`` is stable: it stays the same when the program attaches again and when the host restarts. So a program that
    ran a call but couldn't deliver its answer can deliver it later, without running the call again.
* ``answer_callback`` answers a call. The first answer counts; ``withdrawn`` means that nobody is waiting for it. If an
    answer is ``invalid``, the call stays open. When it returns, the answer is in the log.
* ``cancelled`` means that a call needs no answer: Claude Code withdrew it, it timed out, or somebody else decided.
* A call waits for ``deadline_s``, whether or not a program is attached; ``detached_s`` limits the wait while none is.
    Then it fails closed: a hook that decides something refuses, with the reason; any other hook is an error for Claude
    Code, which continues; a tool returns an error to the model. A permission has no deadline: it is an ordinary
    approval, and the first decision wins.
* A hook can't widen the policy: what it allows or rewrites is judged again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from quarterdeck.store.records import ApprovalRecord
from quarterdeck.wire import McpMessageRequest

from .bodies import approval_view
from .errors import HostError
from .fanout import Bell
from .resources import Call
from .session_log import SessionLog

Check = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Validates and converts an answer. Raises ``ValueError`` or ``TypeError`` if it doesn't fit."""


class UnansweredError(Exception):
    """The program didn't answer a call, or answered with an error."""


class OpenCall(msgspec.Struct, eq=False):
    """A call that waits for the program."""

    call: Call
    request_id: str | None
    """The ID of Claude Code's request that waits for it."""
    check: Check
    due_at: float
    """Deadline, by the event loop's clock."""
    answer: asyncio.Future[dict[str, Any]]


class OpenCalls:
    """The calls of one session that wait for a program, and the program that answers them."""

    def __init__(self, log: SessionLog) -> None:
        self._log = log
        self._open: dict[str, OpenCall] = {}
        self._bell = Bell()
        self._attached: object | None = None
        """Identifies the attached program's stream."""
        self._passed_on: set[str] = set()
        """Permissions that the program left to people."""
        self._answered: set[str] = set()
        """Calls that were delivered and answered."""
        self.decides = False
        """The program also decides permissions."""
        self.detached_s: float | None = None
        """How long calls wait while no program is attached; None: no extra limit."""

    @property
    def attached(self) -> bool:
        """Whether a program is attached."""
        return self._attached is not None

    @property
    def waiting(self) -> int:
        """How many hooks and tools wait for the program."""
        return len(self._open)

    # Asking

    def call_id(self, request: str) -> str:
        """The name of a call, unique among the session's processes."""
        return f"{self._log.body.generation}-{request}"

    def request_of(self, server: str, message_id: str | int) -> str | None:
        """The id of Claude Code's request that carries a message to an MCP server."""
        for request_id, request in self._log.fold.side.open_requests().items():
            is_for_server = isinstance(request, McpMessageRequest) and request.server_name == server
            if is_for_server and request.message.get("id") == message_id:
                return request_id
        return None

    async def ask(self, call: Call, *, limit_s: float, check: Check, request_id: str | None) -> dict[str, Any]:
        """Ask the program; returns its answer. Raises ``UnansweredError``."""
        if call.call_id in self._open:
            raise UnansweredError("the program already has this call")
        loop = asyncio.get_running_loop()
        one = OpenCall(call, request_id, check, loop.time() + limit_s, loop.create_future())
        self._open[call.call_id] = one
        self._bell.ring()
        limit = asyncio.timeout(limit_s)
        try:
            async with limit:
                return await self._answered_to(one)
        except TimeoutError as error:
            if not limit.expired():
                raise
            who = "no program was attached" if self._attached is None else "the program did not answer"
            raise UnansweredError(f"{who} within {limit_s:.3g} s") from error
        finally:
            del self._open[call.call_id]
            self._bell.ring()

    async def _answered_to(self, one: OpenCall) -> dict[str, Any]:
        """Wait for the answer. Raises ``UnansweredError`` if no program is attached for too long."""
        loop, alone_since = asyncio.get_running_loop(), None
        while self.detached_s is not None and not one.answer.done() and not self._bell.closed:
            rung, left_s = self._bell.next(), None
            if self._attached is None:
                alone_since = loop.time() if alone_since is None else alone_since
                left_s = alone_since + self.detached_s - loop.time()
                if left_s <= 0:
                    raise UnansweredError(f"no program was attached for {self.detached_s:.3g} s")
            else:
                alone_since = None
            changed = loop.create_task(rung.wait())
            try:
                await asyncio.wait((one.answer, changed), timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()
        return await one.answer

    # Answering

    def look(self) -> None:
        """Check for new or finished approvals after a change of the session."""
        if self.decides and self._attached is not None:
            self._bell.ring()

    async def attach(self) -> AsyncGenerator[Call, None]:
        """Stream open calls, then new ones, until another program attaches or the host closes."""
        me = self._attached = object()
        self._bell.ring()  # for the former one
        self._answered.clear()
        told: set[str] = set()
        try:
            while self._attached is me and not self._bell.closed:
                rung = self._bell.next()
                news = self._news(told)
                if any(call.kind == "permission" for call in news):
                    await self._log.settled()  # an approval is a row before anyone sees it
                for call in news:
                    yield call
                    if self._attached is not me:
                        return
                if not news:
                    await rung.wait()
        finally:
            if self._attached is me:
                self._attached = None
                self._bell.ring()  # for calls that wait for a program

    def _news(self, told: set[str]) -> list[Call]:
        """What to send next on a stream that has delivered these."""
        at = asyncio.get_running_loop().time()
        calls = {call_id: one for call_id, one in self._open.items() if not one.answer.done()}
        asked = {record.id: record for record in self._asked()}
        over = told.difference(calls, asked)
        news = [Call(call_id=one, kind="cancelled") for one in over if one not in self._answered]
        self._answered.difference_update(over)
        news += [
            msgspec.structs.replace(one.call, deadline_s=max(one.due_at - at, 0.0))
            for call_id, one in calls.items()
            if call_id not in told
        ]
        news += [
            Call(call_id=call_id, kind="permission", approval=approval_view(record))
            for call_id, record in asked.items()
            if call_id not in told
        ]
        told.difference_update(over)
        told.update(calls, asked)
        return news

    def _asked(self) -> list[ApprovalRecord]:
        """What the program may decide."""
        if not self.decides:
            return []
        pending = [record for record in self._log.approvals.values() if record.state == "pending"]
        return [record for record in pending if record.id not in self._passed_on]

    def find(self, call_id: str) -> OpenCall:
        """An open call. Raises ``HostError``."""
        one = self._open.get(call_id)
        if one is None or one.answer.done():
            raise HostError(
                "withdrawn",
                f"Call {call_id} is no longer open: it was answered or cancelled, or it timed out.",
            )
        return one

    def answer(self, one: OpenCall, result: Mapping[str, Any] | None, error: str | None) -> None:
        """Answer a call. Raises ``HostError`` for what does not fit; the call stays open."""
        if result is not None:
            try:
                fitting = one.check(result)
            except (TypeError, ValueError) as problem:
                raise HostError("invalid", f"Not a valid answer to this call: {problem}", field="result") from problem
            one.answer.set_result(fitting)
        else:
            one.answer.set_exception(UnansweredError(error or "the program reported a failure"))
        self.answered(one.call.call_id)

    def answered(self, call_id: str) -> None:
        """The program answered this call, so don't send ``cancelled`` for it."""
        if self._attached is not None:
            self._answered.add(call_id)
        self._bell.ring()

    @contextmanager
    def answering(self, call_id: str) -> Iterator[None]:
        """The program is about to answer this."""
        self.answered(call_id)
        try:
            yield
        except BaseException:
            self._answered.discard(call_id)
            raise

    def pass_on(self, call_id: str) -> None:
        """The program leaves a permission to people."""
        self._passed_on.add(call_id)
        self.answered(call_id)

    def close(self) -> None:
        """End all streams."""
        self._bell.close()
