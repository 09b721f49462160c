"""Each request to the CLI, as an object and as the JSON object it is on the wire."""

from __future__ import annotations

from typing import Any

import msgspec

from looping import for_each
from quarterdeck.wire import (
    OUTGOING_REQUESTS,
    REQUEST_TYPES,
    ApplyFlagSettingsRequest,
    AskForTool,
    BackgroundTasksRequest,
    CancelAsyncMessageRequest,
    ClaimSessionRequest,
    EndSessionRequest,
    ExportConversationRequest,
    FileSuggestionsRequest,
    ForkConversationRequest,
    GenerateSessionTitleRequest,
    GetBinaryVersionRequest,
    GetChromeDialogRequest,
    GetContextUsageRequest,
    GetHooksListingRequest,
    GetMemoryDialogRequest,
    GetPlanRequest,
    GetSandboxDialogRequest,
    GetSessionCostRequest,
    GetSettingsRequest,
    GetSkillsDialogRequest,
    GetStatusRequest,
    GetTaskOutputRequest,
    GetUsageRequest,
    GetWorkspaceDiffRequest,
    HookCallbackMatcher,
    InitializeRequest,
    InterruptRequest,
    ListModelsRequest,
    ListPermissionRulesRequest,
    McpAuthenticateRequest,
    McpCallRequest,
    McpClearAuthRequest,
    McpOauthCallbackUrlRequest,
    McpReadResourceRequest,
    McpReconnectRequest,
    McpSetServersRequest,
    McpStatusRequest,
    McpToggleRequest,
    MessageRatedRequest,
    OutgoingRequest,
    ReadFileRequest,
    RegisterRepoRootRequest,
    ReloadOutputStylesRequest,
    ReloadPluginsRequest,
    ReloadSkillsRequest,
    RenameSessionRequest,
    RewindConversationRequest,
    RewindFilesRequest,
    SdkMcpServerManifest,
    SdkMcpServerOptions,
    SeedReadStateRequest,
    SetColorRequest,
    SetCwdRequest,
    SetHasSubscribersRequest,
    SetMaxThinkingTokensRequest,
    SetMcpPermissionModeOverrideRequest,
    SetModelRequest,
    SetPermissionModeRequest,
    SetProactivityLevelRequest,
    SetPromptSuggestionsPausedRequest,
    SideExchange,
    SideQuestionRequest,
    StagedInput,
    StagedOutput,
    StopTaskRequest,
    UpdateSettingsRequest,
    WorkspaceTrust,
)
from quarterdeck.wire.agents import AgentDefinition, SdkPluginConfig
from quarterdeck.wire.codec import encode
from quarterdeck.wire.control import ControlRequest, parse_request
from quarterdeck.wire.inbound import INCOMING_REQUESTS, IncomingRequest, McpMessageRequest
from quarterdeck.wire.mcp import McpServerToolPolicy, McpStdioServerConfig

FULL_INITIALIZE = InitializeRequest(
    hooks={"PreToolUse": [HookCallbackMatcher(["hook_0"], matcher="Bash", timeout=2.5, on_failure="block")]},
    sdk_mcp_servers=["calc"],
    sdk_mcp_server_configs={
        "calc": SdkMcpServerOptions(timeout=5, tools=[McpServerToolPolicy("add", permission_policy="always_allow")])
    },
    sdk_mcp_server_manifests={"calc": SdkMcpServerManifest({"protocolVersion": "x"}, {"tools": []})},
    sdk_mcp_server_manifests_origin="host_per_send",
    json_schema={"type": "object"},
    system_prompt=["one", "two"],
    append_system_prompt="more",
    append_subagent_system_prompt="for them",
    system_prompt_snapshot=False,
    plan_mode_instructions="plan well",
    tool_aliases={"Shell": "Bash"},
    code_running_mcp_tools={"calc": ["run"]},
    exclude_dynamic_sections=True,
    agents={"helper": AgentDefinition("helps", "help", tools=["Read"], maxTurns=3, mcpServers=["calc", {"x": {}}])},
    title="A session",
    skills=["pdf"],
    web_search_isolation_exempt_mcp_servers=["calc"],
    prompt_suggestions=True,
    agent_progress_summaries=True,
    forward_subagent_text=True,
    forward_nested_subagent_tool_calls=True,
    supported_dialog_kinds=["trust"],
    renders_chrome_setup_offer=False,
    per_task_stop_affordance=True,
    rapid_followup_preempt=True,
    proactivity=True,
    plugins=[SdkPluginConfig("local", "/plugins/a", skip_mcp_discovery=True)],
    managed_settings={"model": "opus"},
    workspace_trust=WorkspaceTrust(accepted=True, directory="/repo"),
)

FULL_INITIALIZE_ON_THE_WIRE = {
    "subtype": "initialize",
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["hook_0"], "timeout": 2.5, "onFailure": "block"}],
    },
    "sdkMcpServers": ["calc"],
    "sdkMcpServerConfigs": {
        "calc": {"timeout": 5, "tools": [{"name": "add", "permission_policy": "always_allow"}]},
    },
    "sdkMcpServerManifests": {
        "calc": {"initializeResult": {"protocolVersion": "x"}, "toolsListResult": {"tools": []}},
    },
    "sdkMcpServerManifestsOrigin": "host_per_send",
    "jsonSchema": {"type": "object"},
    "systemPrompt": ["one", "two"],
    "appendSystemPrompt": "more",
    "appendSubagentSystemPrompt": "for them",
    "systemPromptSnapshot": False,
    "planModeInstructions": "plan well",
    "toolAliases": {"Shell": "Bash"},
    "codeRunningMcpTools": {"calc": ["run"]},
    "excludeDynamicSections": True,
    "agents": {
        "helper": {
            "description": "helps",
            "prompt": "help",
            "tools": ["Read"],
            "maxTurns": 3,
            "mcpServers": ["calc", {"x": {}}],
        },
    },
    "title": "A session",
    "skills": ["pdf"],
    "webSearchIsolationExemptMcpServers": ["calc"],
    "promptSuggestions": True,
    "agentProgressSummaries": True,
    "forwardSubagentText": True,
    "forwardNestedSubagentToolCalls": True,
    "supportedDialogKinds": ["trust"],
    "rendersChromeSetupOffer": False,
    "perTaskStopAffordance": True,
    "rapidFollowupPreempt": True,
    "proactivity": True,
    "plugins": [{"type": "local", "path": "/plugins/a", "skipMcpDiscovery": True}],
    "managedSettings": {"model": "opus"},
    "workspaceTrust": {"accepted": True, "directory": "/repo"},
}

REQUESTS: list[tuple[Any, dict[str, Any]]] = [
    (FULL_INITIALIZE, FULL_INITIALIZE_ON_THE_WIRE),
    (InitializeRequest(), {"subtype": "initialize"}),
    (InitializeRequest(system_prompt="one"), {"subtype": "initialize", "systemPrompt": "one"}),
    (
        ClaimSessionRequest("/repo", env={"A": "b"}, include_initialize=True),
        {"subtype": "claim_session", "cwd": "/repo", "env": {"A": "b"}, "include_initialize": True},
    ),
    (InterruptRequest(), {"subtype": "interrupt"}),
    (InterruptRequest(cancel_queued=True), {"subtype": "interrupt", "cancel_queued": True}),
    (EndSessionRequest(), {"subtype": "end_session"}),
    (SetPermissionModeRequest("plan"), {"subtype": "set_permission_mode", "mode": "plan"}),
    (SetModelRequest("haiku"), {"subtype": "set_model", "model": "haiku"}),
    (SetModelRequest(None), {"subtype": "set_model", "model": None}),
    (SetModelRequest(), {"subtype": "set_model"}),
    (SetMaxThinkingTokensRequest(5000), {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 5000}),
    (SetMaxThinkingTokensRequest(None), {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": None}),
    (
        SetMaxThinkingTokensRequest(thinking_display=None),
        {"subtype": "set_max_thinking_tokens", "thinking_display": None},
    ),
    (SetMaxThinkingTokensRequest(), {"subtype": "set_max_thinking_tokens"}),
    (RenameSessionRequest("T", source="host"), {"subtype": "rename_session", "title": "T", "source": "host"}),
    (SetColorRequest("red"), {"subtype": "set_color", "color": "red"}),
    (SetHasSubscribersRequest(True), {"subtype": "set_has_subscribers", "has_subscribers": True}),
    (SetHasSubscribersRequest(None), {"subtype": "set_has_subscribers", "has_subscribers": None}),
    (SetPromptSuggestionsPausedRequest(False), {"subtype": "set_prompt_suggestions_paused", "paused": False}),
    (SetProactivityLevelRequest("ask"), {"subtype": "set_proactivity_level", "level": "ask"}),
    (
        SetCwdRequest("/repo/sub", trust_accepted=True),
        {"subtype": "set_cwd", "path": "/repo/sub", "trust_accepted": True},
    ),
    (CancelAsyncMessageRequest("u1"), {"subtype": "cancel_async_message", "message_uuid": "u1"}),
    (RewindFilesRequest("u1", dry_run=True), {"subtype": "rewind_files", "user_message_id": "u1", "dry_run": True}),
    (RewindConversationRequest("u1"), {"subtype": "rewind_conversation", "target_message_uuid": "u1"}),
    (ForkConversationRequest(), {"subtype": "fork_conversation"}),
    (ExportConversationRequest(), {"subtype": "export_conversation"}),
    (
        SideQuestionRequest("why?", history=[SideExchange("what?", "that")]),
        {"subtype": "side_question", "question": "why?", "history": [{"question": "what?", "response": "that"}]},
    ),
    (
        GenerateSessionTitleRequest("a chat", persist=False),
        {"subtype": "generate_session_title", "description": "a chat", "persist": False},
    ),
    (
        MessageRatedRequest("u1", "positive", surface="assistant_text", cleared=False),
        {
            "subtype": "message_rated",
            "messageUuid": "u1",
            "sentiment": "positive",
            "surface": "assistant_text",
            "cleared": False,
        },
    ),
    (StopTaskRequest("t1"), {"subtype": "stop_task", "task_id": "t1"}),
    (BackgroundTasksRequest("toolu_1"), {"subtype": "background_tasks", "tool_use_id": "toolu_1"}),
    (GetTaskOutputRequest("t1"), {"subtype": "get_task_output", "task_id": "t1"}),
    (
        ReadFileRequest("a.txt", max_bytes=10, encoding="base64"),
        {"subtype": "read_file", "path": "a.txt", "max_bytes": 10, "encoding": "base64"},
    ),
    (
        SeedReadStateRequest("/a.txt", 1794771608388),
        {"subtype": "seed_read_state", "path": "/a.txt", "mtime": 1794771608388},
    ),
    (FileSuggestionsRequest("f"), {"subtype": "file_suggestions", "query": "f"}),
    (GetWorkspaceDiffRequest(), {"subtype": "get_workspace_diff"}),
    (McpStatusRequest(live_reply=True), {"subtype": "mcp_status", "liveReply": True}),
    (
        McpSetServersRequest({"calc": {"type": "sdk", "name": "calc"}}),
        {"subtype": "mcp_set_servers", "servers": {"calc": {"type": "sdk", "name": "calc"}}},
    ),
    (McpReconnectRequest("calc"), {"subtype": "mcp_reconnect", "serverName": "calc"}),
    (McpToggleRequest("calc", False), {"subtype": "mcp_toggle", "serverName": "calc", "enabled": False}),
    (
        McpCallRequest(
            "mcp__calc__add",
            arguments={"a": 1},
            timeout_ms=500,
            input_files=[StagedInput("in", "/i")],
            output_files=[StagedOutput("out", "/o", if_match="e")],
        ),
        {
            "subtype": "mcp_call",
            "tool": "mcp__calc__add",
            "arguments": {"a": 1},
            "timeout_ms": 500,
            "input_files": [{"name": "in", "lane_path": "/i"}],
            "output_files": [{"name": "out", "lane_path": "/o", "if_match": "e"}],
        },
    ),
    (
        McpReadResourceRequest("calc", "ui://x"),
        {"subtype": "mcp_read_resource", "serverName": "calc", "uri": "ui://x"},
    ),
    (
        McpAuthenticateRequest("web", redirect_uri="http://localhost"),
        {"subtype": "mcp_authenticate", "serverName": "web", "redirectUri": "http://localhost"},
    ),
    (
        McpOauthCallbackUrlRequest("web", "http://localhost?code=1"),
        {"subtype": "mcp_oauth_callback_url", "serverName": "web", "callbackUrl": "http://localhost?code=1"},
    ),
    (McpClearAuthRequest("web"), {"subtype": "mcp_clear_auth", "serverName": "web"}),
    (
        SetMcpPermissionModeOverrideRequest("calc", None),
        {"subtype": "set_mcp_permission_mode_override", "serverName": "calc", "mode": None},
    ),
    (
        SetMcpPermissionModeOverrideRequest("calc", "default", ask_for_tools=[AskForTool("add")]),
        {
            "subtype": "set_mcp_permission_mode_override",
            "serverName": "calc",
            "mode": "default",
            "askForTools": [{"name": "add"}],
        },
    ),
    (
        McpMessageRequest("calc", {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
        {
            "subtype": "mcp_message",
            "server_name": "calc",
            "message": {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
        },
    ),
    (GetContextUsageRequest(detail="summary"), {"subtype": "get_context_usage", "detail": "summary"}),
    (GetSessionCostRequest(), {"subtype": "get_session_cost"}),
    (GetUsageRequest(skip_behaviors=True), {"subtype": "get_usage", "skip_behaviors": True}),
    (ListModelsRequest(), {"subtype": "list_models"}),
    (GetBinaryVersionRequest(), {"subtype": "get_binary_version"}),
    (GetSettingsRequest(), {"subtype": "get_settings"}),
    (
        ApplyFlagSettingsRequest({"model": None}),
        {"subtype": "apply_flag_settings", "settings": {"model": None}},
    ),
    (
        UpdateSettingsRequest("localSettings", {"outputStyle": "default"}),
        {"subtype": "update_settings", "source": "localSettings", "settings": {"outputStyle": "default"}},
    ),
    (GetHooksListingRequest(), {"subtype": "get_hooks_listing"}),
    (ListPermissionRulesRequest(), {"subtype": "list_permission_rules"}),
    (
        RegisterRepoRootRequest("/repo", reload_skills=True),
        {"subtype": "register_repo_root", "directory": "/repo", "reload_skills": True},
    ),
    (
        ReloadPluginsRequest(add_plugins=[SdkPluginConfig(type="local", path="/p")], refuse_if_busy=True),
        {"subtype": "reload_plugins", "add_plugins": [{"type": "local", "path": "/p"}], "refuse_if_busy": True},
    ),
    (ReloadSkillsRequest(), {"subtype": "reload_skills"}),
    (ReloadOutputStylesRequest(), {"subtype": "reload_output_styles"}),
    (GetStatusRequest(), {"subtype": "get_status"}),
    (GetPlanRequest(), {"subtype": "get_plan"}),
    (GetMemoryDialogRequest(), {"subtype": "get_memory_dialog"}),
    (GetSkillsDialogRequest(), {"subtype": "get_skills_dialog"}),
    (GetSandboxDialogRequest(), {"subtype": "get_sandbox_dialog"}),
    (GetChromeDialogRequest(), {"subtype": "get_chrome_dialog"}),
]


@for_each(("request_", "wire"), REQUESTS, ids=[wire["subtype"] for _, wire in REQUESTS])
def test_a_request_is_written_exactly_so(request_: Any, wire: dict[str, Any]) -> None:
    line = {"type": "control_request", "request_id": "r1", "request": wire}
    envelope = ControlRequest(request_id="r1", request=request_)
    assert envelope.to_dict() == line
    assert msgspec.json.decode(encode(envelope)) == line


@for_each(("request_", "wire"), REQUESTS, ids=[wire["subtype"] for _, wire in REQUESTS])
def test_a_request_is_read_back_as_itself(request_: Any, wire: dict[str, Any]) -> None:
    assert parse_request(wire) == request_


def test_every_request_to_the_cli_has_a_case_here() -> None:
    assert {wire["subtype"] for _, wire in REQUESTS} == set(OUTGOING_REQUESTS)


def test_null_and_absent_are_told_apart_where_the_cli_does() -> None:
    reset = msgspec.json.decode(b'{"subtype":"set_model","model":null}', type=SetModelRequest)
    silent = msgspec.json.decode(b'{"subtype":"set_model"}', type=SetModelRequest)
    assert (reset.model, silent.model) == (None, msgspec.UNSET)
    assert (silent.get("model", "absent"), "model" in silent) == ("absent", False)


def test_a_server_can_be_configured_by_an_object_as_by_a_dict() -> None:
    by_object = McpSetServersRequest({"st": McpStdioServerConfig(command="python3", args=["s.py"])})
    by_dict = McpSetServersRequest({"st": {"command": "python3", "args": ["s.py"]}})
    assert by_object == by_dict


def test_an_agent_takes_the_arguments_of_the_official_sdk() -> None:
    agent = AgentDefinition(
        description="d",
        prompt="p",
        disallowedTools=["Bash"],
        model="haiku",
        memory="project",
        initialPrompt="go",
        background=True,
        effort="low",
        permissionMode="plan",
    )
    agent.model = "opus"
    assert InitializeRequest(agents={"a": agent}).to_dict()["agents"]["a"] == {
        "description": "d",
        "prompt": "p",
        "disallowedTools": ["Bash"],
        "model": "opus",
        "memory": "project",
        "initialPrompt": "go",
        "background": True,
        "effort": "low",
        "permissionMode": "plan",
    }


def test_the_class_of_a_request_tells_its_direction() -> None:
    both = {"mcp_message"}
    assert all(issubclass(OUTGOING_REQUESTS[key], OutgoingRequest) for key in OUTGOING_REQUESTS.keys() - both)
    assert all(issubclass(INCOMING_REQUESTS[key], IncomingRequest) for key in INCOMING_REQUESTS.keys() - both)
    assert OUTGOING_REQUESTS.keys() & INCOMING_REQUESTS.keys() == both
    assert {**OUTGOING_REQUESTS, **INCOMING_REQUESTS} == REQUEST_TYPES
