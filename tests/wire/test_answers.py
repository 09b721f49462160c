"""What the CLI answers to each request, typed; shapes as 2.1.325 gave them."""

from __future__ import annotations

from typing import Any

import msgspec

from looping import for_each
from quarterdeck.wire import (
    OUTGOING_REQUESTS,
    BackgroundTasksRequest,
    BackgroundTasksResult,
    InitializeAnswer,
    InitializeRequest,
    InterruptReceipt,
    InterruptRequest,
    McpReconnectRequest,
    McpStatusRequest,
    McpStatusResponse,
    MessageRatedRequest,
    OpenObject,
    ReloadPluginsRequest,
    ReloadPluginsResult,
    RewindFilesRequest,
    parse_answer,
)
from quarterdeck.wire.agents import ModelInfo, SlashCommand

COMMAND = {
    "name": "compact",
    "description": "d",
    "argumentHint": "<x>",
    "aliases": ["c"],
    "builtin": True,
    "plugin": "p",
}
AGENT = {"name": "helper", "description": "helps", "model": "haiku"}
MODEL = {
    "value": "default",
    "resolvedModel": "claude-opus",
    "displayName": "Default",
    "description": "d",
    "supportsEffort": True,
    "supportedEffortLevels": ["low"],
    "supportsAdaptiveThinking": True,
    "supportsFastMode": True,
    "supportsAutoMode": True,
    "supportsThinkingOff": True,
    "disabled": False,
    "promoListPrice": "$1",
}
SERVER = {
    "name": "st",
    "status": "connected",
    "serverInfo": {"name": "st", "version": "0.1"},
    "error": "e",
    "error_code": "c",
    "config": {"type": "stdio", "command": "python3", "novelty": {"a": 1}},
    "transport": "stdio",
    "scope": "dynamic",
    "source": "dynamic",
    "tools": [
        {
            "name": "echo",
            "description": "d",
            "annotations": {"readOnly": True, "destructive": False, "openWorld": False},
            "_meta": {"a": 1},
        }
    ],
    "toolCount": 1,
    "capabilities": {"experimental": {}},
    "sessionProxied": False,
    "cloudServiceProvided": False,
    "urlHost": "h",
}
SWITCH = {"enabled": True, "toggleable": True, "status": "on", "shown": False, "detail": ""}
PARSE_ERROR = {"file": "f", "path": "p", "message": "m"}
WINDOW = {"utilization": 12.5, "resets_at": "2026-01-01T00:00:00Z"}
HOOK_EVENT = {"name": "Stop", "summary": "s", "supportsMatcher": False}

PAYLOADS: dict[str, dict[str, Any]] = {
    "initialize": {
        "commands": [COMMAND],
        "agents": [AGENT],
        "output_style": "default",
        "available_output_styles": ["default"],
        "user_output_styles_dir": "/d",
        "models": [MODEL],
        "unavailable_models": [MODEL],
        "account": {
            "email": "e",
            "organization": "o",
            "subscriptionType": "s",
            "tokenSource": "none",
            "apiKeySource": "ANTHROPIC_API_KEY",
            "apiProvider": "firstParty",
        },
        "auth_conflict": {"token_source": "t", "api_key_source": "a"},
        "pid": 7,
        "claude_code_version": "2.1.325",
        "current_model": "m",
        "current_permission_mode": "default",
        "permission_mode_from_default_fallback": True,
        "auto_default_nudge": "auto",
        "session_state": "idle",
        "capabilities": ["c"],
        "hooks_applied": True,
        "hook_on_failure_supported": True,
        "other_hook_ask_outranks_host": True,
        "host_worded_asks": True,
        "plugins_applied": True,
        "managed_settings_applied": True,
        "workspace_trust_recorded": True,
        "code_running_mcp_tools_applied": {"s": ["t"]},
        "sdk_mcp_manifests_parked": {"calc": "parked"},
        "inbound_read_receipts": True,
        "fast_mode_state": "off",
        "fast_mode_disabled_reason": "preference",
        "feedback_mode": {"kind": "disabled"},
        "analytics_disabled": True,
        "remote_control_available": False,
        "remote_control_auto_enable": False,
        "remote_control_auto_on_by_default": False,
        "remote_control_auto_connect_default": False,
        "ide_rc_auto_enable_gate": False,
        "claude_in_chrome_at_startup": False,
    },
    "claim_session": {
        "status": "ok",
        "cwd": "/repo",
        "session_id": "s",
        "parked_ms": 1.5,
        "sdk_mcp_settled": True,
        "initialize": {"pid": 7},
        "workspace_trust_recorded": True,
    },
    "interrupt": {
        "still_queued": ["u1"],
        "cancelled": ["u2"],
        "put_back": ["u3"],
        "send_now": "stopped",
        "turn": "stopped",
    },
    "set_permission_mode": {"mode": "plan"},
    "set_model": {"model": "claude-haiku"},
    "set_cwd": {
        "status": "ok",
        "cwd": "/repo",
        "changed": True,
        "transcript_relocated": False,
        "directory": "/repo",
        "trust_root": "/",
        "reason": "busy",
        "message": "m",
    },
    "cancel_async_message": {"cancelled": True},
    "rewind_files": {
        "canRewind": True,
        "error": "e",
        "filesChanged": ["a"],
        "insertions": 1,
        "deletions": 3,
        "skippedLinks": 0,
    },
    "rewind_conversation": {
        "rewound": True,
        "targetMessageUuid": "u1",
        "prefillText": "b",
        "precedingAssistantUuid": "u0",
        "error": "e",
        "reason": "r",
    },
    "fork_conversation": {"forked": True, "error": "unsupported", "reason": "unsupported"},
    "export_conversation": {"text": "❯ hi", "default_filename": "hi.txt"},
    "side_question": {"response": "fine", "synthetic": True, "refusal_fallback": {"original_model": "m"}},
    "generate_session_title": {"title": "A chat"},
    "background_tasks": {"backgrounded": True},
    "get_task_output": {"output": "o", "total_bytes": 1, "truncated": False},
    "read_file": {
        "contents": "aGk=",
        "absPath": "/repo/f",
        "truncated": True,
        "encoding": "base64",
        "lossy": False,
        "requested_path": "f",
        "anchor": "workspace_root",
        "offset": 0,
        "read_bytes": 2,
        "total_bytes": 2,
        "etag": "e",
    },
    "file_suggestions": {"suggestions": [{"path": "f.txt", "score": 0.5}], "cwd": "/repo"},
    "get_workspace_diff": {
        "diff": {
            "stats": {"filesCount": 1, "linesAdded": 1, "linesRemoved": 0},
            "perFileStats": [
                {
                    "path": "f",
                    "added": 1,
                    "removed": 0,
                    "isBinary": False,
                    "isUntracked": False,
                    "status": "renamed",
                    "previousPath": "e",
                    "newPath": "f",
                }
            ],
            "hunks": [
                {
                    "path": "f",
                    "hunks": [{"oldStart": 0, "oldLines": 0, "newStart": 1, "newLines": 1, "lines": ["+a"]}],
                }
            ],
            "omitted": {"files": 1, "exact": True},
            "skippedLarge": ["g"],
            "restricted": ["h"],
            "source": {"kind": "working-tree"},
        },
        "noDiffReason": "no-repository",
    },
    "mcp_status": {"mcpServers": [SERVER]},
    "mcp_set_servers": {"added": ["bad"], "removed": ["old"], "errors": {"bad": "ENOENT"}},
    "mcp_call": {
        "content": [{"type": "text", "text": "echo"}],
        "structuredContent": {"a": 1},
        "isError": False,
        "_meta": {"b": 2},
        "staging": {"ok": True},
    },
    "mcp_read_resource": {
        "contents": [{"uri": "ui://x", "mimeType": "text/html", "text": "t", "blob": "Yg==", "_meta": {"a": 1}}],
    },
    "set_mcp_permission_mode_override": {"warning": "not connected"},
    "get_context_usage": {
        "categories": [
            {
                "id": "mcp_tools_deferred",
                "name": "MCP tools (deferred)",
                "tokens": 734,
                "color": "inactive",
                "isDeferred": True,
                "kind": "deferred",
            }
        ],
        "totalTokens": 100,
        "maxTokens": 200,
        "rawMaxTokens": 200,
        "percentage": 50.5,
        "model": "m",
        "isAutoCompactEnabled": True,
        "autoCompactThreshold": 180,
        "autocompactSource": "auto",
        "memoryFiles": [{"path": "p", "type": "Project", "tokens": 1}],
        "mcpTools": [{"name": "echo", "serverName": "st", "tokens": 1, "isLoaded": True}],
        "mcpInstructions": [{"serverName": "st", "tokens": 1}],
        "deferredBuiltinTools": [{"name": "t", "tokens": 1, "isLoaded": False}],
        "systemTools": [{"name": "Bash", "tokens": 1}],
        "systemPromptSections": [{"name": "s", "tokens": 1}],
        "agents": [{"agentType": "helper", "source": "user", "tokens": 1}],
        "slashCommands": {"totalCommands": 1, "includedCommands": 1, "tokens": 1},
        "skills": {"totalSkills": 0, "includedSkills": 0, "tokens": 0, "skillFrontmatter": []},
        "messageBreakdown": {"toolCallTokens": 1},
        "apiUsage": {"input_tokens": 1},
        "gridRows": [[{"color": "c", "isFilled": True, "squareFullness": 0.5}]],
    },
    "get_session_cost": {"text": "Total cost: $0.0008"},
    "get_usage": {
        "session": {"total_cost_usd": 0.5, "total_api_duration_ms": 31, "total_lines_added": 1},
        "subscription_type": "max",
        "rate_limits_available": True,
        "rate_limits": {
            "five_hour": WINDOW,
            "seven_day": WINDOW,
            "seven_day_oauth_apps": WINDOW,
            "seven_day_opus": WINDOW,
            "seven_day_sonnet": WINDOW,
            "model_scoped": [{"display_name": "Opus", **WINDOW}],
            "extra_usage": {
                "is_enabled": True,
                "monthly_limit": 10,
                "used_credits": 1.5,
                "utilization": 15,
                "currency": "USD",
            },
        },
        "behaviors": {"day": {"request_count": 1}},
    },
    "list_models": {"models": [MODEL]},
    "get_binary_version": {"version": "2.1.325", "buildTime": "2026-11-13T18:52:23Z"},
    "get_settings": {
        "effective": {"model": "sonnet"},
        "sources": [{"source": "flagSettings", "settings": {"model": "sonnet"}}],
        "applied": {
            "model": "claude-sonnet",
            "effort": "medium",
            "advisor": "a",
            "ultracode": False,
            "ultracodeRequested": False,
            "ultracodeAvailable": True,
            "ultrathinkAvailable": False,
            "outsideFileToolReadsBlocked": False,
            "outsideFileToolWritesBlocked": False,
            "outsideBlocksCountLaunchFoldersOnly": False,
            "launchEnvLeftOwnFilesInPlace": True,
        },
        "errors": [PARSE_ERROR],
        "remote_control_policy_lock_reason": "r",
        "withheld": True,
    },
    "get_hooks_listing": {
        "events": [{**HOOK_EVENT, "hookCount": 1}],
        "hooks": [
            {
                "event": "Stop",
                "matcher": "",
                "source": "userSettings",
                "sourceLabel": "User",
                "pluginName": "p",
                "type": "command",
                "displayText": "d",
                "commandText": "c",
                "contentLabel": "l",
                "condition": "x",
                "timeout": 2.5,
                "statusMessage": "m",
                "runsOnce": True,
                "runsInBackground": True,
                "disabled": True,
                "editable": {"matcher": ""},
            }
        ],
        "eventCatalog": [HOOK_EVENT],
        "policy": {
            "disabledByPolicy": False,
            "managedOnly": False,
            "pluginOnly": False,
            "allDisabled": False,
            "policyHookCount": 0,
            "policyUnreadable": True,
        },
        "safeMode": {"exitHint": "h"},
        "bareMode": {"exitHint": "h"},
        "errors": [PARSE_ERROR],
    },
    "list_permission_rules": {
        "state": {
            "rules": [
                {
                    "behavior": "allow",
                    "source": "session",
                    "rule": "Bash(ls *)",
                    "description": {"prefix": "a", "emphasis": "b", "suffix": "c"},
                    "editability": "session",
                    "notInEffect": True,
                }
            ],
            "workspaceDirectories": [{"path": "/repo", "source": "session"}],
            "originalCwd": "/repo",
            "managedOnly": False,
            "errors": [PARSE_ERROR],
            "withheld": False,
        },
    },
    "register_repo_root": {"directory": "/repo"},
    "reload_plugins": {
        "commands": [COMMAND],
        "agents": [AGENT],
        "plugins": [{"name": "p", "path": "/p", "source": "s", "version": "1"}],
        "mcpServers": [SERVER],
        "error_count": 0,
        "held": True,
        "cache_impact": {"mcp_servers_added": ["a"], "mcp_servers_removed": ["b"], "lsp_tool_change": "adds"},
    },
    "reload_skills": {"skills": [COMMAND]},
    "reload_output_styles": {"available_output_styles": ["default"]},
    "get_status": {"sections": [{"title": "Session", "rows": [{"label": "Version", "value": "2.1.325"}]}]},
    "get_plan": {"exists": True, "content": "c", "path": "/p"},
    "get_memory_dialog": {
        "files": [{"kind": "user", "path": "/p", "label": "l", "description": "d", "exists": False}],
        "folders": [{"kind": "auto", "path": "/p", "label": "l", "description": "d"}],
        "memories": [{"name": "n", "path": "/p", "description": "d", "type": "user", "modified_ms": 1.5}],
        "auto_memory": SWITCH,
        "auto_dream": SWITCH,
    },
    "get_skills_dialog": {
        "skills": [
            {
                "name": "n",
                "display_name": "N",
                "description": "d",
                "source": "s",
                "tokens": 1,
                "state": "on",
                "locked_by": "policy",
                "advertised": True,
                "handles": {"aliases": ["a"]},
            }
        ],
    },
    "get_sandbox_dialog": {
        "supported": True,
        "unsupported_reason": "wsl1",
        "locked": False,
        "overrides_locked": False,
        "policy_origins": [],
        "enabled": False,
        "enabled_in_settings": False,
        "unavailable_reason": "r",
        "mode": "disabled",
        "auto_allow_available": True,
        "no_sandbox_allowed": True,
        "unsandboxed_fallback": True,
        "dependencies": {"errors": ["socat not installed"], "warnings": []},
        "excluded_commands": [],
        "restrictions": {
            "fs_deny_read": [],
            "fs_allow_read": [],
            "fs_allow_write": [],
            "fs_deny_write": [],
            "network_allowed_domains": [],
            "network_denied_domains": [],
            "network_managed": False,
            "unix_sockets": [],
            "allow_all_unix_sockets": False,
            "ignored_glob_patterns": [],
        },
    },
    "get_chrome_dialog": {
        "allowed": True,
        "subscriber": False,
        "wsl": False,
        "installed": False,
        "connected": False,
        "paired_browser": "b",
        "enabled_by_default": False,
        "at_startup": False,
        "urls": {"install": "u"},
    },
}


@for_each("subtype", PAYLOADS)
def test_every_key_of_an_answer_has_its_attribute(subtype: str) -> None:
    kind = OUTGOING_REQUESTS[subtype].Answer  # type: ignore[attr-defined]
    assert msgspec.to_builtins(msgspec.convert(PAYLOADS[subtype], kind)) == PAYLOADS[subtype]


@for_each("subtype", PAYLOADS)
def test_an_answer_also_answers_for_keys_it_does_not_know(subtype: str) -> None:
    request = OUTGOING_REQUESTS[subtype]
    payload = {**PAYLOADS[subtype], "novelty": {"a": 1}}
    answer = parse_answer(request, payload)
    assert type(answer) is request.Answer  # type: ignore[attr-defined]
    assert answer["novelty"] == {"a": 1}
    assert answer == payload


def test_every_typed_answer_has_a_case_here() -> None:
    kinds = {subtype: cls.Answer for subtype, cls in OUTGOING_REQUESTS.items()}  # type: ignore[attr-defined]
    assert {subtype for subtype, kind in kinds.items() if kind not in (None, dict)} == set(PAYLOADS)


def test_unknown_keys_are_answered_at_any_depth() -> None:
    payload = {
        "mcpServers": [{"name": "a", "status": "pending", "novelty": 1, "tools": [{"name": "t", "novelty": 2}]}],
        "commands": [{"name": "c", "novelty": 3}],
    }
    status = parse_answer(McpStatusRequest, payload)
    assert isinstance(status, McpStatusResponse)
    assert status["mcpServers"][0]["novelty"] == 1
    assert status.mcp_servers[0]["tools"][0]["novelty"] == 2
    reloaded = parse_answer(ReloadPluginsRequest(), payload)
    assert isinstance(reloaded, ReloadPluginsResult)
    assert reloaded.commands is not None
    assert reloaded.commands[0]["novelty"] == 3


def test_an_answer_is_read_by_attribute_or_by_the_wire_s_own_keys() -> None:
    answer = parse_answer(InitializeRequest(), PAYLOADS["initialize"])
    assert isinstance(answer, InitializeAnswer)
    assert answer.models is not None
    assert answer.commands is not None
    assert (answer.models[0].display_name, answer["models"][0]["displayName"]) == ("Default", "Default")
    assert answer.models == [ModelInfo(**_by_attribute(ModelInfo, MODEL))]
    assert answer.commands == [SlashCommand(**_by_attribute(SlashCommand, COMMAND))]


def _by_attribute(cls: type[OpenObject], wire: dict[str, Any]) -> dict[str, Any]:
    names = dict(zip(cls.__struct_encode_fields__, cls.__struct_fields__, strict=True))
    return {names[key]: value for key, value in wire.items()}


def test_an_old_cli_may_answer_less() -> None:
    old = parse_answer(InitializeRequest, {"commands": [{"name": "compact"}], "models": [], "account": {}})
    assert isinstance(old, InitializeAnswer)
    assert (old.agents, old.pid, old.capabilities) == (None, None, None)
    assert parse_answer(InterruptRequest, None) is None
    assert parse_answer(InterruptRequest, {}) == InterruptReceipt()
    assert parse_answer(BackgroundTasksRequest(), {}) == BackgroundTasksResult()


def test_what_does_not_fit_is_handed_on_as_it_is() -> None:
    odd = {"canRewind": "perhaps"}
    assert parse_answer(RewindFilesRequest("u1"), odd) is odd
    assert parse_answer(RewindFilesRequest, ["odd"]) == ["odd"]


def test_a_free_payload_and_a_bare_success_are_left_alone() -> None:
    assert parse_answer(MessageRatedRequest, {"a": 1}) == {"a": 1}
    assert parse_answer(McpReconnectRequest("calc"), None) is None
    assert parse_answer(McpReconnectRequest("calc"), {}) == {}


def test_a_configuration_out_of_a_status_can_be_sent_back_as_it_is() -> None:
    status = parse_answer(McpStatusRequest(), {"mcpServers": [SERVER]})
    assert status.mcp_servers[0].config == SERVER["config"]
    assert type(status["mcpServers"][0]["config"]) is dict
