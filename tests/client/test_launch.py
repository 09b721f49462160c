"""One case for each thing an option does on the way to the CLI."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quarterdeck.client.errors import CLIConnectionError
from quarterdeck.client.guard import DEFAULT_TIMEOUT_S
from quarterdeck.client.launch import LaunchPlan, ScratchFile, plan_launch
from quarterdeck.client.launch_initialize import RegisteredHook
from quarterdeck.client.launch_versions import UNKNOWN_FLAGS, UnsupportedOptionError
from quarterdeck.client.offload import CallbackRunner, offload_options
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.options_types import SYSTEM_PROMPT_DYNAMIC_BOUNDARY, HookMatcher
from quarterdeck.client.tools import create_sdk_mcp_server
from quarterdeck.host.deciding import Deciding
from quarterdeck.policy import Policy
from quarterdeck.wire.agents import AgentDefinition
from quarterdeck.wire.versions import parse_version

BASE = ["claude", "--output-format", "stream-json", "--verbose", "--input-format", "stream-json"]
BASE_ENV = {"CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}
BASE_INITIALIZE = {"subtype": "initialize", "systemPrompt": ""}
U1, U2, U3 = (f"{digit * 8}-{digit * 4}-4{digit * 3}-8{digit * 3}-{digit * 12}" for digit in "123")
NEW = "2.1.325"
OLD = "2.0.77"


async def callback(*_: Any) -> dict[str, Any]:
    return {}


class Store:
    async def append(self, key: Any, entries: list[Any]) -> None: ...

    async def load(self, key: Any) -> None: ...


def plan(version: str | None = NEW, **options: Any) -> LaunchPlan:
    return plan_launch(ClaudeAgentOptions(**options), cli=["claude"], version=version)


def flags(planned: LaunchPlan) -> list[str]:
    assert list(planned.argv[: len(BASE)]) == BASE
    return list(planned.argv[len(BASE) :])


def initialize(planned: LaunchPlan) -> dict[str, Any]:
    return planned.initialize.to_dict()


def contents(planned: LaunchPlan) -> dict[str, Any]:
    return {file.flag: json.loads(file.content) for file in planned.files}


def test_without_options_the_system_prompt_is_empty_and_nothing_else_is_said() -> None:
    planned = plan()
    assert list(planned.argv) == BASE
    assert planned.env == BASE_ENV
    assert initialize(planned) == BASE_INITIALIZE
    assert planned.files == ()
    assert (planned.cwd, planned.user, planned.env_allow, planned.ignored) == (None, None, None, ())


ARGV: list[tuple[dict[str, Any], list[str]]] = [
    ({"tools": ["Bash", "Read"]}, ["--tools=Bash,Read"]),
    ({"tools": []}, ["--tools="]),
    ({"tools": {"type": "preset", "preset": "claude_code"}}, ["--tools=default"]),
    ({"allowed_tools": ["Bash(git log:*)", "Read"]}, ["--allowedTools=Bash(git log:*),Read"]),
    ({"disallowed_tools": ["X"]}, ["--disallowedTools=X"]),
    ({"skills": "all"}, ["--allowedTools=Skill", "--setting-sources=user,project"]),
    ({"skills": "all", "allowed_tools": ["Skill"]}, ["--allowedTools=Skill", "--setting-sources=user,project"]),
    ({"skills": "all", "setting_sources": []}, ["--allowedTools=Skill", "--setting-sources="]),
    ({"skills": []}, ["--setting-sources=user,project"]),
    ({"skills": ["a", "p:b"]}, ["--allowedTools=Skill(a),Skill(p:b)", "--setting-sources=user,project"]),
    ({"setting_sources": ["user", "project"]}, ["--setting-sources=user,project"]),
    ({"setting_sources": []}, ["--setting-sources="]),
    ({"max_turns": 3}, ["--max-turns=3"]),
    ({"max_budget_usd": 1.5}, ["--max-budget-usd=1.5"]),
    ({"task_budget": {"total": 5000}}, ["--task-budget=5000"]),
    ({"model": "sonnet"}, ["--model=sonnet"]),
    ({"model": ""}, []),
    ({"fallback_model": "haiku"}, ["--fallback-model=haiku"]),
    ({"betas": ["context-1m-2025-08-07"]}, ["--betas=context-1m-2025-08-07"]),
    ({"can_use_tool": callback}, ["--permission-prompt-tool=stdio"]),
    ({"on_question": callback}, ["--permission-prompt-tool=stdio"]),
    ({"on_plan": callback}, ["--permission-prompt-tool=stdio"]),
    ({"permission_prompt_tool_name": "mcp__x__y"}, ["--permission-prompt-tool=mcp__x__y"]),
    ({"permission_prompts": "none"}, ["--permission-prompts=none"]),
    ({"permission_mode": "plan"}, ["--permission-mode=plan"]),
    ({"allow_dangerously_skip_permissions": True}, ["--allow-dangerously-skip-permissions"]),
    ({"continue_conversation": True}, ["--continue"]),
    ({"resume": U1}, [f"--resume={U1}"]),
    ({"resume": U1, "continue_conversation": True}, [f"--resume={U1}"]),
    ({"resume": U1, "fork_session": True}, [f"--resume={U1}", "--fork-session"]),
    ({"session_id": U2}, [f"--session-id={U2}"]),
    ({"resume": U1, "resume_session_at": U2}, [f"--resume={U1}", f"--resume-session-at={U2}"]),
    (
        {"resume": U1, "resume_session_at": U2, "resume_drops_turn": U3},
        [f"--resume={U1}", f"--resume-session-at={U2}", f"--resume-drops-turn={U3}"],
    ),
    ({"persist_session": False}, ["--no-session-persistence"]),
    ({"session_store": Store()}, ["--session-mirror"]),
    ({"add_dirs": ["/a", Path("/b")]}, ["--add-dir=/a", "--add-dir=/b"]),
    ({"project_config_root": "/c"}, ["--project-config-root=/c"]),
    ({"agent": "mini"}, ["--agent=mini"]),
    ({"strict_mcp_config": True}, ["--strict-mcp-config"]),
    ({"mcp_servers": "/m.json"}, ["--mcp-config=/m.json"]),
    ({"mcp_servers": Path("m.json")}, ["--mcp-config=m.json"]),
    ({"settings": "/s.json"}, ["--settings=/s.json"]),
    ({"settings": Path("s.json")}, ["--settings=s.json"]),
    ({"include_partial_messages": True}, ["--include-partial-messages"]),
    ({"include_hook_events": True}, ["--include-hook-events"]),
    ({"replay_user_messages": True}, ["--replay-user-messages"]),
    ({"auth_status": True}, ["--enable-auth-status"]),
    ({"debug": True}, ["--debug"]),
    ({"debug_file": "/d"}, ["--debug-file=/d"]),
    ({"plugins": [{"type": "local", "path": "/p"}]}, ["--plugin-dir=/p"]),
    ({"plugins": [{"type": "local", "path": "/q", "skipMcpDiscovery": True}]}, ["--plugin-dir-no-mcp=/q"]),
    ({"thinking": {"type": "adaptive"}}, ["--thinking=adaptive"]),
    ({"thinking": {"type": "disabled"}}, ["--thinking=disabled"]),
    ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, ["--max-thinking-tokens=2000"]),
    (
        {"thinking": {"type": "adaptive", "display": "summarized"}},
        ["--thinking=adaptive", "--thinking-display=summarized"],
    ),
    ({"thinking": {"type": "disabled"}, "max_thinking_tokens": 9}, ["--thinking=disabled"]),
    ({"max_thinking_tokens": 0}, ["--max-thinking-tokens=0"]),
    ({"effort": "high"}, ["--effort=high"]),
    ({"auto_compact": 200_000}, ["--autocompact=200000"]),
    ({"slash_commands": False}, ["--disable-slash-commands"]),
    ({"bare": True}, ["--bare"]),
    ({"safe_mode": True}, ["--safe-mode"]),
    ({"restricted": True}, ["--restricted"]),
    ({"extra_args": {"foo": "bar", "flag": None, "empty": ""}}, ["--foo", "bar", "--flag", "--empty", ""]),
]


@pytest.mark.parametrize(("options", "expected"), ARGV, ids=["+".join(case[0]) for case in ARGV])
def test_an_option_becomes_its_flags(options: dict[str, Any], expected: list[str]) -> None:
    planned = plan(**options)
    assert flags(planned) == expected
    assert planned.files == ()


INITIALIZE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"system_prompt": "SP"}, {"systemPrompt": "SP"}),
    ({"system_prompt": ["A", "B"]}, {"systemPrompt": ["A", "B"]}),
    ({"system_prompt": {"type": "custom", "prompt": "C"}}, {"systemPrompt": "C"}),
    (
        {"system_prompt": {"type": "custom", "prompt": ["C", "D"], "snapshot": False}},
        {"systemPrompt": ["C", "D"], "systemPromptSnapshot": False},
    ),
    ({"system_prompt": {"type": "preset", "preset": "claude_code"}}, {}),
    (
        {
            "system_prompt": {
                "type": "preset",
                "preset": "claude_code",
                "append": "APP",
                "exclude_dynamic_sections": True,
                "snapshot": True,
            }
        },
        {"appendSystemPrompt": "APP", "excludeDynamicSections": True, "systemPromptSnapshot": True},
    ),
]


@pytest.mark.parametrize(("options", "expected"), INITIALIZE)
def test_a_system_prompt_travels_in_initialize(options: dict[str, Any], expected: dict[str, Any]) -> None:
    planned = plan(**options)
    assert initialize(planned) == {"subtype": "initialize", **expected}
    assert flags(planned) == []


FIELDS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"agents": {"mini": AgentDefinition(description="d", prompt="p", maxTurns=2)}},
        {"agents": {"mini": {"description": "d", "prompt": "p", "maxTurns": 2}}},
    ),
    (
        {"agents": {"mini": {"description": "d", "prompt": "p", "newer": 1}}},
        {"agents": {"mini": {"description": "d", "prompt": "p", "newer": 1}}},
    ),
    ({"output_format": {"type": "json_schema", "schema": {"type": "object"}}}, {"jsonSchema": {"type": "object"}}),
    ({"title": "T"}, {"title": "T"}),
    ({"tool_aliases": {"A": "B"}}, {"toolAliases": {"A": "B"}}),
    ({"plan_mode_instructions": "pm"}, {"planModeInstructions": "pm"}),
    ({"append_subagent_system_prompt": "sub"}, {"appendSubagentSystemPrompt": "sub"}),
    ({"forward_subagent_text": True}, {"forwardSubagentText": True}),
    ({"forward_nested_subagent_tool_calls": True}, {"forwardNestedSubagentToolCalls": True}),
    ({"prompt_suggestions": True}, {"promptSuggestions": True}),
    ({"agent_progress_summaries": True}, {"agentProgressSummaries": True}),
    ({"per_task_stop_affordance": True}, {"perTaskStopAffordance": True}),
    ({"supported_dialog_kinds": ["x"], "on_user_dialog": callback}, {"supportedDialogKinds": ["x"]}),
    ({"on_elicitation": callback}, {}),
]


@pytest.mark.parametrize(("options", "expected"), FIELDS)
def test_an_option_becomes_its_field_of_initialize(options: dict[str, Any], expected: dict[str, Any]) -> None:
    planned = plan(**options)
    assert initialize(planned) == {**BASE_INITIALIZE, **expected}
    assert flags(planned) == []


def test_listed_skills_also_filter_what_the_model_sees() -> None:
    assert initialize(plan(skills=["a", "b"]))["skills"] == ["a", "b"]
    assert initialize(plan(skills=[]))["skills"] == []
    assert "skills" not in initialize(plan(skills="all"))


def test_plugins_can_travel_in_initialize() -> None:
    planned = plan(
        plugins=[{"type": "local", "path": "/p"}, {"type": "local", "path": "/q", "skipMcpDiscovery": True}],
        plugin_delivery="initialize",
    )
    assert flags(planned) == ["--await-initialize"]
    assert initialize(planned)["plugins"] == [
        {"type": "local", "path": "/p"},
        {"type": "local", "path": "/q", "skipMcpDiscovery": True},
    ]


def test_managed_settings_travel_in_initialize() -> None:
    planned = plan(managed_settings={"permissions": {"deny": ["WebSearch"]}})
    assert flags(planned) == ["--await-initialize", "--managed-settings-in-initialize"]
    assert initialize(planned)["managedSettings"] == {"permissions": {"deny": ["WebSearch"]}}


def test_a_prompt_file_is_named_on_the_command_line_and_initialize_says_nothing_of_a_prompt() -> None:
    planned = plan(system_prompt={"type": "file", "path": "/sp.txt"})
    assert flags(planned) == ["--system-prompt-file=/sp.txt"]
    assert initialize(planned) == {"subtype": "initialize"}


ENV: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"env": {"A": "b"}}, {"A": "b", **BASE_ENV}),
    ({"env": {"claude_code_sdk_reads_session_state": "0"}}, {"claude_code_sdk_reads_session_state": "0"}),
    ({"enable_file_checkpointing": True}, {**BASE_ENV, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "true"}),
    ({"client_app": "my/1"}, {**BASE_ENV, "CLAUDE_AGENT_SDK_CLIENT_APP": "my/1"}),
    (
        {"client_app": "", "env": {"CLAUDE_AGENT_SDK_CLIENT_APP": "x"}},
        {**BASE_ENV, "CLAUDE_AGENT_SDK_CLIENT_APP": ""},
    ),
    (
        {"tool_config": {"askUserQuestion": {"previewFormat": "html"}}},
        {**BASE_ENV, "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT": "html"},
    ),
    ({"session_state_events": True}, {**BASE_ENV, "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "true"}),
]


@pytest.mark.parametrize(("options", "expected"), ENV)
def test_an_option_becomes_its_variables(options: dict[str, Any], expected: dict[str, str]) -> None:
    planned = plan(**options)
    assert planned.env == expected
    assert flags(planned) == []


def test_what_only_the_session_needs_is_handed_on() -> None:
    planned = plan(cwd="/w", user="nobody", env_allow=["PATH", "LC_*"], verbatim_prompts=True)
    assert (planned.cwd, planned.user, planned.env_allow) == (Path("/w"), "nobody", ("PATH", "LC_*"))
    assert planned.client_composed
    assert flags(planned) == []


LOCAL = {
    "cli_path": "/x/claude",
    "max_buffer_size": 5,
    "debug_stderr": None,
    "stderr": print,
    "session_store_flush": "eager",
    "load_timeout_ms": 1,
    "abort": asyncio.Event(),
    "limit_bytes": 1 << 20,
    "initialize_timeout_s": 1.0,
    "request_timeout_s": 1.0,
    "close_grace_s": 0,
    "executable": "bun",
    "executable_args": ["-x"],
}


@pytest.mark.parametrize("option", LOCAL)
def test_an_option_of_the_session_alone_leaves_no_trace_on_the_wire(option: str) -> None:
    planned = plan(**{option: LOCAL[option]})
    assert (list(planned.argv), planned.env, initialize(planned)) == (BASE, BASE_ENV, BASE_INITIALIZE)


def test_the_official_name_of_the_line_limit_wins() -> None:
    assert ClaudeAgentOptions().line_limit_bytes == 64 * 1024 * 1024
    assert ClaudeAgentOptions(limit_bytes=1 << 20).line_limit_bytes == 1 << 20
    assert ClaudeAgentOptions(limit_bytes=1 << 20, max_buffer_size=7).line_limit_bytes == 7


def test_a_script_runs_with_the_runtime_asked_for_and_a_native_cli_with_none() -> None:
    options = ClaudeAgentOptions(executable="bun", executable_args=["--smol"])
    script = plan_launch(options, cli=["/usr/bin/node", "/x/cli.js"])
    assert list(script.argv[:3]) == ["bun", "--smol", "/x/cli.js"]
    assert plan_launch(options, cli=["/x/claude"]).argv[0] == "/x/claude"


# Hooks


def test_hooks_get_ids_in_the_order_they_are_given() -> None:
    async def other(*_: Any) -> dict[str, Any]:
        return {}

    planned = plan(
        hooks={
            "PreToolUse": [
                HookMatcher(matcher="Bash", hooks=[callback, other], timeout=5),
                HookMatcher(hooks=[callback], on_failure="block"),
            ],
            "Stop": [HookMatcher(hooks=[other])],
            "Notification": [],
        }
    )
    assert initialize(planned)["hooks"] == {
        "PreToolUse": [
            {"matcher": "Bash", "hookCallbackIds": ["hook_0", "hook_1"], "timeout": 5, "onFailure": "block"},
            {"hookCallbackIds": ["hook_2"], "timeout": 600.0, "onFailure": "block"},
        ],
        "Stop": [{"hookCallbackIds": ["hook_3"]}],
    }
    assert planned.hooks == {
        "hook_0": RegisteredHook("PreToolUse", callback, "Bash", 5, guards=True),
        "hook_1": RegisteredHook("PreToolUse", other, "Bash", 5, guards=True),
        "hook_2": RegisteredHook("PreToolUse", callback, timeout_s=600.0, on_failure="block", guards=True),
        "hook_3": RegisteredHook("Stop", other),
    }
    assert planned.must_block_on_hook_failure
    assert not plan(hooks={"Stop": [HookMatcher(hooks=[callback], on_failure="continue")]}).must_block_on_hook_failure


POLICY = Policy.from_rules(deny=["Bash(rm:*)"], cwd="/project")


@pytest.mark.parametrize(
    ("matcher", "sees_all"),
    [
        (HookMatcher(hooks=[POLICY.hook]), True),
        (HookMatcher(matcher="", hooks=[callback, POLICY.hook]), True),
        (HookMatcher(matcher="*", hooks=[POLICY.guard]), True),
        (HookMatcher(hooks=[POLICY.hook], on_failure="block"), True),
        (HookMatcher(matcher="Bash", hooks=[POLICY.hook]), False),
        (HookMatcher(matcher="Bash|Read", hooks=[POLICY.hook]), False),
        (HookMatcher(hooks=[POLICY.hook], on_failure="continue"), False),
        (HookMatcher(hooks=[callback]), False),
        (HookMatcher(hooks=[POLICY.__call__]), False),
        (HookMatcher(hooks=[Policy.from_rules(deny=["Read"]).hook]), False),
    ],
)
def test_a_policys_guard_is_added_unless_a_hook_of_its_own_sees_every_call(
    matcher: HookMatcher, sees_all: bool
) -> None:
    planned = plan(can_use_tool=POLICY, hooks={"PreToolUse": [matcher]})
    added = list(planned.hooks.values())[len(matcher.hooks) :]
    assert added == ([] if sees_all else [guarding(POLICY.guard)])


def guarding(hook: Any) -> RegisteredHook:
    return RegisteredHook("PreToolUse", hook, timeout_s=DEFAULT_TIMEOUT_S, guards=True)


class InPlace(CallbackRunner):
    """Runs the program's code as it is, where a session's loop has a thread of its own."""

    async def call(self, function: Any, /, *args: Any) -> Any:
        return await function(*args)

    one_way = signal = abort = prompts = lambda self, given: given


@pytest.mark.parametrize("guard", [POLICY.guard, Deciding().guard], ids=["policy", "host"])
@pytest.mark.parametrize("offloaded", [False, True])
def test_a_policys_guard_refuses_when_it_fails_also_where_the_programs_hooks_do_not(
    guard: Any, offloaded: bool
) -> None:
    own = HookMatcher(hooks=[callback])
    options = ClaudeAgentOptions(
        can_use_tool=guard.__self__, hooks={"PreToolUse": [own, own]}, hooks_on_failure="continue"
    )
    if offloaded:
        options = offload_options(options, InPlace())
    planned = plan_launch(options, cli=["claude"], version=OLD)
    assert initialize(planned)["hooks"]["PreToolUse"] == [
        {"hookCallbackIds": ["hook_0"]},
        {"hookCallbackIds": ["hook_1"]},
        {"hookCallbackIds": ["hook_2"], "timeout": DEFAULT_TIMEOUT_S, "onFailure": "block"},
    ]
    assert [hook.guards for hook in planned.hooks.values()] == [False, False, True]
    assert not planned.must_block_on_hook_failure  # which no old CLI could promise


def test_a_policys_hook_beside_others_refuses_when_it_fails_unless_its_matcher_says_otherwise() -> None:
    both = [callback, POLICY.hook]
    hooks = [HookMatcher(hooks=both), HookMatcher(hooks=both, on_failure="continue")]
    planned = plan(hooks={"PreToolUse": hooks}, hooks_on_failure="continue")
    assert [hook.guards for hook in planned.hooks.values()] == [False, True, False, False]
    assert [matcher.get("onFailure") for matcher in initialize(planned)["hooks"]["PreToolUse"]] == ["block", "continue"]


# MCP servers, settings, sandbox


def test_external_servers_go_into_a_private_file_and_our_own_into_initialize() -> None:
    ours = create_sdk_mcp_server("calc")
    external = {"command": "x", "args": ["y"], "env": {"TOKEN": "s3cret"}}
    planned = plan(mcp_servers={"s": external, "sums": ours})
    assert flags(planned) == []
    assert contents(planned) == {"--mcp-config": {"mcpServers": {"s": external}}}
    assert initialize(planned) == {**BASE_INITIALIZE, "sdkMcpServers": ["sums"]}
    assert planned.sdk_servers == {"sums": ours["instance"]}


def test_options_of_an_own_server_travel_beside_its_name() -> None:
    config = {**create_sdk_mcp_server("calc"), "timeout": 5000, "tools": [{"name": "add"}]}
    assert initialize(plan(mcp_servers={"calc": config}))["sdkMcpServerConfigs"] == {
        "calc": {"timeout": 5000, "tools": [{"name": "add"}]}
    }


def test_inline_configuration_goes_into_a_private_file() -> None:
    assert plan(mcp_servers=' {"mcpServers": {}} ').files == (
        ScratchFile("--mcp-config", "mcp.json", b' {"mcpServers": {}} '),
    )
    assert plan(settings='{"model": "x"}').files == (ScratchFile("--settings", "settings.json", b'{"model": "x"}'),)
    assert contents(plan(settings={"model": "x"})) == {"--settings": {"model": "x"}}


@pytest.mark.parametrize("settings", [{"model": "x", "sandbox": {"enabled": False}}, '{"model": "x"}'])
def test_the_sandbox_is_merged_into_the_settings(settings: Any) -> None:
    planned = plan(settings=settings, sandbox={"enabled": True})
    assert contents(planned) == {"--settings": {"model": "x", "sandbox": {"enabled": True}}}
    assert contents(plan(sandbox={"enabled": True})) == {"--settings": {"sandbox": {"enabled": True}}}


def test_a_settings_file_to_merge_is_read_as_the_cli_would_read_it() -> None:
    asked: list[Path] = []

    def read(path: Path) -> bytes:
        asked.append(path)
        return b'\xef\xbb\xbf{"model": "x"}'

    options = ClaudeAgentOptions(cwd="/w", settings="s.json", sandbox={"enabled": True})
    planned = plan_launch(options, cli=["claude"], read_bytes=read)
    assert asked == [Path("/w/s.json")]
    assert contents(planned) == {"--settings": {"model": "x", "sandbox": {"enabled": True}}}
    with pytest.raises(CLIConnectionError, match="Failed to load settings: settings must be a JSON object"):
        plan_launch(options, cli=["claude"], read_bytes=lambda _: b"[]")


def test_the_command_names_the_files_where_they_were_written() -> None:
    written: dict[str, bytes] = {}

    def write(name: str, content: bytes) -> str:
        written[name] = content
        return f"/private/{name}"

    planned = plan(mcp_servers={"s": {"command": "x"}}, settings={"model": "m"})
    assert planned.command(write) == [*BASE, "--mcp-config=/private/mcp.json", "--settings=/private/settings.json"]
    assert written == {"mcp.json": b'{"mcpServers":{"s":{"command":"x"}}}', "settings.json": b'{"model":"m"}'}


# Nothing secret or large on the command line, nothing that could be taken for a flag

SECRET = "s3cret-" + "x" * 200_000


def test_no_secret_or_large_value_is_ever_on_the_command_line_or_in_a_repr() -> None:
    planned = plan(
        system_prompt={"type": "preset", "preset": "claude_code", "append": SECRET},
        agents={"a": AgentDefinition(description=SECRET, prompt=SECRET)},
        mcp_servers={
            "s": {"command": "x", "env": {"K": SECRET}},
            "h": {"type": "http", "url": "http://x", "headers": {"Authorization": SECRET}},
        },
        settings={"env": {"K": SECRET}},
        managed_settings={"env": {"K": SECRET}},
        output_format={"type": "json_schema", "schema": {"description": SECRET}},
        env={"ANTHROPIC_API_KEY": SECRET},
        plan_mode_instructions=SECRET,
        append_subagent_system_prompt=SECRET,
        title=SECRET,
    )
    command = planned.command(lambda name, _: f"/private/{name}")
    assert not [argument for argument in command if "s3cret" in argument]
    assert sum(map(len, command)) < 1_000
    assert "s3cret" not in repr(planned.files) + repr(planned.argv)
    for prompt in (SECRET, [SECRET], {"type": "custom", "prompt": SECRET}):
        assert not [argument for argument in plan(system_prompt=prompt).argv if "s3cret" in argument]
    assert not [
        argument
        for argument in plan(mcp_servers='{"k": "s3cret"}', settings='{"k": "s3cret"}').argv
        if "s3" in argument
    ]


HOSTILE = "--dangerously-skip-permissions"


def test_no_value_can_become_a_flag() -> None:
    planned = plan(
        tools=[HOSTILE],
        allowed_tools=[HOSTILE],
        disallowed_tools=[HOSTILE],
        model=HOSTILE,
        fallback_model=HOSTILE,
        betas=[HOSTILE],
        permission_prompt_tool_name=HOSTILE,
        resume=HOSTILE,
        resume_session_at=HOSTILE,
        resume_drops_turn=HOSTILE,
        add_dirs=[HOSTILE],
        project_config_root=HOSTILE,
        agent=HOSTILE,
        mcp_servers=HOSTILE,
        settings=HOSTILE,
        debug_file=HOSTILE,
        plugins=[{"type": "local", "path": HOSTILE}],
        system_prompt={"type": "file", "path": HOSTILE},
        extra_args={"foo": HOSTILE},
    )
    values = [argument for argument in planned.argv if HOSTILE in argument]
    assert len(values) == 19
    assert all(argument.endswith("=" + HOSTILE) for argument in values)
    assert HOSTILE not in planned.argv


# Versions


@pytest.mark.parametrize("version", [None, "2.0.77", "2.1.17", "2.1.25", "2.1.52"])
def test_a_list_as_prompt_is_joined_where_the_cli_may_not_understand_it(version: str | None) -> None:
    prompt = ["A", SYSTEM_PROMPT_DYNAMIC_BOUNDARY, "B"]
    assert initialize(plan(version, system_prompt=prompt))["systemPrompt"] == "A\n\nB"
    assert initialize(plan(NEW, system_prompt=prompt))["systemPrompt"] == prompt


FOR_FLAG: dict[str, dict[str, Any]] = {
    "--debug-file": {"debug_file": "/d"},
    "--effort": {"effort": "low"},
    "--thinking": {"thinking": {"type": "adaptive"}},
    "--autocompact": {"auto_compact": "auto"},
    "--await-initialize": {"plugins": [{"type": "local", "path": "/p"}], "plugin_delivery": "initialize"},
    "--bare": {"bare": True},
    "--include-hook-events": {"include_hook_events": True},
    "--managed-settings-in-initialize": {"managed_settings": {}},
    "--permission-mode=auto": {"permission_mode": "auto"},
    "--permission-prompts": {"permission_prompts": "none"},
    "--plugin-dir-no-mcp": {"plugins": [{"type": "local", "path": "/p", "skipMcpDiscovery": True}]},
    "--project-config-root": {"project_config_root": "/p"},
    "--restricted": {"restricted": True},
    "--resume-drops-turn": {"resume": "a", "resume_session_at": "b", "resume_drops_turn": "c"},
    "--safe-mode": {"safe_mode": True},
    "--session-mirror": {"session_store": Store()},
    "--task-budget": {"task_budget": {"total": 1}},
    "--thinking-display": {"thinking": {"type": "enabled", "budget_tokens": 1, "display": "omitted"}},
}


@pytest.mark.parametrize("flag", UNKNOWN_FLAGS)
def test_a_cli_that_lacks_a_flag_is_not_started_with_it(flag: str) -> None:
    last = ".".join(map(str, UNKNOWN_FLAGS[flag]))
    with pytest.raises(UnsupportedOptionError, match="needs a newer Claude Code than") as caught:
        plan(last, **FOR_FLAG[flag])
    assert caught.value.option in FOR_FLAG[flag]
    for version in (None, NEW):
        assert any(argument.startswith(flag) for argument in plan(version, **FOR_FLAG[flag]).argv)


def test_thinking_is_turned_off_in_the_words_of_the_version() -> None:
    assert flags(plan(OLD, thinking={"type": "disabled"})) == ["--max-thinking-tokens=0"]
    assert flags(plan("2.1.52", thinking={"type": "disabled"})) == ["--thinking=disabled"]


def test_an_agent_for_the_main_conversation_that_comes_too_late_is_refused() -> None:
    agents = {"mini": AgentDefinition(description="d", prompt="p")}
    with pytest.raises(UnsupportedOptionError, match="agent"):
        plan("2.1.52", agent="mini", agents=agents)
    assert flags(plan("2.1.52", agent="from-a-file", agents=agents)) == ["--agent=from-a-file"]
    assert flags(plan(NEW, agent="mini", agents=agents)) == ["--agent=mini"]


def test_options_that_a_version_ignores_are_told() -> None:
    options: dict[str, Any] = {"title": "T", "prompt_suggestions": True, "verbatim_prompts": True, "skills": ["a"]}
    assert set(plan(OLD, **options).ignored) == set(options)
    assert set(plan("2.1.52", **options).ignored) == {"title", "verbatim_prompts", "skills"}
    assert plan("2.1.247", **options).ignored == ("verbatim_prompts",)
    assert plan(NEW, **options).ignored == plan(None, **options).ignored == ()


@pytest.mark.parametrize(
    ("said", "parsed"),
    [("2.1.325 (Claude Code)", (2, 1, 325)), ("v2.0.77", (2, 0, 77)), ("", None), (None, None), ("nightly", None)],
)
def test_a_version_is_read_from_what_the_cli_says(said: str | None, parsed: tuple[int, ...] | None) -> None:
    assert parse_version(said) == parsed


def test_bad_options_are_refused_before_anything_is_planned() -> None:
    with pytest.raises(ValueError, match="max_budget_usd takes a number above 0, not 0"):
        plan(max_budget_usd=0)


def test_initialize_is_valid_json_on_the_wire() -> None:
    assert msgspec.json.decode(msgspec.json.encode(plan(system_prompt="ü").initialize))["systemPrompt"] == "ü"


def test_the_cli_is_told_a_version_of_three_numbers() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", plan().sdk_version)
