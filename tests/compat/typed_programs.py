"""Typed code against the official SDK, in people's idioms: never run, only checked (``test_typed_programs.py``)."""

import dataclasses
import json
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias, assert_never, cast

import claude_agent_sdk
from claude_agent_sdk import (
    AgentDefinition,
    AssistantMessage,
    CanUseTool,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    CLIConnectionError,
    CLIJSONDecodeError,
    CLINotFoundError,
    ContentBlock,
    ContextUsageResponse,
    HookCallback,
    HookContext,
    HookInput,
    HookJSONOutput,
    HookMatcher,
    InMemorySessionStore,
    McpSdkServerConfig,
    McpServerStatus,
    McpServerStatusConfig,
    McpStatusResponse,
    McpToolInfo,
    Message,
    MessageOrigin,
    MirrorErrorMessage,
    ModelUsage,
    NotificationHookInput,
    PermissionMode,
    PermissionRequestHookInput,
    PermissionResult,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    PostToolUseFailureHookInput,
    PreCompactHookInput,
    ProcessError,
    RateLimitInfo,
    RateLimitStatus,
    RateLimitType,
    ResultError,
    ResultMessage,
    SdkMcpTool,
    SDKSessionInfo,
    ServerToolName,
    ServerToolUseBlock,
    SessionKey,
    SessionMessage,
    SessionStore,
    SessionStoreEntry,
    SettingSource,
    StopHookInput,
    StreamEvent,
    SubagentStartHookInput,
    SubagentStopHookInput,
    SystemInitData,
    SystemMessage,
    TaskNotificationMessage,
    TaskNotificationStatus,
    TaskProgressMessage,
    TaskStartedMessage,
    TaskUsage,
    TextBlock,
    ThinkingBlock,
    ThinkingConfig,
    ToolPermissionContext,
    ToolResultBlock,
    ToolUseBlock,
    Transport,
    UserMessage,
    create_sdk_mcp_server,
    get_session_messages,
    list_sessions,
    query,
    tool,
)
from claude_agent_sdk._errors import MessageParseError
from claude_agent_sdk.types import (
    AssistantMessageError,
    AsyncHookJSONOutput,
    BackgroundTaskSummary,
    BaseHookInput,
    ContextUsageCategory,
    McpHttpServerConfig,
    McpServerConfig,
    McpSSEServerConfig,
    McpStdioServerConfig,
    PermissionRuleValue,
    PostToolUseHookInput,
    PreToolUseHookInput,
    PreToolUseHookSpecificOutput,
    SyncHookJSONOutput,
    SystemPromptFile,
    SystemPromptPreset,
    ToolsPreset,
    UserPromptSubmitHookInput,
)


async def s01_collects_messages() -> list[Message]:
    return [message async for message in query(prompt="hi")]


async def s02_text_of_an_answer(prompt: str) -> str:
    parts: list[str] = []
    async for message in query(prompt=prompt, options=ClaudeAgentOptions(max_turns=1)):
        if isinstance(message, AssistantMessage):
            for block in message.content:
                if isinstance(block, TextBlock):
                    parts.append(block.text)
    return "".join(parts)


async def s03_cost_of_a_query() -> float:
    async for message in query(prompt="hi"):
        if isinstance(message, ResultMessage) and message.total_cost_usd is not None:
            return message.total_cost_usd
    return 0.0


def s04_a_block_as_text(block: ContentBlock) -> str:
    match block:
        case TextBlock(text=text):
            return text
        case ThinkingBlock(thinking=thinking):
            return thinking
        case ToolUseBlock(name=name, input=arguments):
            return f"{name}({json.dumps(arguments)})"
        case ToolResultBlock(content=content):
            return str(content)
        case _:
            return ""


def s05_a_message_as_text(message: Message) -> str:
    if isinstance(message, UserMessage):
        return message.content if isinstance(message.content, str) else str(len(message.content))
    if isinstance(message, SystemMessage):
        return f"{message.subtype} {message.data.get('model', '')}"
    if isinstance(message, StreamEvent):
        return str(message.event.get("type"))
    if isinstance(message, ResultMessage):
        return message.result or ""
    return type(message).__name__


def s06_positional_match(message: Message) -> str:
    match message:
        case SystemMessage("init", data):
            return str(data["session_id"])
        case AssistantMessage([TextBlock(text), *_], model):
            return text + model
        case _:
            return ""


async def s07_permission_callback(
    tool_name: str, input_data: dict[str, Any], context: ToolPermissionContext
) -> PermissionResult:
    if tool_name == "Bash" and "rm" in str(input_data.get("command")):
        return PermissionResultDeny(message="no", interrupt=True)
    return PermissionResultAllow(updated_input={**input_data, "x": 1}, updated_permissions=context.suggestions)


async def s08_narrow_permission_callback(
    tool_name: str, input_data: dict[str, Any], context: ToolPermissionContext
) -> PermissionResultAllow | PermissionResultDeny:
    return PermissionResultAllow() if context.tool_use_id else PermissionResultDeny()


s09_callbacks: list[CanUseTool] = [s07_permission_callback, s08_narrow_permission_callback]
s10_options = ClaudeAgentOptions(can_use_tool=s07_permission_callback, permission_mode="default")


async def s11_hook(input_data: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
    if input_data["hook_event_name"] == "PreToolUse":
        return {"decision": "block", "reason": f"not {input_data['tool_name']}"}
    return {}


async def s12_hook_with_a_specific_output(
    input_data: HookInput, tool_use_id: str | None, context: HookContext
) -> HookJSONOutput:
    return {
        "continue_": True,
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "because",
        },
    }


async def s13_hook_with_typed_output(
    input_data: HookInput, tool_use_id: str | None, context: HookContext
) -> SyncHookJSONOutput:
    specific: PreToolUseHookSpecificOutput = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    output: SyncHookJSONOutput = {"hookSpecificOutput": specific}
    output["systemMessage"] = "a word"
    return output


async def s14_async_hook(input_data: HookInput, tool_use_id: str | None, context: HookContext) -> AsyncHookJSONOutput:
    return {"async_": True, "asyncTimeout": 5}


s15_hooks = ClaudeAgentOptions(
    hooks={
        "PreToolUse": [HookMatcher(matcher="Bash", hooks=[s11_hook, s12_hook_with_a_specific_output], timeout=10)],
        "PostToolUse": [HookMatcher(hooks=[s11_hook])],
        "UserPromptSubmit": [HookMatcher(hooks=[s12_hook_with_a_specific_output])],
    }
)
s16_callback: HookCallback = s11_hook


def s17_reads_a_pre_tool_use_input(given: PreToolUseHookInput) -> str:
    return given["tool_name"] + str(given["tool_input"].get("command")) + given["cwd"] + given["session_id"]


def s18_reads_other_inputs(after: PostToolUseHookInput, prompt: UserPromptSubmitHookInput) -> str:
    return str(after["tool_response"]) + prompt["prompt"] + prompt.get("permission_mode", "")


def s19_casts_a_hook_input(given: HookInput) -> dict[str, Any]:
    return dict(cast(dict[str, Any], given))


@tool("greet", "Greet someone", {"name": str})
async def s20_tool(args: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": f"Hello {args['name']}"}]}


s21_server: McpSdkServerConfig = create_sdk_mcp_server(name="lab", version="1.0.0", tools=[s20_tool])
s22_tools: list[SdkMcpTool[Any]] = [s20_tool]
s23_servers = ClaudeAgentOptions(mcp_servers={"lab": s21_server}, allowed_tools=["mcp__lab__greet"])


async def s24_calls_a_tool() -> dict[str, Any]:
    return await s20_tool.handler({"name": s20_tool.name + s20_tool.description})


def s25_server_configurations() -> dict[str, McpServerConfig]:
    stdio: McpStdioServerConfig = {"command": "npx", "args": ["x"], "env": {"A": "b"}}
    sse: McpSSEServerConfig = {"type": "sse", "url": "http://127.0.0.1"}
    http: McpHttpServerConfig = {"type": "http", "url": "http://127.0.0.1", "headers": {"a": "b"}}
    return {"a": stdio, "b": sse, "c": http, "d": s21_server}


def s26_options(mode: PermissionMode, sources: list[SettingSource]) -> ClaudeAgentOptions:
    return ClaudeAgentOptions(
        allowed_tools=["Read"],
        disallowed_tools=["Bash"],
        permission_mode=mode,
        setting_sources=sources,
        cwd=Path.cwd(),
        add_dirs=[Path("/tmp"), "/var"],
        env={"A": "b"},
        extra_args={"debug": None},
        mcp_servers=s25_server_configurations(),
        include_partial_messages=True,
        max_budget_usd=0.5,
        stderr=print,
        output_format={"type": "json_schema", "schema": {"type": "object"}},
    )


def s27_prompts() -> list[ClaudeAgentOptions]:
    preset: SystemPromptPreset = {"type": "preset", "preset": "claude_code", "append": "x"}
    file: SystemPromptFile = {"type": "file", "path": "p.md"}
    tools: ToolsPreset = {"type": "preset", "preset": "claude_code"}
    return [ClaudeAgentOptions(system_prompt=prompt, tools=tools) for prompt in ("text", preset, file, None)]


def s28_agents() -> ClaudeAgentOptions:
    agent = AgentDefinition(description="d", prompt="p", tools=["Read"], model="haiku")
    return ClaudeAgentOptions(agents={"a": agent, "b": dataclasses.replace(agent, prompt="q")})


def s29_thinking(budget: int) -> ClaudeAgentOptions:
    thinking: ThinkingConfig = {"type": "enabled", "budget_tokens": budget} if budget else {"type": "disabled"}
    return ClaudeAgentOptions(thinking=thinking, effort="low")


async def s30_client() -> str | None:
    async with ClaudeSDKClient(options=ClaudeAgentOptions(model="haiku")) as client:
        await client.query("hi")
        async for message in client.receive_response():
            if isinstance(message, ResultMessage):
                return message.result
    return None


async def s31_client_by_hand(prompts: AsyncIterable[dict[str, Any]]) -> None:
    client = ClaudeSDKClient()
    await client.connect(prompts)
    try:
        await client.query(prompts, session_id="s")
        await client.interrupt()
        await client.set_model("haiku")
        await client.set_model()
        await client.set_permission_mode("acceptEdits")
        await client.rewind_files("x")
        async for message in client.receive_messages():
            print(message)
    finally:
        await client.disconnect()


async def s32_client_information(client: ClaudeSDKClient) -> dict[str, Any]:
    info = await client.get_server_info()
    status = await client.get_mcp_status()
    usage = await client.get_context_usage()
    servers = [server["name"] + server["status"] for server in status["mcpServers"]]
    return {"commands": (info or {}).get("commands"), "servers": servers, "total": usage["totalTokens"]}


async def s33_prompt_stream() -> AsyncIterator[dict[str, Any]]:
    yield {"type": "user", "message": {"role": "user", "content": "hi"}, "parent_tool_use_id": None}


async def s34_streams_prompts() -> None:
    async for message in query(prompt=s33_prompt_stream(), options=None):
        print(message)


async def s35_errors() -> str:
    try:
        await s01_collects_messages()
    except CLINotFoundError as error:
        return str(error)
    except CLIConnectionError:
        return "connection"
    except ResultError as error:
        return f"{error.subtype} {error.errors} {error.api_error_status} {error.session_id}"
    except ProcessError as error:
        return f"{error.exit_code} {error.stderr}"
    except (CLIJSONDecodeError, MessageParseError):
        return "json"
    except ClaudeSDKError as error:
        return str(error.args)
    return ""


def s36_builds_messages() -> list[Message]:
    return [
        UserMessage(content="x"),
        AssistantMessage(content=[TextBlock(text="a"), ToolUseBlock(id="i", name="n", input={})], model="m"),
        SystemMessage(subtype="init", data={}),
        ResultMessage(subtype="success", duration_ms=1, duration_api_ms=1, is_error=False, num_turns=1, session_id="s"),
    ]


def s37_serialises(message: AssistantMessage | ResultMessage) -> str:
    return json.dumps(dataclasses.asdict(message))


def s38_sessions(directory: str) -> list[str]:
    infos: list[SDKSessionInfo] = list_sessions(directory=directory, limit=3)
    messages: list[SessionMessage] = get_session_messages(infos[0].session_id)
    return [info.summary for info in infos] + [message.type for message in messages]


class S39Store(InMemorySessionStore):
    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        print(key["session_id"], len(entries))

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        return None


s40_stores: list[SessionStore] = [S39Store(), InMemorySessionStore()]


class S41Transport(Transport):
    async def connect(self) -> None: ...

    async def write(self, data: str) -> None: ...

    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        raise NotImplementedError

    async def close(self) -> None: ...

    def is_ready(self) -> bool:
        return True

    async def end_input(self) -> None: ...


async def s42_transport() -> None:
    async for message in query(prompt="x", transport=S41Transport()):
        print(message)


def s43_updates() -> dict[str, Any]:
    rule = PermissionRuleValue(tool_name="Bash", rule_content="ls")
    update = PermissionUpdate(type="addRules", rules=[rule], behavior="allow", destination="session")
    return update.to_dict() | PermissionUpdate(type="setMode", mode="plan").to_dict()


def s44_changes_messages(message: AssistantMessage, result: ResultMessage) -> None:
    message.content = [block for block in message.content if not isinstance(block, ThinkingBlock)]
    message.content.append(TextBlock("x"))
    result.result = "changed"
    if result.usage is not None:
        result.usage["mine"] = 1


def s45_usage(result: ResultMessage) -> int:
    usage = result.usage or {}
    total: int = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
    return total + sum(int(model["inputTokens"]) for model in (result.model_usage or {}).values())


def s46_tasks(message: Message) -> str:
    if isinstance(message, TaskStartedMessage):
        return message.task_id + message.description
    if isinstance(message, TaskProgressMessage):
        return str(message.usage["total_tokens"])
    if isinstance(message, TaskNotificationMessage):
        return message.status + message.summary
    return ""


S47Handler: TypeAlias = Callable[[Message], Awaitable[None]]


async def s47_dispatch(handlers: dict[type[Message], S47Handler], message: AssistantMessage) -> None:
    await handlers[type(message)](message)


def s48_qualified_names() -> claude_agent_sdk.ClaudeAgentOptions:
    matcher = claude_agent_sdk.HookMatcher(matcher=None, hooks=[])
    return claude_agent_sdk.ClaudeAgentOptions(hooks={"Stop": [matcher]}, resume="x", fork_session=True)


def s49_replaced(options: ClaudeAgentOptions, mode: Literal["plan", "default"]) -> ClaudeAgentOptions:
    options.permission_mode = mode
    options.allowed_tools.append("Read")
    return dataclasses.replace(options, model=None, cwd=None)


def s50_exhaustive(result: PermissionResultAllow | PermissionResultDeny) -> str:
    if isinstance(result, PermissionResultAllow):
        return result.behavior
    if isinstance(result, PermissionResultDeny):
        return result.message
    assert_never(result)


async def s51_mcp_status(client: ClaudeSDKClient) -> list[str]:
    status: McpStatusResponse = await client.get_mcp_status()
    failed: list[McpServerStatus] = [server for server in status["mcpServers"] if server["status"] == "failed"]
    tools: list[McpToolInfo] = [tool for server in status["mcpServers"] for tool in server.get("tools", [])]
    return [server.get("error", "") for server in failed] + [tool["name"] for tool in tools]


def s52_server_configurations(server: McpServerStatus) -> str:
    config: McpServerStatusConfig | None = server.get("config")
    return config.get("type", "stdio") if config else ""


async def s53_context(client: ClaudeSDKClient) -> tuple[float, dict[str, int]]:
    usage: ContextUsageResponse = await client.get_context_usage()
    largest: ContextUsageCategory = max(usage["categories"], key=lambda category: category["tokens"])
    return usage["percentage"], {largest["name"]: largest["tokens"], "free": usage["maxTokens"] - usage["totalTokens"]}


def s54_cost_by_model(result: ResultMessage) -> dict[str, float]:
    def cost(usage: ModelUsage) -> float:
        return usage["costUSD"] / max(1, usage["inputTokens"] + usage["outputTokens"])

    return {model: cost(usage) for model, usage in (result.model_usage or {}).items()}


def s55_task_usage(progress: TaskProgressMessage, end: TaskNotificationMessage) -> int:
    usage: TaskUsage = progress.usage
    last: TaskUsage | None = end.usage
    return (last or usage)["total_tokens"] + TaskUsage(total_tokens=1, tool_uses=2, duration_ms=3)["tool_uses"]


def s56_origin(message: UserMessage | ResultMessage) -> str:
    origin: MessageOrigin | None = message.origin
    if origin is None or origin["kind"] == "human":
        return "me"
    return origin.get("server", origin["kind"])


def s57_init_data(message: SystemMessage) -> list[str]:
    init = cast(SystemInitData, message.data)
    plugins = [plugin["path"] for plugin in init["plugins"]]
    return [init["model"], init["permissionMode"], *init.get("capabilities", []), *plugins]


def s58_a_hook_input_by_hand() -> list[BaseHookInput]:
    given: PreToolUseHookInput = {
        "session_id": "s",
        "transcript_path": "/t",
        "cwd": "/",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "toolu_1",
    }
    after = PostToolUseHookInput(
        session_id="s",
        transcript_path="/t",
        cwd="/",
        hook_event_name="PostToolUse",
        tool_name="Bash",
        tool_input={},
        tool_response={"stdout": ""},
        tool_use_id="toolu_1",
    )
    return [given, after]


async def s59_tests_a_hook() -> HookJSONOutput:
    prompt: UserPromptSubmitHookInput = {
        "session_id": "s",
        "transcript_path": "/t",
        "cwd": "/",
        "hook_event_name": "UserPromptSubmit",
        "prompt": "hi",
    }
    return await s11_hook(prompt, None, {"signal": None})


def s60_hook_inputs_by_event(given: HookInput) -> str:
    if given["hook_event_name"] == "PreToolUse":
        return given["tool_name"] + given["tool_use_id"] + given.get("agent_id", "")
    if given["hook_event_name"] == "PostToolUse":
        return str(given["tool_response"]) + str(given.get("duration_ms", 0) + 1)
    if given["hook_event_name"] == "UserPromptSubmit":
        return given["prompt"].upper()
    if given["hook_event_name"] == "Stop":
        return "again" if given["stop_hook_active"] else given.get("last_assistant_message", "")
    return given["session_id"] + given["cwd"]


def s61_ends(stop: StopHookInput | SubagentStopHookInput, start: SubagentStartHookInput) -> list[str]:
    tasks: list[BackgroundTaskSummary] = stop.get("background_tasks", [])
    crons = [cron["schedule"] for cron in stop.get("session_crons", []) if cron["recurring"]]
    return [task["description"] + task.get("command", "") for task in tasks] + crons + [start["agent_type"]]


def s62_other_events(
    failed: PostToolUseFailureHookInput,
    asked: PermissionRequestHookInput,
    compacted: PreCompactHookInput,
    told: NotificationHookInput,
) -> str:
    trigger: Literal["manual", "auto"] = compacted["trigger"]
    effort = failed["effort"]["level"] if "effort" in failed else ""
    suggestions: list[Any] = asked.get("permission_suggestions", [])
    return failed["error"] + trigger + told.get("title", told["message"]) + effort + str(suggestions)


def s63_words_of_limits(info: RateLimitInfo) -> RateLimitStatus:
    kind: RateLimitType | None = info.rate_limit_type
    return info.status if kind == "five_hour" else info.overage_status or "allowed"


def s64_words_of_messages(message: AssistantMessage, end: TaskNotificationMessage) -> TaskNotificationStatus:
    error: AssistantMessageError | None = message.error
    return "failed" if error == "rate_limit" else end.status


def s65_words_of_updates(update: PermissionUpdate, block: ServerToolUseBlock) -> tuple[PermissionMode, ServerToolName]:
    behavior: Literal["allow", "deny", "ask"] | None = update.behavior
    print(update.type == "setMode", behavior)
    return update.mode or "default", block.name


def s66_a_lost_batch(message: MirrorErrorMessage) -> str:
    key: SessionKey | None = message.key
    return key["session_id"] if key else message.error
