"""Tools with which a session starts and controls its own sessions: an MCP server in the host.

A child never has more rights than its parent: its folder is inside the parent's, its mode asks at least as often, it
spends the parent's budget, and it has the parent's options, callbacks and policy (``inheriting``). The mode holds for
as long as it runs (``orchestrating``). The tools themselves need permission like any other tool.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec

from quarterdeck.client.tools import ToolContext, create_sdk_mcp_server, tool
from quarterdeck.store.records import SessionRecord
from quarterdeck.timeline.parts import Kept

from . import requests as takes
from .bodies import SessionBody, decode_body
from .budgets import check_budget
from .callers import Caller
from .errors import HostError
from .folders import as_path, is_below
from .idempotency import id_for, scope_of
from .modes import is_above, mode_of

if TYPE_CHECKING:
    from .host import Host

SERVER = "quarterdeck"
"""Its tools are ``mcp__quarterdeck__start_session`` and so on."""
MOST_CHILDREN = 100
MOST_GENERATIONS = 5
LONGEST_WAIT_S = 600.0
Session: TypeAlias = Annotated[str, "Its session_id or its name."]


class Children:
    """The sessions of one parent, as its tools see them."""

    def __init__(self, host: Host, parent_id: str) -> None:
        self._host = host
        self._parent_id = parent_id

    async def start(self, wanted: takes.CreateSession, key: str | None) -> str:
        """Start a child and return its ID. Raises ``HostError`` if it would have more rights than the parent."""
        parent, body, given = await self._parent()
        cwd = str(as_path(str(Path(parent.cwd, wanted.cwd))))
        if not is_below(cwd, [parent.cwd]):
            raise HostError("folder_not_allowed", f"{wanted.cwd} is outside {parent.cwd}.", field="cwd")
        wanted, caller = msgspec.structs.replace(wanted, cwd=cwd), self._caller(body)
        child_id = id_for("create_session", wanted, caller, key)
        if await self._is_answered(wanted, caller, key):
            return child_id  # started before a crash; the parent may have fewer rights by now
        request = msgspec.structs.replace(
            wanted,
            agent=body.agent,
            model=wanted.model or body.chosen.get("model", body.model),
            permission_mode=_at_most(wanted.permission_mode, body),
            policy=body.policy or None,
            budget_usd=self._at_most_left(wanted.budget_usd, body),
            account=body.account,
            cli_version=body.cli_pin,
            host_tools=msgspec.structs.replace(given, depth=given.depth - 1) if given.depth > 1 else None,
        )
        with self._host.place_for_child(child_id, self._parent_id):
            return (await self._host.create_session(request, caller, key=key)).id

    async def _is_answered(self, wanted: takes.CreateSession, caller: Caller, key: str | None) -> bool:
        scope = scope_of("create_session", wanted, caller)
        return key is not None and await self._host.store.receipt(scope, key, now=self._host.now()) is not None

    async def prompt(self, session_id: str, content: str, key: str | None) -> None:
        """Prompt a child. It may have stopped."""
        _, body, _ = await self._parent()
        caller = self._caller(body)
        with self._host.place_for_child(session_id, self._parent_id):
            await self._host.lower_mode(session_id)
            await self._host.send_prompt(takes.SendPrompt(session_id=session_id, content=content), caller, key=key)

    async def stop(self, session_id: str) -> None:
        _, body, _ = await self._parent()
        await self._host.stop(takes.OfSession(session_id=session_id), self._caller(body))

    async def all(self) -> list[SessionRecord]:
        """All children, most recently active first."""
        return await self._host.children_of(self._parent_id)

    async def _parent(self) -> tuple[SessionRecord, SessionBody, takes.HostTools]:
        parent = await self._host.find_session(self._parent_id)
        body = SessionBody() if parent is None else decode_body(parent)
        if parent is None or body.host_tools is None:
            raise HostError("forbidden", "This session was not given host_tools.")
        return parent, body, body.host_tools

    def _at_most_left(self, wanted: Decimal | None, body: SessionBody) -> Decimal | None:
        """A child's budget: at most what is left of its parent's, which covers both."""
        left = self._host.left_of_budgets(self._parent_id, body)
        if left is None:
            return wanted
        if left <= 0:
            raise HostError("budget_reached", "This session's budget is used up.")
        return left if wanted is None else min(wanted, left)

    async def find(self, session: str) -> str:
        """Find a child by ID or name; returns its ID."""
        children = await self.all()
        found = [one.id for one in children if one.id == session] or [one.id for one in children if one.name == session]
        if len(found) != 1:
            what = f"{len(found)} of your sessions are" if found else "None of your sessions is"
            raise HostError("not_found", f"{what} called {session!r}.", hint="Use list_sessions to list them.")
        return found[0]

    async def told(self, session_id: str) -> dict[str, Any]:
        """Describe what a session is doing, and its last answer."""
        session = await self._host.get_session(takes.OfSession(session_id=session_id))
        shown: dict[str, Any] = {"session_id": session.id, "name": session.name, "state": session.state}
        if session.state_reason:
            shown["reason"] = session.state_reason
        if session.pending_approvals:
            shown["waits_for_people"] = session.pending_approvals
        shown["cost_usd"] = str(session.cost_usd)
        try:
            last = (await self._host.get_result(takes.OfSession(session_id=session_id))).details
        except HostError:  # no turn has ended yet
            return shown
        answer = "" if last.get("result") is None else str(msgspec.convert(last["result"], Kept))
        return {**shown, "outcome": last["outcome"], "answer": answer or last.get("error") or ""}

    def _caller(self, body: SessionBody) -> Caller:
        return Caller(
            name=f"session {self._parent_id}",
            via="host_tools",
            scope="operate",
            may_bypass=mode_of(body) == "bypassPermissions",
            session_id=self._parent_id,
            children_outlive=body.host_tools is not None and body.host_tools.children_outlive,
        )


def _at_most(wanted: str | None, body: SessionBody) -> str:
    """A child's mode: the parent's, or a stricter one."""
    own = mode_of(body)
    mode = wanted or own
    if is_above(mode, own):
        raise HostError("forbidden", f"The mode {mode} allows more than this session's mode, {own}.")
    return mode


def _decimal(given: str | None) -> Decimal | None:
    try:
        wanted = None if given is None else Decimal(given)
    except InvalidOperation:
        raise HostError("invalid", f"{given!r} is not an amount in USD.", field="budget_usd") from None
    check_budget(wanted, "budget_usd")
    return wanted


def check_host_tools(given: takes.HostTools) -> None:
    """Raises ``HostError`` for numbers above the host's limits."""
    if not 0 <= given.sessions <= MOST_CHILDREN:
        raise HostError("invalid", f"sessions must be 0 to {MOST_CHILDREN}.", field="host_tools.sessions")
    if not 1 <= given.depth <= MOST_GENERATIONS:
        raise HostError("invalid", f"depth must be 1 to {MOST_GENERATIONS}.", field="host_tools.depth")


def host_tools(host: Host, parent_id: str) -> Any:
    """The server for one session."""
    children = Children(host, parent_id)

    @tool(
        description="Start another session in this folder or below it. It works independently; wait for it when you "
        "need its result."
    )
    async def start_session(
        context: ToolContext,
        prompt: Annotated[str, "The task. The new session knows nothing about this conversation."],
        name: Annotated[str, "A short name for people."] = "",
        cwd: Annotated[str, "The folder to work in (default: this session's)."] = "",
        model: str | None = None,
        permission_mode: Annotated[str | None, "At most this session's mode."] = None,
        budget_usd: Annotated[str | None, "Its budget, at most what is left of yours."] = None,
    ) -> dict[str, Any]:
        wanted = takes.CreateSession(
            cwd=cwd,
            prompt=prompt,
            name=name,
            model=model,
            permission_mode=permission_mode,
            budget_usd=_decimal(budget_usd),
        )
        return {"session_id": await children.start(wanted, context.tool_use_id)}

    @tool(description="Send a prompt to a session that you started.")
    async def prompt_session(context: ToolContext, session: Session, prompt: str) -> dict[str, Any]:
        await children.prompt(await children.find(session), prompt, context.tool_use_id)
        return {"sent": True}

    @tool(description="Wait until a session that you started has finished its turn, and read its answer.")
    async def wait_for_session(
        session: Session, timeout_s: Annotated[float, "At most ten minutes; then it is still running."] = 300
    ) -> dict[str, Any]:
        own = await children.find(session)
        bounded = min(max(timeout_s, 0), LONGEST_WAIT_S)
        await host.wait(takes.Wait(session_id=own, for_=["idle", "stopped"], timeout_s=bounded))
        return await children.told(own)

    @tool(description="The state and the last answer of a session that you started.")
    async def read_session(session: Session) -> dict[str, Any]:
        return await children.told(await children.find(session))

    @tool(description="The sessions that you started, the newest first.")
    async def list_sessions() -> list[dict[str, Any]]:
        return [{"session_id": one.id, "name": one.name, "state": one.state} for one in await children.all()]

    @tool(description="End a session that you started.")
    async def stop_session(session: Session) -> dict[str, Any]:
        await children.stop(await children.find(session))
        return {"stopped": True}

    tools = [start_session, prompt_session, wait_for_session, read_session, list_sessions, stop_session]
    return create_sdk_mcp_server(SERVER, tools=tools)
