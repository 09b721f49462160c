"""A program's callbacks as Claude Code needs them: hooks and MCP servers that call the program."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, get_args

import msgspec

from quarterdeck.client.guard import check_answer, describe_failure, give_up_after_s, is_guard, refusal
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.options_types import HookEvent, HookMatcher, McpSdkServerConfig
from quarterdeck.client.tools.compiled import CompiledTool
from quarterdeck.client.tools.context import ToolContext
from quarterdeck.client.tools.results import error_result
from quarterdeck.client.tools.server import ToolServer
from quarterdeck.wire import hook_answer

from .callbacks import OpenCalls, UnansweredError
from .errors import HostError
from .policies import decided
from .requests import Callbacks, HookCallback, ToolCallback
from .resources import Call
from .session_log import SessionLog

LONGEST_S = 24 * 3600.0


def check_callbacks(callbacks: Callbacks, options: Mapping[str, Any]) -> None:
    """Raises ``HostError`` for invalid callbacks."""
    _check_time(callbacks.deadline_s, "callbacks.deadline_s")
    if callbacks.detached_s is not None:
        _check_time(callbacks.detached_s, "callbacks.detached_s")
    for number, hook in enumerate(callbacks.hooks):
        place = f"callbacks.hooks[{number}]"
        if hook.event not in get_args(HookEvent):
            raise HostError("invalid", f"There is no hook event {hook.event!r}.", field=f"{place}.event")
        if hook.timeout_s is not None:
            _check_time(hook.timeout_s, f"{place}.timeout_s")
    given = options.get("mcp_servers") or {}
    if callbacks.tools and not isinstance(given, dict):
        raise HostError("invalid", "With tools, mcp_servers must be an object.", field="options.mcp_servers")
    names: set[tuple[str, str]] = set()
    for number, tool in enumerate(callbacks.tools):
        place = f"callbacks.tools[{number}]"
        if not tool.server or not tool.name:
            raise HostError("invalid", "A tool needs a name and a server.", field=place)
        if tool.input_schema.get("type", "object") != "object":
            raise HostError("invalid", "The input schema of a tool must be an object.", field=f"{place}.input_schema")
        if tool.server in given:
            raise HostError("invalid", f"mcp_servers also has a server {tool.server!r}.", field=f"{place}.server")
        if (tool.server, tool.name) in names:
            raise HostError("invalid", f"{tool.server} has two tools {tool.name!r}.", field=f"{place}.name")
        names.add((tool.server, tool.name))
    unknown = sorted(set(callbacks.instructions) - {tool.server for tool in callbacks.tools})
    if unknown:
        raise HostError(
            "invalid", f"No tools are declared for the server {unknown[0]!r}.", field="callbacks.instructions"
        )


def _check_time(seconds: float, field: str) -> None:
    if not math.isfinite(seconds) or not 0 < seconds <= LONGEST_S:
        raise HostError("invalid", f"{field} must be a number of seconds, at most a day.", field=field)


def add_callbacks(options: ClaudeAgentOptions, callbacks: Callbacks, calls: OpenCalls, log: SessionLog) -> None:
    """Register hooks and servers that call the attached program."""
    calls.decides, calls.detached_s = callbacks.permission, callbacks.detached_s
    hooks: dict[HookEvent, list[HookMatcher]] = {**(options.hooks or {})}
    for number, hook in enumerate(callbacks.hooks):
        event: HookEvent = msgspec.convert(hook.event, HookEvent)
        timeout_s = hook.timeout_s or callbacks.deadline_s
        matcher = HookMatcher(
            matcher=hook.matcher,
            hooks=[RemoteHook(calls, log, number, hook, timeout_s)],
            timeout=timeout_s,
            on_failure=None if hook.on_failure == options.hooks_on_failure else hook.on_failure,
        )
        hooks[event] = [*hooks.get(event, []), matcher]
    options.hooks = hooks or None
    by_server: dict[str, list[ToolCallback]] = {}
    for tool in callbacks.tools:
        by_server.setdefault(tool.server, []).append(tool)
    if by_server:
        servers = dict(options.mcp_servers) if isinstance(options.mcp_servers, dict) else {}
        for name, tools in by_server.items():
            server = RemoteServer(name, tools, calls, callbacks)
            servers[name] = McpSdkServerConfig(type="sdk", name=name, instance=server)
        options.mcp_servers = servers


class RemoteHook:
    """A hook that calls the program. Without an answer, a deciding hook refuses."""

    def __init__(self, calls: OpenCalls, log: SessionLog, number: int, hook: HookCallback, timeout_s: float) -> None:
        self._calls = calls
        self._log = log
        self._number = number
        self._hook = hook
        self._limit_s = give_up_after_s(give_up_after_s(timeout_s))  # before the session's timeout does

    async def __call__(self, hook_input: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        request_id, event = context["signal"].request_id, self._hook.event
        call = Call(
            call_id=self._calls.call_id(request_id),
            kind="hook",
            hook=self._number,
            tool_use_id=tool_use_id,
            input=dict(hook_input),
        )
        try:
            answer = await self._calls.ask(call, limit_s=self._limit_s, check=self._checked, request_id=request_id)
        except UnansweredError as error:
            if is_guard(event) and self._hook.on_failure == "block":
                return refusal(event, describe_failure(event, str(error)))
            raise
        return await self._within_policy(hook_input, answer)

    def _checked(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        said = hook_answer(dict(answer))
        return check_answer(self._hook.event, said, strict=True) if is_guard(self._hook.event) else said

    async def _within_policy(self, hook_input: Mapping[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        """Judge what a hook changed: the policy saw only the original call."""
        specific = answer.get("hookSpecificOutput") or {}
        said = specific.get("decision") if self._hook.event == "PermissionRequest" else specific
        if self._hook.event not in ("PreToolUse", "PermissionRequest") or not isinstance(said, Mapping):
            return answer
        allows = "allow" in (said.get("permissionDecision"), said.get("behavior"))
        if not allows and "updatedInput" not in said:
            return answer
        tool, policy = str(hook_input.get("tool_name", "")), self._log.approvals.policy
        tool_input = said.get("updatedInput") or hook_input.get("tool_input") or {}
        verdict = None if policy is None else policy.restrain(tool, tool_input)
        if policy is not None and verdict is None:
            return answer
        if verdict is not None:
            call_id = str(hook_input.get("tool_use_id") or "")
            await self._log.tell(decided(self._log.now(), verdict, tool, call_id, asked_in="PreToolUse"))
        if verdict is not None and verdict.behavior == "ask" and self._hook.event == "PreToolUse":
            asked = {**specific, "permissionDecision": "ask", "permissionDecisionReason": verdict.reason}
            return {**answer, "hookSpecificOutput": asked}
        reason = "The session has no policy." if verdict is None else f"Denied by policy. {verdict.reason}"
        return refusal(self._hook.event, reason)


class RemoteServer(ToolServer):
    """An MCP server whose tools run in the program. It lists them itself, so it can start without the program."""

    def __init__(self, name: str, tools: list[ToolCallback], calls: OpenCalls, callbacks: Callbacks) -> None:
        super().__init__(name, instructions=callbacks.instructions.get(name))
        self._remote = {tool.name: RemoteTool(tool, calls, callbacks.deadline_s) for tool in tools}

    def tool(self, name: str) -> CompiledTool | None:
        return self._remote.get(name)

    def list_result(self, cursor: str | None = None) -> dict[str, Any]:
        return {"tools": [tool.listing for tool in self._remote.values()]}


class RemoteTool(CompiledTool):
    """A tool that calls the program."""

    __slots__ = ("_calls", "_limit_s", "_server")

    def __init__(self, tool: ToolCallback, calls: OpenCalls, limit_s: float) -> None:
        self.name = tool.name
        self._server = tool.server
        self._calls = calls
        self._limit_s = limit_s
        listing: dict[str, Any] = {"name": tool.name, "description": tool.description}
        listing["inputSchema"] = {"type": "object", **tool.input_schema}
        optional = {
            "title": tool.title,
            "outputSchema": tool.output_schema,
            "annotations": tool.annotations or None,
            "_meta": tool.meta or None,
        }
        self.listing = listing | {key: value for key, value in optional.items() if value is not None}

    async def call(self, arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        call = Call(
            call_id=self._calls.call_id(context.tool_use_id or f"{self._server}-{context.request_id}"),
            kind="tool",
            server=self._server,
            tool=self.name,
            tool_use_id=context.tool_use_id,
            input=arguments,
        )
        request_id = self._calls.request_of(self._server, context.request_id)
        try:
            return await self._calls.ask(call, limit_s=self._limit_s, check=_tool_result, request_id=request_id)
        except UnansweredError as error:
            return error_result(f"The tool {self.name} did not finish: {error}")


class _ContentBlock(msgspec.Struct):
    type: str


class _ToolResult(msgspec.Struct, rename="camel"):
    content: list[_ContentBlock] = []
    is_error: bool = False
    structured_content: dict[str, Any] | None = None


def _tool_result(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the program's answer to MCP's ``CallToolResult``."""
    if "content" not in answer and "structuredContent" not in answer:
        raise ValueError("a tool result needs content")
    msgspec.convert(dict(answer), _ToolResult)
    return {"content": [], **answer}
