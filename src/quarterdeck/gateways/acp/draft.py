"""Version 2 of the protocol, a draft, for editors that ask for it and agents that were started with ``--draft``.

What differs from version 1 and is more than another word for it: a prompt is answered when it is taken up, and how its
turn ends is told as the session's state; modes are options; loading is resuming with a replay; calls that run in the
background can be cancelled one by one.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from quarterdeck.timeline import events

from . import content, draft_frames, extensions, jsonrpc, schema
from .conversation import Conversation
from .draft_frames import Frame
from .jsonrpc import RpcError
from .peer import Peer, PendingCall, decoded
from .prompts import EditorPrompt, stop_reason

Serve = Callable[[str, bytes], Awaitable[Any]]

SAME = frozenset(
    {
        "auth/status",
        "providers/list",
        "providers/set",
        "providers/disable",
        *(f"session/{word}" for word in ("list", "close", "delete", "archive", "unarchive", "status", "set_title")),
    }
)
RENAMED = {"auth/login": "authenticate", "auth/logout": "logout"}
OPENING = {"session/new": "session/new", "session/fork": "session/fork"}
_ASKS = frozenset({"session/request_permission", "elicitation/create"})


class DraftDialect:
    """The dialect of one connection."""

    def __init__(self, peer: Peer, serve: Serve, find: Callable[[str], Conversation]) -> None:
        """``serve`` serves version 1; ``find`` finds an open session."""
        self._peer, self._serve, self._find = peer, serve, find
        self._states: dict[str, str] = {}
        self._asks: dict[str, int] = {}
        self._tasks: dict[str, str] = {}
        """Call in the background → its task."""
        self._prompts: set[asyncio.Task[EditorPrompt]] = set()

    # What the editor asks

    async def serve(self, method: str, params: bytes) -> Any:
        if method in SAME or method.startswith("_"):
            return await self._serve(method, params)
        if method in RENAMED:
            return await self._serve(RENAMED[method], params)
        if method in OPENING:
            return draft_frames.opened(_plain(await self._serve(method, params)))
        match method:
            case "session/resume":
                replays = decoded(params, dict[str, Any]).get("replayFrom") is not None
                return draft_frames.opened(
                    _plain(await self._serve(f"session/{'load' if replays else 'resume'}", params))
                )
            case "session/prompt":
                return await self._prompt(decoded(params, schema.PromptRequest))
            case "session/set_config_option":
                return draft_frames.opened(_plain(await self._serve(method, params)))
            case "tool_call/cancel" | "terminal/cancel":
                return await self._cancel_call(decoded(params, dict[str, Any]))
        raise RpcError(jsonrpc.METHOD_NOT_FOUND, f"there is no method {method}", {"method": method})

    async def _prompt(self, params: schema.PromptRequest) -> Frame:
        """Answered when the prompt has become part of the conversation."""
        made = self._find(params.session_id)
        prompt = EditorPrompt(str(uuid.uuid4()), content.blocks_of(params.prompt))
        running = asyncio.get_running_loop().create_task(made.say(prompt, steers=content.steers(params.meta)))
        self._prompts.add(running)
        running.add_done_callback(lambda task: self._ended(made.id, task))
        await asyncio.wait((running, prompt.sent), return_when=asyncio.FIRST_COMPLETED)
        if not prompt.sent.done():
            await running  # refused, or cancelled while it waited
            raise RpcError(jsonrpc.REQUEST_CANCELLED, "the prompt was withdrawn")
        self._update(
            made.id, {"sessionUpdate": "user_message", "messageId": prompt.id, "content": _plain(params.prompt)}
        )
        return {"messageId": prompt.id}

    async def _cancel_call(self, given: dict[str, Any]) -> Frame:
        """A terminal has the id of its call."""
        call = given.get("toolCallId") or given.get("terminalId")
        task = self._tasks.get(str(call))
        if task is None:
            raise RpcError(jsonrpc.INVALID_PARAMS, f"{call} has nothing to cancel")
        wanted = msgspec.json.encode({"sessionId": given.get("sessionId"), "taskId": task})
        await self._serve(f"{extensions.PREFIX}task/stop", wanted)
        return {}

    # From the agent

    def notification(self, method: str, params: Any) -> list[tuple[str, Any]]:
        if method != "session/update":
            return [(method, params)]
        told = _plain(params)
        self._note_task(told["update"])
        return [
            (method, {"sessionId": told["sessionId"], "update": each}) for each in draft_frames.updates(told["update"])
        ]

    def request(self, method: str, params: Any) -> Any:
        return draft_frames.permission_request(_plain(params)) if method == "session/request_permission" else params

    def asked(self, method: str, params: Any, call: PendingCall) -> None:
        """While a person is asked, the session waits."""
        if method not in _ASKS:
            return
        session: str = params.session_id
        self._asks[session] = self._asks.get(session, 0) + 1
        self._be(session, "requires_action")
        call.add_done_callback(lambda _: self._answered(session))

    def _answered(self, session: str) -> None:
        self._asks[session] -= 1
        if not self._asks[session] and self._states.get(session) == "requires_action":
            self._be(session, "running")

    def turn(self, session: str, event: events.TurnStarted | events.TurnEnded) -> None:
        if isinstance(event, events.TurnStarted):
            self._be(session, "running")
            return
        turn = event.turn
        if turn.outcome == "interrupted":
            self._be(session, "idle", stopReason="cancelled")
        elif turn.outcome == "failed" and turn.stop_reason != "refusal":
            failure = {"code": jsonrpc.INTERNAL_ERROR, "message": turn.error or "the turn failed"}
            self._be(session, "idle", stopReason="error", error=failure)
        else:
            self._be(session, "idle", stopReason=stop_reason(turn))

    def _ended(self, session: str, task: asyncio.Task[EditorPrompt]) -> None:
        """A turn whose end was never reported: the process died, or the prompt never started."""
        self._prompts.discard(task)
        error = None if task.cancelled() else task.exception()
        if self._states.get(session, "idle") == "idle":
            return
        if error is None:
            self._be(session, "idle", stopReason="cancelled")
        else:
            failure = {"code": getattr(error, "code", jsonrpc.INTERNAL_ERROR), "message": str(error)}
            self._be(session, "idle", stopReason="error", error=failure)

    def _be(self, session: str, state: str, **more: Any) -> None:
        if self._states.get(session, "idle") != state:
            self._states[session] = state
            self._update(session, {"sessionUpdate": "state_update", "state": state, **more})

    def _update(self, session: str, update: Frame) -> None:
        self._peer.write_notification("session/update", {"sessionId": session, "update": update})

    def _note_task(self, update: Frame) -> None:
        told = (update.get("_meta") or {}).get("quarterdeck") or {}
        call = update.get("toolCallId")
        if call is not None and told.get("background") and told.get("taskId"):
            self._tasks[call] = told["taskId"]
        elif call is not None and update.get("status") in ("completed", "failed"):
            self._tasks.pop(call, None)


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value)
