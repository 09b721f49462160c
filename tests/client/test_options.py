"""The options themselves: the official fields, and a rule for every one."""

from __future__ import annotations

import dataclasses
import re
import sys
import warnings
from pathlib import Path
from typing import Any, get_args

import pytest

from looping import for_each
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.options_types import HookEvent, HookMatcher
from quarterdeck.client.validate import RULES, validate_options
from quarterdeck.client.validate_conflicts import CanUseToolShadowedWarning
from quarterdeck.client.validate_shapes import UnknownHookEventWarning
from quarterdeck.wire.agents import AgentDefinition
from quarterdeck.wire.hooks import HOOK_EVENTS

UUID = "22222222-2222-4222-8222-222222222222"
OFFICIAL: dict[str, Any] = {
    "tools": None,
    "allowed_tools": [],
    "system_prompt": None,
    "mcp_servers": {},
    "strict_mcp_config": False,
    "permission_mode": None,
    "continue_conversation": False,
    "resume": None,
    "session_id": None,
    "max_turns": None,
    "max_budget_usd": None,
    "disallowed_tools": [],
    "model": None,
    "fallback_model": None,
    "betas": [],
    "permission_prompt_tool_name": None,
    "cwd": None,
    "cli_path": None,
    "settings": None,
    "add_dirs": [],
    "env": {},
    "extra_args": {},
    "max_buffer_size": None,
    "debug_stderr": sys.stderr,
    "stderr": None,
    "can_use_tool": None,
    "hooks": None,
    "user": None,
    "include_partial_messages": False,
    "include_hook_events": False,
    "forward_subagent_text": False,
    "verbatim_prompts": False,
    "fork_session": False,
    "resume_session_at": None,
    "resume_drops_turn": None,
    "agents": None,
    "setting_sources": None,
    "skills": None,
    "sandbox": None,
    "plugins": [],
    "max_thinking_tokens": None,
    "thinking": None,
    "effort": None,
    "output_format": None,
    "enable_file_checkpointing": False,
    "session_store": None,
    "session_store_flush": "batched",
    "load_timeout_ms": 60_000,
    "task_budget": None,
    "client_app": None,
}
"""Names, order and defaults of the official SDK 0.2.182."""


async def callback(*_: Any) -> dict[str, Any]:
    return {}


class Store:
    async def append(self, key: Any, entries: list[Any]) -> None: ...

    async def load(self, key: Any) -> None: ...


class ListingStore(Store):
    async def list_sessions(self, key: str) -> list[Any]:
        return []


def check(**options: Any) -> None:
    validate_options(ClaudeAgentOptions(**options))


def test_the_official_fields_come_first_in_their_order_and_the_rest_by_keyword() -> None:
    fields = dataclasses.fields(ClaudeAgentOptions)
    assert [field.name for field in fields if not field.kw_only] == list(OFFICIAL)
    assert all(field.kw_only for field in fields[len(OFFICIAL) :])


def test_the_official_fields_have_their_official_defaults() -> None:
    options = ClaudeAgentOptions()
    official = {name: getattr(options, name) for name in OFFICIAL if name != "debug_stderr"}
    assert official == {name: value for name, value in OFFICIAL.items() if name != "debug_stderr"}
    assert ClaudeAgentOptions().env is not options.env


def test_options_can_be_given_by_position_and_replaced() -> None:
    options = ClaudeAgentOptions(["Bash"], ["Read"], "prompt", title="T")
    replaced = dataclasses.replace(options, model="m")
    assert (replaced.tools, replaced.allowed_tools, replaced.system_prompt) == (["Bash"], ["Read"], "prompt")
    assert (replaced.model, replaced.title, options.model) == ("m", "T", None)


def test_every_option_has_a_rule_and_every_rule_an_option() -> None:
    assert list(RULES) == [field.name for field in dataclasses.fields(ClaudeAgentOptions)]


def test_the_hook_events_are_those_of_the_wire() -> None:
    assert get_args(HookEvent) == HOOK_EVENTS


def test_the_defaults_are_valid() -> None:
    check()


GOOD: list[dict[str, Any]] = [
    {"tools": ("Bash",)},
    {"system_prompt": ["a", "b"]},
    {"mcp_servers": {"a": {"command": "x"}, "b": {"type": "ws", "url": "ws://x"}, "c": {"type": "sse", "url": "u"}}},
    {"permission_mode": "manual"},
    {"session_id": UUID, "resume": "a", "fork_session": True},
    {"session_id": ""},
    {"max_budget_usd": 1},
    {"betas": ["a-beta-of-tomorrow"]},
    {"add_dirs": [Path("/a"), "b"]},
    {"can_use_tool": callback, "permission_prompt_tool_name": "stdio"},
    {"agents": {"a": {"description": "d", "prompt": "p", "observer": "x"}}},
    {"skills": ["pdf", "plugin:pdf", "with space"]},
    {"session_store": ListingStore(), "continue_conversation": True},
    {"session_store": Store(), "continue_conversation": True, "resume": "a"},
    {"close_grace_s": 0},
    {"auto_compact": "auto"},
    {"hooks": {"Stop": [HookMatcher(hooks=[callback], timeout=0.5, on_failure="block")]}},
]


@for_each("options", GOOD, ids=lambda options: next(iter(options)))
def test_what_an_option_takes_passes(options: dict[str, Any]) -> None:
    check(**options)


BAD: dict[str, list[tuple[Any, type[Exception], str]]] = {
    "tools": [
        (
            "Bash",
            TypeError,
            "tools takes a list of tool names, or {'type': 'preset', 'preset': 'claude_code'}, not str",
        ),
        (["Bash", 3], TypeError, "tools[1] takes a string, not int"),
        ({"type": "preset", "preset": "other"}, ValueError, "tools takes a list of tool names, or"),
    ],
    "allowed_tools": [("Bash", TypeError, "allowed_tools takes a list of tool names or rules, not str (put it into")],
    "system_prompt": [
        (3, TypeError, "system_prompt takes a string, a list of strings, or a dict whose type is"),
        ({"type": "magic"}, ValueError, "system_prompt['type'] takes 'preset', 'custom' or 'file', not 'magic'"),
        ({"type": "preset"}, ValueError, "system_prompt takes a preset; 'preset' is missing"),
        ({"type": "custom", "prompt": 3}, TypeError, "system_prompt['prompt'] takes a list of strings, not int"),
        ({"type": "file"}, ValueError, "system_prompt takes a prompt file; 'path' is missing"),
        ({"type": "preset", "preset": "claude_code", "append": 1}, TypeError, "system_prompt['append'] takes a string"),
    ],
    "mcp_servers": [
        (["s"], TypeError, "mcp_servers takes a dict of servers, the path of a configuration file, or its JSON text"),
        ({"s": "x"}, TypeError, "mcp_servers['s'] takes a server's configuration (a dict), not str"),
        ({"s": {}}, ValueError, "mcp_servers['s'] takes a command to start; 'command' is missing"),
        ({"s": {"type": "http"}}, ValueError, "mcp_servers['s'] takes a server with a url; 'url' is missing"),
        ({"s": {"command": "x", "args": "y"}}, TypeError, "mcp_servers['s']['args'] takes a list of strings"),
        ({"s": {"command": "x", "env": {"A": 1}}}, TypeError, "mcp_servers['s']['env']['A'] takes a string, not int"),
        ({"s": {"type": "carrier"}}, ValueError, "mcp_servers['s']['type'] takes 'stdio'"),
        ({"s": {"type": "sdk", "name": "x"}}, ValueError, "create_sdk_mcp_server(); 'instance' is missing"),
        ({"s": {"command": "x", "odd": object()}}, TypeError, "mcp_servers['s']['odd'] takes what JSON can say"),
    ],
    "permission_mode": [("yolo", ValueError, "permission_mode takes one of 'default', 'acceptEdits'")],
    "resume": [(3, TypeError, "resume takes a string, not int"), ("a\0b", ValueError, "resume takes a string without")],
    "session_id": [
        ("abc", ValueError, "session_id takes a UUID such as"),
        ("2" * 32, ValueError, "session_id takes a UUID with its four hyphens"),
        (3, TypeError, "session_id takes a string"),
    ],
    "max_turns": [
        (0, ValueError, "max_turns takes a whole number of at least 1, not 0"),
        (True, TypeError, "max_turns takes a whole number of at least 1, not bool"),
        ("3", TypeError, "max_turns takes a whole number of at least 1, not str"),
    ],
    "max_budget_usd": [
        (0, ValueError, "max_budget_usd takes a number above 0, not 0"),
        (float("nan"), ValueError, "max_budget_usd takes a number above 0, not nan"),
        ("1", TypeError, "max_budget_usd takes a number above 0, not str"),
    ],
    "disallowed_tools": [([None], TypeError, "disallowed_tools[0] takes a string, not NoneType")],
    "model": [(3, TypeError, "model takes a string")],
    "fallback_model": [(["a"], TypeError, "fallback_model takes a string, not list")],
    "betas": [("x", TypeError, "betas takes a list of strings, not str")],
    "permission_prompt_tool_name": [(callback, TypeError, "permission_prompt_tool_name takes a string")],
    "cwd": [(3, TypeError, "cwd takes a string or a Path, not int")],
    "cli_path": [
        (7, TypeError, "cli_path takes a string, a Path, or a list of words, not int"),
        ([], ValueError, "cli_path takes at least one word"),
        (["node", 7], TypeError, "cli_path[1] takes a string, not int"),
    ],
    "settings": [
        (3, TypeError, "settings takes a path, a JSON text, or a dict, not int"),
        ({"a": {1}}, TypeError, "settings['a'] takes what JSON can say, not set"),
        ({"a": float("inf")}, ValueError, "settings['a'] takes what JSON can say, not inf"),
    ],
    "add_dirs": [("/a", TypeError, "add_dirs takes a list of paths"), ([3], TypeError, "add_dirs[0] takes a string")],
    "env": [
        ({"A": 1}, TypeError, "env['A'] takes a string, not int"),
        ({1: "a"}, TypeError, "env (its key 1) takes a string, not int"),
        ({"A=B": "x"}, ValueError, "env (a name in it) takes a name without '='"),
    ],
    "extra_args": [
        ({"--foo": "x"}, ValueError, "extra_args (a name in it) takes a flag without its '--'"),
        ({"foo bar": None}, ValueError, "extra_args (a name in it)"),
        ({"foo": 3}, TypeError, "extra_args['foo'] takes a string, not int"),
    ],
    "max_buffer_size": [(0, ValueError, "max_buffer_size takes a whole number of at least 1")],
    "stderr": [("x", TypeError, "stderr takes a function, not str")],
    "can_use_tool": [(True, TypeError, "can_use_tool takes a function, not bool")],
    "hooks": [
        ([], TypeError, "hooks takes a dict of event → list of HookMatcher, not list"),
        ({"Stop": HookMatcher()}, TypeError, "hooks['Stop'] takes a list of HookMatcher, not HookMatcher"),
        ({"Stop": [callback]}, TypeError, "hooks['Stop'][0] takes a HookMatcher, not function"),
        ({"Stop": [HookMatcher(hooks=[3])]}, TypeError, "hooks['Stop'][0].hooks[0] takes a function"),
        ({"Stop": [HookMatcher(timeout=-1)]}, ValueError, "hooks['Stop'][0].timeout takes a number above 0"),
        ({"Stop": [HookMatcher(on_failure="explode")]}, ValueError, "hooks['Stop'][0].on_failure takes one of"),
        ({"Stop": [HookMatcher(matcher=1)]}, TypeError, "hooks['Stop'][0].matcher takes a string"),
        ({"PreToolUsed": []}, ValueError, "hooks has no event 'PreToolUsed'; did you mean 'PreToolUse'?"),
    ],
    "user": [("", ValueError, "user takes a string that is not empty"), (0, TypeError, "user takes a string, not int")],
    "resume_session_at": [(3, TypeError, "resume_session_at takes a string")],
    "resume_drops_turn": [("", ValueError, "resume_drops_turn takes a string that is not empty")],
    "agents": [
        ({"a": "prompt"}, TypeError, "agents['a'] takes an AgentDefinition, or a dict with its fields, not str"),
        ({"a": {"prompt": "p"}}, ValueError, "'description' is missing"),
        (
            {"a": AgentDefinition(description="d", prompt="p", tools="Bash")},
            TypeError,
            "agents['a']['tools'] takes a list",
        ),
    ],
    "setting_sources": [
        ("user", TypeError, "setting_sources takes a list of setting sources, not str (put it into a list)"),
        (["users"], ValueError, "setting_sources[0] takes one of 'user', 'project', 'local'"),
    ],
    "skills": [
        ("pdf", TypeError, "skills takes a list of skill names, or 'all', not str"),
        ([3], TypeError, "skills[0] takes a string"),
        *(
            ([name], ValueError, "skills[0] takes exact skill names")
            for name in ("", " a", "a,b", "a(b)", "*", "p:*", "a *", "/a", "a\\", "a\\\\b", "a\nb", "\ud800", "\ufeffa")
        ),
    ],
    "sandbox": [(True, TypeError, "sandbox takes a dict that JSON can say, not bool")],
    "plugins": [
        (["/p"], TypeError, "plugins[0] takes {'type': 'local', 'path': …}, not str"),
        ([{"type": "remote", "path": "/p"}], ValueError, "plugins[0]['type'] takes one of 'local'"),
        ([{"type": "local"}], ValueError, "plugins[0] takes {'type': 'local', 'path': …}; 'path' is missing"),
    ],
    "max_thinking_tokens": [(-1, ValueError, "max_thinking_tokens takes a whole number of at least 0, not -1")],
    "thinking": [
        ("adaptive", TypeError, "thinking takes a dict whose type is 'adaptive', 'enabled' or 'disabled', not str"),
        ({"type": "on"}, ValueError, "thinking takes a dict whose type is"),
        ({"type": "enabled"}, ValueError, "thinking takes enabled thinking; 'budget_tokens' is missing"),
        ({"type": "adaptive", "display": "loud"}, ValueError, "thinking['display'] takes one of"),
    ],
    "effort": [
        ("huge", ValueError, "effort takes one of 'low', 'medium', 'high', 'xhigh', 'max' (a newer one by extra_a")
    ],
    "output_format": [
        ({"type": "text"}, ValueError, "output_format['type'] takes one of 'json_schema'"),
        ({"type": "json_schema"}, ValueError, "'schema' is missing"),
        ({"type": "json_schema", "schema": "x"}, TypeError, "output_format['schema'] takes a dict"),
    ],
    "session_store": [(object(), TypeError, "session_store takes an object with append() and load(); object has no")],
    "session_store_flush": [("lazy", ValueError, "session_store_flush takes one of 'batched', 'eager'")],
    "load_timeout_ms": [
        (1.5, TypeError, "load_timeout_ms takes a whole number"),
        (-1, ValueError, "load_timeout_ms takes"),
    ],
    "task_budget": [
        (5, TypeError, "task_budget takes {'total': tokens}"),
        ({"total": 0}, ValueError, "task_budget['total']"),
    ],
    "client_app": [
        ("\u20ac", ValueError, "client_app takes what an HTTP header can hold"),
        (3, TypeError, "client_app"),
    ],
    "project_config_root": [(3, TypeError, "project_config_root takes a string or a Path")],
    "agent": [(AgentDefinition(description="d", prompt="p"), TypeError, "agent takes a string")],
    "tool_aliases": [({"A": 1}, TypeError, "tool_aliases['A'] takes a string")],
    "supported_dialog_kinds": [("x", TypeError, "supported_dialog_kinds takes a list of dialog kinds")],
    "on_user_dialog": [(3, TypeError, "on_user_dialog takes a function")],
    "plan_mode_instructions": [(3, TypeError, "plan_mode_instructions takes a string")],
    "permission_prompts": [("nobody", ValueError, "permission_prompts takes one of 'host', 'none'")],
    "plugin_delivery": [("post", ValueError, "plugin_delivery takes one of 'argv', 'initialize'")],
    "managed_settings": [("{}", TypeError, "managed_settings takes a dict that JSON can say, not str")],
    "debug_file": [(True, TypeError, "debug_file takes a string or a Path")],
    "title": [(3, TypeError, "title takes a string")],
    "executable": [("python", ValueError, "executable takes one of 'node', 'bun', 'deno'")],
    "executable_args": [("-x", TypeError, "executable_args takes a list of strings")],
    "abort": [(object(), TypeError, "abort takes an object with is_set() and wait(); object has no")],
    "tool_config": [
        ([], TypeError, "tool_config takes a dict of tool settings"),
        ({"askUserQuestion": {"previewFormat": "pdf"}}, ValueError, "tool_config['askUserQuestion']['previewFormat']"),
    ],
    "on_elicitation": [(3, TypeError, "on_elicitation takes a function")],
    "on_question": [(3, TypeError, "on_question takes a function")],
    "on_plan": [(3, TypeError, "on_plan takes a function")],
    "env_allow": [
        ("PATH", TypeError, "env_allow takes a list of names"),
        ([""], ValueError, "env_allow[0] takes a string"),
    ],
    "limit_bytes": [(10, ValueError, "limit_bytes takes a whole number of at least 65536, not 10")],
    "initialize_timeout_s": [(0, ValueError, "initialize_timeout_s takes a number above 0")],
    "request_timeout_s": [(None, TypeError, "request_timeout_s takes a number above 0, not NoneType")],
    "close_grace_s": [
        (-1, ValueError, "close_grace_s takes a number above 0"),
        (False, TypeError, "close_grace_s takes"),
    ],
    "append_subagent_system_prompt": [(3, TypeError, "append_subagent_system_prompt takes a string")],
    "auto_compact": [(5, ValueError, "auto_compact takes a whole number from 100000 to 1000000, not 5")],
    "retry": [(3, TypeError, "retry takes an object with wait_s(); int has no wait_s()")],
    "tracing": [("yes", TypeError, "tracing takes True or False, not str")],
}
SWITCHES = [field.name for field in dataclasses.fields(ClaudeAgentOptions) if field.type == "bool"]
CASES = [(name, *case) for name, cases in BAD.items() for case in cases]


@for_each(("option", "value", "error", "message"), CASES)
def test_a_bad_value_is_refused_by_name(option: str, value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        check(**{option: value})


@for_each("option", SWITCHES)
def test_a_switch_is_on_or_off_and_nothing_else(option: str) -> None:
    with pytest.raises(TypeError, match=re.escape(f"{option} takes True or False, not str")):
        check(**{option: "yes"})


def test_every_option_has_a_bad_value_here() -> None:
    assert set(BAD) | set(SWITCHES) | {"debug_stderr"} == set(RULES)


def test_messages_do_not_show_what_may_be_secret() -> None:
    for options in (
        {"env": {"KEY": b"s3cret"}},
        {"mcp_servers": {"s": {"command": "x", "args": "--token=s3cret"}}},
        {"settings": {"env": {"KEY": {"s3cret"}}}},
        {"system_prompt": ("s3cret",)},
    ):
        with pytest.raises(TypeError) as caught:
            check(**options)
        assert "s3cret" not in str(caught.value)


CONFLICTS: list[tuple[dict[str, Any], str]] = [
    (
        {"can_use_tool": callback, "permission_prompt_tool_name": "x"},
        "can_use_tool and permission_prompt_tool_name excl",
    ),
    ({"on_plan": callback, "permission_prompt_tool_name": "x"}, "on_plan and permission_prompt_tool_name exclude"),
    ({"session_id": UUID, "resume": "a"}, "session_id names a new session"),
    ({"session_id": UUID, "continue_conversation": True}, "session_id names a new session"),
    ({"resume_session_at": UUID}, "resume_session_at cuts a session that is resumed"),
    ({"resume": "a", "resume_drops_turn": UUID}, "resume_drops_turn guards resume_session_at"),
    ({"session_store": Store(), "continue_conversation": True}, "needs a store that has list_sessions()"),
    ({"session_store": Store(), "enable_file_checkpointing": True}, "session_store and enable_file_checkpointing"),
    ({"session_store": Store(), "persist_session": False}, "session_store needs persist_session=True"),
    ({"supported_dialog_kinds": ["x"]}, "supported_dialog_kinds names dialogs, so it needs on_user_dialog"),
]


@pytest.mark.parametrize(("options", "message"), CONFLICTS)
def test_options_that_exclude_each_other_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        check(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"permission_mode": "bypassPermissions"}, "can_use_tool is never asked"),
        ({"allowed_tools": ["Read", "Read(*)", "Edit()", "Bash(ls:*)"]}, "not asked about Read, Edit:"),
        ({"skills": "all"}, "not asked about Skill:"),
    ],
)
def test_a_permission_callback_that_others_overrule_gets_a_warning(options: dict[str, Any], message: str) -> None:
    with pytest.warns(CanUseToolShadowedWarning, match=re.escape(message)):
        check(can_use_tool=callback, **options)


def test_narrow_rules_beside_a_permission_callback_need_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(can_use_tool=callback, allowed_tools=["Bash(ls:*)"], skills=["pdf"])


def test_a_hook_event_of_tomorrow_gets_a_warning() -> None:
    with pytest.warns(UnknownHookEventWarning, match="'MoonRise' is no event of the CLI"):
        check(hooks={"MoonRise": [HookMatcher(hooks=[callback])]})


def test_an_unknown_option_is_refused_by_the_class() -> None:
    with pytest.raises(TypeError, match="max_turn"):
        ClaudeAgentOptions(max_turn=3)


def test_anything_but_options_is_refused() -> None:
    with pytest.raises(TypeError, match="options takes a ClaudeAgentOptions, not dict"):
        validate_options({})
