"""The command line and the environment."""

from __future__ import annotations

from typing import Any

import pytest

from claims.reading import NEWEST, OLD, VERSIONS, talk
from quarterdeck.client.launch import plan_launch
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.tools import create_sdk_mcp_server

BASE = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"]
ID = "11111111-1111-4111-8111-111111111111"


async def _callback(*_: Any) -> dict[str, Any]:
    return {}


FLAGS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "model": ({"model": "sonnet"}, ["--model=sonnet"]),
    "maxThinkingTokens": ({"max_thinking_tokens": 9}, ["--max-thinking-tokens=9"]),
    "maxTurns": ({"max_turns": 3}, ["--max-turns=3"]),
    "maxBudgetUsd": ({"max_budget_usd": 1.5}, ["--max-budget-usd=1.5"]),
    "betas": ({"betas": ["a-1", "b-2"]}, ["--betas=a-1,b-2"]),
    "canUseTool": ({"can_use_tool": _callback}, ["--permission-prompt-tool=stdio"]),
    "permissionPromptToolName": ({"permission_prompt_tool_name": "mcp__x__y"}, ["--permission-prompt-tool=mcp__x__y"]),
    "permissionMode": ({"permission_mode": "plan"}, ["--permission-mode=plan"]),
    "allowDangerouslySkipPermissions": (
        {"allow_dangerously_skip_permissions": True},
        ["--allow-dangerously-skip-permissions"],
    ),
    "continue": ({"continue_conversation": True}, ["--continue"]),
    "resume": ({"resume": ID}, [f"--resume={ID}"]),
    "forkSession": ({"resume": ID, "fork_session": True}, [f"--resume={ID}", "--fork-session"]),
    "resumeSessionAt": ({"resume": ID, "resume_session_at": ID}, [f"--resume={ID}", f"--resume-session-at={ID}"]),
    "allowedTools": ({"allowed_tools": ["Read", "Glob"]}, ["--allowedTools=Read,Glob"]),
    "disallowedTools": ({"disallowed_tools": ["Read", "Glob"]}, ["--disallowedTools=Read,Glob"]),
    "tools": ({"tools": ["Bash", "Read"]}, ["--tools=Bash,Read"]),
    "tools_empty": ({"tools": []}, ["--tools="]),
    "tools_preset": ({"tools": {"type": "preset", "preset": "claude_code"}}, ["--tools=default"]),
    "settingSources": ({"setting_sources": ["user", "local"]}, ["--setting-sources=user,local"]),
    "settingSources_empty": ({"setting_sources": []}, ["--setting-sources="]),
    "strictMcpConfig": ({"strict_mcp_config": True}, ["--strict-mcp-config"]),
    "fallbackModel": ({"model": "opus", "fallback_model": "haiku"}, ["--model=opus", "--fallback-model=haiku"]),
    "includePartialMessages": ({"include_partial_messages": True}, ["--include-partial-messages"]),
    "additionalDirectories": ({"add_dirs": ["/a", "/b"]}, ["--add-dir=/a", "--add-dir=/b"]),
    "plugins": (
        {"plugins": [{"type": "local", "path": "/p"}, {"type": "local", "path": "/q"}]},
        ["--plugin-dir=/p", "--plugin-dir=/q"],
    ),
    "persistSession": ({"persist_session": False}, ["--no-session-persistence"]),
    "agent": ({"agent": "mini"}, ["--agent=mini"]),
    "extraArgs": ({"extra_args": {"foo": "bar", "flag": None}}, ["--foo", "bar", "--flag"]),
}


@pytest.mark.parametrize("option", FLAGS)
def test_an_option_of_the_sdks_is_this_flag(option: str) -> None:
    options, expected = FLAGS[option]
    argv = plan_launch(ClaudeAgentOptions(**options), cli=["claude"], version=NEWEST).argv
    assert list(argv) == ["claude", *BASE, *expected]


def test_a_schema_travels_in_initialize_and_asks_for_structured_output() -> None:
    schema = {"type": "object"}
    options = ClaudeAgentOptions(output_format={"type": "json_schema", "schema": schema})
    planned = plan_launch(options, cli=["claude"], version=NEWEST)
    assert planned.initialize.to_dict()["jsonSchema"] == schema


@pytest.mark.parametrize("version", VERSIONS)
def test_the_flag_for_a_schema_gives_structured_output(version: str) -> None:
    run = talk("structured_output", version)
    assert run.header.argv[-2] == "--json-schema"
    assert run.result["structured_output"] == {"n": 3}


def test_mcp_servers_are_a_configuration_file_and_ours_are_named_in_initialize() -> None:
    servers: dict[str, Any] = {"s": {"command": "x", "args": ["y"]}, "calc": create_sdk_mcp_server("calc", tools=[])}
    planned = plan_launch(ClaudeAgentOptions(mcp_servers=servers), cli=["claude"], version=NEWEST)
    (file,) = planned.files
    assert file.flag == "--mcp-config"
    assert b'"x"' in file.content
    assert planned.initialize.to_dict()["sdkMcpServers"] == ["calc"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_real_cli_takes_all_flags_of_the_tables(version: str) -> None:
    run = talk("flags_0_many", version)
    assert len([word for word in run.header.argv if word.startswith("--")]) == 23
    assert (run.header.exit_code, run.result["subtype"]) == (0, "success")
    init = run.init
    assert "sonnet" in init["model"]
    assert init["tools"] == ["Bash", "Read"]  # --tools without what --disallowedTools takes away
    assert init["plugins"][0] | {"name": "sample", "path": "/tmp/qd/claim_flags/plugin"} == init["plugins"][0]
    assert init["betas"] == ["context-1m-2025-08-07"]
    assert init["permissionMode"] == "default"
    assert run.of("stream_event")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_preset_of_tools_is_all_of_them_and_debug_goes_to_stderr(version: str) -> None:
    run = talk("flags_1_tools", version)
    assert "--debug-to-stderr" in run.header.argv
    assert run.init["tools"] == talk("flags_2_original", version).init["tools"]
    assert "[DEBUG]" in run.header.stderr
    assert talk("flags_2_original", version).header.stderr == ""


@pytest.mark.parametrize("version", VERSIONS)
def test_continue_goes_on_and_a_fork_at_a_message_has_a_new_id(version: str) -> None:
    original = talk("flags_2_original", version)
    continued = talk("flags_3_continue", version)
    forked = talk("flags_4_fork_at", version)
    assert continued.init["session_id"] == original.init["session_id"]
    assert forked.init["session_id"] != original.init["session_id"]
    assert "--resume-session-at" in forked.header.argv
    assert forked.result["subtype"] == "success"


@pytest.mark.parametrize("version", VERSIONS)
def test_without_verbose_the_cli_refuses_to_stream(version: str) -> None:
    header = talk("no_verbose_flag", version).header
    assert header.exit_code == 1
    assert "requires --verbose" in header.stderr


def test_there_is_no_flag_for_the_working_directory() -> None:
    header = talk("unknown_flag").header
    assert header.exit_code == 1
    assert header.stderr.strip() == "error: unknown option '--cwd'"
    planned = plan_launch(ClaudeAgentOptions(cwd="/w"), cli=["claude"], version=NEWEST)
    assert (str(planned.cwd), list(planned.argv)) == ("/w", ["claude", *BASE])


def test_a_prompt_as_an_argument_is_ignored() -> None:
    run = talk("prompt_argument_is_ignored")
    assert run.header.argv[-2:] == ["-p", "a prompt as an argument"]
    assert run.texts() == ["I answer stdin."]
    assert len(run.of("result")) == 1


def test_without_the_flag_for_permissions_nobody_is_asked() -> None:
    run = talk("no_permission_prompt_tool_flag")
    assert run.asked() == []
    assert [line["tool_name"] for line in run.of("system", "permission_denied")] == ["Bash"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_configuration_moves_by_its_variable_and_not_by_claude(version: str) -> None:
    (unmoved,) = talk("config_dir_variables_0_claude", version).hook_inputs("UserPromptSubmit")
    (moved,) = talk("config_dir_variables_0_claude_config_dir", version).hook_inputs("UserPromptSubmit")
    assert "/home/.claude/projects/" in unmoved["transcript_path"]
    assert "/by_config_dir/projects/" in moved["transcript_path"]


def test_checkpoints_are_switched_on_by_their_variable() -> None:
    planned = plan_launch(ClaudeAgentOptions(enable_file_checkpointing=True), cli=["claude"], version=NEWEST)
    assert planned.env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] == "true"


@pytest.mark.parametrize("version", OLD)
def test_agents_of_initialize_join_the_built_in_ones(version: str) -> None:
    agents = talk("initialize_full", version).init["agents"]
    assert set(agents) == {"Bash", "general-purpose", "statusline-setup", "Explore", "Plan", "mini"}
    assert set(talk("initialize_full").init["agents"]) == {
        "claude",
        "Explore",
        "general-purpose",
        "mini",
        "Plan",
        "statusline-setup",
    }
