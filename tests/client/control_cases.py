"""A call of each control method, what is on the wire for it, and what the caller gets."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quarterdeck import wire
from quarterdeck.client.controls import Controls


@dataclass(frozen=True)
class Case:
    """A call, what must be on the wire for it, what the CLI answers, and what the caller gets."""

    call: Callable[[Controls], Coroutine[Any, Any, Any]]
    sent: dict[str, Any]
    payload: Any = None
    returned: Any = None


STAGED_IN = wire.StagedInput(name="in", lane_path="a/in")
STAGED_OUT = wire.StagedOutput(name="out", lane_path="a/out")
PLUGIN = wire.SdkPluginConfig(type="local", path="/p")
INITIALIZE = wire.InitializeRequest(title="t")
CLAIM = wire.ClaimSessionRequest(cwd="/w", title="t")

CASES: dict[str, list[Case]] = {
    "interrupt": [
        Case(lambda c: c.interrupt(), {}, None, wire.InterruptReceipt()),
        Case(
            lambda c: c.interrupt(
                True,
                reason="r",
                send_now=True,
                message_uuid="m",
                for_user_message_uuids=["u"],
                spare_background_tasks=True,
            ),
            {
                "cancel_queued": True,
                "reason": "r",
                "send_now": True,
                "message_uuid": "m",
                "for_user_message_uuids": ["u"],
                "spare_background_tasks": True,
            },
            {"still_queued": [], "cancelled": ["a"]},
            wire.InterruptReceipt(still_queued=[], cancelled=["a"]),
        ),
    ],
    "cancel_async_message": [
        Case(lambda c: c.cancel_prompt("u"), {"message_uuid": "u"}, {"cancelled": True}, True),
        Case(lambda c: c.cancel_prompt("u"), {"message_uuid": "u"}, {"cancelled": False}, False),
        Case(lambda c: c.cancel_prompt("u"), {"message_uuid": "u"}, None, False),
    ],
    "set_model": [
        Case(lambda c: c.set_model(), {"model": None}, {"model": "claude-x"}, wire.ModelAnswer(model="claude-x")),
        Case(
            lambda c: c.set_model("haiku", system_prompt="s", only_if_model_is_current=True),
            {"model": "haiku", "system_prompt": "s", "only_if_model_is_current": True},
            None,
            wire.ModelAnswer(),
        ),
    ],
    "set_max_thinking_tokens": [
        Case(lambda c: c.set_max_thinking_tokens(5000), {"max_thinking_tokens": 5000}),
        Case(lambda c: c.set_max_thinking_tokens(None), {"max_thinking_tokens": None}),
        Case(lambda c: c.set_max_thinking_tokens(0), {"max_thinking_tokens": 0}),
        Case(lambda c: c.set_max_thinking_tokens(thinking_display="omitted"), {"thinking_display": "omitted"}),
        Case(
            lambda c: c.set_max_thinking_tokens(1, thinking_display=None),
            {"max_thinking_tokens": 1, "thinking_display": None},
        ),
    ],
    "set_permission_mode": [
        Case(
            lambda c: c.set_permission_mode("plan"),
            {"mode": "plan"},
            {"mode": "plan"},
            wire.PermissionModeAnswer(mode="plan"),
        ),
        Case(
            lambda c: c.set_permission_mode("plan", ultraplan=True),
            {"mode": "plan", "ultraplan": True},
            None,
            wire.PermissionModeAnswer(),
        ),
    ],
    "set_proactivity_level": [
        Case(lambda c: c.set_proactivity_level("ask"), {"level": "ask"}, None, {}),
        Case(
            lambda c: c.set_proactivity_level("proactive", offer_bypass=True),
            {"level": "proactive", "offer_bypass": True},
            {"level": "proactive"},
            {"level": "proactive"},
        ),
    ],
    "set_prompt_suggestions_paused": [
        Case(lambda c: c.set_prompt_suggestions_paused(True), {"paused": True}),
        Case(lambda c: c.set_prompt_suggestions_paused(False), {"paused": False}),
    ],
    "side_question": [
        Case(
            lambda c: c.side_question("why?"),
            {"question": "why?"},
            {"response": "so"},
            wire.SideAnswer(response="so"),
        ),
        Case(
            lambda c: c.side_question("and?", history=[wire.SideExchange("why?", "so")]),
            {"question": "and?", "history": [{"question": "why?", "response": "so"}]},
            {"response": "thus", "synthetic": True},
            wire.SideAnswer(response="thus", synthetic=True),
        ),
    ],
    "export_conversation": [
        Case(
            lambda c: c.export(),
            {},
            {"text": "hi", "default_filename": "f.txt"},
            wire.ConversationExport("hi", "f.txt"),
        ),
    ],
    "rename_session": [
        Case(lambda c: c.rename("t"), {"title": "t"}),
        Case(
            lambda c: c.rename("t", source="host", session_id="s"), {"title": "t", "source": "host", "session_id": "s"}
        ),
    ],
    "generate_session_title": [
        Case(lambda c: c.generate_title("d"), {"description": "d", "persist": False}, {"title": "A chat"}, "A chat"),
        Case(lambda c: c.generate_title("d", persist=True), {"description": "d", "persist": True}, {"title": None}),
    ],
    "rewind_conversation": [
        Case(
            lambda c: c.rewind_conversation("u"),
            {"target_message_uuid": "u"},
            {"rewound": True, "targetMessageUuid": "u", "prefillText": "b"},
            wire.ConversationRewind(rewound=True, target_message_uuid="u", prefill_text="b"),
        ),
        Case(
            lambda c: c.rewind_conversation("u", expires_at="e", allow_target_behind_compaction=True),
            {"target_message_uuid": "u", "expires_at": "e", "allow_target_behind_compaction": True},
            {"reason": "r"},
            wire.ConversationRewind(reason="r"),
        ),
    ],
    "fork_conversation": [
        Case(
            lambda c: c.fork_conversation(),
            {},
            {"error": "unsupported", "reason": "unsupported"},
            wire.ConversationFork(error="unsupported", reason="unsupported"),
        ),
    ],
    "message_rated": [
        Case(
            lambda c: c.rate_message("m", "positive"),
            {"messageUuid": "m", "sentiment": "positive", "surface": "assistant_text", "cleared": False},
            None,
            {},
        ),
        Case(
            lambda c: c.rate_message("m", "negative", surface="tool_use", cleared=True),
            {"messageUuid": "m", "sentiment": "negative", "surface": "tool_use", "cleared": True},
            None,
            {},
        ),
    ],
    "set_color": [Case(lambda c: c.set_color("red"), {"color": "red"})],
    "stop_task": [Case(lambda c: c.stop_task("t"), {"task_id": "t"}, {})],
    "background_tasks": [
        Case(lambda c: c.background_tasks(), {}, {}, wire.BackgroundTasksResult()),
        Case(
            lambda c: c.background_tasks("toolu_1"),
            {"tool_use_id": "toolu_1"},
            {"backgrounded": True},
            wire.BackgroundTasksResult(backgrounded=True),
        ),
    ],
    "get_task_output": [
        Case(
            lambda c: c.task_output("t"),
            {"task_id": "t"},
            {"output": "x", "total_bytes": 1, "truncated": False},
            wire.TaskOutput("x", 1, False),
        ),
    ],
    "rewind_files": [
        Case(
            lambda c: c.rewind_files("u"),
            {"user_message_id": "u"},
            {"canRewind": True, "skippedLinks": 0},
            wire.RewindFilesResult(True, skipped_links=0),
        ),
        Case(
            lambda c: c.rewind_files("u", dry_run=True),
            {"user_message_id": "u", "dry_run": True},
            {"canRewind": True, "filesChanged": ["a"], "insertions": 1, "deletions": 3},
            wire.RewindFilesResult(True, files_changed=["a"], insertions=1, deletions=3),
        ),
    ],
    "read_file": [
        Case(
            lambda c: c.read_file(Path("a.txt")),
            {"path": "a.txt"},
            {"contents": "x", "absPath": "/w/a.txt", "lossy": False},
            wire.FileContents("x", "/w/a.txt", lossy=False),
        ),
        Case(
            lambda c: c.read_file("a", max_bytes=9, encoding="base64", offset=3, anchor={"line": 1}),
            {"path": "a", "max_bytes": 9, "encoding": "base64", "offset": 3, "anchor": {"line": 1}},
            {"contents": "eA==", "encoding": "base64"},
            wire.FileContents("eA==", encoding="base64"),
        ),
    ],
    "seed_read_state": [Case(lambda c: c.seed_read_state(Path("a"), 12.5), {"path": "a", "mtime": 12.5})],
    "file_suggestions": [
        Case(
            lambda c: c.file_suggestions("a"),
            {"query": "a"},
            {"suggestions": [{"path": "a", "score": 1}], "cwd": "/w"},
            wire.FileSuggestions([wire.SuggestedFile("a", 1)], "/w"),
        ),
    ],
    "register_repo_root": [
        Case(
            lambda c: c.register_repo_root(Path("/w/sub")),
            {"directory": "/w/sub"},
            {"directory": "/w/sub"},
            wire.RegisteredRepoRoot("/w/sub"),
        ),
        Case(
            lambda c: c.register_repo_root("s", reload_claude_md=True, reload_plugins=True, reload_skills=True),
            {"directory": "s", "reload_claude_md": True, "reload_plugins": True, "reload_skills": True},
            {"directory": "/w/s"},
            wire.RegisteredRepoRoot("/w/s"),
        ),
    ],
    "set_cwd": [
        Case(
            lambda c: c.set_cwd("sub"),
            {"path": "sub"},
            {"status": "needs_trust", "directory": "/w/sub"},
            wire.SetCwdResult(status="needs_trust", directory="/w/sub"),
        ),
        Case(
            lambda c: c.set_cwd(Path("sub"), trust_accepted=True, trusted_directory=Path("/w/sub")),
            {"path": "sub", "trust_accepted": True, "trusted_directory": "/w/sub"},
            {"status": "ok", "cwd": "/w/sub", "changed": True},
            wire.SetCwdResult(status="ok", cwd="/w/sub", changed=True),
        ),
    ],
    "get_workspace_diff": [
        Case(
            lambda c: c.workspace_diff(),
            {},
            {"noDiffReason": "no-repository"},
            wire.WorkspaceDiff(no_diff_reason="no-repository"),
        ),
    ],
    "mcp_status": [
        Case(
            lambda c: c.mcp_status(),
            {},
            {"mcpServers": [{"name": "s", "status": "connected"}]},
            wire.McpStatusResponse([wire.McpServerStatus("s", "connected")]),
        ),
        Case(
            lambda c: c.mcp_status(live_reply=True),
            {"liveReply": True},
            {"mcpServers": []},
            wire.McpStatusResponse([]),
        ),
    ],
    "mcp_set_servers": [
        Case(
            lambda c: c.set_mcp_servers({"s": {"type": "stdio", "command": "x"}}),
            {"servers": {"s": {"type": "stdio", "command": "x", "args": []}}},
            {"added": ["s"], "removed": [], "errors": {"s": "ENOENT"}},
            wire.McpSetServersResult(["s"], [], {"s": "ENOENT"}),
        ),
        Case(
            lambda c: c.set_mcp_servers({"s": {"command": "x", "args": ["y"]}, "h": {"type": "http", "url": "u"}}),
            {"servers": {"s": {"command": "x", "args": ["y"]}, "h": {"type": "http", "url": "u"}}},
            {"added": ["s", "h"]},
            wire.McpSetServersResult(["s", "h"]),
        ),
        Case(
            lambda c: c.set_mcp_servers({}, denied_tools=["t"]),
            {"servers": {}, "denied_tools": ["t"]},
            None,
            wire.McpSetServersResult(),
        ),
    ],
    "mcp_reconnect": [Case(lambda c: c.reconnect_mcp_server("s"), {"serverName": "s"})],
    "mcp_toggle": [
        Case(lambda c: c.toggle_mcp_server("s", False), {"serverName": "s", "enabled": False}),
        Case(lambda c: c.toggle_mcp_server("s", enabled=True), {"serverName": "s", "enabled": True}),
    ],
    "mcp_call": [
        Case(
            lambda c: c.call_mcp_tool("mcp__s__t"),
            {"tool": "mcp__s__t"},
            {"content": [{"type": "text", "text": "x"}]},
            wire.McpCallResult([{"type": "text", "text": "x"}]),
        ),
        Case(
            lambda c: c.call_mcp_tool(
                "mcp__s__t",
                {"a": 1},
                check_permissions=True,
                result_not_for_model=True,
                timeout_ms=2000,
                expires_at="e",
                input_files=[STAGED_IN],
                output_files=[STAGED_OUT],
            ),
            {
                "tool": "mcp__s__t",
                "arguments": {"a": 1},
                "check_permissions": True,
                "result_not_for_model": True,
                "timeout_ms": 2000,
                "expires_at": "e",
                "input_files": [{"name": "in", "lane_path": "a/in"}],
                "output_files": [{"name": "out", "lane_path": "a/out"}],
            },
            {"content": [], "isError": True},
            wire.McpCallResult([], is_error=True),
        ),
    ],
    "mcp_read_resource": [
        Case(
            lambda c: c.read_mcp_resource("s", "ui://x"),
            {"serverName": "s", "uri": "ui://x"},
            {"contents": [{"uri": "ui://x", "text": "t"}]},
            wire.McpResource([wire.McpResourceContents("ui://x", text="t")]),
        ),
    ],
    "mcp_message": [
        Case(
            lambda c: c.send_mcp_message("s", {"jsonrpc": "2.0", "method": "m"}),
            {"server_name": "s", "message": {"jsonrpc": "2.0", "method": "m"}},
        ),
    ],
    "mcp_authenticate": [
        Case(lambda c: c.authenticate_mcp_server("s"), {"serverName": "s"}, {"authUrl": "u"}, {"authUrl": "u"}),
        Case(
            lambda c: c.authenticate_mcp_server("s", redirect_uri="r", redirect_uri_only=True),
            {"serverName": "s", "redirectUri": "r", "redirectUriOnly": True},
            None,
            {},
        ),
    ],
    "mcp_oauth_callback_url": [
        Case(
            lambda c: c.finish_mcp_authentication("s", "http://x"),
            {"serverName": "s", "callbackUrl": "http://x"},
            None,
            {},
        ),
    ],
    "mcp_clear_auth": [Case(lambda c: c.clear_mcp_authentication("s"), {"serverName": "s"}, None, {})],
    "set_mcp_permission_mode_override": [
        Case(
            lambda c: c.set_mcp_permission_mode_override("s", "default", ask_for_tools=["t"]),
            {"serverName": "s", "mode": "default", "askForTools": [{"name": "t"}]},
            {"warning": "w"},
            wire.McpPermissionOverride("w"),
        ),
        Case(
            lambda c: c.set_mcp_permission_mode_override("s", None),
            {"serverName": "s", "mode": None},
            {},
            wire.McpPermissionOverride(),
        ),
    ],
    "get_context_usage": [
        Case(lambda c: c.context_usage(), {}, {"totalTokens": 7}, wire.ContextUsageResponse(total_tokens=7)),
        Case(
            lambda c: c.context_usage(detail="summary"),
            {"detail": "summary"},
            {"percentage": 1},
            wire.ContextUsageResponse(percentage=1),
        ),
    ],
    "get_session_cost": [Case(lambda c: c.cost(), {}, {"text": "$1"}, wire.SessionCost("$1"))],
    "get_usage": [
        Case(
            lambda c: c.usage(),
            {},
            {"session": {"total_cost_usd": 0.5}},
            wire.UsageAnswer(session=wire.SessionUsage(total_cost_usd=0.5)),
        ),
        Case(lambda c: c.usage(skip_behaviors=True), {"skip_behaviors": True}, {}, wire.UsageAnswer()),
    ],
    "list_models": [
        Case(lambda c: c.models(), {}, {"models": [{"value": "opus"}]}, [wire.ModelInfo("opus")]),
        Case(lambda c: c.models(), {}, {}, []),
    ],
    "get_binary_version": [
        Case(
            lambda c: c.binary_version(),
            {},
            {"version": "2.1.325", "buildTime": "t"},
            wire.BinaryVersion("2.1.325", "t"),
        ),
    ],
    "get_status": [
        Case(
            lambda c: c.status(),
            {},
            {"sections": [{"title": "S", "rows": [{"label": "l", "value": "v"}]}]},
            wire.StatusAnswer([wire.StatusSection("S", [wire.StatusRow("v", "l")])]),
        ),
    ],
    "get_plan": [Case(lambda c: c.plan(), {}, {"exists": False}, wire.PlanAnswer(False))],
    "get_settings": [
        Case(lambda c: c.settings(), {}, {"effective": {"a": 1}}, wire.SettingsAnswer(effective={"a": 1})),
    ],
    "apply_flag_settings": [
        Case(lambda c: c.apply_settings({"model": None}), {"settings": {"model": None}}),
    ],
    "update_settings": [
        Case(
            lambda c: c.update_settings("localSettings", {"outputStyle": "Concise"}),
            {"source": "localSettings", "settings": {"outputStyle": "Concise"}},
            {},
        ),
    ],
    "list_permission_rules": [
        Case(
            lambda c: c.permission_rules(),
            {},
            {"state": {"rules": []}},
            wire.PermissionRulesAnswer(wire.PermissionRulesState(rules=[])),
        ),
    ],
    "get_hooks_listing": [Case(lambda c: c.hooks_listing(), {}, {"hooks": []}, wire.HooksListing(hooks=[]))],
    "reload_plugins": [
        Case(lambda c: c.reload_plugins(), {}, {"plugins": []}, wire.ReloadPluginsResult(plugins=[])),
        Case(
            lambda c: c.reload_plugins(hold_on_cache_impact=True, add_plugins=[PLUGIN], refuse_if_busy=True),
            {
                "hold_on_cache_impact": True,
                "add_plugins": [{"type": "local", "path": "/p"}],
                "refuse_if_busy": True,
            },
            {"held": True},
            wire.ReloadPluginsResult(held=True),
        ),
    ],
    "reload_skills": [
        Case(
            lambda c: c.reload_skills(),
            {},
            {"skills": [{"name": "s"}]},
            wire.ReloadSkillsResult([wire.SlashCommand("s")]),
        ),
    ],
    "reload_output_styles": [
        Case(
            lambda c: c.reload_output_styles(),
            {},
            {"available_output_styles": ["default"]},
            wire.ReloadOutputStylesResult(["default"]),
        ),
    ],
    "get_memory_dialog": [Case(lambda c: c.memory_dialog(), {}, {"files": []}, wire.MemoryDialog(files=[]))],
    "get_skills_dialog": [Case(lambda c: c.skills_dialog(), {}, {"skills": []}, wire.SkillsDialog([]))],
    "get_sandbox_dialog": [
        Case(lambda c: c.sandbox_dialog(), {}, {"supported": True}, wire.SandboxDialog(supported=True)),
    ],
    "get_chrome_dialog": [Case(lambda c: c.chrome_dialog(), {}, {"allowed": True}, wire.ChromeDialog(allowed=True))],
    "initialize": [
        Case(lambda c: c.reinitialize(), {}, {"pid": 1}, wire.InitializeAnswer(pid=1)),
        Case(lambda c: c.reinitialize(INITIALIZE), {"title": "t"}, {}, wire.InitializeAnswer()),
    ],
    "claim_session": [
        Case(lambda c: c.claim(CLAIM), {"cwd": "/w", "title": "t"}, {"status": "ok"}, wire.ClaimedSession(status="ok")),
    ],
    "set_has_subscribers": [
        Case(lambda c: c.set_has_subscribers(False), {"has_subscribers": False}),
        Case(lambda c: c.set_has_subscribers(None), {"has_subscribers": None}),
    ],
    "end_session": [
        Case(lambda c: c.end(), {}),
        Case(lambda c: c.end("done"), {"reason": "done"}),
    ],
}
