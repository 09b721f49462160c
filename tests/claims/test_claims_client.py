"""What the specifications give the host to do: looking up hooks, routing to its MCP servers, the names of the SDK."""

from __future__ import annotations

from typing import Any

import quarterdeck
from quarterdeck.client.dispatch import Dispatcher
from quarterdeck.client.launch import plan_launch
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.options_types import HookMatcher
from quarterdeck.client.serving import CancelSignal
from quarterdeck.client.tools import create_sdk_mcp_server, tool
from quarterdeck.client.tools.adapters import adapt_server
from quarterdeck.wire import HookCallbackRequest, McpMessageRequest


async def _before(given: Any, tool_use_id: str | None, _: Any) -> dict[str, Any]:
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "deny"}
    return {"hookSpecificOutput": decision, "reason": f"{given.tool_name} {tool_use_id}"}


async def _after(*_: Any) -> dict[str, Any]:
    return {}


async def test_hooks_are_registered_by_ids_and_looked_up_when_the_cli_calls() -> None:
    matchers: dict[Any, list[HookMatcher]] = {
        "PreToolUse": [HookMatcher(matcher="Bash", hooks=[_before], timeout=30)],
        "Stop": [HookMatcher(hooks=[_after])],
    }
    options = ClaudeAgentOptions(hooks=matchers)
    planned = plan_launch(options, cli=["claude"], version="2.1.325")
    assert planned.initialize.to_dict()["hooks"] == {
        "PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["hook_0"], "timeout": 30, "onFailure": "block"}],
        "Stop": [{"hookCallbackIds": ["hook_1"]}],
    }
    assert planned.hooks is not None
    dispatch = Dispatcher(options, planned.hooks)
    given = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}, "tool_use_id": "t"}
    request = HookCallbackRequest(callback_id="hook_0", input=given, tool_use_id="t")
    answer = await dispatch("r", request, CancelSignal())
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert answer["reason"] == "Bash t"


async def test_messages_for_a_server_in_the_host_are_routed_to_it_and_answered() -> None:
    @tool("add", "Add two numbers", {"a": int, "b": int})
    async def add(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": str(arguments["a"] + arguments["b"])}]}

    dispatch = Dispatcher(ClaudeAgentOptions(), {})
    dispatch.servers["calc"] = adapt_server(create_sdk_mcp_server("calc", tools=[add])["instance"]).connect(
        lambda _: None
    )
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 2, "b": 3}}}
    answer = await dispatch("r", McpMessageRequest(server_name="calc", message=call), CancelSignal())
    assert answer["mcp_response"]["id"] == 7
    assert answer["mcp_response"]["result"]["content"] == [{"type": "text", "text": "5"}]
    lost = await dispatch("r", McpMessageRequest(server_name="nope", message=call), CancelSignal())
    assert lost["mcp_response"]["error"]["code"] == -32601
    await dispatch.servers["calc"].aclose()


def test_what_the_sdk_exports_has_its_counterpart() -> None:
    for name in ("query", "tool", "create_sdk_mcp_server", "HOOK_EVENTS", "Aborted", "Session", "ClaudeSDKClient"):
        assert name in quarterdeck.__all__, name
