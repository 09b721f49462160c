"""Messages and results built by hand, as tests and fakes do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import pickle
import typing
from typing import Any
from unittest.mock import AsyncMock, MagicMock

from ._setup import a_result, offline, sdk, submodule, tell


def _attempt(make: Any) -> None:
    try:
        print(make())
    except Exception as error:  # noqa: BLE001
        print(type(error).__name__)


@offline
def blocks_by_position_and_keyword() -> None:
    print(
        sdk.TextBlock("a"),
        sdk.TextBlock(text="a"),
        sdk.ThinkingBlock("t", "s"),
        sdk.ToolUseBlock("i", "Bash", {"command": "ls"}),
    )
    print(
        sdk.ToolResultBlock("i"),
        sdk.ToolResultBlock("i", "text", True),
        sdk.ToolResultBlock(tool_use_id="i", content=[{"type": "text", "text": "x"}]),
    )
    print(sdk.ServerToolUseBlock("i", "web_search", {"query": "x"}), sdk.ServerToolResultBlock("i", {"type": "x"}))


@offline
def messages_by_keyword() -> None:
    print(sdk.UserMessage(content="hi"))
    print(sdk.AssistantMessage(content=[sdk.TextBlock("x")], model="m"))
    print(sdk.SystemMessage(subtype="init", data={"a": 1}))
    print(a_result(result="ok", total_cost_usd=0.5, usage={"input_tokens": 1}))
    print(sdk.StreamEvent(uuid="u", session_id="s", event={"type": "ping"}))


@offline
def task_messages() -> None:
    print(sdk.TaskStartedMessage("task_started", {"a": 1}, "t", "d", "u", "s"))
    print(
        sdk.TaskProgressMessage(
            "task_progress", {}, "t", "d", {"total_tokens": 1, "tool_uses": 2, "duration_ms": 3}, "u", "s"
        )
    )
    print(sdk.TaskNotificationMessage("task_notification", {}, "t", "completed", "o", "sum", "u", "s"))
    print(sdk.TaskUpdatedMessage("task_updated", {}, "t", {"status": "killed"}, "killed"))
    print(sdk.MirrorErrorMessage("mirror_error", {}, None, "boom"))
    print(sdk.HookEventMessage("hook_started", {}, "PreToolUse"))


@offline
def rate_limits() -> None:
    info = sdk.RateLimitInfo(status="allowed_warning", resets_at=1, rate_limit_type="five_hour", utilization=0.9)
    print(info, info.raw, sdk.RateLimitEvent(rate_limit_info=info, uuid="u", session_id="s"))
    print(sdk.ConversationResetMessage("n", "u", "s"))


@offline
def equality_by_value() -> None:
    print(
        sdk.TextBlock("a") == sdk.TextBlock("a"),
        sdk.TextBlock("a") != sdk.TextBlock("a"),
        sdk.TextBlock("a") == sdk.TextBlock("b"),
    )
    print(sdk.UserMessage("x") == sdk.UserMessage("x"), sdk.UserMessage("x") == sdk.UserMessage([sdk.TextBlock("x")]))
    print(sdk.AssistantMessage([sdk.TextBlock("a")], "m") == sdk.AssistantMessage([sdk.TextBlock("a")], "m"))
    print(sdk.TextBlock("a") == "a", [sdk.TextBlock("a")] == [sdk.TextBlock("a")])


@offline
def missing_and_unknown_arguments() -> None:
    for make in (
        lambda: sdk.TextBlock(),
        lambda: sdk.TextBlock(txet="a"),
        lambda: sdk.AssistantMessage(content=[]),
        lambda: sdk.UserMessage(),
        lambda: sdk.StreamEvent(uuid="u"),
        lambda: sdk.HookMatcher(hook=[]),
        lambda: sdk.AgentDefinition(description="d"),
        lambda: sdk.ClaudeAgentOptions(modle="x"),
        lambda: sdk.PermissionResultAllow("allow", None, None, None),
    ):
        _attempt(make)


@offline
def odd_values_are_kept() -> None:
    print(
        sdk.TextBlock(None),
        sdk.TextBlock(3),
        sdk.AssistantMessage(content="text", model=None),
        sdk.UserMessage(content=None),
    )
    print(sdk.ToolUseBlock("i", "n", "not a dict"), a_result(result={"a": 1}))


@offline
def asdict_of_built_messages() -> None:
    print(dataclasses.asdict(sdk.AssistantMessage([sdk.TextBlock("a"), sdk.ToolUseBlock("i", "n", {"x": [1]})], "m")))
    print(json.dumps(dataclasses.asdict(a_result())))
    print(dataclasses.asdict(sdk.UserMessage("hi")))


@offline
def copies_and_pickles() -> None:
    for thing in (
        sdk.TextBlock("a"),
        sdk.UserMessage("x"),
        a_result(),
        sdk.PermissionResultAllow({"a": 1}),
        sdk.PermissionResultDeny("no", True),
    ):
        print(
            copy.copy(thing) == thing, copy.deepcopy(thing) == thing, pickle.loads(pickle.dumps(thing)) == thing, thing
        )


@offline
def permission_results() -> None:
    print(
        sdk.PermissionResultAllow(),
        sdk.PermissionResultAllow(updated_input={"a": 1}),
        sdk.PermissionResultDeny(),
        sdk.PermissionResultDeny("no"),
    )
    print(sdk.PermissionResultAllow().behavior, sdk.PermissionResultDeny(message="x", interrupt=True).interrupt)


@offline
def permission_updates() -> None:
    types = submodule("types")
    rule = types.PermissionRuleValue(tool_name="Bash", rule_content="ls")
    update = sdk.PermissionUpdate(type="addRules", rules=[rule], behavior="allow", destination="session")
    print(
        update,
        sorted(update.to_dict().items(), key=str),
        sorted(sdk.PermissionUpdate(type="setMode", mode="plan").to_dict().items(), key=str),
    )
    print(
        sorted(
            sdk.PermissionUpdate(type="addDirectories", directories=["/a"], destination="session").to_dict().items(),
            key=str,
        )
    )
    print(sdk.PermissionUpdate.from_dict(update.to_dict()) == update, rule)
    print(sdk.PermissionUpdate.from_dict({"type": "addRules", "rules": [{"toolName": "Read"}], "behavior": "deny"}))


@offline
def permission_contexts() -> None:
    context = sdk.ToolPermissionContext()
    print(
        context,
        context.signal,
        context.suggestions,
        sdk.ToolPermissionContext(signal=None, suggestions=[], tool_use_id="t"),
    )


@offline
def hook_matchers() -> None:
    async def hook(given: Any, tool_use_id: Any, context: Any) -> dict[str, Any]:
        return {}

    matcher = sdk.HookMatcher(matcher="Bash", hooks=[hook], timeout=3)
    print(
        matcher.matcher,
        len(matcher.hooks),
        matcher.timeout,
        sdk.HookMatcher(),
        sdk.HookMatcher("Edit"),
        sdk.HookMatcher(hooks=[hook]) == sdk.HookMatcher(hooks=[hook]),
    )


@offline
def agent_definitions() -> None:
    agent = sdk.AgentDefinition(description="d", prompt="p", tools=["Read"], model="haiku")
    print(
        agent,
        list(dataclasses.asdict(agent).items())[:13],
        agent == sdk.AgentDefinition("d", "p", ["Read"], model="haiku"),
        dataclasses.replace(agent, prompt="q"),
    )


@offline
def options_as_an_object() -> None:
    chosen = sdk.ClaudeAgentOptions(system_prompt="x", allowed_tools=["Read"], max_turns=3)
    print(
        chosen.allowed_tools,
        chosen.max_turns,
        chosen.model,
        chosen.env,
        chosen.hooks,
        chosen.agents,
        chosen.mcp_servers,
        chosen.cwd,
    )
    chosen.allowed_tools.append("Write")
    chosen.model = "haiku"
    print(
        chosen.allowed_tools,
        sdk.ClaudeAgentOptions().allowed_tools,
        chosen == copy.copy(chosen),
        dataclasses.replace(chosen, max_turns=9).max_turns,
    )


@offline
def options_printed() -> None:
    print(sdk.ClaudeAgentOptions(debug_stderr=None))
    print(sdk.ClaudeAgentOptions(debug_stderr=None, permission_mode="plan", cwd="/x", env={"A": "b"}))


@offline
def options_from_a_dict() -> None:
    config = {"model": "haiku", "max_turns": 2, "permission_mode": "plan"}
    chosen = sdk.ClaudeAgentOptions(**config)
    print({name: getattr(chosen, name) for name in config}, [field.name for field in dataclasses.fields(chosen)][:50])


@offline
def options_positional() -> None:
    print(sdk.ClaudeAgentOptions(["Read"]).tools, sdk.ClaudeAgentOptions(None, ["Read"]).allowed_tools)


@offline
def errors_by_hand() -> None:
    for error in (
        sdk.CLIConnectionError("b"),
        sdk.CLINotFoundError(),
        sdk.CLINotFoundError("c", "/p"),
        sdk.ProcessError("d", 3, "why"),
        sdk.ProcessError("d"),
        sdk.CLIJSONDecodeError("{" * 200, ValueError("x")),
        sdk.ResultError("e"),
        sdk.ResultError(
            "e", {"subtype": "error_max_turns", "errors": [" a ", "", 3], "result": "r", "session_id": "s"}, 1
        ),
    ):
        tell(error)
        print(
            repr(error)[:80],
            error.args,
            sorted(vars(error).items(), key=str)[:9] if isinstance(error, sdk.ProcessError) else "",
        )


@offline
def errors_copy_and_pickle() -> None:
    for error in (
        sdk.ProcessError("d", 3, "why"),
        sdk.ResultError("e", {"subtype": "x"}, 1),
        sdk.CLINotFoundError("c"),
    ):
        back = pickle.loads(pickle.dumps(error))
        print(type(back).__name__, str(back), vars(back) == vars(error))


@offline
def the_name_of_the_base_error() -> None:
    print(sdk.ClaudeSDKError.__name__, repr(sdk.ClaudeSDKError("a")))


@offline
def error_families() -> None:
    for name in ("CLIConnectionError", "CLINotFoundError", "ProcessError", "ResultError", "CLIJSONDecodeError"):
        cls = getattr(sdk, name)
        print(
            name,
            issubclass(cls, sdk.ClaudeSDKError),
            issubclass(cls, Exception),
            issubclass(cls, OSError),
            issubclass(cls, sdk.ProcessError),
        )


@offline
def errors_from_their_module() -> None:
    errors = submodule("_errors")
    for name in (
        "ClaudeSDKError",
        "CLIConnectionError",
        "CLINotFoundError",
        "ProcessError",
        "ResultError",
        "CLIJSONDecodeError",
    ):
        print(getattr(errors, name) is getattr(sdk, name))
    tell(errors.MessageParseError("x", {"a": 1}))


@offline
def names_from_submodules() -> None:
    print(
        submodule("types").TextBlock is sdk.TextBlock, submodule("types").ClaudeAgentOptions is sdk.ClaudeAgentOptions
    )
    print(submodule("client").ClaudeSDKClient is sdk.ClaudeSDKClient)


@offline
def match_args() -> None:
    for name in (
        "TextBlock",
        "ThinkingBlock",
        "ToolUseBlock",
        "ToolResultBlock",
        "UserMessage",
        "AssistantMessage",
        "SystemMessage",
        "ResultMessage",
        "StreamEvent",
        "PermissionResultAllow",
        "PermissionResultDeny",
        "PermissionUpdate",
        "HookMatcher",
        "AgentDefinition",
    ):
        print(name, getattr(sdk, name).__match_args__)


@offline
def signatures() -> None:
    for name in (
        "TextBlock",
        "ToolUseBlock",
        "PermissionResultAllow",
        "PermissionResultDeny",
        "query",
        "tool",
        "create_sdk_mcp_server",
        "list_sessions",
        "get_session_messages",
    ):
        print(name, list(inspect.signature(getattr(sdk, name)).parameters)[:3])


@offline
def type_hints_of_unions() -> None:
    members = [member.__name__ for member in typing.get_args(sdk.Message)]
    print({"UserMessage", "AssistantMessage", "SystemMessage", "ResultMessage", "StreamEvent"} <= set(members))
    print(
        isinstance(sdk.UserMessage("x"), typing.get_args(sdk.Message)),
        isinstance(sdk.TextBlock("x"), typing.get_args(sdk.ContentBlock)),
    )


@offline
def literals() -> None:
    print(
        sorted(typing.get_args(sdk.PermissionMode)),
        sorted(typing.get_args(sdk.SettingSource)),
        sorted(typing.get_args(sdk.EffortLevel)),
    )
    print(sorted(sdk.TERMINAL_TASK_STATUSES))


@offline
async def a_fake_query() -> None:
    async def fake(*, prompt: str, options: Any = None) -> Any:
        yield sdk.AssistantMessage(content=[sdk.TextBlock(text=f"You said {prompt}")], model="fake")
        yield a_result(result="done")

    print([message async for message in fake(prompt="hi")])


@offline
async def a_mocked_client() -> None:
    client = MagicMock(spec=sdk.ClaudeSDKClient)
    client.query = AsyncMock()
    await client.query("hi")
    client.query.assert_awaited_once_with("hi")
    print(
        isinstance(client, sdk.ClaudeSDKClient),
        sorted(
            name
            for name in dir(sdk.ClaudeSDKClient(sdk.ClaudeAgentOptions()))
            if name
            in ("connect", "query", "receive_response", "receive_messages", "disconnect", "interrupt", "options")
        ),
    )


@offline
def a_mocked_message() -> None:
    message = MagicMock(spec=sdk.AssistantMessage)
    message.content = [sdk.TextBlock("x")]
    print(isinstance(message, sdk.AssistantMessage), message.content)


@offline
def typed_dicts_as_constructors() -> None:
    types = submodule("types")
    print(
        sdk.McpSdkServerConfig(type="sdk", name="x", instance=None), types.McpStdioServerConfig(command="x", args=["y"])
    )
    print(
        types.McpHttpServerConfig(type="http", url="u"),
        types.McpSSEServerConfig(type="sse", url="u"),
        types.SystemPromptPreset(type="preset", preset="claude_code", append="x"),
    )
    print(
        sdk.ThinkingConfigEnabled(type="enabled", budget_tokens=3),
        types.SyncHookJSONOutput(continue_=True),
        sdk.PreToolUseHookSpecificOutput(hookEventName="PreToolUse", permissionDecision="deny"),
    )
    print(
        sdk.SandboxSettings(enabled=True),
        sdk.SdkPluginConfig(type="local", path="/p"),
        sdk.HookContext(signal=None),
        types.AsyncHookJSONOutput(async_=True),
    )
    print(
        sdk.TaskUsage(total_tokens=1, tool_uses=2, duration_ms=3),
        sdk.McpStatusResponse(mcpServers=[sdk.McpServerStatus(name="x", status="connected")]),
        types.MessageOrigin(kind="human"),
        types.ModelUsage(inputTokens=1),
    )


@offline
def hook_inputs_by_hand() -> None:
    common = {"session_id": "s", "transcript_path": "/t", "cwd": "/"}
    given = sdk.PreToolUseHookInput(
        hook_event_name="PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t", **common
    )
    print(given, type(given), json.dumps(given), given["tool_input"].get("command"))
    print(sdk.UserPromptSubmitHookInput(hook_event_name="UserPromptSubmit", prompt="hi", **common) == {**common})
    print(typing.is_typeddict(sdk.StopHookInput), sdk.StopHookInput.__name__, sdk.StopHookInput.__total__)
    print(sorted(sdk.PreCompactHookInput.__required_keys__))
    _attempt(lambda: isinstance(given, sdk.PreToolUseHookInput))


@offline
def version() -> None:
    print(isinstance(sdk.__version__, str), sdk.__version__.count(".") >= 2)
