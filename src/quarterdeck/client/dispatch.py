"""Maps the CLI's requests to the program's callbacks, and their results to answers."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from types import CoroutineType
from typing import TYPE_CHECKING, Any, ClassVar

from quarterdeck import wire
from quarterdeck.protocol.host_side import SERVED
from quarterdeck.protocol.ledger import subtype_of
from quarterdeck.wire import (
    CanUseToolRequest,
    ElicitationRequest,
    HookCallbackRequest,
    McpMessageRequest,
    PermissionResultDeny,
    ToolPermissionContext,
    UserDialogRequest,
    WireObject,
    permission_answer,
)
from quarterdeck.wire._base import plain
from quarterdeck.wire.versions import ASKS_FOR_HOOKS, is_at_least

from .options import ClaudeAgentOptions
from .serving import LATER, CancelSignal

if TYPE_CHECKING:
    from .hooks import HookRunner
    from .launch_initialize import RegisteredHook
    from .tools.adapters import ServerConnection

NOBODY_DECIDES = "Denied: no permission callback is set, so nobody can allow this."
RequestHandler = Callable[[WireObject, CancelSignal], Any]


def needs_await(value: Any) -> bool:
    """Callbacks may be plain functions. Most are coroutines, for which ``isawaitable`` is slow."""
    return type(value) is CoroutineType or inspect.isawaitable(value)


async def _result(value: Any) -> Any:
    return await value if needs_await(value) else value


class Dispatcher:
    """Serves the requests of one session."""

    def __init__(
        self,
        options: ClaudeAgentOptions,
        hooks: Mapping[str, RegisteredHook],
        *,
        version: Callable[[], str | None] = lambda: None,
    ) -> None:
        """``version`` is the CLI's, as soon as it has said it."""
        self._options = options
        self._hooks = hooks
        self._version = version
        self._hook_runner: HookRunner | None = None
        self.servers: dict[str, ServerConnection] = {}
        self._custom: dict[str, RequestHandler] = {}
        self.served = set(SERVED)

    def register(self, subtype: str, handler: RequestHandler) -> None:
        """Serve a subtype that this version does not know, or serve a known one differently."""
        self._custom[subtype] = handler
        self.served.add(subtype)

    def __call__(self, request_id: str, request: Any, signal: CancelSignal) -> Awaitable[Any]:
        custom = self._custom.get(subtype_of(request)) if self._custom else None
        if custom is not None:
            return self._serve_custom(custom, request, signal)
        return self._known[type(request)](self, request_id, request, signal)

    async def _serve_custom(self, handler: RequestHandler, request: Any, signal: CancelSignal) -> Any:
        return _payload(await _result(handler(request, signal)))

    # Permissions

    async def _can_use_tool(self, request_id: str, request: CanUseToolRequest, signal: CancelSignal) -> Any:
        options, name = self._options, request.tool_name
        context = ToolPermissionContext.from_request(request, signal=signal, request_id=request_id)
        if name == "AskUserQuestion" and options.on_question is not None:
            result = await self._question(request, context)
        elif name == "ExitPlanMode" and options.on_plan is not None:
            result = await self._plan(request, context)
        else:
            result = self._decision(request, context)
            if type(result) is CoroutineType or needs_await(result):
                result = await result
        return LATER if result is LATER else permission_answer(result, request)

    def _decision(self, request: CanUseToolRequest, context: ToolPermissionContext) -> Any:
        """What the program's callback returned: the result, or an awaitable of it."""
        if self._options.can_use_tool is None:
            return PermissionResultDeny(message=NOBODY_DECIDES)
        return self._options.can_use_tool(request.tool_name, request.input, context)

    async def _question(self, request: CanUseToolRequest, context: ToolPermissionContext) -> Any:
        from .interaction import question_result

        asked = wire.parse_tool_input("AskUserQuestion", request.input)
        if not isinstance(asked, wire.AskUserQuestionInput):
            return await _result(self._decision(request, context))
        answers = await _result(self._options.on_question(asked, context))  # type: ignore[misc]
        return LATER if answers is LATER else question_result(asked, answers)

    async def _plan(self, request: CanUseToolRequest, context: ToolPermissionContext) -> Any:
        from .interaction import plan_of, plan_result

        decision = await _result(self._options.on_plan(plan_of(request.input), context))  # type: ignore[misc]
        return LATER if decision is LATER else plan_result(decision)

    # Hooks, tools, dialogs

    def prepare(self) -> None:
        """Load what hooks need while the CLI starts, not when the first one is called."""
        if self._hooks:
            self._hook_runner = self._new_hook_runner()

    def _new_hook_runner(self) -> HookRunner:
        from .hooks import HookRunner  # few sessions have hooks, and there are many types of input

        return HookRunner(self._hooks, ask=self._ask_for_hook)

    def _hook(self, request_id: str, request: HookCallbackRequest, signal: CancelSignal) -> Awaitable[Any]:
        runner = self._hook_runner
        if runner is None:
            runner = self._hook_runner = self._new_hook_runner()
        return runner.run(request_id, request, signal)

    async def _ask_for_hook(
        self, request_id: str, request: HookCallbackRequest, reason: str | None, signal: CancelSignal
    ) -> Any:
        """What the program's permission callback says where a hook wants to ask and the CLI would not.

        None leaves it to the CLI: a new one asks, and a callback that answers later (``LATER``) needs a question of the
        CLI that it can answer.
        """
        callback = self._options.can_use_tool
        if is_at_least(self._version(), ASKS_FOR_HOOKS) or getattr(callback, "answers_later", False):
            return None
        called = request.input
        asked = CanUseToolRequest(
            tool_name=str(called["tool_name"]),
            input=called.get("tool_input") or {},
            tool_use_id=request.tool_use_id or "",
            decision_reason=reason,
            decision_reason_type="hook",
            agent_id=called.get("agent_id"),
        )
        return await self._can_use_tool(request_id, asked, signal)

    def refusals(self) -> Mapping[str, dict[str, Any]]:
        """Request id → the refusal to send if the session ends before the hook has answered."""
        return {} if self._hook_runner is None else self._hook_runner.refusals()

    async def _mcp(self, request_id: str, request: McpMessageRequest, signal: CancelSignal) -> Any:
        server = self.servers.get(request.server_name)
        if server is not None:
            response = await server.handle(request.message)
            return {"mcp_response": response} if response is not None else {}
        from quarterdeck.wire.jsonrpc import METHOD_NOT_FOUND

        unknown = {"code": METHOD_NOT_FOUND, "message": f"Server '{request.server_name}' not found"}
        return {"mcp_response": {"jsonrpc": "2.0", "id": request.message.get("id"), "error": unknown}}

    async def _elicitation(self, request_id: str, request: ElicitationRequest, signal: CancelSignal) -> Any:
        if self._options.on_elicitation is None:
            return {"action": "decline"}
        return _payload(await _result(self._options.on_elicitation(request, signal)))

    async def _dialog(self, request_id: str, request: UserDialogRequest, signal: CancelSignal) -> Any:
        if self._options.on_user_dialog is None:
            return {"behavior": "cancelled"}
        return _payload(await _result(self._options.on_user_dialog(request, signal)))

    _known: ClassVar[dict[type, Callable[[Any, str, Any, CancelSignal], Awaitable[Any]]]] = {
        CanUseToolRequest: _can_use_tool,
        HookCallbackRequest: _hook,
        McpMessageRequest: _mcp,
        ElicitationRequest: _elicitation,
        UserDialogRequest: _dialog,
    }


def _payload(value: Any) -> Any:
    if value is LATER or value is None:
        return value
    payload = plain(value)
    if not isinstance(payload, dict):
        takes = "a dict, a wire object, None or LATER"
        raise TypeError(f"a request handler must return {takes}, not {type(value).__name__}")
    return payload
